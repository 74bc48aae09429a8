"""The compiled sum of a tree's probabilities of labels, for several node sizes and shrinkages at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel
from .walk import Steps, child_of


class SmoothedTree(NamedTuple):
    """A full tree, whose predictions are smoothed.

    Attributes
    ----------
    steps : Steps
        Its packed nodes.
    n_rows : int64 array of shape (n_nodes,)
        Number of training rows.
    weight : float64 array of shape (n_nodes,)
        Their total weight.
    values : float64 array of shape (n_nodes, n_classes)
        Class probabilities times `total`.
    total : float64 array of shape (n_nodes,)
    """

    steps: Steps
    n_rows: NDArray[np.int64]
    weight: NDArray[np.float64]
    values: NDArray[np.float64]
    total: NDArray[np.float64]


class SmoothingGrid(NamedTuple):
    """The candidates for smoothing.

    Attributes
    ----------
    node_sizes : int64 array of shape (n_sizes,)
        Values of `min_samples_split`, ascending.
    shrinkages : float64 array of shape (n_shrinkages,)
    current : float64 array of shape (n_shrinkages,)
        Buffer for the probability at a node with each shrinkage.
    """

    node_sizes: NDArray[np.int64]
    shrinkages: NDArray[np.float64]
    current: NDArray[np.float64]


@outer_kernel()
def add_smoothed(X, labels, unseen, tree, subsets, grid, sums, n_trees):
    """Add a tree's probability of each row's label to `sums`, for all node sizes and shrinkages of the grid.

    Visits the rows marked in `unseen` (n,) and counts the tree for them in `n_trees` (n,).  `subsets` are those
    of the tree's steps.  `sums` has the
    shape (n, n_sizes, n_shrinkages).
    """
    sizes, shrinkages, current = grid.node_sizes, grid.shrinkages, grid.current
    values, total, weight = tree.values, tree.total, tree.weight
    for i in range(X.shape[0]):
        if not unseen[i]:
            continue
        k = uintp(labels[i])
        node = uintp(0)
        n_trees[i] += 1.0
        for s in range(shrinkages.shape[0]):
            current[s] = values[0, k] / total[0]
        size = sizes.shape[0] - 1  # the largest size stops first
        while True:
            child = child_of(X, uintp(i), uintp(0), node, tree.steps, True, subsets)
            while size >= 0 and (child == node or tree.n_rows[node] < sizes[uintp(size)]):
                for s in range(shrinkages.shape[0]):
                    sums[i, uintp(size), s] += current[s]
                size -= 1
            if size < 0:
                break
            change = (values[child, k] / total[child] - values[node, k] / total[node]) * weight[node]
            for s in range(shrinkages.shape[0]):
                current[s] += change / (weight[node] + shrinkages[s])
            node = child
