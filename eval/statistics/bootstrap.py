"""Bootstrap bands of curves: how much a mean varies over repeats, or over data sets.

References
----------
.. [1] Efron & Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993.
.. [2] Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015.
.. [3] Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2,
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
from .result import too_few_remark

FEWEST = 3  # repeats or data sets; fewer are not resampled


def bootstrap_band(
    scores: pd.DataFrame,
    metric: str,
    *,
    measure: str = "accuracy",
    over: Literal["repeats", "datasets"] = "repeats",
    by_dataset: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Bootstrap band [1]_ of the curve of `mean_curve`, or of the curves of `curve`.

    Repeats or data sets are drawn with replacement, the same ones for all models and noise rates.  At each rate
    the band spans the central quantiles of the resampled means.  Over repeats, it shows how much other splits
    and noise draws on these data sets would move the curve; over data sets, how much other data sets would.
    Repeats are drawn separately for each data set, because the repeats of different data sets are unrelated.
    Robustness metrics pair A_0 and A_v within a repeat before resampling.

    The quantiles are those of the expanded percentile interval [2]_, ``Phi(-sqrt(n / (n - 1)) t)``, where n is
    the number of units drawn from and t the quantile of Student's distribution.  With few units, plain
    quantiles make the band too narrow: its width is that of a variance divided by n, not by n - 1.  The
    distribution has n - 1 degrees of freedom, or for the repeats of several data sets those of Welch and
    Satterthwaite [3]_.  With few repeats the band is rough: for normally distributed values, a 95 % band
    contains the mean of one data set in 75, 87 and 92 % of cases with 3, 4 and 5 repeats, the mean over three
    equal data sets with 3 repeats in 94 %, and the mean over three data sets of which one varies most in 87 %.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.
    over : {"repeats", "datasets"}, default="repeats"
        The units that are resampled.
    by_dataset : bool, default=False
        Compute a separate band for each data set, over its repeats.
    confidence : float, default=0.95
        Nominal coverage of the mean.
    n_resamples : int, default=2000
    seed : int, default=0
        The same seed gives the same band.

    Returns
    -------
    DataFrame
        One row per kind of noise, rate and model, and per data set with `by_dataset`: ``noise_kind``,
        ``noise_rate`` (the area under ELA has none), ``model``, the mean under the metric's name, ``low``,
        ``high``.  NaN where a data set or a repeat is missing, as in `mean_curve`.  With fewer than three units
        to resample, ``low`` and ``high`` are NaN and ``attrs["remark"]`` says so.

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
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}")
    values = per_repeat(scores, metric, measure)
    unit = "repeat" if over == "repeats" else "dataset"
    averaged = None if over == "repeats" else "repeat"
    lines = [name for name in ("dataset", "noise_kind", "noise_rate", "model") if name in values]
    if not by_dataset:
        lines.remove("dataset")
    strata = ["dataset"] if over == "repeats" and not by_dataset else []
    bands = [
        _band_of_kind(of_kind, metric, lines, unit, strata, averaged, (confidence, n_resamples, seed))
        for _, of_kind in values.groupby("noise_kind", sort=False)
    ]
    table = pd.concat(bands, ignore_index=True)
    n = int(values.groupby("noise_kind")[unit].nunique().min())
    if n < FEWEST:
        what = "repeat" if over == "repeats" else "data set"
        table.attrs["remark"] = too_few_remark(n, what, f"a band over {what}s", FEWEST)
    return table


def _band_of_kind(
    values: pd.DataFrame,
    metric: str,
    lines: list[str],
    unit: str,
    strata: list[str],
    averaged: str | None,
    resampling: tuple[float, int, int],
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
    array = wide.to_numpy(dtype=np.float64).reshape(len(wide), -1, len(drawn[-1]))
    table[metric] = array.mean(axis=1).mean(axis=1)  # summed in the same order as in `mean_curve`
    table["low"], table["high"] = mean_band(array, *resampling)
    return table


def mean_band(
    values: NDArray[np.float64], confidence: float = 0.95, n_resamples: int = 2000, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of means; see `bootstrap_band`.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_strata, n)
        The mean of a line is taken over strata and columns.  Columns are resampled, separately in each stratum.
    confidence, n_resamples, seed
        See `bootstrap_band`.

    Returns
    -------
    low, high : ndarray of shape (n_lines,)
    """
    from scipy.stats import norm, t

    n_lines, n_strata, n = values.shape
    low, high = np.full((2, n_lines), math.nan)
    if n < FEWEST or not n_lines:
        return low, high
    variances = values.var(axis=2, ddof=1)
    with np.errstate(invalid="ignore"):
        freedom = (n - 1) * variances.sum(axis=1) ** 2 / (variances**2).sum(axis=1)
    # 0 / 0 where there is no spread; the band then has no width, whatever the degrees of freedom.
    freedom = np.where(np.isnan(freedom), n - 1, freedom)
    tails = norm.cdf(-math.sqrt(n / (n - 1)) * t.ppf((1 + confidence) / 2, freedom))
    drawn = np.random.default_rng(seed).integers(n, size=(n_resamples, n_strata, n))
    weights = np.zeros((n_resamples, n_strata, n))
    np.add.at(weights, (*np.ogrid[:n_resamples, :n_strata, :1][:2], drawn), 1 / (n_strata * n))
    # Not by BLAS, whose sums may depend on the number of threads.
    means = np.einsum("bsn,lsn->lb", weights, values, optimize=False)
    for tail in np.unique(tails):
        rows = tails == tail
        low[rows], high[rows] = np.quantile(means[rows], [tail, 1 - tail], axis=1)
    return low, high
