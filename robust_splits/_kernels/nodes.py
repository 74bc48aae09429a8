"""Storage of the nodes of a growing tree, and limits on its growth."""

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
    """Arrays of the nodes; see `Tree` for the fields."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    gain: NDArray[np.float64]
    slots: NDArray[np.int32]
    mixed_counts: NDArray[np.float64]

    def used(self, n_nodes: int, n_mixed: int) -> Nodes:
        """Views of the first rows: `n_mixed` of `mixed_counts`, `n_nodes` of all others."""
        arrays: tuple[NDArray[Any], ...] = self
        nodes = Nodes._make(array[:n_nodes] for array in arrays)
        return nodes._replace(mixed_counts=self.mixed_counts[:n_mixed])

    def grown(self, n_nodes: int, n_mixed: int) -> Nodes:
        """Copy these rows into arrays with twice as many."""
        arrays: tuple[NDArray[Any], ...] = self
        used: tuple[NDArray[Any], ...] = self.used(n_nodes, n_mixed)
        return Nodes._make(map(_double, arrays, used))


class Waiting(NamedTuple):
    """State of the nodes that wait to be searched or split, a row each.

    Few nodes wait at a time, so rows are used again: `free` lists the unused ones, as a stack.  A row of `plan`
    holds begin and end of the node's rows, its depth and number, and of its split the highest code of the left
    child and the side of missing values.
    `constant` has a bit per feature, set if the feature is known to be constant at the node.  `order` lists the
    waiting nodes, as a stack in depth-first growth and as a heap in best-first growth.
    """

    plan: NDArray[np.int64]
    priority: NDArray[np.float64]
    constant: NDArray[np.uint64]
    counts: NDArray[np.float64]
    order: NDArray[np.int64]
    free: NDArray[np.int64]

    def grown(self, n_free: int) -> Waiting:
        """Copy into arrays with twice as many rows.  The new ones join the `n_free` that are free."""
        n = self.free.size
        arrays: tuple[NDArray[Any], ...] = self
        grown = Waiting._make(map(_double, arrays, arrays))
        grown.free[n_free : n_free + n] = np.arange(2 * n - 1, n - 1, -1)
        return grown


def _double(array: NDArray[Any], used: NDArray[Any]) -> NDArray[Any]:
    """Copy the first rows of an array, `used`, into one with twice as many rows."""
    copy = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    copy[: used.shape[0]] = used
    return copy


def new_nodes(capacity: int, n_classes: int) -> Nodes:
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
    )


def new_waiting(capacity: int, n_classes: int, n_words: int) -> Waiting:
    """Allocate uninitialised node states, with `n_words` 64-bit words for the bits of the features."""
    return Waiting(
        np.empty((capacity, 6), dtype=np.int64),
        np.empty(capacity),
        np.empty((capacity, n_words), dtype=np.uint64),
        np.empty((capacity, n_classes)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
    )


@merged_kernel()
def init_node(nodes, waiting, node, row, begin, end, depth, weight, only_class, growth):
    """Initialise a node and its row of `waiting`, which holds its class counts; return whether to search it."""
    n_rows = end - begin
    nodes.feature[node] = LEAF
    nodes.threshold[node] = np.nan
    nodes.missing_left[node] = False
    nodes.left[node] = LEAF
    nodes.weight[node] = weight
    nodes.n_rows[node] = n_rows
    nodes.gain[node] = 0.0
    nodes.slots[node] = only_class
    if (
        n_rows < growth.min_samples_split
        or n_rows < 2 * growth.min_samples_leaf
        or depth >= growth.max_depth
        or only_class >= 0
    ):
        return False
    nodes.feature[node] = UNKNOWN
    waiting.priority[row] = np.inf
    plan = waiting.plan[row]
    plan[0], plan[1], plan[2], plan[3] = begin, end, depth, node
    return True


@merged_kernel()
def keep_counts(nodes, node, counts, n_mixed):
    """Store the class counts of a leaf with several classes after the first `n_mixed`; return their number."""
    nodes.slots[node] = -1 - n_mixed
    for k in range(counts.shape[0]):
        nodes.mixed_counts[n_mixed, k] = counts[k]
    return n_mixed + 1


@outer_kernel()
def sum_counts(left, weight, slots, mixed_counts, counts):
    """Write the class counts of all nodes to `counts` (n_nodes, n_classes), which holds zeros."""
    for node in range(left.shape[0] - 1, -1, -1):  # children come after their parents
        child, slot = left[node], slots[node]
        if child >= 0:
            for k in range(counts.shape[1]):
                counts[node, k] = counts[child, k] + counts[child + 1, k]
        elif slot >= 0:
            counts[node, slot] = weight[node]
        else:
            for k in range(counts.shape[1]):
                counts[node, k] = mixed_counts[-1 - slot, k]
