"""Which rows lie in which node: the partition at a split, and copies of the codes of the rows of a subtree.

The rows of a node are int64 numbers, see `_scan`, that follow each other.
"""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel, inner_kernel
from .scan import LOW_HALF


@inner_kernel()
def _partition(codes, first, step, rows, begin, end, scratch, below, missing_code, missing_left):
    """Bring the rows that go left to the front; both sides keep their order, and so the reads of the codes.

    Returns where the right side begins, and the number of missing values.
    """
    middle, n_right, n_missing = begin, 0, 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        code = np.int64(codes[uintp(first + (row >> 32) * step)])
        is_missing = np.int64(code == missing_code)
        goes_left = np.int64(code <= below) | (is_missing & missing_left)  # no branch, which would be a guess
        rows[uintp(middle)] = row
        scratch[uintp(n_right)] = row
        middle += goes_left
        n_right += 1 - goes_left
        n_missing += is_missing
    for i in range(n_right):
        rows[uintp(middle + i)] = scratch[uintp(i)]
    return middle, n_missing


@inlined_kernel()
def partition(columns, f, rows, begin, end, scratch, below, missing_left):
    """See `_partition`."""
    missing = columns.offsets[f + 1] - columns.offsets[f]
    first, step, width = columns.first[f], columns.step[f], columns.width[f]
    if width == 1:
        return _partition(columns.codes8, first, step, rows, begin, end, scratch, below, missing, missing_left)
    if width == 2:
        return _partition(columns.codes16, first, step, rows, begin, end, scratch, below, missing, missing_left)
    return _partition(columns.codes32, first, step, rows, begin, end, scratch, below, missing, missing_left)


@inner_kernel()
def _copy_rows(by_row, rows, begin, end, near):
    n = by_row.shape[1]
    for i in range(begin, end):
        row = rows[uintp(i)] >> 32
        to = (i - begin) * n
        for j in range(n):
            near[uintp(to + j)] = by_row[uintp(row), uintp(j)]


@inner_kernel()
def bring_near(columns, rows, begin, end, near):
    """Copy the codes of some rows next to each other, and number the rows by their place there."""
    _copy_rows(columns.rows8, rows, begin, end, near.codes8)
    _copy_rows(columns.rows16, rows, begin, end, near.codes16)
    _copy_rows(columns.rows32, rows, begin, end, near.codes32)
    for i in range(begin, end):
        rows[uintp(i)] = ((i - begin) << 32) | (rows[uintp(i)] & LOW_HALF)
