"""The nodes that wait to be searched or split: a stack in depth-first growth, a heap in best-first growth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import inner_kernel, merged_kernel
from .nodes import double

ENTRY = np.dtype(
    (
        np.record,
        [
            ("begin", np.int64),  # of the node's rows
            ("end", np.int64),
            ("depth", np.int64),
            ("node", np.int64),
            ("feature", np.int64),  # of its split
            ("below", np.int64),  # highest code on the left
            ("missing", np.int64),  # side of missing values
            ("seed", np.uint64),  # of the node's random numbers
            ("lower", np.float64),  # bounds of the share of the second class under monotonic constraints
            ("upper", np.float64),
        ],
    )
)


class Waiting(NamedTuple):
    """Entries of the nodes that wait to be searched or split.

    Few nodes wait at a time, so entries are used again.

    Attributes
    ----------
    entries : record array of shape (n_entries,)
    priority : float64 array of shape (n_entries,)
        Reduction of the node's split, or infinity if the node has not been searched.
    constant : uint64 array of shape (n_entries, n_words)
        A bit per feature, set if the feature is known to be constant at the node.
    counts : float64 array of shape (n_entries, n_classes)
        Class counts of the node.
    order : int64 array of shape (n_entries,)
        The entries in use, as a stack or a heap.
    free : int64 array of shape (n_entries,)
        The unused entries, as a stack.
    """

    entries: NDArray[np.void]
    priority: NDArray[np.float64]
    constant: NDArray[np.uint64]
    counts: NDArray[np.float64]
    order: NDArray[np.int64]
    free: NDArray[np.int64]

    def grown(self, n_free: int) -> Waiting:
        """Copy into arrays with twice as many entries.  The new ones join the `n_free` that are free."""
        n = self.free.size
        arrays: tuple[NDArray[Any], ...] = self
        grown = Waiting._make(map(double, arrays, arrays))
        grown.free[n_free : n_free + n] = np.arange(2 * n - 1, n - 1, -1)
        return grown


def new_waiting(capacity: int, n_classes: int, n_words: int) -> Waiting:
    """Allocate uninitialised entries, with `n_words` 64-bit words for the bits of the features."""
    return Waiting(
        entries=np.empty(capacity, dtype=ENTRY),
        priority=np.empty(capacity),
        constant=np.empty((capacity, n_words), dtype=np.uint64),
        counts=np.empty((capacity, n_classes)),
        order=np.empty(capacity, dtype=np.int64),
        free=np.empty(capacity, dtype=np.int64),
    )


@inner_kernel()
def push(heap, size, priority, node):
    """Add a node to a heap of `size` nodes; return the new size."""
    i = size
    while i > 0 and priority[heap[(i - 1) // 2]] < priority[node]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = node
    return size + 1


@inner_kernel()
def pop(heap, size, priority):
    """Remove and return the node of highest priority from a heap of `size` nodes."""
    top = heap[0]
    size -= 1
    node = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and priority[heap[child + 1]] > priority[heap[child]]:
            child += 1
        if priority[heap[child]] <= priority[node]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = node
    return top


@merged_kernel()
def take_entry(waiting, progress, best_first):
    """Take the next entry out of the order."""
    if best_first is None:
        at = waiting.order[progress.n_waiting - 1]
    else:
        at = pop(waiting.order, progress.n_waiting, waiting.priority)
    progress.n_waiting -= 1
    return at


@merged_kernel()
def put_entry(waiting, progress, at, best_first):
    """Put an entry into the order."""
    if best_first is None:
        waiting.order[progress.n_waiting] = at
    else:
        push(waiting.order, progress.n_waiting, waiting.priority, at)
    progress.n_waiting += 1


@merged_kernel()
def free_entry(waiting, progress, at):
    """Return an entry to the unused ones."""
    waiting.free[progress.n_free] = at
    progress.n_free += 1
