"""Names that scikit-learn gives to the arrays of a tree, for code that reads ``tree_``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .tree import Tree


class SklearnNames:
    """Attributes of `sklearn.tree._tree.Tree`, read only, where a tree has them under another name.

    There is no impurity, which some criteria lack.
    """

    @property
    def node_count(self: Tree) -> int:
        """Number of nodes, including leaves."""
        return self.n_nodes

    @property
    def max_depth(self: Tree) -> int:
        """Number of splits on the longest path from the root."""
        return self.depth

    @property
    def children_left(self: Tree) -> NDArray[np.int32]:
        """Left child of each node; -1 for a leaf."""
        return self.left

    @property
    def children_right(self: Tree) -> NDArray[np.int32]:
        """Right child of each node; -1 for a leaf."""
        return self.children[:, 1]

    @property
    def n_node_samples(self: Tree) -> NDArray[np.int64]:
        """Number of training rows of each node."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self: Tree) -> NDArray[np.float64]:
        """Total weight of the training rows of each node."""
        return self.weight

    @property
    def missing_go_to_left(self: Tree) -> NDArray[np.bool_]:
        """Whether rows with a missing value go left at each node."""
        return self.missing_left

    @property
    def value(self: Tree) -> NDArray[np.float64]:
        """Predicted class probabilities of each node, shape (n_nodes, 1, n_classes)."""
        return self.values[:, None, :]

    @property
    def n_classes(self: Tree) -> NDArray[np.int64]:
        """Number of classes, in an array."""
        return np.array([self.values.shape[1]])

    @property
    def n_outputs(self: Tree) -> int:
        """Number of targets, always 1."""
        return 1
