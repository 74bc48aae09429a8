"""Rank encoding: the code of a value is its rank among the distinct values of its column, or its bin.

Codes are ordered as the values are, so splits found on ranks are exact.  They depend on X alone, so all trees,
criteria and label vectors over the same rows share them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .._rows import Features, Rows, by_feature
from .._threads import map_in_threads, split_range
from .compile import inlined_kernel
from .ranking import RankedColumns, rank_by_numbers, rank_by_sorting

BLOCK_COLUMNS = 32
MIN_BLOCK_COLUMNS = 16
BLOCK_BYTES = 1 << 25  # of numbers
MIN_VALUES_PER_THREAD = 1 << 19
BYTE = 0xFF  # the mask of codes of one byte
MAX_LISTED_SHARE = 0.25  # of the rows of a column that are listed
TRANSPOSED = 256  # rows and columns at a time; their codes stay in the cache


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


class Column(NamedTuple):
    """The codes of one column; see `Codes` and `Columns`."""

    data: NDArray[np.uint8]
    first: int
    step: int
    mask: int


@inlined_kernel()
def read_code(column, row):
    """The code of a row.

    Reads four bytes of wide codes, which compiles to a single instruction, and keeps those of the code.
    """
    data, at = column.data, uintp(column.first + row * column.step)
    if column.mask == BYTE:
        return np.int64(data[at])
    low = np.uint32(data[at]) | np.uint32(data[at + uintp(1)]) << np.uint32(8)
    high = np.uint32(data[at + uintp(2)]) | np.uint32(data[at + uintp(3)]) << np.uint32(8)
    return np.int64(low | high << np.uint32(16)) & column.mask


class ListedRows(NamedTuple):
    """The rows that do not have the lowest value of their column, for columns where they are few.

    Sparse matrices and one-hot categories have such columns.  A large node reads the list of a column, and not
    the codes of all its rows; see `listed_rows`.

    Attributes
    ----------
    rows : int32 array
        Those of each column, ascending; none for columns without a list.
    offsets : int64 array of shape (n_features + 1,)
        Start of each column in `rows`.
    """

    rows: NDArray[np.int32]
    offsets: NDArray[np.int64]


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
    listed : ListedRows
    values : float64 array of shape (total number of distinct values,)
        The sorted distinct values of each column, concatenated; of bins the smallest value.
    highest : float64 array of the same shape
        The same values; of bins the largest value.
    offsets : int64 array of shape (n_features + 1,)
        Start of each column in `values`.
    categorical : bool array of shape (n_features,)
        Whether the values of a column are categories, which have no order.
    """

    codes: Codes
    rows: NDArray[np.uint64]
    mask: NDArray[np.int64]
    lowest_share: NDArray[np.float64]
    listed: ListedRows
    values: NDArray[np.float64]
    highest: NDArray[np.float64]
    offsets: NDArray[np.int64]
    categorical: NDArray[np.bool_]

    @property
    def max_categories(self) -> int:
        """Largest number of categories of a column; 0 if no column is categorical."""
        return int((np.diff(self.offsets) * self.categorical).max(initial=0))

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


def encode(
    X: Rows,
    n_threads: int = 1,
    max_bins: int | None = None,
    categorical: NDArray[np.bool_] | None = None,
) -> Columns:
    """Rank-encode the columns of `X` (n_samples, n_features), in which NaN means missing, or bin them.

    Columns marked in `categorical` (n_features,) are never binned.
    """
    n_samples, n_features = X.shape
    if categorical is None:
        categorical = np.zeros(n_features, dtype=bool)
    n_threads = min(n_threads, 1 + n_samples * n_features // MIN_VALUES_PER_THREAD)
    ranked = _rank_all(
        by_feature(X), n_threads, None if max_bins is None else np.where(categorical, n_samples, max_bins)
    )
    n_codes = np.empty(n_features, dtype=np.int64)
    lowest, highest = [np.empty(0)] * n_features, [np.empty(0)] * n_features
    for some in ranked:
        n_codes[some.columns] = some.n_codes
        for j, low, high in zip(some.columns, some.lowest, some.highest, strict=True):
            lowest[j] = low
            if max_bins is not None:  # otherwise they are the same arrays, which `_join` frees
                highest[j] = high
    width = np.select([n_codes <= 1 << 8, n_codes <= 1 << 16], [1, 2], 4)
    order = np.argsort(-width, kind="stable")  # the widest first, so that all are aligned
    position = np.empty_like(width)  # of a column's codes in a row
    position[order] = np.cumsum(width[order]) - width[order]
    data = np.zeros(width.sum() * n_samples + 3, dtype=np.uint8)
    n_lowest = np.empty_like(width)

    def write(some: RankedColumns) -> None:
        which = some.columns
        n_lowest[which] = some.write_codes(data, position[which] * n_samples, width[which])

    map_in_threads(write, ranked, n_threads)
    del ranked, some  # before the next large array
    rows = np.zeros((n_samples, -(-width.sum() // 8)), dtype=np.uint64)

    def write_rows(part: slice) -> None:
        for n_bytes in (4, 2, 1):
            begin, end = width[width > n_bytes].sum(), width[width >= n_bytes].sum()
            codes = data[begin * n_samples : end * n_samples].view(f"<u{n_bytes}").reshape(-1, n_samples)
            _transpose(codes[:, part], rows[part].view(np.uint8)[:, begin:end].view(codes.dtype))

    map_in_threads(write_rows, split_range(n_samples, n_threads), n_threads)
    codes = Codes(data, first=position * n_samples, step=width)
    is_listed = ~categorical & (n_samples - n_lowest <= MAX_LISTED_SHARE * n_samples)
    offsets = np.zeros(n_features + 1, dtype=np.int64)
    np.cumsum([low.size for low in lowest], out=offsets[1:])
    values = _join(lowest)
    return Columns(
        codes=codes,
        rows=rows,
        mask=(1 << 8 * width) - 1,
        lowest_share=n_lowest / n_samples,
        listed=_list_rows(codes, n_samples, is_listed),
        values=values,
        highest=_join(highest) if max_bins is not None else values,
        offsets=offsets,
        categorical=categorical,
    )


def _transpose(codes: NDArray[np.unsignedinteger], out: NDArray[np.unsignedinteger]) -> None:
    """Write the transpose of `codes` (n_columns, n_rows) to `out`, a part at a time."""
    for j in range(0, out.shape[1], TRANSPOSED):
        for i in range(0, out.shape[0], TRANSPOSED):
            columns, rows = slice(j, j + TRANSPOSED), slice(i, i + TRANSPOSED)
            out[rows, columns] = codes[columns, rows].T


def _list_rows(codes: Codes, n_samples: int, is_listed: NDArray[np.bool_]) -> ListedRows:
    """List the rows without the lowest value of the columns in a mask of shape (n_features,)."""
    lists = [np.empty(0, dtype=np.int32)]
    n_rows = np.zeros(is_listed.size + 1, dtype=np.int64)
    for j in np.flatnonzero(is_listed):
        first, step = codes.first[j], codes.step[j]
        column = codes.data[first : first + step * n_samples].view(f"<u{step}")
        lists.append(np.flatnonzero(column != 0).astype(np.int32))  # NumPy is faster with booleans
        n_rows[j + 1] = lists[-1].size
    return ListedRows(np.concatenate(lists), np.cumsum(n_rows))


def _rank_all(X: Features, n_threads: int, max_bins: NDArray[np.int64] | None) -> list[RankedColumns]:
    """Rank or bin all columns."""
    n_samples, n_features = X.shape
    block_columns = min(BLOCK_COLUMNS, max(1, BLOCK_BYTES // (2 * n_samples)))
    # A thread reads whole cache lines of rows, so narrow parts would be read several times.
    n_parts = max(-(-n_features // block_columns), min(n_threads, n_features // MIN_BLOCK_COLUMNS), 1)
    parts = split_range(n_features, n_parts)
    ranked = map_in_threads(lambda part: rank_by_numbers(X, part, max_bins), parts, n_threads)
    numbered = np.concatenate([some.columns for some in ranked])
    others = np.setdiff1d(np.arange(n_features), numbered)
    return ranked + map_in_threads(lambda j: rank_by_sorting(X, j, max_bins), others, n_threads)


def _join(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Concatenate arrays, and free each one once it is copied: the memory of a fit peaks here."""
    joined = np.empty(sum(part.size for part in parts))
    end = joined.size
    while parts:
        part = parts.pop()
        joined[end - part.size : end] = part
        end -= part.size
    return joined
