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

    A frequent value, which has at least the rows of a mean bin, is a bin of its own.  The rows of all other
    values are divided equally among the other bins.  Values after the last rank belong to the last bin.
    """
    n_values, n_bins = rows_before.shape[0] - 1, last.shape[0]
    frequent = rows_before[uintp(n_values)] / n_bins
    n_frequent, n_others = 0, 0  # frequent values, and rows of other values, after the bins chosen so far
    for j in range(n_values):
        n_rows = rows_before[uintp(j + 1)] - rows_before[uintp(j)]
        if n_rows >= frequent:
            n_frequent += 1
        else:
            n_others += n_rows
    n_chosen, begin = 0, np.int64(0)  # the number of bins chosen so far, and the first row after them
    n_left = n_bins - n_frequent  # bins for the other values
    share = n_others / n_left  # rows of each of them
    for j in range(n_values):
        end = rows_before[uintp(j + 1)]
        is_frequent = end - rows_before[uintp(j)] >= frequent
        closes = is_frequent or n_values - j <= n_bins - n_chosen  # or each value has a bin
        if not closes and n_left > 0:
            size, next_size = end - begin, rows_before[uintp(j + 2)] - begin
            next_is_frequent = next_size - size >= frequent
            closes = next_is_frequent or (n_left > 1 and share - size <= next_size - share)
        if closes:
            last[uintp(n_chosen)] = j
            if is_frequent:
                n_frequent -= 1
                n_others -= rows_before[uintp(j)] - begin
            else:
                n_others -= end - begin
            begin = end
            n_chosen += 1
            n_left = n_bins - n_chosen - n_frequent
            share = n_others / n_left
    return n_chosen
