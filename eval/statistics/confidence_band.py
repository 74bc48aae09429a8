"""Confidence bands of curves: how much a mean varies over repeats, or over data sets.

References
----------
.. [1] Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2,
       1946.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._numbers import check_fraction
from ..metrics.curves import per_repeat
from ..metrics.domains import count_units, domain_means, domain_weights, domains_of, weigh_domains
from ..metrics.registry import REGISTRY
from .result import too_few_remark
from .shared_test_rows import row_values, sum_of_variances, variance_of_rows

FEWEST = 3  # repeats, data sets or domains; with two, intervals are six times as wide


def confidence_band(
    scores: pd.DataFrame,
    metric: str,
    *,
    measure: str = "accuracy",
    over: Literal["repeats", "datasets"] = "repeats",
    by_dataset: bool = False,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Confidence band of the curve of `mean_curve`, or of the curves of `curve`.

    At each rate the band is a t interval of the mean.  Over repeats, it shows how much other splits and noise
    draws on these data sets would move the curve; over data sets, how much other data sets would.  Robustness
    metrics pair A_0 and A_v within a repeat.

    The variance of a mean over n values is their sample variance, divided by n.  The repeats of different data
    sets are unrelated, so the variance of a mean over K data sets is the sum of their variances, divided by
    K^2, and the degrees of freedom are those of Welch and Satterthwaite [1]_.  A 95 % band contains the mean of
    normally distributed values in 95 % of cases, with three repeats too; in 93 % if there are three of three
    data sets and one of these varies most.  Repeats on random splits of the same rows are not independent, so
    bands over repeats are somewhat too narrow.

    Domains of data sets count alike, see `mean_curve`; a band over data sets is then one over domains.

    Where the repeats of a data set share their test rows, the variance over the rows is added, for metrics
    computed from the accuracy; see `shared_test_rows`.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.
    over : {"repeats", "datasets"}, default="repeats"
        What the mean varies over.
    by_dataset : bool, default=False
        Compute a separate band for each data set, over its repeats.
    confidence : float, default=0.95
        Nominal coverage of the mean.

    Returns
    -------
    DataFrame
        One row per kind of noise, rate and model, and per data set with `by_dataset`: ``noise_kind``,
        ``noise_rate`` (the area under ELA has none), ``model``, the mean under the metric's name, ``low``,
        ``high``.  NaN where a data set or a repeat is missing, as in `mean_curve`.  With fewer than three
        repeats or data sets, ``low`` and ``high`` are NaN and ``attrs["remark"]`` says so.

    Raises
    ------
    ValueError
        If an argument has an invalid value.
    """
    if over not in ("repeats", "datasets"):
        raise ValueError(f"over must be 'repeats' or 'datasets', got {over!r}")
    if by_dataset and over != "repeats":
        raise ValueError("over must be 'repeats' if by_dataset is set, got 'datasets'")
    check_fraction("confidence", confidence)
    values = per_repeat(scores, metric, measure)
    domains = {} if by_dataset else domains_of(values)
    if over == "repeats" and not by_dataset:
        values = weigh_domains(values, metric)
    unit = "repeat" if over == "repeats" else "dataset"
    averaged = None if over == "repeats" else "repeat"
    lines = [name for name in ("dataset", "noise_kind", "noise_rate", "model") if name in values]
    if not by_dataset:
        lines.remove("dataset")
    strata = ["dataset"] if over == "repeats" and not by_dataset else []
    rows = row_values(scores, metric, measure) if over == "repeats" else {}
    shares = metric == "accuracy"
    added = {line: (variance_of_rows(x, are_shares=shares), x.size - 1.0) for line, x in rows.items()}
    if domains:
        added = _weighted(added, values)
    bands = [
        _band_of_kind(of_kind, metric, lines, unit, strata, averaged, confidence, added, domains)
        for _, of_kind in values.groupby("noise_kind", sort=False)
    ]
    table = pd.concat(bands, ignore_index=True)
    n, what = int(values.groupby("noise_kind")[unit].nunique().min()), "repeat"
    if over == "datasets":
        n, what = min(count_units(of_kind) for _, of_kind in values.groupby("noise_kind"))
    if n < FEWEST:
        table.attrs["remark"] = too_few_remark(n, what, f"a band over {what}s", FEWEST)
    return table


def _band_of_kind(
    values: pd.DataFrame,
    metric: str,
    lines: list[str],
    unit: str,
    strata: list[str],
    averaged: str | None,
    confidence: float,
    added: dict[tuple[Any, ...], tuple[float, float]],
    domains: dict[str, str],
) -> pd.DataFrame:
    """Means and bands of the lines under one kind of noise.  Means over incomplete data are NaN."""
    means = values.groupby([*lines, *strata, unit], sort=False)[metric].agg(["mean", "count"])
    n_expected = 1 if averaged is None else values[averaged].nunique()
    wide = means["mean"].where(means["count"] == n_expected).unstack([*strata, unit])
    # Restore the order of the scores.
    index: Any = means.index
    drawn = [values[name].unique() for name in (*strata, unit)]
    columns = pd.MultiIndex.from_product(drawn) if strata else drawn[0]
    wide = wide.reindex(index=index.droplevel([*strata, unit]).unique(), columns=columns)
    table = wide.index.to_frame(index=False)
    if averaged is not None:
        wide = domain_means(wide.T, domains).T
    array = wide.to_numpy(dtype=np.float64).reshape(len(wide), len(drawn[0]) if strata else 1, -1)
    table[metric] = array.mean(axis=1).mean(axis=1)  # summed in the same order as in `mean_curve`
    of_strata: list[tuple[Any, ...]] = [(name,) for name in drawn[0]] if strata else [()]
    shared = [[added.get((*stratum, *line), (0.0, 1.0)) for stratum in of_strata] for line in wide.index]
    interval = mean_interval(array, confidence, np.array(shared))
    table["low"], table["high"] = np.clip(interval, REGISTRY[metric].minimum, REGISTRY[metric].maximum)
    return table


def _weighted(
    added: dict[tuple[Any, ...], tuple[float, float]], values: pd.DataFrame
) -> dict[tuple[Any, ...], tuple[float, float]]:
    """Variances of the data sets' means, each times the square of the data set's weight."""
    weights = {
        (name, kind): weight
        for kind, of_kind in values.groupby("noise_kind")
        for name, weight in domain_weights(of_kind).items()
    }
    return {line: (weights[line[:2]] ** 2 * variance, n) for line, (variance, n) in added.items()}


def mean_interval(
    values: NDArray[np.float64], confidence: float = 0.95, added: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of means; see `confidence_band`.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_strata, n)
        The mean of a line is taken over strata and columns.  The strata are unrelated.
    confidence : float, default=0.95
    added : ndarray of shape (n_lines, n_strata, 2) or None, default=None
        Further variance of the mean of each stratum, and its degrees of freedom.

    Returns
    -------
    low, high : ndarray of shape (n_lines,)
    """
    from scipy.stats import t

    n_lines, n_strata, n = values.shape
    if n < FEWEST or not n_lines:
        return np.full(n_lines, math.nan), np.full(n_lines, math.nan)
    means = values.mean(axis=1).mean(axis=1)  # summed in the same order as in `mean_curve`
    variances, freedom = values.var(axis=2, ddof=1) / n, np.full((n_lines, n_strata), n - 1.0)
    if added is not None:
        variances, freedom = (
            np.concatenate([own, more], axis=1)
            for own, more in zip((variances, freedom), np.moveaxis(added, 2, 0), strict=True)
        )
    variance, freedom = sum_of_variances(variances, freedom)
    half = t.ppf((1 + confidence) / 2, freedom) * np.sqrt(variance) / n_strata
    return means - half, means + half
