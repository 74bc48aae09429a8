"""Compiled walks from the roots of trees to the leaves, and the packed nodes that they read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from .compile import inlined_kernel, inner_kernel, outer_kernel

# Rows are taken in blocks.  The larger a block, the fewer times the nodes of a tree are loaded into the cache,
# and the smaller, the more of its rows are still in the cache for the next tree.  Blocks of wide rows are
# small, because a tree reads only a part of each row.
MIN_BLOCK_BYTES = 1 << 18
MAX_BLOCK_BYTES = 1 << 22
BLOCK_TO_TREE = 8  # between the two, a block is so many times as large as a tree
WIDE_ROW_BYTES = 1 << 9


class Steps(NamedTuple):
    """Packed nodes of trees, small enough that a tree stays in the cache.

    Attributes
    ----------
    nodes : record array of shape (n_nodes,)
        ``threshold``, in the precision of the rows, and ``word``, which holds, from the high bits to the low
        ones, the feature, whether missing values go right, and the left child, counted from the root.  A leaf
        is its own left child, and no value is above its threshold, so a walk stays there.
    roots : int64 array of shape (n_trees,)
        Index of each root.
    shift : int
        Position of the lowest bit of the feature.
    mask : int
        Mask of the bits of the left child.
    """

    nodes: NDArray[np.void]
    roots: NDArray[np.int64]
    shift: np.uint32 | np.uint64
    mask: np.uint32 | np.uint64


@outer_kernel()
def pack_tree(feature, threshold, left, missing_left, rounded, rounded_bits, infinity, n_bits, steps, words):
    """Write the thresholds of a tree, as bit patterns, to `steps`, and the rest of its packed nodes to `words`.

    The thresholds are rounded down, because no number of the rows' precision lies between a threshold and the
    next lower one.  `rounded` holds them rounded to the nearest.  `rounded_bits` and `infinity` are bit
    patterns, and the left child has `n_bits` bits.  There is no branch, because nobody could predict it.
    """
    for i in range(feature.shape[0]):
        child = np.int64(left[i])
        pattern = rounded_bits[i]
        lower = pattern + 1 if pattern < 0 else pattern - 1  # negative numbers have the sign bit
        pattern = lower if rounded[i] > threshold[i] else pattern
        word = (np.int64(feature[i]) << (n_bits + 1)) | (np.int64(not missing_left[i]) << n_bits) | child
        # At a leaf, a walk reads feature 0 and stays.
        steps[i] = infinity if child < 0 else pattern
        words[i] = i if child < 0 else word


@inlined_kernel()
def _child(X, row, root, node, steps, missing):
    """The child that a row goes to, or the node itself at a leaf.  `missing` is None if no value is missing."""
    step = steps.nodes[root + node]
    x = X[row, uintp(step.word >> steps.shift)]
    child = uintp(step.word & steps.mask) + uintp(x > step.threshold)
    if missing is not None:
        goes_right = uintp(step.word >> (steps.shift - 1)) & uintp(1)
        child += uintp(x != x) & goes_right
    return child


@inlined_kernel()
def _next_walk(row, tree, end, n_trees):
    """The next row of a tree or the first of the next tree, and after the last the same again."""
    if row + 1 < end:
        return row + 1, tree
    if tree + 1 < n_trees:
        return 0, tree + 1
    return row, tree


@inner_kernel()
def _copy_rows(bits, begin, end, block, exponent):
    """Copy the rows in [begin, end) to `block`; return whether a value is missing or infinite.

    The rows are given as bit patterns.  `exponent` has all bits of the exponent set, as have these values only.
    """
    any_special = False
    for i in range(begin, end):
        for j in range(bits.shape[1]):
            pattern = bits[uintp(i), uintp(j)]
            block[uintp(i - begin), uintp(j)] = pattern
            any_special |= (pattern & exponent) == exponent
    return any_special


@outer_kernel()
def find_leaves(bits, begin, steps, missing, block, block_bits, exponent, leaves):
    """Write the leaf of each row from `begin` in each tree to `leaves` (n_trees, n_samples).

    `bits` are the rows as bit patterns.  `missing` is None if no value is missing, for which another, faster
    kernel is compiled; it stops at a block of rows with missing or infinite values.  Returns the first row that
    is left.

    Eight walks, of several rows down a tree or of a row down several trees, go on side by side, which hides the
    memory latency of each behind the others.  They are written out because in an array they would be slower.
    They take two steps at a time, because finding out whether all have arrived takes as long as a step.  As
    many rows as fit are copied to `block` at a time: memory is read faster in sequence than feature by feature.
    """
    n_trees = leaves.shape[0]
    for first in range(begin, bits.shape[0], block.shape[0]):
        end = min(block.shape[0], bits.shape[0] - first)
        any_special = _copy_rows(bits, first, first + end, block_bits, exponent)
        if missing is None and any_special:
            return first
        row, tree = 0, 0
        for _ in range(0, end * n_trees, 8):
            i0, t0 = row, tree
            i1, t1 = _next_walk(i0, t0, end, n_trees)
            i2, t2 = _next_walk(i1, t1, end, n_trees)
            i3, t3 = _next_walk(i2, t2, end, n_trees)
            i4, t4 = _next_walk(i3, t3, end, n_trees)
            i5, t5 = _next_walk(i4, t4, end, n_trees)
            i6, t6 = _next_walk(i5, t5, end, n_trees)
            i7, t7 = _next_walk(i6, t6, end, n_trees)
            row, tree = _next_walk(i7, t7, end, n_trees)
            r0, r1 = uintp(steps.roots[uintp(t0)]), uintp(steps.roots[uintp(t1)])
            r2, r3 = uintp(steps.roots[uintp(t2)]), uintp(steps.roots[uintp(t3)])
            r4, r5 = uintp(steps.roots[uintp(t4)]), uintp(steps.roots[uintp(t5)])
            r6, r7 = uintp(steps.roots[uintp(t6)]), uintp(steps.roots[uintp(t7)])
            a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = uintp(0)
            while True:
                b0 = _child(block, uintp(i0), r0, a0, steps, missing)
                b1 = _child(block, uintp(i1), r1, a1, steps, missing)
                b2 = _child(block, uintp(i2), r2, a2, steps, missing)
                b3 = _child(block, uintp(i3), r3, a3, steps, missing)
                b4 = _child(block, uintp(i4), r4, a4, steps, missing)
                b5 = _child(block, uintp(i5), r5, a5, steps, missing)
                b6 = _child(block, uintp(i6), r6, a6, steps, missing)
                b7 = _child(block, uintp(i7), r7, a7, steps, missing)
                a0 = _child(block, uintp(i0), r0, b0, steps, missing)
                a1 = _child(block, uintp(i1), r1, b1, steps, missing)
                a2 = _child(block, uintp(i2), r2, b2, steps, missing)
                a3 = _child(block, uintp(i3), r3, b3, steps, missing)
                a4 = _child(block, uintp(i4), r4, b4, steps, missing)
                a5 = _child(block, uintp(i5), r5, b5, steps, missing)
                a6 = _child(block, uintp(i6), r6, b6, steps, missing)
                a7 = _child(block, uintp(i7), r7, b7, steps, missing)
                if (
                    (a0 == b0) & (a1 == b1) & (a2 == b2) & (a3 == b3)
                    & (a4 == b4) & (a5 == b5) & (a6 == b6) & (a7 == b7)
                ):  # fmt: skip
                    break
            leaves[uintp(t0), uintp(first + i0)] = a0
            leaves[uintp(t1), uintp(first + i1)] = a1
            leaves[uintp(t2), uintp(first + i2)] = a2
            leaves[uintp(t3), uintp(first + i3)] = a3
            leaves[uintp(t4), uintp(first + i4)] = a4
            leaves[uintp(t5), uintp(first + i5)] = a5
            leaves[uintp(t6), uintp(first + i6)] = a6
            leaves[uintp(t7), uintp(first + i7)] = a7
    return bits.shape[0]


def leaves_of(X: NDArray[np.floating], steps: Steps) -> NDArray[np.int32]:
    """Leaf of each row of `X` in each tree, shape (n_trees, n_samples).

    Raises
    ------
    ValueError
        If a value is infinite.
    """
    n_samples, n_features = X.shape
    leaves = np.empty((steps.roots.size, n_samples), dtype=np.int32)
    row_bytes = n_features * X.itemsize
    block_bytes = BLOCK_TO_TREE * steps.nodes.nbytes // steps.roots.size if row_bytes < WIDE_ROW_BYTES else 0
    block_bytes = min(max(block_bytes, MIN_BLOCK_BYTES), MAX_BLOCK_BYTES)
    block = np.empty((max(1, min(block_bytes // row_bytes, n_samples)), n_features), dtype=X.dtype)
    pattern = np.dtype(f"u{X.itemsize}")
    exponent = X.dtype.type(np.inf).view(pattern)
    arguments = (block, block.view(pattern), exponent, leaves)
    n_done = find_leaves(X.view(pattern), 0, steps, None, *arguments)
    if n_done < n_samples:
        with np.errstate(invalid="ignore"):  # the sum of two infinite values
            assert_all_finite(X[n_done:], allow_nan=True, input_name="X")
        find_leaves(X.view(pattern), n_done, steps, True, *arguments)
    return leaves


@outer_kernel()
def add_leaf_values(slots, values, leaves, out):
    """Add to each row of `out` the values of its leaf; see `LeafValues`."""
    for i in range(out.shape[0]):
        slot = slots[uintp(leaves[uintp(i)])]
        if slot >= 0:
            out[uintp(i), uintp(slot)] += 1.0
        else:
            for k in range(out.shape[1]):
                out[uintp(i), uintp(k)] += values[uintp(-1 - slot), uintp(k)]


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
def add_smoothed(X, unseen, labels, steps, n_rows, values, total, weight, sizes, grid, current, sums, n_trees):
    """Add one tree's probability of each row's label to `sums`, for all node sizes and shrinkages.

    The probabilities of a node are its row of `values` divided by its `total`.  Visits the rows marked in
    `unseen` (n,) and counts the tree for them in `n_trees` (n,).  `sizes` (m,), ascending, and `grid` (g,) hold
    the values of `min_samples_split` and of the shrinkage; `sums` has the shape (n, m, g).  `current` (g,) is a
    buffer.
    """
    n_grid = grid.shape[0]
    for i in range(X.shape[0]):
        if not unseen[i]:
            continue
        k = uintp(labels[i])
        node = uintp(0)
        n_trees[i] += 1.0
        for g in range(n_grid):
            current[g] = values[0, k] / total[0]
        size = sizes.shape[0] - 1  # the largest size stops first
        while True:
            child = _child(X, uintp(i), uintp(0), node, steps, True)
            while size >= 0 and (child == node or n_rows[node] < sizes[uintp(size)]):
                for g in range(n_grid):
                    sums[i, uintp(size), g] += current[g]
                size -= 1
            if size < 0:
                break
            change = (values[child, k] / total[child] - values[node, k] / total[node]) * weight[node]
            for g in range(n_grid):
                current[g] += change / (weight[node] + grid[g])
            node = child
