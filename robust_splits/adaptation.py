"""Choose parameters on noisy labels: lam of the negative exponential criterion, node size and shrinkage."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._growing import Sample, TreeSettings, drawn_weights, grow_trees
from ._kernels.walk import add_smoothed
from ._threads import map_in_threads, split_range
from ._validation import read_only
from .criteria import NegativeExponential
from .tree import Tree

# Candidates and holdout of adaptive NE (Wilton & Ye 2024).
LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
HOLDOUT_FRACTION = 0.2

# Candidates of the forests for `min_samples_split` and `shrinkage`.
NODE_SIZES = (2, 5, 10, 20, 40, 80, 160)
SHRINKAGES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

# More rows hardly change the order of the losses.
MAX_SCORED_ROWS = 1 << 13


def candidates(settings: TreeSettings) -> list[TreeSettings]:
    """Copies of the settings, one with each lam."""
    return [dataclasses.replace(settings, criterion=NegativeExponential(lam)) for lam in LAMS]


def choose_by_holdout(
    sample: Sample,
    rows: NDArray[np.floating],
    settings: TreeSettings,
    seeds: Sequence[tuple[int, int]],
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> tuple[TreeSettings, dict[float, float]]:
    """Choose the lam whose trees are most accurate on a noisy fifth of the rows, held out at random.

    Returns the settings with this lam, and the accuracy of each lam.  Ties go to the smallest lam.
    """
    held_out = np.zeros(sample.labels.size, dtype=bool)
    held_out[rng.permutation(held_out.size)[: max(1, round(HOLDOUT_FRACTION * held_out.size))]] = True
    rest = dataclasses.replace(sample, weights=np.where(held_out, 0.0, sample.weights))
    if not rest.weights.any():
        rest = sample
    X = read_only(rows[held_out])
    scores = {}
    for candidate in candidates(settings):
        trees = grow_trees(rest, candidate, seeds, n_threads)
        votes = np.zeros((X.shape[0], sample.n_classes))
        for tree in trees:
            votes += tree.values[tree.apply(X)]
        correct = votes.argmax(axis=1) == sample.labels[held_out]
        scores[candidate.criterion.parameter] = _accuracy(correct, sample.weights[held_out])
    return _with_best_lam(settings, scores), scores


def choose_out_of_bag(
    sample: Sample,
    X: NDArray[np.floating],
    forests: dict[float, list[Tree]],
    settings: TreeSettings,
    seeds: Sequence[tuple[int, int]],
    n_threads: int,
) -> tuple[TreeSettings, dict[float, float]]:
    """Choose the lam whose trees are most accurate on their out-of-bag rows, with noisy labels.

    Returns the settings with this lam, and the accuracy of each lam.  Ties go to the smallest lam.
    """
    scores = {}
    for lam, trees in forests.items():
        votes = out_of_bag_votes(sample, X, trees, settings, seeds, n_threads)
        has_votes = votes.sum(axis=1) > 0
        correct = votes[has_votes].argmax(axis=1) == sample.labels[has_votes]
        scores[lam] = _accuracy(correct, sample.weights[has_votes])
    return _with_best_lam(settings, scores), scores


def _accuracy(correct: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(np.average(correct, weights=weights)) if weights.any() else 0.0


def _with_best_lam(settings: TreeSettings, scores: dict[float, float]) -> TreeSettings:
    lam = max(scores, key=scores.__getitem__)
    return dataclasses.replace(settings, criterion=NegativeExponential(lam))


def out_of_bag_votes(
    sample: Sample,
    X: NDArray[np.floating],
    trees: Sequence[Tree],
    settings: TreeSettings,
    seeds: Sequence[tuple[int, int]],
    n_threads: int,
) -> NDArray[np.float64]:
    """Sum of each row's leaf values over the trees that did not see the row, shape (n_samples, n_classes)."""
    votes = np.zeros((X.shape[0], sample.n_classes))

    # The trees are added to each row in order, so the sums are the same for any number of threads.
    def add_trees(part: slice) -> None:
        for tree, (seed, _) in zip(trees, seeds, strict=True):
            unseen = np.flatnonzero(drawn_weights(sample, settings, seed)[part] == 0) + part.start
            votes[unseen] += tree.values[tree.apply(read_only(X[unseen]))]

    map_in_threads(add_trees, split_range(X.shape[0], n_threads), n_threads)
    return votes


def out_of_bag_score(
    classes: NDArray[Any],
    labels: NDArray[np.int32],
    votes: NDArray[np.float64],
    score: Callable[[Any, Any], float],
) -> float:
    """Score of the labels and the predictions of the rows that have votes; NaN, with a warning, if none has."""
    has_votes = votes.any(axis=1)
    if not has_votes.any():
        message = "no row is out of bag, so oob_score_ is NaN; grow more trees, or use more groups"
        warnings.warn(message, UserWarning, stacklevel=5)  # of the caller of fit
        return np.nan
    return float(score(classes[labels[has_votes]], classes[votes[has_votes].argmax(axis=1)]))


def smoothing_losses(
    sample: Sample,
    X: NDArray[np.floating],
    trees: Sequence[Tree],
    settings: TreeSettings,
    seeds: Sequence[tuple[int, int]],
    node_sizes: Sequence[int],
    shrinkages: Sequence[float],
    n_threads: int,
) -> dict[int, dict[float, float]]:
    """Out-of-bag log loss on noisy labels, by node size and shrinkage.

    Removing the splits of nodes with fewer rows gives the tree that a larger `min_samples_split` would have
    grown.  One walk down each tree therefore gives the probability of a row's label for all pairs at once.  At
    most 2^13 equally spaced rows are scored.

    Returns
    -------
    dict
        From node size to shrinkage to the mean log loss; empty if no row is out of bag.
    """
    n = X.shape[0]
    scored = np.arange(n) if n <= MAX_SCORED_ROWS else np.linspace(0, n - 1, MAX_SCORED_ROWS).astype(int)
    X, labels, weights = read_only(X[scored]), sample.labels[scored], sample.weights[scored]
    sizes, grid = np.array(node_sizes), np.array(shrinkages, dtype=float)
    sums = np.zeros((scored.size, sizes.size, grid.size))
    n_trees = np.zeros(scored.size)

    def prepare(pair: tuple[Tree, tuple[int, int]]) -> tuple[NDArray[Any], ...]:
        tree, (seed, _) = pair
        unseen, weight = drawn_weights(sample, settings, seed)[scored] == 0, tree.weight
        if tree.leaf_power == 1:  # proportions, without an array of them
            return unseen, weight, tree.compute_counts(), weight
        return unseen, weight, tree.values, np.ones_like(weight)

    prepared = map_in_threads(prepare, list(zip(trees, seeds, strict=True)), n_threads)

    # The trees are added to each row in order, so the sums are the same for any number of threads.
    def add_trees(part: slice) -> None:
        current = np.empty(grid.size)
        for tree, (unseen, weight, values, total) in zip(trees, prepared, strict=True):
            add_smoothed(
                X[part], unseen[part], labels[part], tree.steps(X.dtype), tree.n_rows, values, total,
                weight, sizes, grid, current, sums[part], n_trees[part],
            )  # fmt: skip

    map_in_threads(add_trees, split_range(scored.size, n_threads), n_threads)
    counted = (n_trees > 0) & (weights > 0)
    if not counted.any():
        return {}
    count = n_trees[counted, None, None]
    # Keeps the loss finite: the mean probability if these trees gave 0 and one more tree 1 / (2 n_classes).
    floor = 0.5 / (count + 1) / sample.n_classes
    p = np.maximum(sums[counted] / count, floor)
    losses = np.average(-np.log(p), axis=0, weights=weights[counted])
    return {
        size: dict(zip(shrinkages, row.tolist(), strict=True))
        for size, row in zip(node_sizes, losses, strict=True)
    }
