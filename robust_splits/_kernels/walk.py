"""Compiled walks from the root of a tree to the leaves, and the packed nodes that they read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel

ROWS_AT_ONCE = 64


class Steps(NamedTuple):
    """Packed nodes of a tree, small enough that the tree stays in the cache.

    Attributes
    ----------
    nodes : record array of shape (n_nodes,)
        ``threshold``, in the precision of the rows, and ``word``, with the feature in the high bits and the
        left child in the low bits.  The left child of a leaf is 0.
    shift : int
        Position of the lowest bit of the feature.
    mask : int
        Mask of the bits of the left child.
    """

    nodes: NDArray[np.void]
    shift: np.uint32 | np.uint64
    mask: np.uint32 | np.uint64


def pack(
    feature: NDArray[np.int32], threshold: NDArray[np.float64], left: NDArray[np.int32], dtype: np.dtype[Any]
) -> Steps:
    """Pack the nodes of a tree for rows of a `dtype`, float32 or float64."""
    bits = int(left.size).bit_length()
    narrow = dtype == np.float32 and bits + int(feature.max()).bit_length() <= 32
    word: type[np.uint32 | np.uint64] = np.uint32 if narrow else np.uint64
    nodes = np.empty(left.size, dtype=[("threshold", dtype), ("word", word)])
    with np.errstate(over="ignore"):
        nodes["threshold"] = threshold
    if dtype == np.float32:
        # Round thresholds down: no float32 value lies between the threshold and the next lower float32 number.
        above = nodes["threshold"] > threshold
        nodes["threshold"][above] = np.nextafter(nodes["threshold"][above], np.float32(-np.inf))
    # A walk reads a feature at leaves too, so it must be a valid index.
    nodes["word"] = np.maximum(feature, 0)
    nodes["word"] <<= word(bits)
    nodes["word"] |= np.maximum(left, 0).astype(word)
    return Steps(nodes, word(bits), word((1 << bits) - 1))


@outer_kernel()
def find_leaves(X, steps, missing_left, leaves, rows, nodes):
    """Write the leaf of each row of `X` to `leaves`.

    `rows` and `nodes` are buffers of `ROWS_AT_ONCE` integers.  That many rows walk down side by side, which
    hides the memory latency of each behind the work on the others.
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
    """Mark the nodes that remain if nodes with fewer than `min_samples_split` rows are not split."""
    alive[0] = True
    # One pass suffices, because parents precede their children.
    for node in range(left.shape[0]):
        if alive[node] and left[node] >= 0 and n_rows[node] >= min_samples_split:
            alive[left[node]] = True
            alive[left[node] + 1] = True


@outer_kernel()
def add_smoothed(X, unseen, labels, steps, missing_left, n_rows, values, weight, sizes, grid, current, sums, n_trees):  # fmt: skip  # noqa: E501
    """Add one tree's probability of each row's label to `sums`, for all node sizes and shrinkages.

    Visits the rows marked in `unseen` (n,) and counts the tree for them in `n_trees` (n,).  `sizes` (m,),
    ascending, and `grid` (g,) hold the values of `min_samples_split` and of the shrinkage; `sums` has the shape
    (n, m, g), and `current` (g,) is a buffer.
    """
    n_grid = grid.shape[0]
    for i in range(X.shape[0]):
        if not unseen[i]:
            continue
        k = uintp(labels[i])
        node = uintp(0)
        n_trees[i] += 1.0
        for g in range(n_grid):
            current[g] = values[0, k]
        size = sizes.shape[0] - 1  # the largest size stops first
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
