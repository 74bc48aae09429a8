"""Grown trees in little memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._kernels.nodes import sum_counts
from ._kernels.walk import Splits
from ._leaf_values import node_values
from ._subsets import Subsets
from .tree import Tree

# Smaller trees would save little memory, and it takes long to store them, beside growing them.
MIN_STORED_NODES = 1 << 10
MAX_INTEGER = (1 << 32) - 1  # that is stored as an integer


@dataclass(frozen=True, eq=False)
class StoredTree:
    """The arrays of a `Tree` in about a third of the memory, and without loss.

    What only splits have is stored for splits, what only leaves have for leaves, and counts of rows as the
    smallest integers that hold them.  Inner nodes have the rows of their leaves.

    Attributes
    ----------
    is_leaf : bool array of shape (n_nodes,)
    feature, threshold, missing_left, left, gain : arrays of shape (n_inner,)
        As in `Tree`, for inner nodes.
    n_rows, class_or_row : arrays of shape (n_leaves,)
        As in `Tree`, for leaves.
    weight : array of shape (n_leaves,) or (n_nodes,)
        Weights of leaves; those of all nodes if sums of them are rounded.
    mixed_counts, subsets, leaf_power, shrinkage, seed
        As in `Tree`.
    """

    is_leaf: NDArray[np.bool_]
    feature: NDArray[np.integer]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    gain: NDArray[np.float64]
    n_rows: NDArray[np.integer]
    class_or_row: NDArray[np.integer]
    weight: NDArray[Any]
    mixed_counts: NDArray[Any]
    subsets: Subsets | None
    leaf_power: float
    shrinkage: float
    seed: int

    @classmethod
    def of(cls, tree: Tree) -> StoredTree:
        """Store a tree."""
        is_leaf = tree.left < 0
        inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
        left, weight = tree.left[inner], tree.weight
        are_sums = np.array_equal(weight[left] + weight[left + 1], weight[inner])  # as `expand` adds them
        return cls(
            is_leaf=is_leaf,
            feature=_smallest(tree.feature[inner]),
            threshold=tree.threshold[inner],
            missing_left=tree.missing_left[inner],
            left=left,
            gain=tree.gain[inner],
            n_rows=_smallest(tree.n_rows[leaves]),
            class_or_row=_smallest(tree.class_or_row[leaves]),
            weight=_smallest(weight[leaves] if are_sums else weight),
            mixed_counts=_smallest(tree.mixed_counts),
            subsets=tree.subsets,
            leaf_power=tree.leaf_power,
            shrinkage=tree.shrinkage,
            seed=tree.seed,
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including leaves."""
        return self.is_leaf.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.class_or_row.size

    @property
    def splits(self) -> Splits:
        """Features, thresholds and children of the splits."""
        feature = self.feature.astype(np.int32)
        return Splits(self.is_leaf, feature, self.threshold, self.missing_left, self.left)

    @cached_property
    def expanded(self) -> Tree:
        """The tree, cached."""
        return self.expand()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "expanded"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def expand(self) -> Tree:
        """The tree, not cached."""
        inner, leaves = np.flatnonzero(~self.is_leaf), np.flatnonzero(self.is_leaf)
        left = self._expand(self.left, inner, np.int32(-1))
        are_sums = self.weight.size < self.n_nodes
        weight, n_rows = _sums(left, leaves, self.weight if are_sums else self.weight[leaves], self.n_rows)
        return Tree(
            feature=self._expand(self.feature, inner, np.int32(-1)),
            threshold=self._expand(self.threshold, inner, np.float64(np.nan)),
            missing_left=self._expand(self.missing_left, inner, np.bool_(False)),
            left=left,
            weight=weight if are_sums else self.weight.astype(np.float64),
            n_rows=n_rows.astype(np.int64),
            gain=self._expand(self.gain, inner, np.float64(0.0)),
            class_or_row=self._expand(self.class_or_row, leaves, np.int32(-1)),
            mixed_counts=self.mixed_counts.astype(np.float64),
            subsets=self.subsets,
            leaf_power=self.leaf_power,
            shrinkage=self.shrinkage,
            seed=self.seed,
        )

    @property
    def n_value_rows(self) -> int:
        """As in `Tree`."""
        return len(self.mixed_counts) if self.shrinkage == 0 else self.n_leaves

    def write_leaf_values(self, class_or_row: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """As in `Tree`."""
        if self.shrinkage > 0 or np.isinf(self.leaf_power):
            self.expand().write_leaf_values(class_or_row, values)
            return
        class_or_row.fill(-1)
        class_or_row[np.flatnonzero(self.is_leaf)] = self.class_or_row
        values[:] = node_values(self.mixed_counts.astype(np.float64), self.leaf_power, self.seed)

    def _expand(self, values: NDArray[Any], nodes: NDArray[np.intp], other: Any) -> NDArray[Any]:
        """Array of all nodes with the values of some, and the same value for all others."""
        expanded = np.full(self.n_nodes, other)
        expanded[nodes] = values
        return expanded


GrownTree: TypeAlias = Tree | StoredTree


def store(tree: Tree) -> GrownTree:
    """Tree in little memory; a small one as it is."""
    return tree if tree.n_nodes < MIN_STORED_NODES else StoredTree.of(tree)


def expand(tree: GrownTree) -> Tree:
    """The arrays of a tree; those of a `StoredTree` are not cached."""
    return tree if isinstance(tree, Tree) else tree.expand()


def _sums(
    left: NDArray[np.int32], leaves: NDArray[np.intp], *of_leaves: NDArray[Any]
) -> list[NDArray[np.float64]]:
    """Sums of values of leaves for all nodes, each of shape (n_nodes,)."""
    row = np.full(left.size, -1, dtype=np.int32)
    row[leaves] = -1 - np.arange(leaves.size)
    sums = np.zeros((left.size, len(of_leaves)))
    sum_counts(left, np.empty(0), row, np.column_stack(of_leaves).astype(np.float64), sums)
    return [np.ascontiguousarray(column) for column in sums.T]


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """`array` as the smallest type of integers that holds its values; as it is if they are none."""
    if not array.size or array.max() > MAX_INTEGER:
        return array
    kind = np.result_type(np.min_scalar_type(int(array.min())), np.min_scalar_type(int(array.max())))
    smaller = array.astype(kind)
    return smaller if array.dtype.kind != "f" or np.array_equal(smaller, array) else array
