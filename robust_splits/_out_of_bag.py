"""Out-of-bag predictions of a forest, and their loss on noisy labels by node size and shrinkage."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ._growing import Sample, TreeSettings, drawn_weights
from ._kernels.smoothing import SmoothedTree, SmoothingGrid, add_smoothed
from ._kernels.walk import LeafValues, Steps, add_leaf_values, leaves_of
from ._packed_trees import pack, pack_leaf_values
from ._rows import Rows, as_dense, copied_bytes, read_only
from ._stored_tree import GrownTree, expand
from ._threads import map_in_threads, split_range
from .label_noise.weights import spaced_rows
from .tree import Tree

# Candidates for `min_samples_split` and `shrinkage`.
NODE_SIZES = (2, 5, 10, 20, 40, 80, 160)
SHRINKAGES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)

# More labels hardly change the order of the losses.
MAX_SCORED_LABELS = 1 << 13

ROWS_AT_ONCE = 1 << 14  # of a copy of some rows
DENSE_BYTES = 1 << 26  # of a part of sparse rows
COUNTS_AT_ONCE = 1 << 22  # class counts of the nodes of a group of trees

Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class OutOfBag:
    """Predictions of training rows by the trees that have not drawn them.

    Attributes
    ----------
    sample : Sample
    X : array or sparse array of shape (n_samples, n_features)
        The same rows, not encoded.
    settings : TreeSettings
        How rows are drawn; its criterion does not matter.
    seeds : sequence of (int, int)
        Seeds of the trees.
    n_threads : int
    """

    sample: Sample
    X: Rows
    settings: TreeSettings
    seeds: Sequence[tuple[int, int]]
    n_threads: int

    def sum_values(self, trees: Sequence[GrownTree]) -> NDArray[np.float64]:
        """Sum of each row's leaf values over the trees that have not drawn it, shape (n_samples, n_classes)."""
        sums = np.zeros((self.X.shape[0], self.sample.n_classes))

        def prepare(tree: Tree, seed: int) -> tuple[NDArray[np.bool_], Steps, LeafValues]:
            return self._is_undrawn(seed), pack([tree], self.X.dtype), pack_leaf_values([tree])

        def add(prepared: Sequence[tuple[NDArray[np.bool_], Steps, LeafValues]], part: slice) -> None:
            X, own_sums = as_dense(self.X[part]), sums[part]
            for is_undrawn, steps, leaf_values in prepared:
                undrawn = np.flatnonzero(is_undrawn[part])
                for begin in range(0, undrawn.size, ROWS_AT_ONCE):
                    rows = undrawn[begin : begin + ROWS_AT_ONCE]
                    values = np.zeros((rows.size, self.sample.n_classes))
                    add_leaf_values(leaf_values, leaves_of(read_only(X[rows]), steps), values)
                    own_sums[rows] += values

        n_parts = self.n_threads
        if issparse(self.X):
            n_parts = max(n_parts, copied_bytes(self.X) // DENSE_BYTES)
        self._add_groups(trees, prepare, add, split_range(self.X.shape[0], n_parts))
        return sums

    def smoothing_losses(
        self, trees: Sequence[GrownTree], node_sizes: Sequence[int], shrinkages: Sequence[float]
    ) -> dict[int, dict[float, float]]:
        """Mean log loss on noisy labels, by node size and shrinkage.

        Removing the splits of nodes with fewer rows gives the tree that a larger `min_samples_split` would have
        grown.  One walk down each tree therefore gives the probability of a row's label for all pairs at once.
        At most 2^13 equally spaced labels are scored.

        Returns
        -------
        dict
            From node size to shrinkage to loss; empty if no row is out of bag.
        """
        scored = spaced_rows(self.sample.labels.size, MAX_SCORED_LABELS)
        weights = self.sample.weights_of(scored)
        sums, n_trees = self._sum_label_probabilities(trees, scored, node_sizes, shrinkages)
        is_scored = (n_trees > 0) & (weights > 0)
        if not is_scored.any():
            return {}
        count = n_trees[is_scored, None, None]
        # Keeps the loss finite: the mean probability if these trees gave 0 and one more 1 / (2 n_classes).
        floor = 0.5 / (count + 1) / self.sample.n_classes
        p = sums[is_scored]
        p /= count
        np.maximum(p, floor, out=p)
        losses = -np.average(np.log(p, out=p), axis=0, weights=weights[is_scored])
        return {
            size: dict(zip(shrinkages, row.tolist(), strict=True))
            for size, row in zip(node_sizes, losses, strict=True)
        }

    def _sum_label_probabilities(
        self,
        trees: Sequence[GrownTree],
        scored: NDArray[np.int64],
        node_sizes: Sequence[int],
        shrinkages: Sequence[float],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of the out-of-bag probabilities of some labels, and the numbers of trees.

        The sums have shape (n_labels, n_node_sizes, n_shrinkages), the numbers (n_labels,).
        """
        rows, labels = self.sample.row_of_label[scored], self.sample.labels[scored]
        X = self.X[rows]
        sizes, grid = np.array(node_sizes), np.array(shrinkages, dtype=float)
        sums, n_trees = np.zeros((rows.size, sizes.size, grid.size)), np.zeros(rows.size)

        def prepare(tree: Tree, seed: int) -> tuple[NDArray[np.bool_], SmoothedTree]:
            if tree.leaf_power == 1:  # proportions, without an array of them
                values, total = tree.compute_counts(), tree.weight
            else:
                values, total = tree.compute_values(), np.ones_like(tree.weight)
            smoothed = SmoothedTree(pack([tree], X.dtype), tree.n_rows, tree.weight, values, total)
            return self._is_undrawn(seed)[rows], smoothed

        def add(prepared: Sequence[tuple[NDArray[np.bool_], SmoothedTree]], part: slice) -> None:
            own_grid = SmoothingGrid(sizes, grid, current=np.empty_like(grid))
            own_rows, own_labels = read_only(X[part]), labels[part]
            own_sums, own_n_trees = sums[part], n_trees[part]
            for undrawn, tree in prepared:
                add_smoothed(
                    own_rows,
                    own_labels,
                    undrawn[part],
                    tree,
                    tree.steps.subsets,
                    own_grid,
                    own_sums,
                    own_n_trees,
                )

        n_parts = max(self.n_threads, copied_bytes(X) // DENSE_BYTES)
        self._add_groups(trees, prepare, add, split_range(rows.size, n_parts))
        return sums, n_trees

    def _add_groups(
        self,
        trees: Sequence[GrownTree],
        prepare: Callable[[Tree, int], Prepared],
        add: Callable[[Sequence[Prepared], slice], None],
        parts: Sequence[slice],
    ) -> None:
        """Prepare a group of trees at a time and add what they predict for each part of the rows, in threads.

        The trees are added to each row in order, so the sums are the same for any number of threads.
        """
        for group in self._groups(trees):
            prepared = map_in_threads(lambda pair: prepare(expand(pair[0]), pair[1]), group, self.n_threads)
            # The threads end before the next group.
            map_in_threads(lambda part: add(prepared, part), parts, self.n_threads)  # noqa: B023

    def _groups(self, trees: Sequence[GrownTree]) -> Iterator[list[tuple[GrownTree, int]]]:
        """Trees with their seeds whose class counts fit in memory together, at least one for each thread.

        All trees if rows are sparse, because each group would make them dense again.
        """
        group: list[tuple[GrownTree, int]] = []
        n_nodes, most = 0, np.inf if issparse(self.X) else COUNTS_AT_ONCE
        for tree, (seed, _) in zip(trees, self.seeds, strict=True):
            group.append((tree, seed))
            n_nodes += tree.n_nodes
            if n_nodes * self.sample.n_classes >= most and len(group) >= self.n_threads:
                yield group
                group, n_nodes = [], 0
        if group:
            yield group

    def _is_undrawn(self, seed: int) -> NDArray[np.bool_]:
        """Mask of the rows that a tree has not drawn, shape (n_samples,)."""
        weights, soft = drawn_weights(self.sample, self.settings, seed), self.sample.soft_labels
        is_undrawn: NDArray[np.bool_] = (weights if soft is None else soft.sum_by_row(weights)) == 0
        return is_undrawn


def score_predictions(
    classes: NDArray[Any],
    labels: NDArray[np.int32],
    sums: NDArray[np.float64],
    score: Callable[[Any, Any], float],
) -> float:
    """Score of the out-of-bag predictions; NaN, with a warning, if every row was drawn by every tree."""
    is_predicted = sums.any(axis=1)
    if not is_predicted.any():
        message = "no row is out of bag, so oob_score_ is NaN; grow more trees, or use more groups"
        warnings.warn(message, UserWarning, stacklevel=6)  # of the caller of fit
        return np.nan
    return float(score(classes[labels[is_predicted]], classes[sums[is_predicted].argmax(axis=1)]))
