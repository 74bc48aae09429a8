"""Robustness metrics: how much accuracy a model keeps as labels get noisier.

With A_0 the accuracy without injected noise and A_v that at level v: the equalised loss of accuracy
``ELA_v = (1 - A_v) / A_0``, which counts what a model gets wrong from the start, and the relative loss of
accuracy ``RLA_v = (A_0 - A_v) / A_0``, which does not and may flatter a poor learner or fall below zero.
``ELA_v = RLA_v + ELA_0``.

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


def _over_baseline(loss: NDArray[np.float64], baseline: ArrayLike) -> NDArray[np.float64]:
    baseline = np.asarray(baseline, dtype=np.float64)
    return loss / np.where(baseline > 0, baseline, np.nan)


METRICS: dict[str, Any] = {"accuracy": lambda accuracy, _: accuracy, "ela": ela, "rla": rla}


def per_repeat(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric of every cell, A_0 and A_v paired within the same repeat.

    Parameters
    ----------
    scores : DataFrame
        As `run` returns it.
    metric : {"accuracy", "ela", "rla"}

    Returns
    -------
    DataFrame
        The scores with a column named after the metric.

    Raises
    ------
    ValueError
        If the metric is unknown.
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    clean = scores.loc[scores["noise_rate"] == 0, [*CELL, "accuracy"]].rename(columns={"accuracy": "baseline"})
    paired = scores.merge(clean, on=CELL, how="left")
    paired[metric] = METRICS[metric](paired["accuracy"].to_numpy(), paired["baseline"].to_numpy())
    return paired.drop(columns="baseline")


def curve(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric against the noise rate, for each data set and model.

    Parameters
    ----------
    scores : DataFrame
        As `run` returns it.
    metric : {"accuracy", "ela", "rla"}

    Returns
    -------
    DataFrame
        One row per data set, kind of noise, rate and model: the mean over repeats under the metric's name,
        ``std``, their sample standard deviation, and ``repeats``, the number of repeats with a value.
    """
    by = ["dataset", "noise_kind", "noise_rate", "model"]
    groups = per_repeat(scores, metric).groupby(by, sort=False)[metric]
    return _over_repeats(groups, metric)


def mean_curve(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric against the noise rate, averaged over the data sets.

    Within each repeat the data sets are averaged, then the repeats; the spread is that of the repeats.  A model
    that lacks a data set has no average: one over other data sets than the rest could not be compared.

    Parameters
    ----------
    scores : DataFrame
        As `run` returns it.
    metric : {"accuracy", "ela", "rla"}

    Returns
    -------
    DataFrame
        One row per kind of noise, rate and model: the mean under the metric's name, ``std``, the sample
        standard deviation over repeats, and ``repeats``, the number of repeats with a value.
    """
    by = ["noise_kind", "noise_rate", "model"]
    repeats = per_repeat(scores, metric).groupby([*by, "repeat"], sort=False)[metric]
    averaged = repeats.mean().where(repeats.count() == repeats.size())
    groups = averaged.groupby(by, sort=False)
    return _over_repeats(groups, metric)


def _over_repeats(groups: Any, metric: str) -> pd.DataFrame:
    table: pd.DataFrame = groups.agg(["mean", "std", "count"])
    return table.rename(columns={"mean": metric, "count": "repeats"}).reset_index()
