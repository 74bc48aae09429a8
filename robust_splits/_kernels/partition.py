"""Partition the rows of a node at a split, and copy the codes of a subtree's rows into a small array.

The rows of a node are consecutive int64 numbers; `scan` describes their format.
"""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel, inner_kernel, merged_kernel
from .scan import LOW_HALF


@inlined_kernel()
def _partition(codes, first, step, rows, begin, end, scratch, below, missing_code, missing_left):
    """Move the rows that go left to the front.  Both sides keep their order, so codes are read in sequence.

    Returns the start of the right side and the number of missing values.
    """
    middle, n_right, n_missing = begin, 0, 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        code = np.int64(codes[uintp(first + (row >> 32) * step)])
        is_missing = np.int64(code == missing_code)
        goes_left = np.int64(code <= below) | (is_missing & missing_left)  # no unpredictable branch
        rows[uintp(middle)] = row
        scratch[uintp(n_right)] = row
        middle += goes_left
        n_right += 1 - goes_left
        n_missing += is_missing
    for i in range(n_right):
        rows[uintp(middle + i)] = scratch[uintp(i)]
    return middle, n_missing


@merged_kernel()
def partition(columns, codes, f, rows, begin, end, scratch, below, missing_left):
    """Partition the rows of a node by feature `f`; see `_partition`."""
    missing = columns.offsets[f + 1] - columns.offsets[f]
    first, step, width = codes.first[f], codes.step[f], columns.width[f]
    if width == 1:
        return _partition(codes.codes8, first, step, rows, begin, end, scratch, below, missing, missing_left)
    if width == 2:
        return _partition(codes.codes16, first, step, rows, begin, end, scratch, below, missing, missing_left)
    return _partition(codes.codes32, first, step, rows, begin, end, scratch, below, missing, missing_left)


@inner_kernel()
def _copy_rows(by_row, rows, begin, end, codes):
    n = by_row.shape[1]
    for i in range(begin, end):
        row = rows[uintp(i)] >> 32
        to = (i - begin) * n
        for j in range(n):
            codes[uintp(to + j)] = by_row[uintp(row), uintp(j)]


@inner_kernel()
def copy_codes(columns, rows, begin, end, local):
    """Copy the codes of the rows in [begin, end) to `local`, and renumber the rows accordingly."""
    _copy_rows(columns.rows8, rows, begin, end, local.codes8)
    _copy_rows(columns.rows16, rows, begin, end, local.codes16)
    _copy_rows(columns.rows32, rows, begin, end, local.codes32)
    for i in range(begin, end):
        rows[uintp(i)] = ((i - begin) << 32) | (rows[uintp(i)] & LOW_HALF)
