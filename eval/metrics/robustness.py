"""Robustness metrics: how much accuracy a model keeps as labels get noisier.

Let A_0 be the accuracy without injected noise and A_v the accuracy at noise rate v.  The equalised loss of
accuracy ``ELA_v = (1 - A_v) / A_0`` counts the errors that a model makes without noise.  The relative loss of
accuracy ``RLA_v = (A_0 - A_v) / A_0`` ignores them, so it may flatter a poor learner, and it is negative where
noise helps.  ``ELA_v = RLA_v + ELA_0``.  Retention is ``A_v / A_0 = 1 - RLA_v``.  The area under ELA is its
mean over the noise rates, one number per curve.  Any measure with best value 1 and worst value 0 can replace
the accuracy.

References
----------
.. [1] Saez, Luengo & Herrera, "Evaluating the classifier behavior with noisy data considering performance and
       robustness: the Equalized Loss of Accuracy measure", Neurocomputing 176, 2016.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_BASELINE = 1e-100  # smaller baselines count as 0: dividing by them may overflow


def ela(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Equalised loss of accuracy, ``(1 - A_v) / A_0`` [1]_.  Lower is better; never negative.

    Parameters
    ----------
    accuracy : array-like
        A_v, in [0, 1].
    baseline : array-like
        A_0, the accuracy without injected noise.  The shapes broadcast.

    Returns
    -------
    ndarray
        NaN where the baseline is 0 or an accuracy is missing.

    Examples
    --------
    >>> from boostnoise.eval import ela
    >>> float(ela(0.6, 0.8))
    0.5
    """
    return _over_baseline(1.0 - np.asarray(accuracy, dtype=np.float64), baseline)


def rla(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Relative loss of accuracy, ``(A_0 - A_v) / A_0`` [1]_; negative where noise helps.

    Parameters and missing values are those of `ela`.
    """
    loss = np.asarray(baseline, dtype=np.float64) - np.asarray(accuracy, dtype=np.float64)
    return _over_baseline(loss, baseline)


def retention(accuracy: ArrayLike, baseline: ArrayLike) -> NDArray[np.float64]:
    """Share of the accuracy kept, ``A_v / A_0``; above 1 where noise helps.

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
        Mean ELA; NaN if a value is missing, or there are fewer than two different rates.

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
    return loss / np.where(baseline > MIN_BASELINE, baseline, np.nan)
