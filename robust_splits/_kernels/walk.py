"""From rows to leaves: what a walk down a tree reads, packed, and the compiled walks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel

ROWS_AT_ONCE = 64


class Steps(NamedTuple):
    """The nodes of a tree as a walk reads them: small, so that a tree stays in the cache.

    Attributes
    ----------
    nodes : record array of shape (n_nodes,)
        ``threshold``, in the precision of the rows, and ``word``, which holds the feature above and the left
        child below; a leaf has the left child 0.
    shift : int
        How far up in the word the feature begins.
    mask : int
        What cuts the left child out of it.
    """

    nodes: NDArray[np.void]
    shift: np.uint32 | np.uint64
    mask: np.uint32 | np.uint64


def pack(
    feature: NDArray[np.int32], threshold: NDArray[np.float64], left: NDArray[np.int32], dtype: np.dtype[Any]
) -> Steps:
    """The steps for rows of a `dtype`, float32 or float64."""
    bits = int(left.size).bit_length()
    narrow = dtype == np.float32 and bits + int(feature.max()).bit_length() <= 32
    word: type[np.uint32 | np.uint64] = np.uint32 if narrow else np.uint64
    nodes = np.empty(left.size, dtype=[("threshold", dtype), ("word", word)])
    with np.errstate(over="ignore"):
        nodes["threshold"] = threshold
    if dtype == np.float32:
        # A row is at most the threshold if it is at most the next lower number of its own precision.
        above = nodes["threshold"] > threshold
        nodes["threshold"][above] = np.nextafter(nodes["threshold"][above], np.float32(-np.inf))
    # A walk reads some feature at a leaf as well.
    nodes["word"] = np.maximum(feature, 0)
    nodes["word"] <<= word(bits)
    nodes["word"] |= np.maximum(left, 0).astype(word)
    return Steps(nodes, word(bits), word((1 << bits) - 1))


@outer_kernel()
def find_leaves(X, steps, missing_left, leaves, rows, nodes):
    """Write the leaf of each row of `X` into `leaves`.

    `rows` and `nodes` are memory for `ROWS_AT_ONCE` numbers.  Rows walk down side by side, so that the wait for
    the memory of one is the work on others.
    """
    n_samples = X.shape[0]
    for begin in range(0, n_samples, ROWS_AT_ONCE):
        n_walking = min(ROWS_AT_ONCE, n_samples - begin)
        for j in range(n_walking):
            rows[uintp(j)] = begin + j
            nodes[uintp(j)] = 0
        while n_walking > 0:
            n_kept = 0
            for j in range(n_walking):
                i, node = rows[uintp(j)], nodes[uintp(j)]
                step = steps.nodes[uintp(node)]
                left = step.word & steps.mask
                x = X[uintp(i), uintp(step.word >> steps.shift)]
                goes_right = x > step.threshold
                if x != x:
                    goes_right = not missing_left[uintp(node)]
                leaves[uintp(i)] = node
                rows[uintp(n_kept)] = i
                nodes[uintp(n_kept)] = left + goes_right
                n_kept += left > 0
            n_walking = n_kept


@outer_kernel()
def add_rows(values, leaves, out):
    """Add to each row of `out` the values of its leaf."""
    for i in range(out.shape[0]):
        leaf = leaves[uintp(i)]
        for k in range(out.shape[1]):
            out[uintp(i), uintp(k)] += values[uintp(leaf), uintp(k)]


@outer_kernel()
def mark_alive(left, n_rows, min_samples_split, alive):
    """Mark the nodes that remain where nodes of fewer rows are not split; parents come before children."""
    alive[0] = True
    for node in range(left.shape[0]):
        if alive[node] and left[node] >= 0 and n_rows[node] >= min_samples_split:
            alive[left[node]] = True
            alive[left[node] + 1] = True


@outer_kernel()
def add_smoothed(X, unseen, labels, steps, missing_left, n_rows, values, weight, sizes, grid, current, sums, n_trees):  # fmt: skip  # noqa: E501
    n_grid = grid.shape[0]
    for i in range(X.shape[0]):
        if not unseen[i]:
            continue
        k = uintp(labels[i])
        node = uintp(0)
        n_trees[i] += 1.0
        for g in range(n_grid):
            current[g] = values[0, k]
        size = sizes.shape[0] - 1  # ascending: the largest is the first that stops
        while True:
            step = steps.nodes[node]
            left = step.word & steps.mask
            while size >= 0 and (left == 0 or n_rows[node] < sizes[uintp(size)]):
                for g in range(n_grid):
                    sums[i, uintp(size), g] += current[g]
                size -= 1
            if size < 0:
                break
            x = X[i, uintp(step.word >> steps.shift)]
            goes_right = x > step.threshold
            if x != x:
                goes_right = not missing_left[node]
            child = uintp(left + goes_right)
            change = (values[child, k] - values[node, k]) * weight[node]
            for g in range(n_grid):
                current[g] += change / (weight[node] + grid[g])
            node = child
