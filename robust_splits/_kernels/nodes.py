"""Storage of the nodes of a growing tree, limits on its growth, and its progress."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import merged_kernel, outer_kernel

LEAF = -1
UNKNOWN = -2  # feature of a node that has not been searched yet


class GrowthSettings(NamedTuple):
    """Limits on growth, and how features and thresholds are drawn.

    A very large count means no limit.  `max_leaf_nodes` 0 grows depth-first without a limit, a positive number
    grows best-first.
    """

    max_depth: int
    max_leaf_nodes: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_reduction: float
    max_features: int
    random_thresholds: bool


class Nodes(NamedTuple):
    """Arrays of the nodes; see `Tree` for the fields.

    `divided` holds the splits of categories: number of the node's categories, how many go left, and their
    codes, those that go left first.  The threshold of such a split is the index of its first entry.
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
    divided: NDArray[np.int32]

    def used(self, progress: Any) -> Nodes:
        """Views of the rows in use, given a `PROGRESS` record."""
        arrays: tuple[NDArray[Any], ...] = self
        nodes = Nodes._make(array[: progress.n_nodes] for array in arrays)
        return nodes._replace(
            mixed_counts=self.mixed_counts[: progress.n_mixed], divided=self.divided[: progress.n_divided]
        )

    def grown(self, progress: Any) -> Nodes:
        """Copy the rows in use into arrays with twice as many."""
        arrays: tuple[NDArray[Any], ...] = self
        used: tuple[NDArray[Any], ...] = self.used(progress)
        return Nodes._make(map(double, arrays, used))


# How far a tree has grown.
PROGRESS = np.dtype(
    (
        np.record,  # fields are attributes, in Python as in kernels
        [
            ("n_nodes", np.int64),
            ("n_leaves", np.int64),
            ("n_mixed", np.int64),  # leaves with several classes
            ("n_divided", np.int64),  # entries of ``Nodes.divided``
            ("n_waiting", np.int64),
            ("n_free", np.int64),  # unused entries of `Waiting`
            ("local_begin", np.int64),  # of the rows whose codes are copied
            ("local_end", np.int64),
            ("failed", np.int64),  # whether the criterion returned no finite number
        ],
    )
)


def double(array: NDArray[Any], used: NDArray[Any]) -> NDArray[Any]:
    """Copy the first rows of an array, `used`, into one with twice as many rows."""
    copy = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    copy[: used.shape[0]] = used
    return copy


def new_nodes(capacity: int, n_classes: int, max_categories: int) -> Nodes:
    """Allocate uninitialised nodes."""
    return Nodes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
        np.empty((capacity, n_classes)),
        np.empty(capacity + 2 * max_categories if max_categories else 0, dtype=np.int32),
    )


@merged_kernel()
def init_node(nodes, node, n_rows, weight, only_class):
    """Initialise a node as a leaf."""
    nodes.feature[node] = LEAF
    nodes.threshold[node] = np.nan
    nodes.missing_left[node] = False
    nodes.left[node] = LEAF
    nodes.weight[node] = weight
    nodes.n_rows[node] = n_rows
    nodes.gain[node] = 0.0
    nodes.class_or_row[node] = only_class


@merged_kernel()
def is_final(growth, n_rows, depth, only_class):
    """Whether the limits on growth forbid to split a node, or it has only one class."""
    return (
        n_rows < growth.min_samples_split
        or n_rows < 2 * growth.min_samples_leaf
        or depth >= growth.max_depth
        or only_class >= 0
    )


@merged_kernel()
def keep_counts(nodes, node, counts, progress):
    """Store the class counts of a leaf with several classes."""
    nodes.class_or_row[node] = -1 - progress.n_mixed
    for k in range(counts.shape[0]):
        nodes.mixed_counts[progress.n_mixed, k] = counts[k]
    progress.n_mixed += 1


@outer_kernel()
def sum_counts(left, weight, class_or_row, mixed_counts, counts):
    """Write the class counts of all nodes to `counts` (n_nodes, n_classes), which holds zeros."""
    for node in range(left.shape[0] - 1, -1, -1):  # children come after their parents
        child, k_or_row = left[node], class_or_row[node]
        if child >= 0:
            for k in range(counts.shape[1]):
                counts[node, k] = counts[child, k] + counts[child + 1, k]
        elif k_or_row >= 0:
            counts[node, k_or_row] = weight[node]
        else:
            for k in range(counts.shape[1]):
                counts[node, k] = mixed_counts[-1 - k_or_row, k]
