"""Draw the rows whose labels to check next.

A row is drawn with a probability in proportion to the standard deviation of what its clean label adds to a
measure: rows whose labels are in doubt, of rare classes, and which separate models from one another.  This is
Neyman's allocation [1]_.  All rows have a chance, since the doubt is an estimate.  The draw is systematic along
the labels and the doubt, so that each part of the data has its share.

References
----------
.. [1] Neyman, "On the Two Different Aspects of the Representative Method", Journal of the Royal Statistical
       Society 1934.
.. [2] Zrnic & Candès, "Active Statistical Inference", ICML 2024 (labels by doubt, with known probabilities).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .measures import Predicted, accuracy, balanced_accuracy

Floats = NDArray[np.float64]

AT_RANDOM = 0.15  # part of the probabilities that does not depend on the doubt
TARGETS = (accuracy, balanced_accuracy)


def doubt(predictions: Iterable[Predicted], probabilities: Floats) -> Floats:
    """Standard deviation of what the clean labels of rows add to measures, relative to its mean.

    Parameters
    ----------
    predictions : iterable of Predicted
        Predictions of models for all rows.
    probabilities : float array of shape (n, K)
        Probabilities of the clean classes.

    Returns
    -------
    float array of shape (n,)
        The root of the mean over the measures of each model, and of the differences between a model and the
        mean of all.
    """
    predictions = list(predictions)
    variances = []
    for target in TARGETS:
        slopes = [target(predicted, probabilities).slopes for predicted in predictions]
        mean = np.mean(slopes, axis=0)
        for each in [*slopes, *([one - mean for one in slopes] if len(slopes) > 1 else [])]:
            expected = np.einsum("ik,ik->i", probabilities, each)
            variance = np.einsum("ik,ik->i", probabilities, each**2) - expected**2
            total = variance.mean()
            if total > 0:
                variances.append(np.maximum(variance, 0.0) / total)
    if not variances:
        return np.ones(len(probabilities))
    sizes: Floats = np.sqrt(np.mean(variances, axis=0))
    sizes /= sizes.mean()
    return sizes


def inclusion_probabilities(sizes: Floats, n: int) -> Floats:
    """Probabilities in proportion to sizes that sum to n, at most 1, shape (n_rows,)."""
    certain = np.zeros(sizes.size, dtype=np.bool_)
    while True:
        left = n - certain.sum()
        p = np.where(certain, 1.0, sizes * (left / sizes[~certain].sum() if left else 0.0))
        above = (p >= 1) & ~certain
        if not above.any():
            return p
        certain |= above


def draw_rows(
    doubts: Floats, order: NDArray[np.generic], n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """Draw rows with probabilities that grow with their doubt.

    Parameters
    ----------
    doubts : float array of shape (n_rows,)
        With the mean 1.
    order : array of shape (n_rows,)
        Rows of one value are drawn from in proportion to their probabilities, within one row.
    n : int
        Number of rows to draw, at most all.
    rng : Generator

    Returns
    -------
    rows : int array of shape (n,)
        In random order, so that those who stop before the last one have checked rows at random.
    probabilities : float array of shape (n,)
        Their probabilities of being drawn.
    """
    p = inclusion_probabilities((1 - AT_RANDOM) * doubts + AT_RANDOM, n)
    along = np.lexsort((rng.random(p.size), doubts, order))
    ends = np.cumsum(p[along])
    ends *= n / ends[-1]  # but for rounding
    places = np.searchsorted(ends, rng.random() + np.arange(n), side="right")
    rows = rng.permutation(along[np.minimum(places, p.size - 1)]).astype(np.int64)
    return rows, p[rows]
