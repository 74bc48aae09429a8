"""Bins of columns with many distinct values: 8-bit codes, as in histogram-based boosting."""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel

MAX_BINS = 255  # leaves a code for missing values


def bin_values(
    rows_before: NDArray[np.int64], max_bins: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Divide the sorted values of a column into bins with about equally many rows.

    Parameters
    ----------
    rows_before : int64 array of shape (n_values + 1,)
        Number of rows with a smaller value, for each value, and of all rows.  There are more values than bins.
    max_bins : int
        From 2 to `MAX_BINS`.

    Returns
    -------
    bin_of : uint8 array of shape (n_values + 1,)
        Number of each value's bin, and that of missing values, which follows the last.
    first, last : int64 arrays of shape (n_bins,)
        Ranks of the smallest and the largest value of each bin.
    """
    n_values = rows_before.size - 1
    last = np.empty(max_bins, dtype=np.int64)
    last = last[: _choose_bins(rows_before, last)]
    last[-1] = n_values - 1
    ends = np.concatenate([[-1], last, [n_values]])
    bin_of = np.repeat(np.arange(last.size + 1, dtype=np.uint8), np.diff(ends))
    return bin_of, ends[:-2] + 1, last


@outer_kernel()
def _choose_bins(rows_before, last):
    """Write the largest rank of each bin to `last` (max_bins,); return the number of bins.

    A value with the rows of a whole bin has one for itself; the other rows are divided equally among the other
    bins.  Values after the last rank belong to the last bin.
    """
    n, n_bins = rows_before.shape[0] - 1, last.shape[0]
    frequent = rows_before[uintp(n)] / n_bins
    n_frequent, n_others = 0, 0  # frequent values, and rows with other values, that are in no bin yet
    for j in range(n):
        n_rows = rows_before[uintp(j + 1)] - rows_before[uintp(j)]
        if n_rows >= frequent:
            n_frequent += 1
        else:
            n_others += n_rows
    b, begin = 0, np.int64(0)  # the bin, and its first row
    n_left = n_bins - n_frequent  # bins for the other values
    share = n_others / n_left
    for j in range(n):
        end = rows_before[uintp(j + 1)]
        is_frequent = end - rows_before[uintp(j)] >= frequent
        closes = is_frequent or n - j <= n_bins - b
        if not closes and n_left > 0:
            taken, next_taken = end - begin, rows_before[uintp(j + 2)] - begin
            next_is_frequent = next_taken - taken >= frequent
            closes = next_is_frequent or (n_left > 1 and share - taken <= next_taken - share)
        if closes:
            last[uintp(b)] = j
            if is_frequent:
                n_frequent -= 1
                n_others -= rows_before[uintp(j)] - begin
            else:
                n_others -= end - begin
            begin = end
            b += 1
            n_left = n_bins - b - n_frequent
            share = n_others / n_left
    return b
