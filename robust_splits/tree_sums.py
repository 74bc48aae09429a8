"""Sums of the leaf values of trees: predictions of forests and boosters, stored as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ._kernels.walk import LeafValues, add_leaf_values
from ._packed_trees import map_leaves, pack
from .tree import Tree


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Trees whose leaf values are added up.

    The arrays may come from an untrusted file: compiled code reads only trees that have passed `check`, so no
    walk leaves the arrays or goes in a circle.

    Attributes
    ----------
    n_nodes : int64 array of shape (n_trees,)
        Number of nodes of each tree.  The next four arrays have the nodes of all trees, one after another.
    feature, threshold, missing_left, left : arrays of shape (n_nodes,)
        As in `Tree`; nodes are numbered from 0 in each tree.
    row : int32 array of shape (n_nodes,)
        For a leaf, its row of `values`; 0 for an inner node.
    values : float64 array of shape (n_rows, n_outputs)
        Values of leaves.
    """

    n_nodes: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    row: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, trees: Sequence[Tree], leaf_values: Sequence[NDArray[np.float64]]) -> Self:
        """Join trees.

        Parameters
        ----------
        trees : sequence of Tree
        leaf_values : sequence of arrays of shape (n_nodes, n_outputs)
            Values of the nodes of each tree, of which those of leaves are kept.

        Raises
        ------
        ValueError
            If a split divides categories into subsets.
        """
        if any(tree.subsets is not None and tree.subsets.values.size for tree in trees):
            raise ValueError(
                "trees with subsets of categories cannot be stored; fit with categorical_features=None, or on "
                "one-hot columns"
            )
        is_leaf = np.concatenate([tree.left < 0 for tree in trees])
        values, rows = np.unique(np.concatenate(leaf_values)[is_leaf], axis=0, return_inverse=True)
        row = np.zeros(is_leaf.size, dtype=np.int32)
        row[is_leaf] = rows.ravel()
        return cls(
            n_nodes=np.array([tree.n_nodes for tree in trees], dtype=np.int64),
            feature=np.concatenate([tree.feature for tree in trees]),
            threshold=np.concatenate([tree.threshold for tree in trees]),
            missing_left=np.concatenate([tree.missing_left for tree in trees]),
            left=np.concatenate([tree.left for tree in trees]),
            row=row,
            values=values,
        )

    def check(self, n_features: int, n_outputs: int) -> None:
        """Raise a ValueError unless the arrays are trees for so many features and outputs."""
        for name, dtype in DTYPES.items():
            array = getattr(self, name)
            n_dimensions = 2 if name == "values" else 1
            if array.dtype != dtype or array.ndim != n_dimensions or not array.flags.c_contiguous:
                raise ValueError(f"{name} has the wrong type or shape")
        n = self.feature.size
        if n == 0 or any(
            getattr(self, name).size != n for name in ("threshold", "missing_left", "left", "row")
        ):
            raise ValueError("the arrays of the trees differ in length")
        if (self.n_nodes < 1).any() or (self.n_nodes > n).any() or sum(self.n_nodes.tolist()) != n:
            raise ValueError("n_nodes does not fit the trees")
        if self.values.shape[1] != n_outputs or not np.isfinite(self.values).all():
            raise ValueError("values must be finite, one for each class")
        is_leaf = self.left < 0
        start = np.repeat(self.n_nodes.cumsum() - self.n_nodes, self.n_nodes)
        node, size = np.arange(n) - start, np.repeat(self.n_nodes, self.n_nodes)
        inner = (self.feature >= 0) & (self.feature < n_features) & (self.left > node)
        inner &= (self.left.astype(np.int64) + 1 < size) & ~np.isnan(self.threshold)
        leaf = (self.feature == -1) & (self.row >= 0) & (self.row < len(self.values))
        if not np.where(is_leaf, leaf, inner).all():
            raise ValueError("a node of a tree is damaged")

    @cached_property
    def _trees(self) -> list[Tree]:
        """The trees.  What predictions do not read is left empty."""
        nothing, no_numbers = np.empty(0), np.empty(0, dtype=np.int64)
        ends = self.n_nodes.cumsum()
        return [
            Tree(
                feature=self.feature[nodes],
                threshold=self.threshold[nodes],
                missing_left=self.missing_left[nodes],
                left=self.left[nodes],
                weight=nothing,
                n_rows=no_numbers,
                gain=nothing,
                class_or_row=-1 - self.row[nodes],
                mixed_counts=self.values,
            )
            for nodes in map(slice, (ends - self.n_nodes).tolist(), ends.tolist())
        ]

    def sums(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the values of each row's leaves, shape (n, n_outputs).

        Parameters
        ----------
        X : float64 array of shape (n, n_features)
            NaN means a missing value.
        """
        total = np.zeros((len(X), self.values.shape[1]))
        roots = self.n_nodes.cumsum() - self.n_nodes
        leaf_values = LeafValues(-1 - self.row, self.values, roots, np.zeros_like(roots))

        def add_values(rows: slice, leaves: NDArray[np.int32]) -> None:
            add_leaf_values(leaf_values, leaves, total[rows])

        if len(X):
            map_leaves(add_values, X, pack(self._trees, X.dtype), n_threads=1)
        return total


DTYPES = dict(
    zip(
        (field.name for field in fields(TreeSums)),
        map(np.dtype, (np.int64, np.int32, np.float64, np.bool_, np.int32, np.int32, np.float64)),
        strict=True,
    )
)
