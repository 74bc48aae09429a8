"""Robustness metrics: how much accuracy a model keeps as labels get noisier.

With A_0 the accuracy without injected noise and A_v that at level v: the equalised loss of accuracy
``ELA_v = (1 - A_v) / A_0``, which counts what a model gets wrong from the start, and the relative loss of
accuracy ``RLA_v = (A_0 - A_v) / A_0``, which does not and may flatter a poor learner or fall below zero.
``ELA_v = RLA_v + ELA_0``.  Retention is ``A_v / A_0 = 1 - RLA_v``; the area under ELA is its mean over the
noise rates, one number for a whole curve.  In place of the accuracy any measure may stand of which 1 is the
best and 0 the worst.

References
----------
.. [1] Saez, Luengo & Herrera, "Evaluating the classifier behavior with noisy data considering performance and
       robustness: the Equalized Loss of Accuracy measure", Neurocomputing 176, 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

MEASURES = (
    "accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "log_loss", "leaves", "depth", "fit_seconds",
    "predict_seconds",
)  # fmt: skip
SMALLEST_BASELINE = 1e-100  # a smaller one counts as 0, for what is divided by it may be infinite
CELL = ["dataset", "noise_kind", "model", "repeat"]


def ela(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Equalised loss of accuracy, ``(1 - A_v) / A_0`` [1]_; the lower the better, never negative.

    Parameters
    ----------
    accuracy : array-like
        A_v, in [0, 1].
    baseline : array-like
        A_0, without injected noise; the shapes broadcast.

    Returns
    -------
    ndarray
        NaN where the baseline is 0 or either accuracy is missing.

    Examples
    --------
    >>> from boostnoise.eval import ela
    >>> float(ela(0.6, 0.8))
    0.5
    """
    return _over_baseline(1.0 - np.asarray(accuracy, dtype=np.float64), baseline)


def rla(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Relative loss of accuracy, ``(A_0 - A_v) / A_0`` [1]_; negative where noise helped.

    Parameters and missing values are those of `ela`.
    """
    loss = np.asarray(baseline, dtype=np.float64) - np.asarray(accuracy, dtype=np.float64)
    return _over_baseline(loss, baseline)


def retention(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Share of the accuracy that is kept, ``A_v / A_0``; above 1 where noise helped.

    Parameters and missing values are those of `ela`.
    """
    return _over_baseline(np.asarray(accuracy, dtype=np.float64), baseline)


def area_under_ela(ela: ArrayLike, noise_rate: ArrayLike) -> float:
    """Area under the curve of ELA by the trapezoidal rule, divided by the range of the noise rates.

    Parameters
    ----------
    ela, noise_rate : array-like of shape (n_rates,)
        In any order.

    Returns
    -------
    float
        A mean ELA; NaN where one is missing, or there are not two rates.

    Examples
    --------
    >>> from boostnoise.eval import area_under_ela
    >>> area_under_ela([0.2, 0.3, 0.7], [0.0, 0.1, 0.4])
    0.4375
    """
    ela, rates = np.asarray(ela, dtype=np.float64), np.asarray(noise_rate, dtype=np.float64)
    if ela.shape != rates.shape:
        raise ValueError(f"ela and noise_rate must have the same shape, got {ela.shape} and {rates.shape}")
    if rates.size == 0 or np.ptp(rates) == 0:
        return float("nan")
    order = np.argsort(rates)
    return float(np.trapezoid(ela[order], rates[order]) / np.ptp(rates))


def _over_baseline(loss: NDArray[np.float64], baseline: ArrayLike) -> NDArray[np.float64]:
    baseline = np.asarray(baseline, dtype=np.float64)
    return loss / np.where(baseline > SMALLEST_BASELINE, baseline, np.nan)


PAIRED = {"ela": ela, "rla": rla, "retention": retention}
METRICS = (*MEASURES, *PAIRED, "area_under_ela")


def per_repeat(scores: pd.DataFrame, metric: str, of: str = "accuracy") -> pd.DataFrame:
    """A metric of every cell, A_0 and A_v paired within the same repeat.

    Parameters
    ----------
    scores : DataFrame
        As `run` returns it.
    metric : str
        A measure, which is a column of the scores; ``"ela"``, ``"rla"``, ``"retention"``, ``"area_under_ela"``.
    of : str, default="accuracy"
        The measure that stands for the accuracy in the latter four.

    Returns
    -------
    DataFrame
        The scores with a column named after the metric.  For the area one row for each data set, kind of noise,
        model and repeat.

    Raises
    ------
    ValueError
        If the metric is unknown, or the scores lack the measure.
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    measure = metric if metric in MEASURES else of
    if measure not in MEASURES or measure not in scores:
        there = ", ".join(name for name in MEASURES if name in scores)
        raise ValueError(f"the scores have no measure {measure!r}, but {there}")
    if metric in MEASURES:
        return scores.copy()
    if metric == "area_under_ela":
        groups = per_repeat(scores, "ela", of).groupby(CELL, sort=False)
        areas = [(*key, area_under_ela(group["ela"], group["noise_rate"])) for key, group in groups]
        return pd.DataFrame(areas, columns=[*CELL, metric])
    clean = scores.loc[scores["noise_rate"] == 0, [*CELL, of]].rename(columns={of: "baseline"})
    paired = scores.merge(clean, on=CELL, how="left")
    paired[metric] = PAIRED[metric](paired[of].to_numpy(), paired["baseline"].to_numpy())
    return paired.drop(columns="baseline")


def curve(scores: pd.DataFrame, metric: str, of: str = "accuracy") -> pd.DataFrame:
    """A metric against the noise rate, for each data set and model.

    A model that lacks a repeat has no mean: one over other splits than the rest could not be compared.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.

    Returns
    -------
    DataFrame
        One row per data set, kind of noise, rate and model: the mean over repeats under the metric's name,
        ``std``, their sample standard deviation, and ``repeats``, the number of repeats with a value.  The area
        under ELA has no rate.
    """
    values = per_repeat(scores, metric, of)
    by = [name for name in ("dataset", "noise_kind", "noise_rate", "model") if name in values]
    return _over_repeats(values.groupby(by, sort=False)[metric], metric)


def mean_curve(scores: pd.DataFrame, metric: str, of: str = "accuracy") -> pd.DataFrame:
    """A metric against the noise rate, averaged over the data sets.

    Within each repeat the data sets are averaged, then the repeats; the spread is that of the repeats.  A model
    that lacks a data set or a repeat has no mean: one over other data sets or splits than the rest could not be
    compared.

    Parameters
    ----------
    scores, metric, of
        See `per_repeat`.

    Returns
    -------
    DataFrame
        One row per kind of noise, rate and model: the mean under the metric's name, ``std``, the sample
        standard deviation over repeats, and ``repeats``, the number of repeats with a value.  The area under
        ELA has no rate.
    """
    values = per_repeat(scores, metric, of)
    by = [name for name in ("noise_kind", "noise_rate", "model") if name in values]
    repeats = values.groupby([*by, "repeat"], sort=False)[metric]
    averaged = repeats.mean().where(repeats.count() == repeats.size())
    groups = averaged.groupby(by, sort=False)
    return _over_repeats(groups, metric)


def _over_repeats(groups: Any, metric: str) -> pd.DataFrame:
    table: pd.DataFrame = groups.agg(["mean", "std", "count"])
    table.loc[table["count"] < groups.size(), ["mean", "std"]] = np.nan
    return table.rename(columns={"mean": metric, "count": "repeats"}).reset_index()
