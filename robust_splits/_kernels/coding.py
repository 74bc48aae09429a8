"""Rank codes: every column as the rank of each value among the column's distinct values.

Comparing codes is comparing values, so splits found on codes are exact; and codes depend on X alone, so all
trees, criteria and label vectors over the same rows share them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .._threads import in_threads, shares
from .compile import inner_kernel, outer_kernel

COLUMNS_AT_ONCE = 16
DIGIT_BITS = 11
N_PASSES = 3  # of these digits make 32 bits
MAX_TABLE = 1 << 16


class Columns(NamedTuple):
    """The columns of X as integers, in the narrowest of three types that holds the ranks of a column.

    The code of a value is its rank in its column; that of a missing value comes behind the last rank.

    Attributes
    ----------
    codes8, codes16, codes32 : ndarray of shape (number of such columns * n_samples,)
        The codes, column after column.
    rows8, rows16, rows32 : ndarray of shape (n_samples, number of such columns)
        The same codes, row after row.
    width : uint8 array of shape (n_features,)
        Bytes per code: 1, 2 or 4.
    place : int64 array of shape (n_features,)
        Which of the columns of its width a column is.
    first, step : int64 arrays of shape (n_features,)
        Where the codes of a column begin, and the distance from one row to the next.
    values : float64 array of shape (sum of distinct values,)
        The sorted distinct values of all columns, one column after the other.
    offsets : int64 array of shape (n_features + 1,)
        Where each column begins in `values`.
    """

    codes8: NDArray[np.uint8]
    codes16: NDArray[np.uint16]
    codes32: NDArray[np.uint32]
    rows8: NDArray[np.uint8]
    rows16: NDArray[np.uint16]
    rows32: NDArray[np.uint32]
    width: NDArray[np.uint8]
    place: NDArray[np.int64]
    first: NDArray[np.int64]
    step: NDArray[np.int64]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def near(self, n_rows: int) -> Columns:
        """Columns of the same kind with room for the codes of some rows, row after row."""
        widths = [rows.shape[1] for rows in (self.rows8, self.rows16, self.rows32)]
        return self._replace(
            codes8=np.empty(widths[0] * n_rows, dtype=np.uint8),
            codes16=np.empty(widths[1] * n_rows, dtype=np.uint16),
            codes32=np.empty(widths[2] * n_rows, dtype=np.uint32),
            first=self.place,
            step=np.choose(self.width // 2, widths),
        )


def encode(X: NDArray[np.floating], n_threads: int = 1) -> Columns:
    """Rank-code the columns of `X`, numbers or NaN, of shape (n_samples, n_features)."""
    n_features = X.shape[1]
    n_blocks = max(n_threads, -(-n_features // COLUMNS_AT_ONCE))
    blocks = in_threads(lambda some: _encode_block(X[:, some]), shares(n_features, n_blocks), n_threads)
    columns = [column for block in blocks for column in block]
    distinct = [values for _, values in columns]
    width = np.array([codes.itemsize for codes, _ in columns], dtype=np.uint8)
    place = np.zeros(n_features, dtype=np.int64)
    stacks = []
    for dtype in (np.uint8, np.uint16, np.uint32):
        these = np.flatnonzero(width == np.dtype(dtype).itemsize)
        place[these] = np.arange(these.size)
        stacks.append(np.empty((these.size, X.shape[0]), dtype=dtype))
        for j, stacked in zip(these, stacks[-1], strict=True):
            stacked[:] = columns[j][0]
    del columns, blocks
    by_column = [stack.ravel() for stack in stacks]
    by_row = [np.ascontiguousarray(stack.T) for stack in stacks]
    offsets = np.zeros(n_features + 1, dtype=np.int64)
    np.cumsum([values.size for values in distinct], out=offsets[1:])
    step = np.ones(n_features, dtype=np.int64)
    first = place * X.shape[0]
    return Columns(*by_column, *by_row, width, place, first, step, np.concatenate(distinct), offsets)  # type: ignore[call-arg]


def _encode_block(X: NDArray[np.floating]) -> list[tuple[NDArray[np.unsignedinteger], NDArray[np.float64]]]:
    """Codes and distinct values of a few columns."""
    n_samples, n_features = X.shape
    block = np.empty((n_features, n_samples))
    block[:] = X.T
    scratch = _Scratch(
        np.empty(n_samples, dtype=np.uint64),
        np.empty(n_samples, dtype=np.uint64),
        np.empty(n_samples, dtype=np.float32),
        np.empty(n_samples, dtype=np.uint32),
        np.empty((N_PASSES, 1 << DIGIT_BITS), dtype=np.int64),
        np.empty(MAX_TABLE, dtype=np.uint32),
    )
    encoded = []
    for column in block:
        codes = np.empty(n_samples, dtype=np.uint32)
        values = np.empty(n_samples)
        n_values, n_missing = _rank(column, codes, values, scratch)
        largest = max(n_values - 1 + (n_missing > 0), 0)
        encoded.append((codes.astype(np.min_scalar_type(largest)), values[:n_values].copy()))
    return encoded


class _Scratch(NamedTuple):
    """Memory that is used column after column."""

    order: NDArray[np.uint64]
    other_order: NDArray[np.uint64]
    singles: NDArray[np.float32]
    words: NDArray[np.uint32]
    counters: NDArray[np.int64]
    table: NDArray[np.uint32]


@outer_kernel()
def _rank(column, codes, values, scratch):
    """Rank the values of `column` (n,) into `codes`, and write the distinct ones in order into `values`.

    Returns how many distinct values there are, and how many missing ones.
    """
    n = column.shape[0]
    low, high = np.inf, -np.inf
    whole = True
    n_missing = np.int64(0)  # not a literal, for which callees would be compiled once more
    for i in range(n):
        x = column[i]
        if x != x:
            n_missing += 1
        else:
            low = x if x < low else low
            high = x if x > high else high
            whole = whole and x == math.floor(x)
    if n_missing == n:
        for i in range(n):
            codes[i] = 0
        return 0, n
    if whole and high - low < MAX_TABLE:
        return _rank_whole(column, codes, values, low, np.int64(high - low) + 1, scratch.table), n_missing
    return _rank_sorted(column, codes, values, n_missing, scratch), n_missing


@inner_kernel()
def _rank_whole(column, codes, values, low, size, rank_of):
    """Ranks of whole numbers of a short range: no sorting."""
    for v in range(size):
        rank_of[v] = size
    for i in range(column.shape[0]):
        if column[i] == column[i]:
            rank_of[uintp(column[i] - low)] = 0
    n_values = 0
    for v in range(size):
        if rank_of[v] == 0:
            values[n_values] = low + v
            rank_of[v] = n_values
            n_values += 1
    for i in range(column.shape[0]):
        codes[i] = rank_of[uintp(column[i] - low)] if column[i] == column[i] else n_values
    return n_values


@inner_kernel()
def _rank_sorted(column, codes, values, n_missing, scratch):
    """Ranks by a radix sort of the bits of the floats: 32 of them where single precision holds all values."""
    n = column.shape[0]
    order, other, words = scratch.order, scratch.other_order, scratch.words
    ones, sign = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
    single = True
    for i in range(n):
        order[i] = i
        values[i] = np.inf if column[i] != column[i] else column[i] + 0.0  # -0.0 becomes 0.0
        scratch.singles[i] = values[i]
        single = single and np.float64(scratch.singles[i]) == values[i]
    # The bits of positive floats, and all bits of negative ones flipped, are in the order of the floats.
    bits = scratch.singles.view(np.uint32)
    if not single:
        bits = values.view(np.uint32)  # two to a value, the low one first
        for i in range(n):
            words[i] = bits[2 * i] ^ (ones if bits[2 * i + 1] & sign else np.uint32(0))
        if _sort_by(words, order, other, scratch.counters):
            order, other = other, order
    for i in range(n):
        word = bits[i] if single else bits[2 * i + 1]
        words[i] = word ^ (ones if word & sign else sign)
    if _sort_by(words, order, other, scratch.counters):
        order, other = other, order
    n_values = 0
    for i in range(n - n_missing):
        row = uintp(order[i])
        x = column[row] + 0.0
        if n_values == 0 or x != values[uintp(n_values - 1)]:
            values[uintp(n_values)] = x
            n_values += 1
        codes[row] = n_values - 1
    for i in range(n - n_missing, n):
        codes[order[i]] = n_values
    return n_values


@inner_kernel()
def _sort_by(words, order, other, counters):
    """Sort row numbers `order` stably by a word of each; return whether they are in `other` afterwards."""
    n = order.shape[0]
    n_digits = 1 << DIGIT_BITS
    mask = np.uint64(n_digits - 1)
    half = np.uint64(32)
    for p in range(N_PASSES):
        for digit in range(n_digits):
            counters[p, digit] = 0
    for i in range(n):
        word = np.uint64(words[order[i]])
        order[i] |= word << half
        for p in range(N_PASSES):
            counters[p, (word >> np.uint64(p * DIGIT_BITS)) & mask] += 1
    in_other = False
    for p in range(N_PASSES):
        shift = np.uint64(32 + p * DIGIT_BITS)
        source, target = (other, order) if in_other else (order, other)
        if counters[p, (source[0] >> shift) & mask] == n:
            continue  # all words share this digit
        begin = 0
        for digit in range(n_digits):
            count = counters[p, digit]
            counters[p, digit] = begin
            begin += count
        for i in range(n):
            digit = (source[i] >> shift) & mask
            target[uintp(counters[p, digit])] = source[i]
            counters[p, digit] += 1
        in_other = not in_other
    target = other if in_other else order
    for i in range(n):
        target[i] &= np.uint64(0xFFFFFFFF)
    return in_other
