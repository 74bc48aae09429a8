"""Partition the rows of a node at a split, and copy the codes of a subtree's rows into a small array.

The rows of a node are consecutive int64 numbers; `inputs` describes their format.
"""

import numpy as np
from numpy import uintp

from .coding import read_code
from .compile import inlined_kernel, inner_kernel
from .inputs import LOW_HALF


@inlined_kernel()
def partition(column, rows, begin, end, below, missing_left, rank_of, scratch):
    """Move the rows whose code is at most `below`, or is `missing_left`, to the front.

    If `rank_of` is not None, it gives the ranks of codes, which take their place.  Both sides keep their order,
    so codes are read in sequence.  Returns the start of the right side.
    """
    middle = begin
    for i in range(begin, end):
        row = rows[uintp(i)]
        code = read_code(column, row >> 32)
        if rank_of is not None:
            code = rank_of[uintp(code)]
        rows[uintp(middle)] = row
        scratch[uintp(i - middle)] = row
        middle += np.int64(code <= below) | np.int64(code == missing_left)  # no unpredictable branch
    for i in range(end - middle):
        rows[uintp(middle + i)] = scratch[uintp(i)]
    return middle


@inner_kernel()
def copy_codes(by_row, rows, begin, end, words):
    """Copy the codes of the rows in [begin, end) to `words`, and renumber the rows accordingly.

    Labels of one row, which follow each other, keep a common number.
    """
    n = by_row.shape[1]
    previous, number = np.int64(-1), np.int64(-1)
    for i in range(begin, end):
        row = rows[uintp(i)]
        number += np.int64(row >> 32 != previous)  # no unpredictable branch
        previous = row >> 32
        for j in range(n):
            words[uintp(number * n + j)] = by_row[uintp(previous), uintp(j)]
        rows[uintp(i)] = (number << 32) | (row & LOW_HALF)
