"""Predictions for a few rows: one compiled walk through all trees of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel
from .walk import Steps, pack

if TYPE_CHECKING:
    from ..tree import Tree


class ForestSteps(NamedTuple):
    """Packed nodes of several trees.

    Attributes
    ----------
    steps : Steps
        The nodes of all trees, one tree after the other.
    missing_left : bool array of shape (n_nodes,)
    roots : int64 array of shape (n_trees,)
        Index of each root.
    """

    steps: Steps
    missing_left: NDArray[np.bool_]
    roots: NDArray[np.int64]


class ForestWalk:
    """Walks through all trees of a forest, whose packed nodes it keeps."""

    def __init__(self) -> None:
        self._packed: dict[str, tuple[list[Tree], ForestSteps]] = {}

    def leaves(self, X: NDArray[np.floating], trees: list[Tree]) -> NDArray[np.int64]:
        """Leaf of each row of `X` in each tree, shape (n_trees, n_samples)."""
        kept, forest = self._packed.get(X.dtype.name, ([], None))
        if forest is None or [id(tree) for tree in kept] != [id(tree) for tree in trees]:
            forest = _pack(trees, X.dtype)
            self._packed[X.dtype.name] = trees, forest
        leaves = np.empty((X.shape[0], len(trees)), dtype=np.int64)
        walking, nodes = np.empty((2, len(trees)), dtype=np.int64)
        _find_leaves(X, forest.steps, forest.missing_left, forest.roots, leaves, walking, nodes)
        leaves -= forest.roots
        return leaves.T


def _pack(trees: Sequence[Tree], dtype: np.dtype[Any]) -> ForestSteps:
    """Pack the nodes of trees for rows of a `dtype`, float32 or float64."""
    sizes = [tree.n_nodes for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    left = np.concatenate(
        [np.where(tree.left < 0, -1, tree.left + root) for tree, root in zip(trees, roots, strict=True)]
    )
    feature, threshold, missing_left = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "missing_left")
    )
    return ForestSteps(pack(feature, threshold, left, dtype), missing_left, roots)


@outer_kernel()
def _find_leaves(X, steps, missing_left, roots, leaves, walking, nodes):
    """Write the leaves of each row, as indices of packed nodes.

    A row walks down all trees side by side, which hides the memory latency of each behind the others.
    `walking` and `nodes` are buffers of an integer per tree.
    """
    for i in range(X.shape[0]):
        n_walking = roots.shape[0]
        for t in range(n_walking):
            walking[uintp(t)] = t
            nodes[uintp(t)] = roots[uintp(t)]
        while n_walking > 0:
            n_kept = 0
            for j in range(n_walking):
                t, node = walking[uintp(j)], nodes[uintp(j)]
                step = steps.nodes[uintp(node)]
                left = step.word & steps.mask
                x = X[uintp(i), uintp(step.word >> steps.shift)]
                goes_right = x > step.threshold
                if x != x:
                    goes_right = not missing_left[uintp(node)]
                leaves[uintp(i), uintp(t)] = node
                walking[uintp(n_kept)] = t
                nodes[uintp(n_kept)] = left + goes_right
                n_kept += left > 0
            n_walking = n_kept
