"""A grown tree: flat arrays, and the compiled walks over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._kernel import kernel


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree as flat arrays; node 0 is the root.

    Attributes
    ----------
    feature : int32 array of shape (n_nodes,)
        The column a node splits on; -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        Rows with ``X[:, feature] <= threshold`` go left; NaN at a leaf.
    children : int32 array of shape (n_nodes, 2)
        Left and right child; -1 at a leaf.
    counts : float64 array of shape (n_nodes, n_classes)
        Weighted class counts of the training rows.
    n_rows : int64 array of shape (n_nodes,)
        Number of training rows with a positive weight.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    children: NDArray[np.int32]
    counts: NDArray[np.float64]
    n_rows: NDArray[np.int64]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def depth(self) -> int:
        """Number of splits on the longest path from the root."""
        # Children come after their parents.
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):
            depth[self.children[node]] = depth[node] + 1
        return int(depth.max())

    @cached_property
    def proportions(self) -> NDArray[np.float64]:
        """Class proportions of every node, shape (n_nodes, n_classes)."""
        proportions: NDArray[np.float64] = self.counts / self.counts.sum(axis=1, keepdims=True)
        return proportions

    def apply(self, X: NDArray[np.floating]) -> NDArray[np.int64]:
        """Leaf of each row of `X`, shape (n_samples,)."""
        leaves: NDArray[np.int64] = _apply(X, self.feature, self.threshold, self.children)
        return leaves


@kernel()
def _apply(X, feature, threshold, children):
    leaves = np.empty(X.shape[0], dtype=np.int64)
    for i in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            node = children[node, 0 if X[i, feature[node]] <= threshold[node] else 1]
        leaves[i] = node
    return leaves


@kernel()
def add_proportions(X, feature, threshold, children, proportions, out):
    """Add to each row of `out` (n_samples, n_classes) the class proportions of its leaf."""
    for i in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            node = children[node, 0 if X[i, feature[node]] <= threshold[node] else 1]
        for k in range(out.shape[1]):
            out[i, k] += proportions[node, k]
