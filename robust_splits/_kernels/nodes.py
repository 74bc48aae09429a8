"""Storage of the nodes of a tree while it grows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import inlined_kernel

LEAF = -1
UNKNOWN = -2  # in place of the feature of a node that was not searched yet


class Nodes(NamedTuple):
    """What the nodes of a tree are; see `Tree`."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    counts: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    gain: NDArray[np.float64]


class Pending(NamedTuple):
    """What is known of nodes that wait to be searched or split, and in `waiting` their numbers.

    `plan` holds the first row, the end, the depth, the parent, and the highest code on the left; `constant` one
    bit per feature that is known to be constant.
    """

    plan: NDArray[np.int64]
    priority: NDArray[np.float64]
    constant: NDArray[np.uint64]
    waiting: NDArray[np.int64]


def new_nodes(capacity: int, n_classes: int) -> Nodes:
    return Nodes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.int32),
        np.empty((capacity, n_classes)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
    )


def new_pending(capacity: int, n_words: int) -> Pending:
    return Pending(
        np.empty((capacity, 5), dtype=np.int64),
        np.empty(capacity),
        np.empty((capacity, n_words), dtype=np.uint64),
        np.empty(capacity, dtype=np.int64),
    )


def enlarged(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of `array` with room for twice as many rows."""
    copy = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    copy[: array.shape[0]] = array
    return copy


@inlined_kernel()
def place(nodes, pending, node, begin, end, depth, parent, growth):
    """Write a new node, whose class counts are known; return whether it is to be searched for a split."""
    counts = nodes.counts[node]
    weight, most = 0.0, 0.0
    for k in range(counts.shape[0]):
        weight += counts[k]
        most = max(most, counts[k])
    n_rows = end - begin
    nodes.feature[node] = LEAF
    nodes.threshold[node] = np.nan
    nodes.missing_left[node] = False
    nodes.left[node] = LEAF
    nodes.n_rows[node] = n_rows
    nodes.gain[node] = 0.0
    if (
        n_rows < growth.min_samples_split
        or n_rows < 2 * growth.min_samples_leaf
        or depth >= growth.max_depth
        or most >= weight
    ):
        return False
    nodes.feature[node] = UNKNOWN
    pending.priority[node] = np.inf
    plan = pending.plan[node]
    plan[0], plan[1], plan[2], plan[3] = begin, end, depth, parent
    return True
