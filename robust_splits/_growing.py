"""From a criterion and validated parameters to a grown tree."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._kernels.coding import Columns
from ._kernels.grower import Growth, Workspace, grow
from ._kernels.random import count_draws
from ._kernels.scan import Measure
from ._threads import in_threads
from ._values import node_values, shrink
from .criteria import Criterion
from .tree import Tree

MAX_SEED = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Sample:
    """The rows, labels and weights that trees are grown on.

    Attributes
    ----------
    columns : Columns
    labels : int32 array of shape (n_samples,)
    weights : float64 array of shape (n_samples,)
    n_classes : int
    """

    columns: Columns
    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    n_classes: int


@dataclass(frozen=True)
class Recipe:
    """All that says how a tree is grown, but for its rows and its seeds.

    `n_draws` 0 takes the rows as they are, otherwise so many are drawn; `balanced` then weights them so that
    the classes drawn weigh the same.  `power` is that of the leaf values, see `_values`.
    """

    criterion: Criterion
    growth: Growth
    power: float
    shrinkage: float
    n_draws: int = 0
    balanced: bool = False


def drawn_weights(sample: Sample, recipe: Recipe, seed: int) -> NDArray[np.float64]:
    """Weights of the rows for one tree: those given, times the number of times that a row was drawn."""
    weights = sample.weights
    if recipe.n_draws:
        state = np.full(1, seed + 1, dtype=np.uint64)
        drawn = np.zeros(weights.size)
        while not (drawn * weights).any():  # with many weights of 0, a small sample may hold none but those
            drawn[:] = 0.0
            count_draws(state, recipe.n_draws, drawn)
        weights = drawn * weights
    if recipe.balanced:
        classes = np.bincount(sample.labels, weights=weights, minlength=sample.n_classes)
        share = weights.sum() / (classes > 0).sum()
        # Scaled by a power of two, which keeps all digits: the product of two tiny weights would be 0.
        scale = -np.frexp(share)[1]
        classes = np.maximum(np.ldexp(classes, scale), np.finfo(float).tiny)
        weights = np.ldexp(weights, scale) * share / classes[sample.labels]
    return weights


def grow_trees(sample: Sample, recipe: Recipe, seeds: Sequence[tuple[int, int]], n_threads: int) -> list[Tree]:
    """Grow a tree for each pair of seeds, in threads."""
    of_thread = threading.local()

    def grow_one(pair: tuple[int, int]) -> Tree:
        if not hasattr(of_thread, "workspace"):
            of_thread.workspace = Workspace(sample.columns, sample.labels.size, sample.n_classes)
        return grow_tree(sample, recipe, pair, of_thread.workspace)

    return in_threads(grow_one, seeds, n_threads)


def grow_tree(
    sample: Sample, recipe: Recipe, seeds: tuple[int, int], workspace: Workspace | None = None
) -> Tree:
    """Grow one tree; the seeds are of the draw of rows and of all else."""
    criterion = recipe.criterion
    measure = Measure(
        criterion.code, criterion.parameter, np.ascontiguousarray(criterion.table), criterion.compiled
    )
    nodes = grow(
        sample.columns,
        sample.labels,
        drawn_weights(sample, recipe, seeds[0]),
        sample.n_classes,
        measure,
        recipe.growth,
        seeds[1] + 1,
        workspace,
    )
    tree = Tree(*nodes, node_values(nodes.counts, recipe.power, seeds[1]))
    shrink(tree.values, tree.weight, tree.left, recipe.shrinkage)
    return tree
