"""Verdict on a run: a few plain sentences per kind of noise."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from .._wording import counted, distinct_numbers, is_or_are, listed, p_text, percent, sentence
from ..metrics.curves import are_estimated, has_baseline, per_repeat
from ..metrics.domains import domain_means, unit_of
from ..metrics.outcome import missing_cells
from ..metrics.registry import higher_is_better, label_of
from .paired_t import PairedTTests, paired_t_tests
from .score_tables import complete, rank_table, repeat_table, resolve_noise_rate, score_table
from .shared_test_rows import row_interval, row_values_at
from .wilcoxon_holm import HOLM, HOLM_OVER_PAIRS, WilcoxonHolm, wilcoxon_holm

# By default a verdict uses the rate nearest to this one: enough noise to separate models, but below one half,
# where labels of two classes carry no information.
RATE = 0.3
TIE = 5e-4  # shares that differ by less count as equal
MAX_NAMES = 4
MAX_REASONS = 3


def verdict(
    scores: pd.DataFrame,
    *,
    metric: str = "accuracy",
    control: str | None = None,
    noise_rate: float | None = None,
    alpha: float = 0.05,
    test_fraction: float | None = None,
    fixed: Collection[str] = (),
) -> list[str]:
    """Summarise a run in a few sentences per kind of noise: the best model, and its significance.

    The first sentence names the model with the best mean rank, or the control, and the share of the measure
    that it keeps: the mean over data sets of ``A_v / A_0``.  The model that keeps most is not always the best,
    because a poor learner has little to lose.  If ELA names another model, the next sentence says so.  Then the
    model is compared with the others by `wilcoxon_holm`, or there are too few data sets for the test.  If there
    is a single data set, the models are compared over its repeats by `paired_t_tests`, with Holm's correction;
    if its repeats share their test rows, over these, and the best model's mean has an interval.
    The correction is over all pairs of models, unless a control is given: the best of many equal models is
    ahead of the others by its choice alone.
    The last sentences list failed and unfitted cells, and data sets and models that were left out.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    metric : str, default="accuracy"
        A measure, which is a column of the scores.
    control : str or None, default=None
        A model; None for the model with the best mean rank.
    noise_rate : float or None, default=None
        The noise rate; kinds of noise without it have no verdict.  None for the rate nearest to 30 %, among the
        rates with the most comparable values (data sets times models): enough noise to separate models, but
        below one half.
    alpha : float, default=0.05
        Significance level.
    test_fraction : float or None, default=None
        Share of the rows in the test set, for the correction of `paired_t_tests`; None for uncorrected tests.
    fixed : collection of str, default=()
        Data sets whose repeats share their test rows; see `paired_t_tests`.

    Returns
    -------
    list of str
        One paragraph per kind of noise, in the order of the scores.  Names are not escaped.

    Raises
    ------
    ValueError
        If the scores have no such measure, control or noise rate.
    """
    models = [str(name) for name in scores["model"].unique()]
    if control is not None and control not in models:
        raise ValueError(f"control must be one of {', '.join(models)}, got {control!r}")
    if noise_rate is not None:
        noise_rate = resolve_noise_rate(np.unique(scores["noise_rate"]), noise_rate)
    return [
        _verdict_on_kind(
            of_kind,
            str(kind),
            metric,
            control,
            compared_rate(of_kind, metric) if noise_rate is None else noise_rate,
            alpha,
            test_fraction,
            fixed,
        )
        for kind, of_kind in scores.groupby("noise_kind", sort=False)
        if noise_rate is None or np.isclose(of_kind["noise_rate"], noise_rate).any()
    ]


def compared_rate(scores: pd.DataFrame, metric: str) -> float:
    """Default noise rate of the verdict on one kind of noise; see `verdict`."""
    rates = np.unique(scores["noise_rate"])
    rates = rates[rates > 0] if (rates > 0).any() else rates
    compared_measure = "retention" if higher_is_better(metric) and has_baseline(scores).all() else metric
    if per_repeat(scores, compared_measure, metric)[compared_measure].isna().any():
        compared = np.array([complete(_tables(scores, metric, noise_rate)[0])[0].size for noise_rate in rates])
        rates = rates[compared == compared.max()]
    return float(rates[np.abs(rates - RATE).argmin()])


def _verdict_on_kind(
    scores: pd.DataFrame,
    kind: str,
    metric: str,
    control: str | None,
    noise_rate: float,
    alpha: float,
    test_fraction: float | None,
    fixed: Collection[str],
) -> str:
    """Write the paragraph on a kind of noise."""
    table, retention = _tables(scores, metric, noise_rate)
    table, dropped, left_out = complete(table)
    setting = f"at {percent(noise_rate, 3)} {kind} noise" if noise_rate else f"without {kind} noise"
    if table.empty:
        sentences = [f"{setting} no data set has values of all models, so models cannot be compared"]
    elif control in left_out:
        sentences = [f"{setting} {control} has no values to compare"]
    else:
        of_units = rank_table(table, higher_is_better=higher_is_better(metric))
        ranks = of_units.mean()
        best = [str(name) for name in ranks.index[ranks == ranks.min()]]
        model = best[0] if control is None else control
        what = label_of(metric, estimated=are_estimated(scores))
        first = f"{setting} {_rank_clause(table, of_units, best, model, what)}"
        if len(table) == 1:
            of_set = scores[scores["dataset"] == table.index[0]]
            first += _interval(of_set, model, metric, noise_rate, 1 - alpha)
        if retention is not None:
            clause = _retention_clause(scores, retention.loc[table.index, table.columns], metric, model)
            first += f" and {clause}" if best == [model] else f"; {model} {clause}"
        sentences = [first]
        if retention is not None and control is None:
            sentences += _ela_sentence(scores, table, metric, noise_rate, model)
        if scores["dataset"].nunique() == 1 and table.shape[1] > 1:
            compared = scores[scores["model"].isin(table.columns)]
            tests = paired_t_tests(
                compared,
                metric,
                noise_rate=noise_rate,
                alpha=alpha,
                test_fraction=test_fraction,
                fixed=fixed,
            )
            sentences.append(_repeats_sentence(tests, model, of_all_pairs=control is None))
        elif table.shape[1] > 1:
            sentences.append(_test_sentence(table, control, metric, alpha))
    sentences += _exclusion_sentences(scores, dropped, left_out)
    return " ".join(f"{sentence(text)}." for text in sentences)


def _tables(scores: pd.DataFrame, metric: str, noise_rate: float) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Tables of the measure and of its retention, None without one.  A cell has both values or neither."""
    table = score_table(scores, metric, noise_rate=noise_rate)
    if noise_rate == 0 or not higher_is_better(metric) or not has_baseline(scores).all():
        return table, None
    retention = score_table(scores, "retention", noise_rate=noise_rate, measure=metric)
    table = table.where(retention.notna())
    table.attrs = retention.attrs
    return table, retention


def _means(table: pd.DataFrame) -> pd.Series[float]:
    """Means over the data sets, or over their domains."""
    return domain_means(table, table.attrs.get("domains", {})).mean()


def _rank_clause(table: pd.DataFrame, of_units: pd.DataFrame, best: list[str], model: str, what: str) -> str:
    """Clause on the mean rank of a model in a measure; the models `best` share the best one."""
    ranks, (n_datasets, n_models) = of_units.mean(), of_units.shape
    among = f"of {counted(n_models, 'model')}"
    if len(table) == 1:
        mean, on = "", f"on {table.index[0]}"
        best_rank = f"best {what} {among} {on}"
    else:
        mean, on = "mean ", f"over {counted(n_datasets, unit_of(of_units))}"
        best_rank = f"best mean rank {among} ({ranks.min():.3g}) in {what} {on}"
    if n_models == 1:
        return f"{model}, the only model, has the {mean}{what} {_means(table)[model]:.3g} {on}"
    if model not in best:
        return f"{model} has the {mean}rank {ranks[model]:.3g} {among} in {what} {on}, {listed(best)} the best"
    if len(best) > 1:
        return f"{listed(best)} share the {best_rank}"
    return f"{model} has the {best_rank}"


def _interval(scores: pd.DataFrame, model: str, metric: str, noise_rate: float, confidence: float) -> str:
    """Interval of a model's mean in parentheses, if the repeats of the only data set share their test rows."""
    found = row_values_at(scores, metric, noise_rate, None)
    rows = next((values for (_, name), values in found.items() if name == model), None)
    if rows is None:
        return ""
    repeats = repeat_table(scores, metric, noise_rate=noise_rate, noise_kind=None)[model].to_numpy(np.float64)
    interval = row_interval(rows, repeats, are_shares=metric == "accuracy", confidence=confidence)
    low, high = np.clip(interval, 0, 1)
    return (
        f" ({repeats.mean():.3f}, {percent(confidence)} interval {low:.3f} to {high:.3f} over "
        f"{counted(rows.size, 'test row')})"
    )


def _retention_clause(scores: pd.DataFrame, retention: pd.DataFrame, metric: str, model: str) -> str:
    """Clause on the share of the measure that a model keeps, and on the model that keeps the most."""
    shares, what = _means(retention), label_of(metric, estimated=are_estimated(scores))
    text = f"keeps {percent(shares[model], 3)} of its {what}"
    if scores["repeat"].nunique() == 1:
        text += " (a rough figure, from one repeat)"
    most = shares.index[np.isclose(shares, shares.max(), rtol=0, atol=TIE)]
    if model not in most:
        clean = _means(score_table(scores, metric, noise_rate=0).loc[retention.index])
        less = f", but of a lower {what}" if clean[most[0]] < clean[model] else ""
        text += f"; {most[0]} keeps the most, {percent(shares.max(), 3)}{less}"
    elif len(most) == 1 < len(shares):
        text += ", the most of all"
    return text


def _ela_sentence(
    scores: pd.DataFrame, table: pd.DataFrame, metric: str, noise_rate: float, model: str
) -> list[str]:
    """Sentence on the model with the lowest ELA, if it is not the best model."""
    losses = score_table(scores, "ela", noise_rate=noise_rate, measure=metric)
    means = _means(losses.loc[table.index, table.columns])
    lowest = str(means.idxmin())
    if not np.isfinite(means).all() or means[model] - means[lowest] < TIE:
        return []
    mean, what = "mean " if len(table) > 1 else "", label_of(metric, estimated=are_estimated(scores))
    less, more = distinct_numbers(means[lowest], means[model])
    return [
        f"by {mean}ELA, which also counts the {what} without noise, {lowest} is ahead of {model} "
        f"({less} against {more})"
    ]


def _test_sentence(table: pd.DataFrame, control: str | None, metric: str, alpha: float) -> str:
    """Sentence on the tests of the control, or of the best model, against the others."""
    result = wilcoxon_holm(table, control, higher_is_better=higher_is_better(metric), alpha=alpha)
    if not result.has_power:
        return result.remark.rstrip(".")
    model, rows = result.control, result.table
    ahead = rows["rank_sum_won"] > rows["rank_sum_lost"]
    worse, better = rows[rows["significant"] & ahead], rows[rows["significant"] & ~ahead]
    tied = rows[~rows["significant"]]
    clauses = []
    if len(worse):
        clauses.append(f"{model} beats {_model_list(worse, 'wins', result)}")
    if len(better):
        clauses.append(f"{model} loses to {_model_list(better, 'losses', result)}")
    if len(tied):
        clauses.append(_no_difference(tied["model"], tied["p_holm"]))
    return f"by Wilcoxon's signed-rank test with {result.correction} {'; '.join(clauses)}"


def _repeats_sentence(tests: PairedTTests, model: str, *, of_all_pairs: bool) -> str:
    """Sentence on the tests of a model against the others over the repeats of a single data set."""
    from statsmodels.stats.multitest import multipletests  # slow to import

    if not tests.has_power:
        return tests.remark.rstrip(".")
    is_own = (tests.table["model"] == model) | (tests.table["other"] == model)
    # The best model was chosen from all pairs.
    corrected = tests.table if of_all_pairs else tests.table[is_own]
    significant, p_holm, *_ = multipletests(corrected["p_value"], tests.alpha, method="holm")
    rows = tests.table[is_own]
    significant, p_holm = (values[is_own[corrected.index]] for values in (significant, p_holm))
    others = rows["other"].where(rows["model"] == model, rows["model"])
    is_won = (rows["outcome"] == "win") == (rows["model"] == model)
    correction = HOLM_OVER_PAIRS if len(corrected) > len(rows) else HOLM
    clauses = []
    for verb, chosen in (("beats", significant & is_won), ("loses to", significant & ~is_won)):
        if chosen.any():
            p = p_text(p_holm[chosen].max())
            names = _names(others[chosen], "model")
            clauses.append(f"{model} {verb} {names} ({p if chosen.sum() == 1 else f'largest {p}'})")
    if not significant.all():
        clauses.append(_no_difference(others[~significant], p_holm[~significant]))
    caution = "; uncorrected for the rows that repeats share" if tests.remark else ""
    where = f"over its repeats, by {tests.name} with {correction}{caution}"
    if tests.n_rows:
        n_rows = next(iter(tests.n_rows.values()))
        where = f"over its {counted(n_rows, 'test row')}, by paired tests with {correction}"
    return f"{where}, {'; '.join(clauses)}"


def _no_difference(tied: pd.Series[str], p_holm: Any) -> str:
    """Clause on models from which no difference is shown."""
    names, p = _names(tied, "other model"), p_text(p_holm.min())
    return f"no difference from {names} is shown ({p if len(tied) == 1 else f'smallest {p}'})"


def _names(models: pd.Series[str], noun: str) -> str:
    """A few names, or their number."""
    return listed(list(models)) if len(models) <= MAX_NAMES else counted(len(models), noun)


def _model_list(rows: pd.DataFrame, column: str, result: WilcoxonHolm) -> str:
    """Models with their number of data sets or domains, and p-values."""
    of_all = f"of {result.n_datasets} {result.unit}s"
    if len(rows) > MAX_NAMES:
        low, high = rows[column].min(), rows[column].max()
        span = f"{low}" if low == high else f"{low} to {high}"
        p = p_text(rows["p_holm"].max())
        return f"{counted(len(rows), 'model')} (on {span} {of_all}, largest {p})"
    cells = zip(rows["model"], rows[column], rows["p_holm"], strict=True)
    return listed([f"{name} (on {count} {of_all}, {p_text(p)})" for name, count, p in cells])


def _exclusion_sentences(scores: pd.DataFrame, dropped: dict[str, str], left_out: dict[str, str]) -> list[str]:
    """Sentences on cells without scores, and on models and data sets left out for lack of values."""
    sentences = []
    if cells := missing_cells(scores):
        sentences.append(cells.describe("cells under this noise"))
    for noun, reasons in (("model", left_out), ("data set", dropped)):
        if reasons:
            n = len(reasons)
            sentences.append(f"{counted(n, noun)} {is_or_are(n)} not compared: {_reason_list(reasons)}")
    return sentences


def _reason_list(reasons: dict[str, str]) -> str:
    parts = [f"{name} ({why})" for name, why in list(reasons.items())[:MAX_REASONS]]
    more = len(reasons) - len(parts)
    return listed(parts + ([f"{more} more"] if more else []))
