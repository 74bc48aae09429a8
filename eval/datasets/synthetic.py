"""Synthetic data sets with two features, two separable classes and no label noise.

From Table 1 of Ghosh, Manwani & Sastry, "On the Robustness of Decision Tree Learning under Label Noise" (2017).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Points = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_synthetic(name: str, seed: int = 0) -> Points:
    """Draw a synthetic data set.

    Parameters
    ----------
    name : str
        `checkerboard2x2`, `checkerboard4x4`: 30,000 rows, uniform on a board of unit squares with alternating
        classes; the square at the origin is positive.
        `imbalanced_linear`: 40,000 rows; 90 % are positive and uniform on [0, 0.5] x [0, 1], the others uniform
        on [0.5, 1] x [0, 1].
        `imbalanced_asymmetric_linear`: 40,000 rows; 80 % are positive and uniform on [0, 0.5] x [0, 1], the
        others uniform on [0.5, 0.7] x [0.4, 0.6].
    seed : int, default=0
        Random seed.

    Returns
    -------
    X : float64 array of shape (n_samples, 2)
    y : int64 array of shape (n_samples,)
        1 for positive, 0 for negative.
    """
    rng = np.random.RandomState(seed)
    match name:
        case "checkerboard2x2":
            return _checkerboard(rng, 2)
        case "checkerboard4x4":
            return _checkerboard(rng, 4)
        case "imbalanced_linear":
            return _rectangles(rng, 0.9, [0.5, 0.0], [1.0, 1.0])
        case "imbalanced_asymmetric_linear":
            return _rectangles(rng, 0.8, [0.5, 0.4], [0.7, 0.6])
        case _:
            raise ValueError(f"unknown synthetic data set {name!r}")


def _checkerboard(rng: np.random.RandomState, side: int) -> Points:
    X = rng.uniform(0, side, (30_000, 2))
    return X, (np.floor(X).sum(axis=1) % 2 == 0).astype(np.int64)


def _rectangles(
    rng: np.random.RandomState, positive: float, low: Sequence[float], high: Sequence[float]
) -> Points:
    """Positive rows on [0, 0.5] x [0, 1] with probability `positive`, else negative rows on [low, high]."""
    n_rows = 40_000
    y = (rng.uniform(size=n_rows) < positive).astype(np.int64)
    is_positive = y[:, None] == 1
    lower = np.where(is_positive, [0.0, 0.0], low)
    upper = np.where(is_positive, [0.5, 1.0], high)
    return rng.uniform(lower, upper), y
