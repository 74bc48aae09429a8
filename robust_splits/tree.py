"""A grown tree as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cost_complexity import cost_complexity_path, worthwhile_splits
from ._kernels.nodes import sum_counts
from ._kernels.walk import Splits, mark_alive
from ._leaf_values import apply_shrinkage, node_values
from ._packed_trees import find_leaves, pack
from ._rows import Rows
from ._subsets import Subsets

CACHES = {"counts", "values"}


@dataclass(frozen=True, eq=False)
class Tree:
    """Binary decision tree as flat arrays.  Node 0 is the root, and parents precede their children.

    The arrays also have the names of those of scikit-learn, such as ``children_left`` and ``value``.

    Attributes
    ----------
    feature : int32 array of shape (n_nodes,)
        Feature that the node splits on; -1 for a leaf.
    threshold : float64 array of shape (n_nodes,)
        Rows with ``X[:, feature] <= threshold`` go left; NaN for a leaf, and for a split of categories.
    missing_left : bool array of shape (n_nodes,)
        Whether rows with a missing value go left.  Learnt in training if the node had missing values, otherwise
        the side with more weight.
    left : int32 array of shape (n_nodes,)
        Left child, -1 for a leaf; the right child is the next node.
    weight : float64 array of shape (n_nodes,)
        Total weight of the training rows.
    n_rows : int64 array of shape (n_nodes,)
        Number of training rows with a positive weight.
    gain : float64 array of shape (n_nodes,)
        Gain of the split, not weighted by the node's share of the total weight; 0 for a leaf.
    class_or_row : int32 array of shape (n_nodes,)
        For a leaf whose training rows are of one class, this class; for any other leaf, -1 minus its row of
        `mixed_counts`; for an inner node -1.
    mixed_counts : float64 array of shape (n_mixed, n_classes)
        Weighted class counts of the training rows of leaves with several classes.  Full trees have few of them.
    subsets : Subsets or None
        Subsets of categories of the splits; None if no column is categorical.
    leaf_power : float
        See `leaf_value_power`.
    shrinkage : float
        See `apply_shrinkage`.
    seed : int
        Seed for ties between the majority classes of a node.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    gain: NDArray[np.float64]
    class_or_row: NDArray[np.int32]
    mixed_counts: NDArray[np.float64]
    subsets: Subsets | None = None
    leaf_power: float = 1.0
    shrinkage: float = 0.0
    seed: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in CACHES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including leaves."""
        return self.feature.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def children(self) -> NDArray[np.int32]:
        """Left and right child of each node, shape (n_nodes, 2); -1 for a leaf."""
        return np.column_stack([self.left, np.where(self.left < 0, -1, self.left + 1)]).astype(np.int32)

    @property
    def node_depth(self) -> NDArray[np.int64]:
        """Number of splits above each node, shape (n_nodes,)."""
        depth = [0] * self.n_nodes  # a list, because element access to arrays is slow
        for node, left in enumerate(self.left.tolist()):
            if left >= 0:
                depth[left] = depth[left + 1] = depth[node] + 1
        return np.array(depth, dtype=np.int64)

    @property
    def depth(self) -> int:
        """Number of splits on the longest path from the root."""
        return int(self.node_depth.max())

    @property
    def only_class(self) -> NDArray[np.int32]:
        """The only class of the training rows of each node, shape (n_nodes,); -1 if there are several."""
        return np.maximum(self.class_or_row, np.int32(-1))

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Weighted class counts of the training rows of each node, shape (n_nodes, n_classes), cached."""
        return self.compute_counts()

    def compute_counts(self) -> NDArray[np.float64]:
        """`counts`, not cached."""
        counts = np.zeros((self.n_nodes, self.mixed_counts.shape[1]))
        sum_counts(self.left, self.weight, self.class_or_row, self.mixed_counts, counts)
        return counts

    @property
    def proportions(self) -> NDArray[np.float64]:
        """Class proportions of the training rows of each node, shape (n_nodes, n_classes)."""
        proportions: NDArray[np.float64] = self.counts / self.weight[:, None]
        return proportions

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Predicted class probabilities of each node, shape (n_nodes, n_classes), cached."""
        return self.compute_values()

    def compute_values(self) -> NDArray[np.float64]:
        """`values`, not cached."""
        counts = self.compute_counts()
        values = node_values(counts, self.leaf_power, self.seed)
        apply_shrinkage(values, counts, self.left, self.shrinkage)
        return values

    @property
    def parent(self) -> NDArray[np.int64]:
        """Parent of each node, shape (n_nodes,); -1 for the root."""
        parent = np.full(self.n_nodes, -1)
        inner = np.flatnonzero(self.left >= 0)
        parent[self.left[inner]] = parent[self.left[inner] + 1] = inner
        return parent

    def importances(self, n_features: int) -> NDArray[np.float64]:
        """Share of each feature in the risk removed by all splits; zeros if there is no split."""
        inner = self.feature >= 0
        removed = np.zeros(n_features)
        np.add.at(removed, self.feature[inner], (self.weight * self.gain)[inner])
        total = removed.sum()
        return removed / total if total > 0 else np.zeros(n_features)

    def pruned(self, min_samples_split: int) -> Tree:
        """Copy of the tree without the splits of nodes with fewer than `min_samples_split` rows."""
        return self._with_splits((self.left >= 0) & (self.n_rows >= min_samples_split))

    def pruned_by_cost(self, alpha: float) -> Tree:
        """Copy of the tree after minimal cost-complexity pruning; see `cost_complexity`."""
        return self._with_splits(worthwhile_splits(self.left, self.removed_risk, alpha))

    def cost_complexity_path(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values of alpha at which splits are pruned, and the risk that the other splits remove."""
        return cost_complexity_path(self.left, self.removed_risk)

    @property
    def removed_risk(self) -> NDArray[np.float64]:
        """Risk that the split of each node removes: its gain times its share of the weight; 0 for a leaf."""
        removed: NDArray[np.float64] = self.gain * (self.weight / self.weight[0])
        return removed

    def _with_splits(self, is_split: NDArray[np.bool_]) -> Tree:
        """Copy of the tree without other splits."""
        alive = np.zeros(self.n_nodes, dtype=bool)
        mark_alive(self.left, is_split, alive)
        if alive.all():
            return self
        nodes = np.flatnonzero(alive)
        left, n_rows, class_or_row = self.left[nodes], self.n_rows[nodes], self.class_or_row[nodes]
        split = is_split[nodes]
        mixed = np.flatnonzero(~split & (class_or_row < 0))
        class_or_row[split] = -1
        class_or_row[mixed] = -1 - np.arange(mixed.size)
        renumbered = np.cumsum(alive) - 1
        return Tree(
            feature=np.where(split, self.feature[nodes], -1).astype(np.int32),
            threshold=np.where(split, self.threshold[nodes], np.nan),
            missing_left=self.missing_left[nodes] & split,
            left=np.where(split, renumbered[left], -1).astype(np.int32),
            weight=self.weight[nodes],
            n_rows=n_rows,
            gain=np.where(split, self.gain[nodes], 0.0),
            class_or_row=class_or_row,
            mixed_counts=self.compute_counts().take(nodes[mixed], axis=0),
            subsets=None if self.subsets is None else self.subsets.take(np.where(split, nodes, -1)),
            leaf_power=self.leaf_power,
            shrinkage=self.shrinkage,
            seed=self.seed,
        )

    @property
    def splits(self) -> Splits:
        """Features, thresholds and children of the splits."""
        return Splits(self.left < 0, self.feature, self.threshold, self.missing_left, self.left)

    def apply(self, X: Rows) -> NDArray[np.int64]:
        """Leaf of each row of `X`, shape (n_samples,)."""
        return find_leaves(X, pack([self], X.dtype))[:, 0]

    @property
    def n_value_rows(self) -> int:
        """Number of leaves whose class probabilities are not a one and zeros."""
        return len(self.mixed_counts) if self.shrinkage == 0 else self.n_leaves

    def write_leaf_values(self, class_or_row: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """Write the class probabilities of the leaves in the form that predictions read.

        Parameters
        ----------
        class_or_row : int32 array of shape (n_nodes,)
            Filled like that of the tree, with rows of `values`.
        values : float64 array of shape (n_value_rows, n_classes)
        """
        class_or_row[:] = self.class_or_row
        # Without shrinkage and ties, the values of a node depend on its own counts alone.
        if self.shrinkage == 0 and np.isfinite(self.leaf_power):
            values[:] = node_values(self.mixed_counts, self.leaf_power, self.seed)
            return
        is_stored = self.left < 0
        if self.shrinkage == 0:
            is_stored &= self.class_or_row < 0
        stored = np.flatnonzero(is_stored)
        class_or_row[stored] = -1 - np.arange(stored.size)
        values[:] = self.compute_values().take(stored, axis=0)

    # The names of scikit-learn, for code that reads its trees.

    @property
    def node_count(self) -> int:
        """Number of nodes, including leaves."""
        return self.n_nodes

    @property
    def max_depth(self) -> int:
        """Number of splits on the longest path from the root."""
        return self.depth

    @property
    def children_left(self) -> NDArray[np.int32]:
        """Left child of each node; -1 for a leaf."""
        return self.left

    @property
    def children_right(self) -> NDArray[np.int32]:
        """Right child of each node; -1 for a leaf."""
        return self.children[:, 1]

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        """Number of training rows of each node."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self) -> NDArray[np.float64]:
        """Total weight of the training rows of each node."""
        return self.weight

    @property
    def missing_go_to_left(self) -> NDArray[np.bool_]:
        """Whether rows with a missing value go left at each node."""
        return self.missing_left

    @property
    def value(self) -> NDArray[np.float64]:
        """Predicted class probabilities of each node, shape (n_nodes, 1, n_classes)."""
        return self.values[:, None, :]

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Number of classes, in an array."""
        return np.array([self.values.shape[1]])

    @property
    def n_outputs(self) -> int:
        """Number of targets, always 1."""
        return 1
