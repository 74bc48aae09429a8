"""What a run has shown, in two or three plain sentences for each kind of noise."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._wording import counted, is_or_are, listed, p_text, percent, sentence
from ..metrics.curves import per_repeat
from ..metrics.outcome import lacking
from ..metrics.registry import higher_is_better, label_of
from .score_tables import checked_rate, complete, rank_table, score_table
from .wilcoxon_holm import wilcoxon_holm

# A verdict is on the rate nearest to this one: noise enough to tell models apart, and less than one half, where
# the labels of two classes say nothing any more.
RATE = 0.3
TIE = 5e-4  # shares that differ by less look the same
MAX_NAMES = 4
MAX_REASONS = 3


def verdict(
    scores: pd.DataFrame,
    *,
    metric: str = "accuracy",
    control: str | None = None,
    noise_rate: float | None = None,
    alpha: float = 0.05,
) -> list[str]:
    """Say in two or three sentences for each kind of noise which model does best, and what of it is certain.

    The first tells of the model of the best mean rank, or the control, and which share of the measure it keeps:
    the mean over data sets of ``A_v / A_0``.  Who keeps most need not do best, for a poor learner has little to
    lose.  The second compares it with the others by `wilcoxon_holm`, or says that there are too few data sets
    for that.  The last tells of cells that failed or are not fitted yet, and of data sets and models that were
    left out.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    metric : str, default="accuracy"
        A measure, a column of the scores.
    control : str or None, default=None
        A model; None for the one of the best mean rank.
    noise_rate : float or None, default=None
        The noise rate, on kinds of noise that have it.  None for the one nearest to 30 %, of those at which the
        most can be compared, data sets times models: noise enough to tell models apart, and less than one half.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    list of str
        A paragraph for each kind of noise, in the order of the scores.  Names stand in it as they are.

    Raises
    ------
    ValueError
        If there is no such measure, control or noise_rate.
    """
    models = [str(name) for name in scores["model"].unique()]
    if control is not None and control not in models:
        raise ValueError(f"control must be one of {', '.join(models)}, got {control!r}")
    if noise_rate is not None:
        noise_rate = checked_rate(np.unique(scores["noise_rate"]), noise_rate)
    return [
        _of_kind(
            of_kind,
            str(kind),
            metric,
            control,
            compared_rate(of_kind, metric) if noise_rate is None else noise_rate,
            alpha,
        )
        for kind, of_kind in scores.groupby("noise_kind", sort=False)
        if noise_rate is None or np.isclose(of_kind["noise_rate"], noise_rate).any()
    ]


def compared_rate(scores: pd.DataFrame, metric: str) -> float:
    """The noise rate that a verdict on one kind of noise is on; see `verdict`."""
    rates = np.unique(scores["noise_rate"])
    rates = rates[rates > 0] if (rates > 0).any() else rates
    kept = "retention" if higher_is_better(metric) else metric
    if per_repeat(scores, kept, metric)[kept].isna().any():
        compared = np.array([complete(_tables(scores, metric, rate)[0])[0].size for rate in rates])
        rates = rates[compared == compared.max()]
    return float(rates[np.abs(rates - RATE).argmin()])


def _of_kind(
    scores: pd.DataFrame, kind: str, metric: str, control: str | None, noise_rate: float, alpha: float
) -> str:
    """The paragraph on a kind of noise."""
    table, kept = _tables(scores, metric, noise_rate)
    table, dropped, left_out = complete(table)
    where = f"at {percent(noise_rate, 3)} {kind} noise" if noise_rate else f"without {kind} noise"
    if table.empty:
        said = [f"{where} there is no data set of which all models have values, so none can be compared"]
    elif control in left_out:
        said = [f"{where} {control} has no values to compare"]
    else:
        model, standing, joint = _standing(table, metric, control)
        keeps = "" if kept is None else _keeps(scores, kept.loc[table.index, table.columns], metric, model)
        said = [f"{where} {standing}{keeps and joint}{keeps}"]
        if table.shape[1] > 1:
            said.append(_compared(table, model, metric, alpha))
    said += _failures(scores, dropped, left_out)
    return " ".join(f"{sentence(text)}." for text in said)


def _tables(scores: pd.DataFrame, metric: str, noise_rate: float) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """The measure, and the share of it that is kept, where it has one; a cell has both or neither."""
    table = score_table(scores, metric, noise_rate=noise_rate)
    if noise_rate == 0 or not higher_is_better(metric):
        return table, None
    kept = score_table(scores, "retention", noise_rate=noise_rate, of=metric)
    table = table.where(kept.notna())
    table.attrs = kept.attrs
    return table, kept


def _standing(table: pd.DataFrame, metric: str, control: str | None) -> tuple[str, str, str]:
    """The best model, or the control, how it stands among the others, and how a sentence goes on about it."""
    n, k = table.shape
    ranks = rank_table(table, higher_is_better=higher_is_better(metric)).mean()
    first = [str(name) for name in ranks.index[ranks == ranks.min()]]
    model = first[0] if control is None else control
    what, on = label_of(metric), f"on {table.index[0]}" if n == 1 else f"over {counted(n, 'data set')}"
    of = f"of {counted(k, 'model')}"
    best = f"best {what} {of} {on}" if n == 1 else f"best mean rank {of} ({ranks.min():.3g}) in {what} {on}"
    mean = "" if n == 1 else "mean "
    if k == 1:
        return model, f"{model}, the only model, has the {mean}{what} {table[model].mean():.3g} {on}", " and "
    if model not in first:
        text = f"{model} has the {mean}rank {ranks[model]:.3g} {of} in {what} {on}, {listed(first)} the best"
        return model, text, f"; {model} "
    if len(first) > 1:
        return model, f"{listed(first)} share the {best}", f"; {model} "
    return model, f"{model} has the {best}", " and "


def _keeps(scores: pd.DataFrame, kept: pd.DataFrame, metric: str, model: str) -> str:
    """Which share of its measure a model keeps, and who keeps the most."""
    shares, what = kept.mean(), label_of(metric)
    text = f"keeps {percent(shares[model], 3)} of its {what}"
    most = shares.index[np.isclose(shares, shares.max(), rtol=0, atol=TIE)]
    if model not in most:
        clean = score_table(scores, metric, noise_rate=0).loc[kept.index].mean()
        less = f", but of a lower {what}" if clean[most[0]] < clean[model] else ""
        text += f"; {most[0]} keeps the most, {percent(shares.max(), 3)}{less}"
    elif len(most) == 1 < len(shares):
        text += ", the most of all"
    return text


def _compared(table: pd.DataFrame, model: str, metric: str, alpha: float) -> str:
    """What is certain of a model against the others."""
    result = wilcoxon_holm(table, model, higher_is_better=higher_is_better(metric), alpha=alpha)
    if not result.has_power:
        return result.remark.rstrip(".")
    rows = result.table
    ahead = rows["rank_sum_won"] > rows["rank_sum_lost"]
    beaten, better = rows[rows["significant"] & ahead], rows[rows["significant"] & ~ahead]
    alike = rows[~rows["significant"]]
    clauses = []
    if len(beaten):
        clauses.append(f"{model} beats {_against(beaten, 'wins', result.n_datasets)}")
    if len(better):
        clauses.append(f"{model} loses to {_against(better, 'losses', result.n_datasets)}")
    if len(alike):
        names = listed(list(alike["model"])) if len(alike) <= MAX_NAMES else counted(len(alike), "other model")
        p = p_text(alike["p_holm"].min())
        clauses.append(f"no difference from {names} is shown ({p if len(alike) == 1 else f'smallest {p}'})")
    return f"by Wilcoxon's signed-rank test with Holm's correction {'; '.join(clauses)}"


def _against(rows: pd.DataFrame, column: str, n: int) -> str:
    """Models, on how many data sets, and how certain it is."""
    if len(rows) > MAX_NAMES:
        low, high = rows[column].min(), rows[column].max()
        span = f"{low}" if low == high else f"{low} to {high}"
        p = p_text(rows["p_holm"].max())
        return f"{counted(len(rows), 'model')} (on {span} of {n} data sets, largest {p})"
    cells = zip(rows["model"], rows[column], rows["p_holm"], strict=True)
    return listed([f"{name} (on {count} of {n} data sets, {p_text(p)})" for name, count, p in cells])


def _failures(scores: pd.DataFrame, dropped: dict[str, str], left_out: dict[str, str]) -> list[str]:
    """Sentences on cells that have no scores, and what is not compared for lack of values."""
    said = []
    if cells := lacking(scores):
        said.append(cells.describe("cells under this noise"))
    for noun, reasons in (("model", left_out), ("data set", dropped)):
        if reasons:
            n = len(reasons)
            said.append(f"{counted(n, noun)} {is_or_are(n)} not compared: {_some(reasons)}")
    return said


def _some(reasons: dict[str, str]) -> str:
    parts = [f"{name} ({why})" for name, why in list(reasons.items())[:MAX_REASONS]]
    more = len(reasons) - len(parts)
    return listed(parts + ([f"{more} more"] if more else []))
