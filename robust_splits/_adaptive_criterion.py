"""Choose lam of the negative exponential criterion by accuracy on noisy labels (Wilton & Ye 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ._growing import Sample, TreeSettings, grow_trees
from ._out_of_bag import OutOfBag
from ._rows import Rows
from ._stored_tree import GrownTree, expand
from .criteria import NegativeExponential

LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
HOLDOUT_FRACTION = 0.2


def with_lam(settings: TreeSettings, lam: float) -> TreeSettings:
    """Copy of the settings with another lam."""
    return dataclasses.replace(settings, criterion=NegativeExponential(lam))


def best_lam(accuracies: Mapping[float, float]) -> float:
    """The lam with the highest accuracy; ties go to the smallest."""
    return max(accuracies, key=accuracies.__getitem__)


def holdout_accuracies(
    sample: Sample,
    X: Rows,
    settings: TreeSettings,
    seeds: Sequence[tuple[int, int]],
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> dict[float, float]:
    """Accuracy of each lam on a noisy fifth of the rows, held out at random."""
    held_out = np.zeros(sample.n_samples, dtype=bool)
    held_out[rng.permutation(held_out.size)[: max(1, round(HOLDOUT_FRACTION * held_out.size))]] = True
    rest = dataclasses.replace(sample, weights=np.where(held_out, 0.0, sample.weights))
    if not rest.weights.any():
        rest = sample
    X = X[held_out]
    accuracies = {}
    for lam in LAMS:
        sums = np.zeros((sample.n_samples, sample.n_classes))
        for tree in map(expand, grow_trees(rest, with_lam(settings, lam), seeds, n_threads)):
            sums[held_out] += tree.values[tree.apply(X)]
        accuracies[lam] = _accuracy(sums, sample)
    return accuracies


def out_of_bag_accuracies(rows: OutOfBag, forests: Mapping[float, Sequence[GrownTree]]) -> dict[float, float]:
    """Out-of-bag accuracy of the trees of each lam."""
    return {lam: _accuracy(rows.sum_values(trees), rows.sample) for lam, trees in forests.items()}


def _accuracy(sums: NDArray[np.float64], sample: Sample) -> float:
    """Accuracy of the rows that have predictions."""
    is_predicted = sums.sum(axis=1) > 0
    found = sums.argmax(axis=1)[sample.row_of_label]
    weights = sample.label_weights * is_predicted[sample.row_of_label]
    return float(np.average(found == sample.labels, weights=weights)) if weights.any() else 0.0
