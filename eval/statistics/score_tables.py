"""Tables of data sets and models at one noise rate, the input of the statistical tests.

A data set counts only if every compared model has all its repeats; missing scores are not imputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._numbers import is_real
from ..errors import shortened
from ..metrics.curves import per_repeat
from ..metrics.domains import domain_means, domains_of
from ..metrics.outcome import NOT_FITTED
from ..metrics.registry import PAIRED

NO_VALUE = "has no value"
MAX_ERROR = 120
# Values that differ only by the order of summation are ties.
DIGITS = 12


def score_table(
    scores: pd.DataFrame,
    metric: str = "accuracy",
    *,
    noise_rate: float | None = None,
    noise_kind: str | None = None,
    measure: str = "accuracy",
) -> pd.DataFrame:
    """Mean of a metric over the repeats at one noise rate, per data set and model.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    metric : str, default="accuracy"
        See `per_repeat`.
    noise_rate : float or None, default=None
        None for ``"area_under_ela"``, which has no rate, or if the scores have a single rate.
    noise_kind : str or None, default=None
        The kind of noise; None if the scores have a single kind.
    measure : str, default="accuracy"
        The measure that replaces the accuracy; see `per_repeat`.

    Returns
    -------
    DataFrame
        One row per data set, one column per model, both in the order of the scores; NaN where a repeat is
        missing.  ``attrs["missing"]`` maps such data sets to dicts of such models and reasons, and
        ``attrs["domains"]`` data sets to their domains, if they have any.

    Raises
    ------
    ValueError
        If the scores have no such metric, noise rate or kind of noise.
    """
    wide = repeat_table(scores, metric, noise_rate=noise_rate, noise_kind=noise_kind, measure=measure)
    datasets = wide.index.get_level_values("dataset").unique()
    means = by_dataset(wide).mean(axis=1)
    table = pd.DataFrame(means, datasets, wide.columns)
    table.attrs = wide.attrs
    return table


def by_dataset(wide: pd.DataFrame) -> NDArray[np.float64]:
    """Values of a `repeat_table`, shape (n_datasets, n_repeats, n_models)."""
    n_datasets = wide.index.get_level_values("dataset").nunique()
    n_repeats = len(wide) // max(1, n_datasets)
    return wide.to_numpy(dtype=np.float64).reshape(n_datasets, n_repeats, wide.shape[1])


def repeat_table(
    scores: pd.DataFrame,
    metric: str,
    *,
    noise_rate: float | None,
    noise_kind: str | None,
    measure: str = "accuracy",
) -> pd.DataFrame:
    """Values of a metric at one noise rate: one row per data set and repeat, one column per model.

    `score_table` has their means over the repeats.
    """
    noise_kind = resolve_noise_kind(scores, noise_kind)
    scores = scores[scores["noise_kind"] == noise_kind]
    values = per_repeat(scores, metric, measure)
    if "noise_rate" in values:
        noise_rate = _only_rate(values, noise_rate)
        values = values[np.isclose(values["noise_rate"], noise_rate)]
    elif noise_rate is not None:
        raise ValueError(f"noise_rate must be None for {metric}, which has no noise rate, got {noise_rate!r}")
    if values.duplicated(["dataset", "repeat", "model"]).any():
        raise ValueError("the scores have more than one row for the same data set, model, noise and repeat")
    rows = pd.MultiIndex.from_product(
        [scores["dataset"].unique(), scores["repeat"].unique()], names=["dataset", "repeat"]
    )
    columns = pd.Index(scores["model"].unique(), name="model")
    wide = values.pivot(index=["dataset", "repeat"], columns="model", values=metric)
    wide = wide.reindex(index=rows, columns=columns).astype(np.float64)
    rates = None if noise_rate is None else [noise_rate, 0.0] if metric in PAIRED else [noise_rate]
    missing = _reasons(wide, scores, metric if metric in scores else measure, rates)
    wide.attrs = {"missing": missing, "domains": domains_of(scores)}
    return wide


def resolve_noise_kind(scores: pd.DataFrame, noise_kind: str | None) -> str:
    """Return the requested kind of noise, or the single kind of the scores; raise a ValueError otherwise."""
    kinds = [str(name) for name in scores["noise_kind"].unique()]
    if noise_kind is None and len(kinds) == 1:
        return kinds[0]
    if noise_kind is None and kinds:
        raise ValueError(f"there are several kinds of noise; noise_kind must be one of {', '.join(kinds)}")
    if noise_kind not in kinds:
        raise ValueError(
            f"noise_kind must be one of {', '.join(kinds) or 'none: no scores'}, got {noise_kind!r}"
        )
    return str(noise_kind)


def _only_rate(values: pd.DataFrame, noise_rate: float | None) -> float:
    rates = np.unique(values["noise_rate"])
    return float(rates[0]) if noise_rate is None and rates.size == 1 else resolve_noise_rate(rates, noise_rate)


def resolve_noise_rate(rates: NDArray[np.float64], noise_rate: Any, under: str = "") -> float:
    """Return the rate equal to the requested one up to rounding; otherwise raise a ValueError.

    `under` ends the list of allowed rates in its message.
    """
    matches = rates[np.isclose(rates, noise_rate)] if is_real(noise_rate) else rates[:0]
    if matches.size == 0:
        allowed = ", ".join(f"{rate:g}" for rate in rates)
        raise ValueError(f"noise_rate must be one of {allowed}{under}, got {noise_rate!r}")
    return float(matches[0])


def _reasons(
    wide: pd.DataFrame, scores: pd.DataFrame, measure: str, rates: list[float] | None
) -> dict[str, dict[str, str]]:
    """Why models have no mean, per data set and model."""
    datasets = wide.index.get_level_values("dataset").unique()
    n_missing = np.isnan(by_dataset(wide)).sum(axis=1)
    n_repeats = wide.index.get_level_values("repeat").nunique()
    errors = scores[scores["error"].notna()] if "error" in scores else scores[:0].assign(error=None)
    if rates is not None:
        errors = errors[np.isclose(errors["noise_rate"].to_numpy()[:, None], rates).any(axis=1)]
    reasons: dict[str, dict[str, str]] = {}
    for i, j in zip(*n_missing.nonzero(), strict=True):
        dataset, model, n = str(datasets[i]), str(wide.columns[j]), n_missing[i, j]
        own = errors[(errors["dataset"] == dataset) & (errors["model"] == model)]
        failed = own[own["error"] != NOT_FITTED]
        n_waiting = len(set(own["repeat"]) - set(failed["repeat"]))
        clauses = []
        if n_waiting:
            repeats = "" if n_repeats == 1 else f" in {n_waiting} of {n_repeats} repeats"
            clauses.append(f"is {NOT_FITTED}{repeats}")
        if len(failed) or not n_waiting:
            what = "failed" if len(failed) else f"has no {measure.replace('_', ' ')}"
            repeats = "" if n_repeats == 1 else f" in {n - n_waiting} of {n_repeats} repeats"
            why = f": {shortened(str(failed['error'].iloc[0]), MAX_ERROR).rstrip('.')}" if len(failed) else ""
            clauses.append(f"{what}{repeats}{why}")
        reasons.setdefault(dataset, {})[model] = ", and ".join(clauses)
    return reasons


def complete(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str], dict[str, str]]:
    """Keep the data sets on which every model has a value; models without any value are left out.

    Parameters
    ----------
    table : DataFrame
        As `score_table` or `repeat_table` returns it.

    Returns
    -------
    table : DataFrame
        The complete data sets.
    dropped : dict of str to str
        The other data sets, and why.
    left_out : dict of str to str
        Models without any value, and why.
    """
    missing: Mapping[str, Mapping[str, str]] = table.attrs.get("missing", {})
    empty = table.isna().all()
    sets = table.index.get_level_values(0)
    left_out = {}
    for model in table.columns[empty]:
        reasons = [missing[name][model] for name in sets.unique() if model in missing.get(name, {})]
        left_out[str(model)] = reasons[0] if reasons else NO_VALUE
    table = table.loc[:, ~empty]
    dropped = {}
    incomplete = sets[table.isna().any(axis=1)].unique()
    for name in incomplete:
        known = missing.get(str(name), {})
        models = [str(model) for model in table.columns[table[sets == name].isna().any()]]
        dropped[str(name)] = "; ".join(f"{model} {known.get(model, NO_VALUE)}" for model in models)
    return table[~sets.isin(incomplete)], dropped, left_out


def compared(
    table: pd.DataFrame, control: str | None = None
) -> tuple[pd.DataFrame, dict[str, str], dict[str, str]]:
    """The rows that models are compared over: complete data sets, or the means of their domains.

    Parameters
    ----------
    table : DataFrame
        As `score_table` returns it.
    control : str or None, default=None
        A model that must have values.

    Returns
    -------
    table, dropped, left_out
        As from `complete`.  If the data sets have domains, there is one row per domain; see `domain_means`.

    Raises
    ------
    ValueError
        If there is no such control, or it has no values.
    """
    if control is not None and control not in table.columns:
        raise ValueError(f"control must be one of {', '.join(map(str, table.columns))}, got {control!r}")
    whole, dropped, left_out = complete(table)
    if control in left_out:
        raise ValueError(f"control {control!r} cannot be compared: {left_out[str(control)]}")
    return domain_means(whole, table.attrs.get("domains", {})), dropped, left_out


def rank_table(table: pd.DataFrame, *, higher_is_better: bool) -> pd.DataFrame:
    """Rank the models on each data set: 1 is the best, ties share the mean of their ranks.

    If the data sets have domains, models are ranked by their means in each domain.

    Parameters
    ----------
    table : DataFrame
        As `score_table` returns it.
    higher_is_better : bool

    Returns
    -------
    DataFrame
        Ranks in the same rows and columns, or in one row per domain.  A data set on which a model has no value
        has no ranks, and does not count in its domain; models without any value are left out.
    """
    from scipy.stats import rankdata

    whole, _, _ = compared(table)
    values = rounded(whole.to_numpy(dtype=np.float64))
    ranks = rankdata(-values if higher_is_better else values, axis=1) if values.size else values
    result = pd.DataFrame(ranks, whole.index, whole.columns).reindex(columns=table.columns)
    if whole.index.name == table.index.name:
        result = result.reindex(table.index)
    result.attrs = table.attrs
    return result


def best_of(table: pd.DataFrame, *, higher_is_better: bool) -> str | None:
    """The model with the best mean rank; None without values."""
    ranks = rank_table(table, higher_is_better=higher_is_better)
    return str(ranks.mean().idxmin()) if table.size else None


def differences_of(
    table: pd.DataFrame, pairs: Sequence[tuple[str | None, str]], higher_is_better: bool
) -> NDArray[np.float64]:
    """Differences of pairs of models, one row per pair; positive where the first model is better."""
    if not pairs:
        return np.empty((0, len(table)))
    first, second = (
        table.columns.get_indexer(pd.Index([name for pair in pairs for name in pair])).reshape(-1, 2).T
    )
    values = table.to_numpy(dtype=np.float64)
    differences = rounded(values[:, first] - values[:, second], like=values).T
    return differences if higher_is_better else -differences


def rounded(values: NDArray[np.float64], like: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Round off the last digits, which depend on the order of summation.

    Digits are counted from the largest absolute value in `like`, by default in `values`.
    """
    scale = float(np.abs(values if like is None else like).max(initial=0.0))
    return np.round(values / scale, DIGITS) * scale if scale > 0 else values
