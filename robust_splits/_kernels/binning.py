"""Bins of columns with many distinct values: 8-bit codes, as in histogram-based boosting.

A column with at most `max_bins` distinct values has a bin for each, so its codes are its ranks.  The values of
others are divided into bins with about equally many rows.
"""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel

MAX_BINS = 255  # leaves a code for missing values
SAMPLE_ROWS = 50_000  # rows that edges are chosen from
N_EDGES = 256


def rows_for_edges(n_samples: int) -> NDArray[np.int64] | slice:
    """Rows that the edges of bins are chosen from: all, or the same random ones for each column and fit."""
    if n_samples <= SAMPLE_ROWS:
        return slice(None)
    return np.sort(np.random.RandomState(0).permutation(n_samples)[:SAMPLE_ROWS])


def bin_column(
    column: NDArray[np.float64], rows: NDArray[np.int64] | slice, max_bins: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    """Bin a column.

    Parameters
    ----------
    column : float64 array of shape (n_samples,)
        NaN means missing.
    rows : array of row numbers or slice
        See `rows_for_edges`.
    max_bins : int
        From 2 to `MAX_BINS`.

    Returns
    -------
    codes : uint8 array of shape (n_samples,)
        Number of the bin; that of missing values follows the last.
    lowest, highest : float64 arrays of shape (n_bins,)
        Smallest and largest value in each bin.
    """
    edges = np.full(N_EDGES, np.inf)
    n_edges = _few_distinct(column, edges, max_bins)
    if n_edges < 0:
        chosen = bin_edges(column[rows], max_bins)
        n_edges = chosen.size
        edges[:n_edges] = chosen
        edges[n_edges:] = np.inf
    codes = np.empty(column.size, dtype=np.uint8)
    lowest, highest = np.full(n_edges, np.inf), np.full(n_edges, -np.inf)
    _assign_bins(column, edges, codes, lowest, highest)
    return codes, lowest, highest


def bin_edges(sample: NDArray[np.float64], max_bins: int) -> NDArray[np.float64]:
    """Largest values of the bins of a sample; that of the last bin is infinite."""
    values = np.sort(sample[~np.isnan(sample)])
    edges = np.empty(max_bins)
    n_bins = _choose_edges(values, np.empty(values.size + 1, dtype=np.int64), edges)
    edges = edges[: max(n_bins, 1)]
    edges[-1] = np.inf
    return edges


@outer_kernel()
def _choose_edges(values, rows, edges):
    """Write the largest value of each bin of the sorted `values` to `edges`; return the number of bins.

    A value with the rows of a whole bin has one for itself; the other rows are divided equally among the other
    bins.  Overwrites `values` with the distinct ones, and `rows` with the number of rows before each.
    """
    n_rows, n_bins = values.shape[0], edges.shape[0]
    n = np.int64(0)  # of distinct values
    for i in range(n_rows):
        if n == 0 or values[uintp(i)] != values[uintp(n - 1)]:
            values[uintp(n)] = values[uintp(i)]
            rows[uintp(n)] = i
            n += 1
    rows[uintp(n)] = n_rows
    frequent = n_rows / n_bins
    n_frequent, n_others = 0, 0  # frequent values, and rows with other values, that are in no bin yet
    for j in range(n):
        if rows[uintp(j + 1)] - rows[uintp(j)] >= frequent:
            n_frequent += 1
        else:
            n_others += rows[uintp(j + 1)] - rows[uintp(j)]
    b, j, begin = 0, np.int64(0), np.int64(0)  # the bin, the value, and the first row of the bin
    while j < n:
        is_frequent = rows[uintp(j + 1)] - rows[uintp(j)] >= frequent
        n_left = n_bins - b - n_frequent  # bins for the other values
        closes = is_frequent or n - j <= n_bins - b
        if not closes and n_left > 0:
            taken, next_taken = rows[uintp(j + 1)] - begin, rows[uintp(j + 2)] - begin
            share = n_others / n_left
            next_is_frequent = next_taken - taken >= frequent
            closes = next_is_frequent or (n_left > 1 and share - taken <= next_taken - share)
        if closes:
            edges[uintp(b)] = values[uintp(j)]
            if is_frequent:
                n_frequent -= 1
                n_others -= rows[uintp(j)] - begin
            else:
                n_others -= rows[uintp(j + 1)] - begin
            begin = rows[uintp(j + 1)]
            b += 1
        j += 1
    return b


@outer_kernel()
def _few_distinct(column, values, limit):
    """Write the sorted distinct values of `column` to `values`; return their number, or -1 if above `limit`."""
    n = 0
    for i in range(column.shape[0]):
        x = column[i] + 0.0  # -0.0 becomes 0.0
        if x != x:
            continue
        begin, end = 0, n
        while begin < end:
            middle = (begin + end) // 2
            if values[uintp(middle)] < x:
                begin = middle + 1
            else:
                end = middle
        if begin < n and values[uintp(begin)] == x:
            continue
        if n == limit:
            return -1
        for j in range(n, begin, -1):
            values[uintp(j)] = values[uintp(j - 1)]
        values[uintp(begin)] = x
        n += 1
    return n


@outer_kernel()
def _assign_bins(column, edges, codes, lowest, highest):
    """Write the number of the first edge that is not below each value, and the range of values in each bin."""
    for i in range(column.shape[0]):
        x = column[i] + 0.0
        if x != x:
            codes[i] = lowest.shape[0]
            continue
        b = 0
        step = N_EDGES // 2
        while step > 0:  # a binary search without unpredictable branches
            b += step if edges[uintp(b + step - 1)] < x else 0
            step //= 2
        codes[i] = b
        lowest[uintp(b)] = min(lowest[uintp(b)], x)
        highest[uintp(b)] = max(highest[uintp(b)], x)
