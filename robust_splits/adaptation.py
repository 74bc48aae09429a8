"""What is chosen on noisy labels alone: lam of the negative exponential criterion, node size and shrinkage."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._growing import Recipe, Sample, drawn_weights, grow_trees
from ._kernels.walk import add_smoothed
from ._threads import in_threads, shares
from ._validation import read_only
from .criteria import NegativeExponential
from .tree import Tree

# Of adaptive NE (Wilton & Ye 2024), and of the share of rows that it holds out.
LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
HELD_OUT = 0.2

# Of the forests: how many rows a node needs to be split, and how much its children are shrunk towards it.
NODE_SIZES = (2, 5, 10, 20, 40, 80, 160)
SHRINKAGES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

# As many rows tell one loss from another as well as more do.
MAX_ROWS = 1 << 13


def candidates(recipe: Recipe) -> list[Recipe]:
    """The recipe with each lam."""
    return [dataclasses.replace(recipe, criterion=NegativeExponential(lam)) for lam in LAMS]


def choose_by_holdout(
    sample: Sample,
    rows: NDArray[np.floating],
    recipe: Recipe,
    seeds: Sequence[tuple[int, int]],
    rng: np.random.RandomState,
    n_threads: int = 1,
) -> tuple[Recipe, dict[float, float]]:
    """The lam whose trees are most accurate on a noisy fifth of the rows, drawn at random and held out.

    Returns the recipe with it, and the accuracy of each lam; of equal ones the smallest lam wins.
    """
    held_out = np.zeros(sample.labels.size, dtype=bool)
    held_out[rng.permutation(held_out.size)[: max(1, round(HELD_OUT * held_out.size))]] = True
    rest = dataclasses.replace(sample, weights=np.where(held_out, 0.0, sample.weights))
    if not rest.weights.any():
        rest = sample
    X = read_only(rows[held_out])
    scores = {}
    for candidate in candidates(recipe):
        trees = grow_trees(rest, candidate, seeds, n_threads)
        votes = np.zeros((X.shape[0], sample.n_classes))
        for tree in trees:
            tree.add_values(X, votes)
        right = votes.argmax(axis=1) == sample.labels[held_out]
        scores[candidate.criterion.parameter] = _mean(right, sample.weights[held_out])
    return _best(recipe, scores), scores


def choose_out_of_bag(
    sample: Sample,
    X: NDArray[np.floating],
    forests: dict[float, list[Tree]],
    recipe: Recipe,
    seeds: Sequence[tuple[int, int]],
    n_threads: int,
) -> tuple[Recipe, dict[float, float]]:
    """The lam whose trees are most accurate on the noisy labels of the rows that they did not see."""
    scores = {}
    for lam, trees in forests.items():
        votes = out_of_bag_votes(sample, X, trees, recipe, seeds, n_threads)
        seen = votes.sum(axis=1) > 0
        right = votes[seen].argmax(axis=1) == sample.labels[seen]
        scores[lam] = _mean(right, sample.weights[seen])
    return _best(recipe, scores), scores


def _mean(right: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return float(np.average(right, weights=weights)) if weights.any() else 0.0


def _best(recipe: Recipe, scores: dict[float, float]) -> Recipe:
    lam = max(scores, key=scores.__getitem__)
    return dataclasses.replace(recipe, criterion=NegativeExponential(lam))


def out_of_bag_votes(
    sample: Sample,
    X: NDArray[np.floating],
    trees: Sequence[Tree],
    recipe: Recipe,
    seeds: Sequence[tuple[int, int]],
    n_threads: int,
) -> NDArray[np.float64]:
    """Sum over the trees that did not see a row of the values of its leaves, shape (n_samples, n_classes)."""
    votes = np.zeros((X.shape[0], sample.n_classes))

    # Each thread owns some rows and takes the trees in order: the same sums for any number of threads.
    def add(some: slice) -> None:
        for tree, (seed, _) in zip(trees, seeds, strict=True):
            unseen = np.flatnonzero(drawn_weights(sample, recipe, seed)[some] == 0) + some.start
            votes[unseen] += tree.values[tree.apply(read_only(X[unseen]))]

    in_threads(add, shares(X.shape[0], n_threads), n_threads)
    return votes


def choose_smoothing(
    sample: Sample,
    X: NDArray[np.floating],
    trees: Sequence[Tree],
    recipe: Recipe,
    seeds: Sequence[tuple[int, int]],
    node_sizes: Sequence[int],
    shrinkages: Sequence[float],
    n_threads: int,
) -> dict[tuple[int, float], float]:
    """Log loss on the noisy labels of rows that trees did not see, by node size and shrinkage.

    Trees without the splits of nodes of fewer rows are what growing with a larger `min_samples_split` gives.
    One walk down each tree therefore tells the probability of the label of a row for all pairs at once.  Of
    more than 2^13 rows as many, equally spaced, are looked at.

    Returns
    -------
    dict
        From (node size, shrinkage) to the mean log loss; empty if no tree has left out a row.
    """
    n = X.shape[0]
    some = np.arange(n) if n <= MAX_ROWS else np.linspace(0, n - 1, MAX_ROWS).astype(int)
    X, labels, weights = read_only(X[some]), sample.labels[some], sample.weights[some]
    sizes, grid = np.array(node_sizes), np.array(shrinkages, dtype=float)
    sums = np.zeros((some.size, sizes.size, grid.size))
    n_trees = np.zeros(some.size)

    def prepare(pair: tuple[Tree, tuple[int, int]]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        tree, (seed, _) = pair
        return drawn_weights(sample, recipe, seed)[some] == 0, tree.weight

    prepared = in_threads(prepare, list(zip(trees, seeds, strict=True)), n_threads)

    # Each thread owns some rows and takes the trees in order: the same sums for any number of threads.
    def add(share: slice) -> None:
        current = np.empty(grid.size)
        for tree, (unseen, weight) in zip(trees, prepared, strict=True):
            add_smoothed(
                X[share], unseen[share], labels[share], tree.steps(X.dtype), tree.missing_left, tree.n_rows,
                tree.values, weight, sizes, grid, current, sums[share], n_trees[share],
            )  # fmt: skip

    in_threads(add, shares(some.size, n_threads), n_threads)
    seen = (n_trees > 0) & (weights > 0)
    if not seen.any():
        return {}
    count = n_trees[seen, None, None]
    # As if one more tree had split its vote among a few times as many classes: no row costs an infinite loss.
    floor = 0.5 / (count + 1) / sample.n_classes
    p = np.maximum(sums[seen] / count, floor)
    losses = np.average(-np.log(p), axis=0, weights=weights[seen])
    return {(m, g): float(losses[i, j]) for i, m in enumerate(node_sizes) for j, g in enumerate(shrinkages)}
