"""Rank encoding: the code of a value is its rank among the distinct values of its column, or its bin.

Codes are ordered as the values are, so splits found on ranks are exact.  They depend on X alone, so all trees,
criteria and label vectors over the same rows share them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .._threads import map_in_threads, split_range
from .binning import bin_ranks
from .compile import inlined_kernel, inner_kernel, outer_kernel

BLOCK_COLUMNS = 16
BLOCK_BYTES = 1 << 26
COPIED_ROWS = 1 << 10
DIGIT_BITS = 11
N_PASSES = 3  # enough 11-bit digits for 32 bits
MAX_RANGE = 1 << 16
BYTE = 0xFF  # the mask of codes of one byte

# Codes of a column, and the lowest and the highest value of each code.
Column = tuple[NDArray[np.unsignedinteger], NDArray[np.float64], NDArray[np.float64]]


class Codes(NamedTuple):
    """Rank codes of the columns of X, each column in the narrowest of three integer types that holds its codes.

    The code of a missing value follows the last rank of its column.  Kernels read codes by `read_code`, so each
    of them is compiled once for all widths.

    Attributes
    ----------
    data : uint8 array
        The codes, their lowest byte first, and three bytes more.
    first, step : int64 arrays of shape (n_features,)
        Index of a column's first code, and the stride from one row to the next, in bytes.
    """

    data: NDArray[np.uint8]
    first: NDArray[np.int64]
    step: NDArray[np.int64]


@inlined_kernel()
def read_code(data, at, mask):
    """The code at the index `at`.

    Of wide codes, reads four bytes, which compiles to a single instruction, and keeps those of the code.
    """
    at = uintp(at)
    if mask == BYTE:
        return np.int64(data[at])
    low = np.uint32(data[at]) | np.uint32(data[at + uintp(1)]) << np.uint32(8)
    high = np.uint32(data[at + uintp(2)]) | np.uint32(data[at + uintp(3)]) << np.uint32(8)
    return np.int64(low | high << np.uint32(16)) & mask


class Columns(NamedTuple):
    """The columns of X as codes, and the values that the codes stand for.

    Attributes
    ----------
    codes : Codes
        The codes, column by column.
    rows : uint64 array of shape (n_samples, words per row)
        The same codes, row by row.
    mask : int64 array of shape (n_features,)
        The largest number of each column's integer type.
    lowest_share : float64 array of shape (n_features,)
        Share of the rows with the lowest value.
    values : float64 array of shape (total number of distinct values,)
        The sorted distinct values of each column, concatenated; of bins the smallest value.
    highest : float64 array of the same shape
        The same values; of bins the largest value.
    offsets : int64 array of shape (n_features + 1,)
        Start of each column in `values`.
    """

    codes: Codes
    rows: NDArray[np.uint64]
    mask: NDArray[np.int64]
    lowest_share: NDArray[np.float64]
    values: NDArray[np.float64]
    highest: NDArray[np.float64]
    offsets: NDArray[np.int64]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.mask.size

    def allocate_local(self, n_rows: int) -> tuple[NDArray[np.uint64], Codes]:
        """Allocate uninitialised codes of `n_rows` rows, row by row; return them as words and as codes."""
        n_samples, n_words = self.rows.shape
        words = np.empty(n_words * n_rows + 1, dtype=np.uint64)
        step = np.full_like(self.mask, n_words * words.itemsize)
        return words, Codes(words.view(np.uint8), self.codes.first // n_samples, step)


def encode(X: NDArray[np.floating], n_threads: int = 1, max_bins: int | None = None) -> Columns:
    """Rank-encode the columns of `X` (n_samples, n_features), in which NaN means missing, or bin them."""
    n_samples, n_features = X.shape
    block_columns = min(BLOCK_COLUMNS, max(1, BLOCK_BYTES // (8 * n_samples)))
    n_blocks = max(n_threads, -(-n_features // block_columns))
    slices = split_range(n_features, n_blocks)
    blocks = map_in_threads(lambda block: _encode_block(X[:, block], max_bins), slices, n_threads)
    codes = [codes for block in blocks for codes, *_ in block]
    lowest = [low for block in blocks for _, low, _ in block]
    highest = [high for block in blocks for *_, high in block] if max_bins is not None else []
    del blocks
    width = np.array([column.itemsize for column in codes], dtype=np.int64)
    n_lowest = np.array([n_samples - np.count_nonzero(column) for column in codes])
    data = np.zeros(width.sum() * n_samples + 3, dtype=np.uint8)
    position = np.zeros(n_features, dtype=np.int64)
    stacks = []
    begin = 0  # of the columns of this width in a row
    for dtype in ("<u4", "<u2", "u1"):  # the widest first, so that all are aligned
        n_bytes = np.dtype(dtype).itemsize
        features = np.flatnonzero(width == n_bytes)
        end = begin + features.size * n_bytes
        position[features] = np.arange(begin, end, n_bytes)
        stack = data[begin * n_samples : end * n_samples].view(dtype).reshape(features.size, n_samples)
        for feature, stacked in zip(features, stack, strict=True):
            stacked[:] = codes[feature]
        stacks.append((slice(begin, end), stack))
        begin = end
    del codes  # before the next large array
    rows = np.zeros((n_samples, -(-width.sum() // 8)), dtype=np.uint64)
    for part, stack in stacks:
        rows.view(np.uint8)[:, part].view(stack.dtype)[:] = stack.T
    offsets = np.zeros(n_features + 1, dtype=np.int64)
    np.cumsum([low.size for low in lowest], out=offsets[1:])
    values = _join(lowest)
    highest_values = _join(highest) if highest else values
    return Columns(
        codes=Codes(data, first=position * n_samples, step=width),
        rows=rows,
        mask=(1 << 8 * width) - 1,
        lowest_share=n_lowest / n_samples,
        values=values,
        highest=highest_values,
        offsets=offsets,
    )


def _join(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Concatenate arrays, and free each one once it is copied: the memory of a fit peaks here."""
    joined = np.empty(sum(part.size for part in parts))
    end = joined.size
    while parts:
        part = parts.pop()
        joined[end - part.size : end] = part
        end -= part.size
    return joined


def _encode_block(X: NDArray[np.floating], max_bins: int | None) -> list[Column]:
    """Encode each column of a block."""
    n_samples, n_features = X.shape
    block = np.empty((n_features, n_samples))  # each column in one piece
    for begin in range(0, n_samples, COPIED_ROWS):  # few enough to stay in the cache for the next column
        block[:, begin : begin + COPIED_ROWS] = X[begin : begin + COPIED_ROWS].T
    ranks, values = np.empty(n_samples, dtype=np.uint32), np.empty(n_samples)
    singles = np.empty(n_samples, dtype=np.float32)
    scratch = _Scratch(
        np.empty(n_samples, dtype=np.uint64),
        np.empty(n_samples, dtype=np.uint64),
        singles,
        singles.view(np.uint32),
        values.view(np.uint32),
        np.empty(n_samples, dtype=np.uint32),
        np.empty((N_PASSES, 1 << DIGIT_BITS), dtype=np.int64),
        np.empty(MAX_RANGE, dtype=np.uint32),
    )
    encoded: list[Column] = []
    for column in block:
        n_values, n_missing = _rank(column, ranks, values, scratch)
        if max_bins is not None and n_values > max_bins:
            codes, first, last = bin_ranks(ranks, n_values, max_bins)
            encoded.append((codes, values[first], values[last]))
            continue
        largest = max(n_values - 1 + (n_missing > 0), 0)
        distinct = values[:n_values].copy()
        encoded.append((ranks.astype(np.min_scalar_type(largest)), distinct, distinct))
    return encoded


class _Scratch(NamedTuple):
    """Buffers reused for every column of a block.

    `single_bits` and `value_bits` are the bits of `singles` and of the buffer for distinct values.  As views
    made in a kernel, they would take longer to compile.
    """

    order: NDArray[np.uint64]
    other_order: NDArray[np.uint64]
    singles: NDArray[np.float32]
    single_bits: NDArray[np.uint32]
    value_bits: NDArray[np.uint32]
    words: NDArray[np.uint32]
    counters: NDArray[np.int64]
    table: NDArray[np.uint32]


@outer_kernel()
def _rank(column, codes, values, scratch):
    """Write the ranks of `column` (n,) to `codes`, and its sorted distinct values to `values`.

    Returns the numbers of distinct and of missing values.
    """
    n = column.shape[0]
    low, high = np.inf, -np.inf
    is_integer = True
    n_missing = np.int64(0)  # with a literal, callees would be compiled a second time
    for i in range(n):
        x = column[i]
        if x != x:
            n_missing += 1
        else:
            low = x if x < low else low
            high = x if x > high else high
            is_integer = is_integer and x == math.floor(x)
    if n_missing == n:
        for i in range(n):
            codes[i] = 0
        return 0, n
    if is_integer and high - low < MAX_RANGE:
        return _rank_by_table(column, codes, values, low, np.int64(high - low) + 1, scratch.table), n_missing
    return _rank_by_sorting(column, codes, values, n_missing, scratch), n_missing


@inner_kernel()
def _rank_by_table(column, codes, values, low, size, rank_of):
    """Rank integers in the range [low, low + size) by table lookup; return the number of distinct values."""
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
def _rank_by_sorting(column, codes, values, n_missing, scratch):
    """Rank floats by a radix sort of their bits; return the number of distinct values.

    32 bits suffice if single precision represents all values exactly.
    """
    n = column.shape[0]
    order, other, words = scratch.order, scratch.other_order, scratch.words
    ones, sign = np.uint32(0xFFFFFFFF), np.uint32(0x80000000)
    single = True
    for i in range(n):
        order[i] = i
        values[i] = np.inf if column[i] != column[i] else column[i] + 0.0  # -0.0 becomes 0.0
        scratch.singles[i] = values[i]
        single = single and np.float64(scratch.singles[i]) == values[i]
    # As unsigned integers, floats sort correctly once the sign bit of positive ones and all bits of negative
    # ones are flipped.
    bits = scratch.single_bits
    if not single:
        bits = scratch.value_bits  # two words per value, the low one first
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
    """Sort the row numbers in `order` stably by their `words`; return whether the result is in `other`."""
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
        source = other if in_other else order
        target = order if in_other else other
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
