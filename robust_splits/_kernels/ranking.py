"""Ranks of the values of columns among their distinct values, or bins of the values.

In most columns values repeat.  A hash table numbers the distinct values in the order of their first rows, so
that only they need sorting.  Columns with many distinct values are sorted as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .._rows import Features, as_dense
from .binning import bin_values
from .compile import outer_kernel

TABLE_BITS = 12
MAX_NUMBERED = 1 << (TABLE_BITS - 1)  # distinct values of a column, so that at most half of its table is used
MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: high bits of a product depend on all bits of the factor
CHUNK_BYTES = 1 << 20  # fits the second-level cache


class RankedColumns(NamedTuple):
    """Some columns of X, ranked or binned.

    Attributes
    ----------
    columns : int64 array of shape (n_columns,)
        Their indices in X.
    lowest, highest : list of float64 arrays
        The lowest and the highest value of each code.
    n_codes : int64 array of shape (n_columns,)
        Number of codes, with that of missing values, which is the last.
    numbers : array of unsigned integers of shape (n_columns, n_samples)
        Numbers that stand for values.
    code_of : uint32 array of shape (n_columns, n_numbers) or None
        The code of each number; None if the numbers are the codes.
    """

    columns: NDArray[np.int64]
    lowest: list[NDArray[np.float64]]
    highest: list[NDArray[np.float64]]
    n_codes: NDArray[np.int64]
    numbers: NDArray[np.unsignedinteger]
    code_of: NDArray[np.uint32] | None

    def write_codes(
        self, data: NDArray[np.uint8], first: NDArray[np.int64], width: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Write codes of `width` bytes to `data`, each column from the index `first`; return how many are 0."""
        n_zeros = np.empty_like(first)
        if self.code_of is not None:
            _write_codes(self.numbers, self.code_of, first, width, data, n_zeros)
            return n_zeros
        for j, codes in enumerate(self.numbers):
            data[first[j] :][: width[j] * codes.size].view(f"<u{width[j]}")[:] = codes
            n_zeros[j] = codes.size - np.count_nonzero(codes)
        return n_zeros


def rank_by_numbers(X: Features, part: slice, max_bins: NDArray[np.int64] | None) -> RankedColumns:
    """Rank or bin the columns in a `part` of X that have at most `MAX_NUMBERED` distinct values.

    `max_bins` holds the largest number of bins of each column of X.

    Most calls process all columns, because threads wait for each other whenever a call returns to Python.
    """
    numbers, distinct, n_distinct = _number_values(as_dense(X[:, part]))
    few = n_distinct <= MAX_NUMBERED
    if not few.all():  # frees memory
        numbers, distinct, n_distinct = numbers[few], distinct[few], n_distinct[few]
    distinct = distinct[:, : n_distinct.max(initial=1)]
    distinct[np.arange(distinct.shape[1]) >= n_distinct[:, None]] = np.inf
    code_of, values, n_values, _ = _rank(distinct, distinct.argsort(axis=1), n_distinct)
    columns = part.start + np.flatnonzero(few)
    lowest, highest, n_codes = [], [], np.empty_like(n_distinct)
    for j, n in enumerate(n_distinct):
        ranks, low = code_of[j, :n], values[j, : n_values[j]].copy()
        high = low
        if max_bins is not None and low.size > max_bins[columns[j]]:
            n_rows = np.bincount(ranks, weights=np.bincount(numbers[j])).astype(np.int64)
            rows_before = np.append(0, np.cumsum(n_rows[: low.size]))
            bin_of, first, last = bin_values(rows_before, int(max_bins[columns[j]]))
            ranks[:], low, high = bin_of[ranks], low[first], low[last]
        n_codes[j] = ranks.max() + 1
        lowest.append(low)
        highest.append(high)
    return RankedColumns(columns, lowest, highest, n_codes, numbers, code_of)


def rank_by_sorting(X: Features, j: int, max_bins: NDArray[np.int64] | None) -> RankedColumns:
    """Rank or bin column `j` of X; for `max_bins`, see `rank_by_numbers`."""
    columns = np.array(as_dense(X[:, j : j + 1]).T, order="C")
    n_samples = np.array([columns.size], dtype=np.int64)
    ranks, values, (n_values,), n_smaller = _rank(columns, _sorted_rows(columns[0])[None], n_samples)
    has_missing = n_smaller[0, n_values] < columns.size
    low = values[0, :n_values].copy()
    high = low
    codes: NDArray[np.unsignedinteger]
    if max_bins is None or n_values <= max_bins[j]:
        codes = ranks.astype(np.min_scalar_type(n_values - 1 + has_missing))
    else:
        bin_of, first, last = bin_values(n_smaller[0, : n_values + 1], int(max_bins[j]))
        low, high = low[first], low[last]
        codes = bin_of[ranks]
    return RankedColumns(np.array([j]), [low], [high], np.array([low.size + has_missing]), codes, None)


def _number_values(
    X: NDArray[np.floating],
) -> tuple[NDArray[np.uint16], NDArray[np.floating], NDArray[np.int64]]:
    """Number the distinct values of each column in the order of their first rows.

    Returns the numbers (n_features, n_samples), the values (n_features, MAX_NUMBERED), and how many there are;
    more than MAX_NUMBERED means too many.  Each sign of zero, and each kind of NaN, has a number of its own.
    """
    n_samples, n_features = X.shape
    chunk = np.empty((max(1, CHUNK_BYTES // (n_features * X.itemsize)), n_features), dtype=X.dtype)
    numbers = np.empty((n_features, n_samples), dtype=np.uint16)
    tables = np.zeros((n_features, 1 << TABLE_BITS), dtype=np.uint16)
    distinct = np.empty((n_features, MAX_NUMBERED), dtype=X.dtype)
    n_distinct = np.zeros(n_features, dtype=np.int64)
    words = f"u{X.itemsize}"
    for begin in range(0, n_samples, len(chunk)):
        rows = X[begin : begin + len(chunk)]
        chunk[: len(rows)] = rows
        _number_words(chunk.view(words), begin, numbers, tables, distinct.view(words), n_distinct)
        if (n_distinct > MAX_NUMBERED).all():
            break
    return numbers, distinct, n_distinct


@outer_kernel()
def _number_words(words, begin, numbers, tables, distinct, n_distinct):
    """Number the words of the rows from `begin`; see `_number_values`.

    A table holds each number plus 1 at the hash of its word, or at the next free place.
    """
    n_rows = min(words.shape[0], numbers.shape[1] - begin)
    last = uintp((1 << TABLE_BITS) - 1)
    for column in range(numbers.shape[0]):
        j = uintp(column)
        n = n_distinct[j]
        if n > MAX_NUMBERED:
            continue
        for i in range(n_rows):
            word = words[uintp(i), j]
            at = uintp((np.uint64(word) * np.uint64(MULTIPLIER)) >> np.uint64(64 - TABLE_BITS))
            number = np.int64(tables[j, at])
            while number > 0 and distinct[j, uintp(number - 1)] != word:
                at = (at + uintp(1)) & last
                number = np.int64(tables[j, at])
            if number == 0:
                n += 1
                if n > MAX_NUMBERED:
                    break
                number = n
                distinct[j, uintp(n - 1)] = word
                tables[j, at] = n
            numbers[j, uintp(begin + i)] = number - 1
        n_distinct[j] = n


def _sorted_rows(column: NDArray[np.floating]) -> NDArray[np.int64]:
    """Integers whose low 32 bits are the numbers of the rows, in the order of the values, missing ones last."""
    with np.errstate(over="ignore"):
        singles = column.astype(np.float32, copy=False)
    keys = np.empty(column.size, dtype=np.int64)
    _write_keys(singles.view(np.int32), keys)
    keys.sort()  # takes half the time of `argsort`
    if column.dtype != np.float32 and not _sort_ties(column, keys):
        return column.argsort()
    return keys


@outer_kernel()
def _write_keys(bits, keys):
    """Write the bits of floats over the row, so that integers are ordered as the floats are, with NaN last."""
    for i in range(bits.shape[0]):
        word = np.int64(bits[uintp(i)])
        if word & 0x7FFFFFFF > 0x7F800000:
            word = np.int64(0x7FC00000)
        elif word < 0:  # the bits of negative floats are in reverse order
            word ^= 0x7FFFFFFF
        keys[uintp(i)] = word << 32 | i


@outer_kernel()
def _sort_ties(column, keys):
    """Sort `keys` that are sorted by single-precision values, by those of `column`; return whether it was done.

    Few values are equal in single precision only, so most keys stay where they are.  Otherwise this stops.
    """
    n_moves = 0
    previous = -np.inf
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        value = column[uintp(key & 0xFFFFFFFF)]
        if not value < previous:  # also if it is missing
            previous = value
            continue
        at = i
        while at > 0 and value < column[uintp(keys[uintp(at - 1)] & 0xFFFFFFFF)]:
            keys[uintp(at)] = keys[uintp(at - 1)]
            at -= 1
            n_moves += 1
        keys[uintp(at)] = key
        if n_moves > keys.shape[0]:
            return False
    return True


def _rank(
    columns: NDArray[np.floating], order: NDArray[np.int64], n_entries: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Rank the first `n_entries` of each of the `columns` (n_columns, n), given the `order` of all entries.

    Returns the ranks, where that of NaN follows the last, the sorted distinct values without NaN, how many
    there are, and the number of smaller entries of each value, and of NaN.
    """
    n_columns, n = columns.shape
    ranks = np.zeros((n_columns, n), dtype=np.uint32)
    values = np.empty((n_columns, n))
    n_values = np.empty(n_columns, dtype=np.int64)
    n_smaller = np.empty((n_columns, n + 1), dtype=np.int64)
    _write_ranks(columns, order, n_entries, ranks, values, n_values, n_smaller)
    return ranks, values, n_values, n_smaller


@outer_kernel()
def _write_ranks(columns, order, n_entries, ranks, values, n_values, n_smaller):
    """Write the arrays that `_rank` returns."""
    for column in range(columns.shape[0]):
        j = uintp(column)
        n, n_present, previous = 0, 0, np.nan
        for i in range(order.shape[1]):
            entry = order[j, uintp(i)] & 0xFFFFFFFF
            if entry >= n_entries[j]:
                continue
            value = np.float64(columns[j, uintp(entry)]) + 0.0  # -0.0 becomes 0.0
            if value != value:
                ranks[j, uintp(entry)] = n
                continue
            if value != previous:
                values[j, uintp(n)] = value
                n_smaller[j, uintp(n)] = n_present
                n += 1
                previous = value
            ranks[j, uintp(entry)] = n - 1
            n_present += 1
        n_values[j] = n
        n_smaller[j, uintp(n)] = n_present


@outer_kernel()
def _write_codes(numbers, code_of, first, width, data, n_zeros):
    """Write codes of one or two bytes; see `RankedColumns`."""
    for column in range(numbers.shape[0]):
        j = uintp(column)
        n = 0
        for i in range(numbers.shape[1]):
            code = code_of[j, uintp(numbers[j, uintp(i)])]
            at = uintp(first[j] + i * width[j])
            data[at] = code & 0xFF
            if width[j] == 2:
                data[at + uintp(1)] = code >> 8
            n += code == 0
        n_zeros[j] = n
