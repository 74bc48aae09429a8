"""Data sets whose repeats share their test rows: what other rows, and other fits, would change.

The repeats of such a data set differ in noise, seeds and maybe training rows.  Their spread says nothing about
other test rows, so the variance of a mean is that over the rows plus that over the repeats, with the degrees of
freedom of Satterthwaite [1]_.  This counts the part that differs by row and repeat twice, which is cautious.

References
----------
.. [1] Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2,
       1946.
.. [2] Agresti & Coull, "Approximate Is Better than 'Exact' for Interval Estimation of Binomial Proportions",
       The American Statistician 52, 1998.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..metrics.correct_rows import unpack_rows
from ..metrics.registry import MEASURES, PAIRED
from ..metrics.robustness import area_under_ela

Floats = NDArray[np.float64]

LINE = ["dataset", "noise_kind", "noise_rate", "model"]
STEP = 1e-4  # of numerical derivatives
MAX_EXACT = 500  # rows that two models predict differently


def shares_test_rows(scores: pd.DataFrame) -> pd.Series[bool]:
    """Whether each cell has the test rows that all repeats share."""
    if "correct_rows" not in scores:
        return pd.Series(False, scores.index)
    return scores["correct_rows"].notna()


def has_row_values(metric: str, measure: str = "accuracy") -> bool:
    """Whether a metric is the accuracy, or computed from it."""
    return metric == "accuracy" or (measure == "accuracy" and metric not in MEASURES)


def row_values(scores: pd.DataFrame, metric: str, measure: str = "accuracy") -> dict[tuple[Any, ...], Floats]:
    """Contribution of each test row to a metric, averaged over the repeats; its mean is the metric.

    A robustness metric is linearised in A_v and A_0.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.

    Returns
    -------
    dict of tuple to ndarray
        By data set, kind of noise, rate (not for the area under ELA) and model; only lines with all repeats
        and two or more rows.  Empty for metrics that are not computed from the accuracy.
    """
    if not has_row_values(metric, measure):
        return {}
    if metric == "area_under_ela":
        return _areas(row_values(scores, "ela"))
    lines = {
        line: np.array([unpack_rows(text) for text in cells.sort_values("repeat")["correct_rows"]], dtype=float)
        for line, cells in scores[shares_test_rows(scores)].groupby(LINE, sort=False)
        if len(cells) == scores.loc[scores["noise_kind"] == line[1], "repeat"].nunique()
        and cells["correct_rows"].str.partition(" ")[0].nunique() == 1
    }
    lines = {line: correct for line, correct in lines.items() if correct.shape[1] > 1}
    if metric == "accuracy":
        return {line: correct.mean(axis=0) for line, correct in lines.items()}
    clean = {(*line[:2], line[3]): correct for line, correct in lines.items() if line[2] == 0}
    return {
        line: _linearised(metric, correct, clean[*line[:2], line[3]])
        for line, correct in lines.items()
        if (*line[:2], line[3]) in clean
    }


def _linearised(metric: str, noisy: Floats, clean: Floats) -> Floats:
    """Contributions of the rows, from arrays of repeats and rows."""
    function = PAIRED[metric]
    accuracy, baseline = noisy.mean(axis=1, keepdims=True), clean.mean(axis=1, keepdims=True)
    by_accuracy, by_baseline = (
        (function(accuracy + a, baseline + b) - function(accuracy - a, baseline - b)) / (2 * STEP)
        for a, b in ((STEP, 0), (0, STEP))
    )
    moved = by_accuracy * (noisy - accuracy) + by_baseline * (clean - baseline)
    return np.asarray((function(accuracy, baseline) + moved).mean(axis=0))


def _areas(ela: dict[tuple[Any, ...], Floats]) -> dict[tuple[Any, ...], Floats]:
    curves: dict[tuple[Any, ...], dict[float, Floats]] = {}
    for (dataset, kind, rate, model), rows in ela.items():
        curves.setdefault((dataset, kind, model), {})[rate] = rows
    areas = {}
    for line, by_rate in curves.items():
        weights = [area_under_ela(unit, list(by_rate)) for unit in np.eye(len(by_rate))]
        areas[line] = np.tensordot(weights, list(by_rate.values()), axes=1)
    return areas


def row_values_at(
    scores: pd.DataFrame,
    metric: str,
    noise_rate: float | None,
    noise_kind: str | None,
    measure: str = "accuracy",
) -> dict[tuple[str, str], Floats]:
    """`row_values` at one noise rate, by data set and model; see `score_table` for the arguments."""
    if noise_kind is not None:
        scores = scores[scores["noise_kind"] == noise_kind]
    if noise_rate is not None:
        scores = scores[np.isclose(scores["noise_rate"], noise_rate) | (scores["noise_rate"] == 0)]
    found = row_values(scores, metric, measure)
    return {
        (line[0], line[-1]): rows
        for line, rows in found.items()
        if noise_rate is None or math.isclose(line[2], noise_rate, rel_tol=1e-5, abs_tol=1e-8)
    }


def variance_of_rows(rows: Floats, *, are_shares: bool) -> float:
    """Variance of the mean of rows.

    Parameters
    ----------
    rows : ndarray
        As `row_values` returns them.
    are_shares : bool
        Whether the mean is a share of the rows.  It then varies at least as much as if two more rows counted
        and two more did not [2]_, since a share of 0 or 1 has no variance of its own.
    """
    if rows.size < 2:
        return math.nan
    variance = float(rows.var(ddof=1)) / rows.size
    if not are_shares:
        return variance
    share = float(rows.sum() + 2) / (rows.size + 4)
    return max(variance, share * (1 - share) / (rows.size + 4))


def sum_of_variances(variances: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Sum of independent variances over the last axis, and its degrees of freedom [1]_."""
    total = variances.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        combined = total**2 / (variances**2 / freedom).sum(axis=-1)
    # 0 / 0 where there is no variance, whatever the degrees of freedom.
    return total, np.where(total == 0, np.broadcast_to(freedom, variances.shape).max(axis=-1), combined)


def row_interval(rows: Floats, repeats: Floats, *, are_shares: bool, confidence: float) -> tuple[float, float]:
    """Interval of a mean, from the variance over rows and, if there are several, over repeats.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        As `row_values` returns them.
    repeats : ndarray of shape (n_repeats,)
        Values of the metric.
    are_shares : bool
        See `variance_of_rows`.
    confidence : float
    """
    from scipy.stats import t

    n = repeats.size
    of_repeats = [(float(repeats.var(ddof=1)) / n, n - 1)] if n > 1 else []
    parts = np.array([(variance_of_rows(rows, are_shares=are_shares), rows.size - 1), *of_repeats])
    variance, freedom = sum_of_variances(*parts.T)
    half = float(t.ppf((1 + confidence) / 2, freedom) * np.sqrt(variance))
    return float(repeats.mean()) - half, float(repeats.mean()) + half


def row_test(rows: Floats, repeats: Floats, *, are_shares: bool) -> float:
    """P-value of the two-sided test that the mean of differences between two models is 0.

    The larger one of two p-values: by Student's distribution, with the variance over rows and repeats; and for
    shares by flipping the signs of rows, which is exact for few rows and McNemar's exact test if all repeats
    are alike.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Differences of `row_values`.
    repeats : ndarray of shape (n_repeats,)
        Differences of the metric.
    are_shares : bool
        Whether the metric is a share of the rows.
    """
    from scipy.stats import t

    n, m = rows.size, repeats.size
    variance, freedom = sum_of_variances(
        np.array([rows.var(ddof=1) / n, repeats.var(ddof=1) / m]), np.array([n - 1, m - 1])
    )
    mean = float(repeats.mean())
    p_value = float(mean == 0)
    if variance > 0:
        p_value = 2 * float(t.sf(abs(mean) / math.sqrt(variance), freedom))
    moved = np.rint(rows * m).astype(int)
    if are_shares and 0 < np.count_nonzero(moved) <= MAX_EXACT:
        p_value = max(p_value, sign_flip_p_value(np.abs(moved), moved > 0))
    return p_value


def sign_flip_p_value(sizes: NDArray[np.int64], positive: NDArray[np.bool_]) -> float:
    """Exact two-sided p-value of the sum of sizes with a positive sign, if all signs are equally likely."""
    null = np.ones(1)
    for size in sizes[sizes > 0]:
        null = (np.pad(null, (0, size)) + np.pad(null, (size, 0))) / 2
    won = sizes[positive].sum()
    return min(1.0, 2 * float(min(null[: won + 1].sum(), null[won:].sum())))
