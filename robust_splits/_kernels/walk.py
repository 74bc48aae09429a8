"""Compiled walks from the roots of trees to the leaves, and the packed nodes that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from .compile import inlined_kernel, inner_kernel, outer_kernel

if TYPE_CHECKING:
    from .._subsets import Subsets

# Rows are processed in blocks.  Large blocks load the nodes of a tree into the cache less often.  Small blocks
# keep their rows in the cache for the next tree.  Wide rows have small blocks, because a tree reads only a part
# of each row.
MIN_BLOCK_BYTES = 1 << 18
MAX_BLOCK_BYTES = 1 << 22
BLOCK_TO_TREE = 8  # size of a block relative to a tree, within these limits
WIDE_ROW_BYTES = 1 << 9

LANES = 10  # walks at a time


class Splits(NamedTuple):
    """The splits of a tree; see `Tree` for the fields.

    `is_leaf` has shape (n_nodes,).  The others have the values of all nodes, or of inner nodes only.
    """

    is_leaf: NDArray[np.bool_]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]


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
    subsets : Subsets or None
        Subsets of categories of the splits of all trees; None if no column is categorical.
    """

    nodes: NDArray[np.void]
    roots: NDArray[np.int64]
    shift: np.uint32 | np.uint64
    mask: np.uint32 | np.uint64
    subsets: Subsets | None


class LeafValues(NamedTuple):
    """Class probabilities of the leaves of one or more trees.

    Most leaves of full trees hold rows of one class.  Their probabilities, a one and zeros, are not stored,
    because reading them would take most of the time of a prediction.

    Attributes
    ----------
    class_or_row : int32 array of shape (n_nodes,)
        For a leaf whose probability of a class is 1, this class; for any other leaf, -1 minus its row of
        `values`, counted from the first of its tree.
    values : float64 array of shape (n_rows, n_classes)
    roots : int64 array of shape (n_trees,)
        Index of each root in `class_or_row`.
    first_rows : int64 array of shape (n_trees,)
        First row of each tree in `values`.
    """

    class_or_row: NDArray[np.int32]
    values: NDArray[np.float64]
    roots: NDArray[np.int64]
    first_rows: NDArray[np.int64]


class Block(NamedTuple):
    """Buffer for one or more rows, as numbers and, in the same memory, as bit patterns."""

    rows: NDArray[np.floating]
    bits: NDArray[np.unsignedinteger]


@outer_kernel()
def pack_tree(splits, rounded, rounded_bits, infinity, n_bits, thresholds, words):
    """Write the packed nodes of a tree: bit patterns to `thresholds`, and the rest to `words`.

    Thresholds are rounded down to the precision of the rows, which sends every row to the same side as before.
    `rounded` holds them rounded to the nearest number, and `rounded_bits` the bit patterns of these.
    `infinity` is a bit pattern too.  The left child has `n_bits` bits.  Branches would be unpredictable, so
    there are none.
    """
    n_nodes, last = splits.is_leaf.shape[0], splits.left.shape[0] - 1
    n_skipped = 0  # leaves before a node, if the arrays are without them
    for i in range(n_nodes):
        # At a leaf, a walk reads feature 0 and stays.
        is_leaf = splits.is_leaf[i]
        thresholds[i], words[i] = infinity, i
        if last >= 0:
            j = uintp(min(i - n_skipped, last))
            pattern = rounded_bits[j]
            lower = pattern + 1 if pattern < 0 else pattern - 1  # negative numbers have the sign bit
            pattern = lower if rounded[j] > splits.threshold[j] else pattern
            feature, missing_right = np.int64(splits.feature[j]), np.int64(not splits.missing_left[j])
            word = (feature << (n_bits + 1)) | (missing_right << n_bits) | np.int64(splits.left[j])
            thresholds[i] = infinity if is_leaf else pattern
            words[i] = i if is_leaf else word
        n_skipped += is_leaf and last + 1 < n_nodes


@inner_kernel()
def contains(subsets, subset, x):
    """1 if a subset of categories contains `x`, which may be missing, otherwise 0."""
    begin, end = subsets.offsets[subset], subsets.offsets[subset + 1]
    while begin < end:
        middle = (begin + end) // 2
        if subsets.values[middle] < x:
            begin = middle + 1
        else:
            end = middle
    return uintp(begin < subsets.offsets[subset + 1] and subsets.values[begin] == x)


@inlined_kernel()
def child_of(X, row, root, node, steps, missing, subsets):
    """The child that a row goes to, or the node itself at a leaf.

    `missing` is None if no value is missing, `subsets` if no split divides categories.
    """
    step = steps.nodes[root + node]
    x = X[row, uintp(step.word >> steps.shift)]
    child = uintp(step.word & steps.mask) + uintp(x > step.threshold)
    if missing is not None:
        goes_right = uintp(step.word >> (steps.shift - 1)) & uintp(1)
        child += uintp(x != x) & goes_right
    if subsets is not None:
        subset = subsets.of_node[root + node]
        if subset >= 0:
            goes_right = uintp(step.word >> (steps.shift - 1)) & uintp(1)
            child = uintp(step.word & steps.mask) + (goes_right ^ contains(subsets, subset, x))
    return child


@inlined_kernel()
def _two_steps(X, row, root, node, steps, missing, subsets):
    """The child that a row goes to, and the child of that child."""
    child = child_of(X, row, root, node, steps, missing, subsets)
    return child, child_of(X, row, root, child, steps, missing, subsets)


@inlined_kernel()
def _next_walk(walk, node, last_but_one, next_walk):
    """Begin the next walk if this one has arrived; return walk, node and the next walk, without a branch."""
    arrived = node == last_but_one
    return next_walk if arrived else walk, uintp(0) if arrived else node, next_walk + uintp(arrived)


@inner_kernel()
def _copy_rows(bits, begin, end, block):
    """Copy the rows in [begin, end), given as bit patterns; return whether a value is missing or infinite."""
    block.rows[0, 0] = np.inf
    exponent = block.bits[0, 0]  # all bits of the exponent, which only missing and infinite values have
    any_special = False
    for i in range(begin, end):
        for j in range(bits.shape[1]):
            pattern = bits[uintp(i), uintp(j)]
            block.bits[uintp(i - begin), uintp(j)] = pattern
            any_special |= (pattern & exponent) == exponent
    return any_special


@inlined_kernel()
def _place(walk, fixed, roots, of_row):
    """Row and root of a walk: of a row down the tree `fixed`, or of the row `fixed` down a tree."""
    if of_row is None:
        return walk, uintp(roots[fixed])
    return fixed, uintp(roots[walk])


@inner_kernel()
def _walk(X, fixed, of_row, steps, missing, subsets, leaves):
    """Write the leaves of all rows in the tree `fixed` or, with `of_row`, of the row `fixed` in all trees.

    Ten walks advance in turn, so that one reads memory while another waits for it.  Each has variables of its
    own, because an array of them would be slower; that is why this function is long.  After six steps, walks at
    a leaf are replaced by the next ones.  A replacement takes as long as one or two steps, so it is not done
    after every step.
    """
    n, lanes, fixed = uintp(leaves.shape[0]), uintp(LANES), uintp(fixed)
    last = n - uintp(1)
    begun = uintp(0)
    while begun < n:
        w0, a0 = min(begun, last), uintp(0)
        w1, a1 = min(begun + uintp(1), last), uintp(0)
        w2, a2 = min(begun + uintp(2), last), uintp(0)
        w3, a3 = min(begun + uintp(3), last), uintp(0)
        w4, a4 = min(begun + uintp(4), last), uintp(0)
        w5, a5 = min(begun + uintp(5), last), uintp(0)
        w6, a6 = min(begun + uintp(6), last), uintp(0)
        w7, a7 = min(begun + uintp(7), last), uintp(0)
        w8, a8 = min(begun + uintp(8), last), uintp(0)
        w9, a9 = min(begun + uintp(9), last), uintp(0)
        begun += lanes
        while True:
            i0, r0 = _place(w0, fixed, steps.roots, of_row)
            i1, r1 = _place(w1, fixed, steps.roots, of_row)
            i2, r2 = _place(w2, fixed, steps.roots, of_row)
            i3, r3 = _place(w3, fixed, steps.roots, of_row)
            i4, r4 = _place(w4, fixed, steps.roots, of_row)
            i5, r5 = _place(w5, fixed, steps.roots, of_row)
            i6, r6 = _place(w6, fixed, steps.roots, of_row)
            i7, r7 = _place(w7, fixed, steps.roots, of_row)
            i8, r8 = _place(w8, fixed, steps.roots, of_row)
            i9, r9 = _place(w9, fixed, steps.roots, of_row)
            b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 = a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
            for _ in range(3):
                b0, a0 = _two_steps(X, i0, r0, a0, steps, missing, subsets)
                b1, a1 = _two_steps(X, i1, r1, a1, steps, missing, subsets)
                b2, a2 = _two_steps(X, i2, r2, a2, steps, missing, subsets)
                b3, a3 = _two_steps(X, i3, r3, a3, steps, missing, subsets)
                b4, a4 = _two_steps(X, i4, r4, a4, steps, missing, subsets)
                b5, a5 = _two_steps(X, i5, r5, a5, steps, missing, subsets)
                b6, a6 = _two_steps(X, i6, r6, a6, steps, missing, subsets)
                b7, a7 = _two_steps(X, i7, r7, a7, steps, missing, subsets)
                b8, a8 = _two_steps(X, i8, r8, a8, steps, missing, subsets)
                b9, a9 = _two_steps(X, i9, r9, a9, steps, missing, subsets)
            leaves[w0] = a0
            leaves[w1] = a1
            leaves[w2] = a2
            leaves[w3] = a3
            leaves[w4] = a4
            leaves[w5] = a5
            leaves[w6] = a6
            leaves[w7] = a7
            leaves[w8] = a8
            leaves[w9] = a9
            if begun + lanes <= n:
                w0, a0, begun = _next_walk(w0, a0, b0, begun)
                w1, a1, begun = _next_walk(w1, a1, b1, begun)
                w2, a2, begun = _next_walk(w2, a2, b2, begun)
                w3, a3, begun = _next_walk(w3, a3, b3, begun)
                w4, a4, begun = _next_walk(w4, a4, b4, begun)
                w5, a5, begun = _next_walk(w5, a5, b5, begun)
                w6, a6, begun = _next_walk(w6, a6, b6, begun)
                w7, a7, begun = _next_walk(w7, a7, b7, begun)
                w8, a8, begun = _next_walk(w8, a8, b8, begun)
                w9, a9, begun = _next_walk(w9, a9, b9, begun)
            elif (
                (a0 == b0) & (a1 == b1) & (a2 == b2) & (a3 == b3) & (a4 == b4)
                & (a5 == b5) & (a6 == b6) & (a7 == b7) & (a8 == b8) & (a9 == b9)
            ):  # fmt: skip
                break


@outer_kernel()
def find_leaves(bits, begin, of_row, steps, missing, subsets, block, leaves):
    """Write the leaf of each row from `begin` in each tree to `leaves`.

    `bits` are the rows as bit patterns.  `leaves` has the shape (n_trees, n_samples) if `of_row` is None;
    otherwise (n_samples, n_trees), and all walks of a row are processed together, which is faster for few rows.
    `missing` is None if no value is missing, for which a faster kernel is compiled; it stops at a block of rows
    with missing or infinite values.  Returns the number of rows that are done.

    As many rows as fit are copied to `block` at a time: memory is read faster in sequence than feature by
    feature.
    """
    block_size = block.rows.shape[0]
    for first in range(begin, bits.shape[0], block_size):
        end = min(first + block_size, bits.shape[0])
        any_special = _copy_rows(bits, first, end, block)
        if missing is None and any_special:
            return first
        if of_row is None:
            for tree in range(leaves.shape[0]):
                _walk(block.rows, tree, of_row, steps, missing, subsets, leaves[tree, first:end])
        else:
            for row in range(first, end):
                _walk(block.rows, row - first, of_row, steps, missing, subsets, leaves[row])
    return bits.shape[0]


def leaves_of(X: NDArray[np.floating], steps: Steps) -> NDArray[np.int32]:
    """Leaf of each row of `X` in each tree, shape (n_trees, n_samples).

    Raises
    ------
    ValueError
        If a value is infinite.
    """
    n_samples, n_features = X.shape
    n_trees = steps.roots.size
    of_row = True if n_samples < min(LANES, n_trees) else None
    leaves = np.empty((n_samples, n_trees) if of_row else (n_trees, n_samples), dtype=np.int32)
    row_bytes = n_features * X.itemsize
    block_bytes = BLOCK_TO_TREE * steps.nodes.nbytes // n_trees if row_bytes < WIDE_ROW_BYTES else 0
    block_bytes = min(max(block_bytes, MIN_BLOCK_BYTES), MAX_BLOCK_BYTES)
    rows = np.empty((max(1, min(block_bytes // row_bytes, n_samples)), n_features), dtype=X.dtype)
    pattern = np.dtype(f"u{X.itemsize}")
    block = Block(rows, rows.view(pattern))
    n_done = 0  # with categories there is one kernel, to compile less
    if steps.subsets is None:
        n_done = find_leaves(X.view(pattern), 0, of_row, steps, None, None, block, leaves)
    if n_done < n_samples:
        with np.errstate(invalid="ignore"):  # the sum of two infinite values
            assert_all_finite(X[n_done:], allow_nan=True, input_name="X")
        find_leaves(X.view(pattern), n_done, of_row, steps, True, steps.subsets, block, leaves)
    return np.ascontiguousarray(leaves.T) if of_row else leaves


@outer_kernel()
def add_leaf_values(leaf_values, leaves, out):
    """Add to each row of `out` the values of its leaf in each tree; `leaves` has shape (n_trees, n_rows)."""
    for tree in range(leaves.shape[0]):
        root, first = leaf_values.roots[tree], leaf_values.first_rows[tree]
        # One tree after another, so that the sums are the same for any number of rows at once.
        for i in range(out.shape[0]):
            k_or_row = leaf_values.class_or_row[uintp(root + leaves[tree, uintp(i)])]
            if k_or_row >= 0:
                out[uintp(i), uintp(k_or_row)] += 1.0
            else:
                row = uintp(first + (-1 - k_or_row))
                for k in range(out.shape[1]):
                    out[uintp(i), uintp(k)] += leaf_values.values[row, uintp(k)]


@outer_kernel()
def mark_alive(left, is_split, alive):
    """Mark the nodes that remain if only some are split."""
    alive[0] = True
    # One pass suffices, because parents precede their children.
    for node in range(left.shape[0]):
        if alive[node] and is_split[node]:
            alive[left[node]] = True
            alive[left[node] + 1] = True
