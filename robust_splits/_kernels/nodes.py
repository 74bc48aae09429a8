"""Storage of the nodes of a growing tree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import merged_kernel

LEAF = -1
UNKNOWN = -2  # feature of a node that has not been searched yet


class Nodes(NamedTuple):
    """Arrays of the nodes; see `Tree` for the fields."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    counts: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    gain: NDArray[np.float64]
    only_class: NDArray[np.int32]


class Pending(NamedTuple):
    """State of the nodes that wait to be searched or split.

    A row of `plan` holds begin and end of the node's rows, depth, parent, and the highest code of the left
    child.  `constant` has a bit per feature, set if the feature is known to be constant at the node.  `waiting`
    lists the waiting nodes, as a stack in depth-first growth and as a heap in best-first growth.
    """

    plan: NDArray[np.int64]
    priority: NDArray[np.float64]
    constant: NDArray[np.uint64]
    waiting: NDArray[np.int64]


def new_nodes(capacity: int, n_classes: int) -> Nodes:
    """Allocate uninitialised nodes."""
    return Nodes(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.int32),
        np.empty((capacity, n_classes)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
    )


def new_pending(capacity: int, n_words: int) -> Pending:
    """Allocate uninitialised node states, with `n_words` 64-bit words for the bits of the features."""
    return Pending(
        np.empty((capacity, 5), dtype=np.int64),
        np.empty(capacity),
        np.empty((capacity, n_words), dtype=np.uint64),
        np.empty(capacity, dtype=np.int64),
    )


def double_capacity(array: NDArray[Any]) -> NDArray[Any]:
    """Copy `array` into one with twice as many rows."""
    copy = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    copy[: array.shape[0]] = array
    return copy


@merged_kernel()
def init_node(nodes, pending, node, begin, end, depth, parent, only_class, growth):
    """Initialise a node whose class counts are set; return whether to search it for a split."""
    n_rows = end - begin
    nodes.feature[node] = LEAF
    nodes.threshold[node] = np.nan
    nodes.missing_left[node] = False
    nodes.left[node] = LEAF
    nodes.n_rows[node] = n_rows
    nodes.gain[node] = 0.0
    nodes.only_class[node] = only_class
    if (
        n_rows < growth.min_samples_split
        or n_rows < 2 * growth.min_samples_leaf
        or depth >= growth.max_depth
        or only_class >= 0
    ):
        return False
    nodes.feature[node] = UNKNOWN
    pending.priority[node] = np.inf
    plan = pending.plan[node]
    plan[0], plan[1], plan[2], plan[3] = begin, end, depth, parent
    return True
