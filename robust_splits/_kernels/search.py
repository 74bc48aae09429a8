"""The compiled search for the best split of one node on one column: gather keys, sort or count them, scan."""

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .categories import (
    chance_reduction,
    keep_order,
    order_histogram,
    order_keys,
    rank_categories,
)
from .coding import BYTE, read_code
from .compile import inlined_kernel, inner_kernel, merged_kernel
from .gini_scan import scan_gini
from .inputs import LOW_HALF, MAX_HISTOGRAM_CELLS, Samples, class_and_weight
from .listed_rows import LOOKUP_COST, gather_listed
from .scan import SortedColumn, scan
from .sorting import LAST, MAX_NETWORK, sort_keys

MAX_CELLS_PER_ROW = 2  # of a histogram

# In sparse data, many rows of a node have the lowest value of the column.  If their share in all rows is more
# than MIN_SKIPPED_SHARE, keys are written for the other rows only.  If it is more than MAX_COUNTED_SHARE, that
# also takes less time than a histogram of all rows.
MIN_SKIPPED_SHARE = 0.125
MAX_COUNTED_SHARE = 0.5

# Where the missing values of a node go.
NO_MISSING = -1
RIGHT = 0
LEFT = 1


class Split(NamedTuple):
    """A split of a node on one column.

    Attributes
    ----------
    score : float
        What splits are compared by: the reduction or, for categories, what it exceeds `chance_reduction` by.
        The best one so far if there is no split.
    reduction : float
    below : int
        Highest code on the left, or highest rank of a category; -1 if there is no split.
    threshold : float
        NaN if categories are divided.
    missing : int
        `LEFT`, `RIGHT` or `NO_MISSING`.
    """

    score: float
    reduction: float
    below: int
    threshold: float
    missing: int


class Values(NamedTuple):
    """The values of one column; for bins, their lowest and highest ones.

    Attributes
    ----------
    lowest, highest : float64 arrays of shape (n_values,)
    lowest_share : float
        Share of the rows of all nodes with the lowest value; see `Columns`.
    categorical : bool
        Whether the values are categories.
    """

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    lowest_share: float
    categorical: bool


class Gathered(NamedTuple):
    """The rows of a node on one column.

    Attributes
    ----------
    low, high : int
        The lowest and the highest code.
    n_keys : int
        Number of keys in the scratch's `keys`.  Rows without a key have code 0, and the scratch's `left` holds
        their class counts.
    counted : bool
        Whether the rows are in the scratch's histogram instead.
    """

    low: int
    high: int
    n_keys: int
    counted: bool


@inner_kernel()
def gather(column, rows, begin, end, above, keys):
    """Write a key for each row whose code is above `above`: the code, then the payload of the row.

    Returns the lowest and the highest code, and the number of keys.
    """
    low, high, n_keys = LAST, np.int64(0), 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        code = read_code(column, row >> 32)
        keys[uintp(n_keys)] = (code << 32) | (row & LOW_HALF)
        n_keys += np.int64(code > above)
        low = min(low, code)
        high = max(high, code)
    return low, high, n_keys


@inlined_kernel()
def count_skipped(keys, n_keys, class_bits, counts, left):
    """Write the class counts of the rows without a key to `left`; needs integer weights, which sum exactly."""
    for k in range(counts.shape[0]):
        left[k] = counts[k]
    for i in range(n_keys):
        key = keys[uintp(i)]
        left[uintp(key & ((1 << class_bits) - 1))] -= float((key & LOW_HALF) >> class_bits)


@inner_kernel()
def count_codes(column, rows, begin, end, samples, histogram, n_bins):
    """Fill the histogram of a node's rows, whose codes have one byte and are below `n_bins`.

    Returns the lowest and the highest code.
    """
    weights, n_rows = histogram.weights, histogram.n_rows
    weights[:n_bins] = 0.0
    n_rows[:n_bins] = 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        b = uintp(column.data[uintp(column.first + (row >> 32) * column.step)])
        n_rows[b] += 1
        k, w = class_and_weight(row, samples)
        weights[b, k] += w
    low, high = 0, n_bins - 1
    while n_rows[uintp(low)] == 0:
        low += 1
    while n_rows[uintp(high)] == 0:
        high -= 1
    return low, high


@merged_kernel()
def has_few_cells(n_bins, n_classes, n_rows):
    """Whether a histogram of this size is faster than sorting."""
    return n_bins * n_classes <= min(MAX_CELLS_PER_ROW * n_rows, MAX_HISTOGRAM_CELLS)


@merged_kernel()
def gather_column(search, node, begin, column, listed, values, exhaustive):
    """Gather or count the rows of a node, which start at `begin`, on one column.

    `listed` are the rows of all nodes that do not have its lowest value, or empty.
    """
    scratch, samples, gini = search.scratch, search.samples, search.gini
    rows, end = search.rows, begin + node.n_rows
    keys, left = scratch.keys.keys, scratch.counts.left
    n_codes = values.lowest.shape[0] + 1  # with that of missing values
    above = np.int64(-1)  # with a literal, `gather` would be compiled a second time
    counted = False
    from_list = False
    if exhaustive is not None:
        left[:] = 0.0
        # Only differences of integer weights are exact.
        share = values.lowest_share if samples.class_bits > 0 else 0.0
        if gini is not None and node.n_rows <= MAX_NETWORK:
            share = 0.0  # leaving out a few keys would take longer
        if share > MIN_SKIPPED_SHARE:
            above = np.int64(0)
            from_list = 0 < listed.shape[0] * LOOKUP_COST < node.n_rows
        if column.mask == BYTE and share <= MAX_COUNTED_SHARE:
            counted = has_few_cells(n_codes, node.counts.shape[0], node.n_rows)
    n_keys = node.n_rows
    if counted:
        low, high = count_codes(column, rows, begin, end, samples, scratch.histogram, n_codes)
    elif from_list:
        low, high, n_keys = gather_listed(column, listed, rows, search.places, begin, end, keys)
    else:
        low, high, n_keys = gather(column, rows, begin, end, above, keys)
    if exhaustive is not None:  # noqa: SIM102 - Numba leaves out only what depends on this alone
        if 0 < n_keys < node.n_rows:
            count_skipped(keys, n_keys, samples.class_bits, node.counts, left)
    return Gathered(low, high, n_keys, counted)


@inlined_kernel()
def fill_histogram(keys, samples, low, n_bins, histogram):
    """Fill the histogram of the rows of keys, whose codes start at `low`."""
    weights, n_rows = histogram.weights, histogram.n_rows
    weights[:n_bins] = 0.0
    n_rows[:n_bins] = 0
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        b = uintp((key >> 32) - low)
        n_rows[b] += 1
        k, w = class_and_weight(key, samples)
        weights[b, k] += w


@inlined_kernel()
def list_cells(histogram, low, n_bins, class_bits, needed, cells, keys):
    """Write a key for each code and class in the histogram, a cell; return their number.

    The keys come out sorted.  They hold weight and class or, if weights are not integers, the cell number.
    `needed` is None for scans by gini, which read the histogram itself.
    """
    if needed is None:
        return 0
    n_classes = histogram.weights.shape[1]
    n_cells = 0
    for b in range(n_bins):
        # The first cell of a code counts all its rows.
        n_rows = histogram.n_rows[uintp(b)]
        if n_rows > 0:
            for k in range(n_classes):
                weight = histogram.weights[uintp(b), uintp(k)]
                if weight > 0.0:
                    payload = np.int64(weight) << class_bits | k if class_bits > 0 else n_cells
                    cell = uintp(n_cells)
                    keys[cell] = (b + low) << 32 | payload
                    cells.classes[cell] = k
                    cells.weights[cell] = weight
                    cells.n_rows[cell] = n_rows
                    n_rows = 0
                    n_cells += 1
    return n_cells


@merged_kernel()
def midpoint(low, high):
    """Threshold t with low <= t < high, halfway unless rounding prevents it."""
    middle = low + (high - low) / 2.0
    return low if middle >= high else middle


@inlined_kernel()
def count_classes(keys, begin, end, samples, weight, low, high, out):
    """Write the class counts of keys[begin:end] with codes in [low, high] to `out`; return their number.

    `weight` is at least the weight of keys[begin:end].
    """
    class_bits, count_bits = samples.class_bits, samples.count_bits
    n = 0
    if class_bits > 0 and weight < float(1 << count_bits):
        # All counts are in one register.  In memory, each addition would wait for the one before.
        counts = np.int64(0)
        for i in range(begin, end):
            key = keys[uintp(i)]
            inside = np.int64(low <= key >> 32 <= high)
            n += inside
            counts += ((key & LOW_HALF) >> class_bits & -inside) << (key & ((1 << class_bits) - 1)) * count_bits
        for k in range(out.shape[0]):
            out[k] = float(counts >> k * count_bits & ((1 << count_bits) - 1))
        return n
    out[:] = 0.0
    for i in range(begin, end):
        key = keys[uintp(i)]
        # Without a branch, which the processor could not predict for a random threshold.
        inside = low <= key >> 32 <= high
        n += inside
        k, w = class_and_weight(key, samples)
        out[k] += w if inside else 0.0
    return n


@inlined_kernel()
def scan_column(search, node, column, best, phi_table, gini, monotonic):
    """Best split of a `SortedColumn`; see `scan`."""
    if phi_table is not None:
        return scan(search, node, column, best, phi_table, monotonic)
    if gini is not None:
        return scan_gini(search, node, column, best)
    return best, np.int64(-1), np.int64(-1)  # never: one of the two is not None


@merged_kernel()
def count_missing(gathered, missing_code, samples, weight, keys, histogram, counts):
    """Count the missing values; write their class counts, with those in `left`, to ``counts.missing``."""
    left, missing, n_missing = counts.left, counts.missing, np.int64(0)
    if gathered.high == missing_code:
        if gathered.counted:
            n_missing = histogram.n_rows[missing_code]
            for k in range(left.shape[0]):
                missing[k] = histogram.weights[missing_code, k]
        else:
            n_missing = count_classes(
                keys, np.int64(0), gathered.n_keys, samples, weight, missing_code, missing_code, missing
            )
        for k in range(left.shape[0]):
            missing[k] += left[k]
    return n_missing


@merged_kernel()
def sort_column(node, gathered, samples, scratch, values, phi_table, categories):
    """Sort the rows of a node on one column, or put them into a histogram.

    Returns a `SortedColumn`, and the code of missing values in it.
    """
    buffers, histogram, cells = scratch.keys, scratch.histogram, scratch.cells
    counted, n_keys, low, high = gathered.counted, gathered.n_keys, gathered.low, gathered.high
    keys, other_keys = buffers.keys[:n_keys], buffers.sorted[:n_keys]
    rows_left = node.n_rows - n_keys
    missing_code = values.lowest.shape[0]
    lowest = np.int64(-1)
    if rows_left > 0:
        lowest, low = np.int64(0), np.int64(1)
    first_code = 0 if counted else low
    n_bins = high - first_code + 1
    in_cells = counted or has_few_cells(n_bins, node.counts.shape[0], n_keys)
    if in_cells and not counted:
        fill_histogram(keys, samples, first_code, n_bins, histogram)
    if not in_cells and n_keys > 1 and low < high:
        is_sorted_copy = sort_keys(keys, other_keys, buffers.short, buffers.counters, low, high)
        if is_sorted_copy:
            keys, other_keys = other_keys, keys
    if categories is not None:  # noqa: SIM102 - Numba leaves out only what depends on this alone
        if values.categorical:
            if in_cells:
                n_keys = list_cells(
                    histogram, first_code, n_bins, samples.class_bits, True, cells, buffers.sorted
                )
                of_cells = Samples(samples.class_bits, samples.count_bits, cells.classes, cells.weights)
                n = rank_categories(buffers.sorted[:n_keys], of_cells, missing_code, categories)
                order_histogram(n_keys, n, categories, cells, histogram)
                first_code, n_bins = 0, n + (high == missing_code)
            else:
                n = rank_categories(keys, samples, missing_code, categories)
                order_keys(keys, n, categories, other_keys)
                keys = other_keys
            missing_code = n
    if in_cells:
        n_keys = list_cells(histogram, first_code, n_bins, samples.class_bits, phi_table, cells, buffers.sorted)
        keys = buffers.sorted[:n_keys]
    return SortedColumn(keys, in_cells, first_code, n_bins, lowest, rows_left), missing_code


@merged_kernel()
def move_missing_left(column, missing_code, n_missing, counts):
    """Move the missing values of a `SortedColumn`, which come last, to the left from the start."""
    for k in range(counts.left.shape[0]):
        counts.left[k] = counts.missing[k]
    end = column.keys.shape[0]
    while end > 0 and column.keys[end - 1] >> 32 == missing_code:
        end -= 1
    return SortedColumn(
        column.keys[:end], column.cells, column.first_code, column.n_bins - 1, column.lowest,
        column.rows_left + n_missing,
    )  # fmt: skip


@merged_kernel()
def threshold_of(values, below, above, missing_code):
    """Threshold between two codes; infinity, which separates all values from missing ones, before theirs."""
    return np.inf if above == missing_code else midpoint(values.highest[below], values.lowest[above])


@merged_kernel()
def search_exact(search, node, gathered, values, best, categories, monotonic):
    """Best split over all thresholds between the values of a column, if its score exceeds `best`.

    Categories are divided by their ranks; see `categories`.
    """
    samples, scratch, counts = search.samples, search.scratch, search.scratch.counts
    n_missing = count_missing(
        gathered, values.lowest.shape[0], samples, node.weight, scratch.keys.keys, scratch.histogram, counts
    )
    column, missing_code = sort_column(node, gathered, samples, scratch, values, search.phi_table, categories)
    found, found_above, side = np.int64(-1), np.int64(-1), np.int64(NO_MISSING)
    handicap = 0.0
    if categories is not None:  # noqa: SIM102
        if values.categorical:
            handicap = chance_reduction(search.measure, node, missing_code, categories)
    reduction = max(search.rounding * node.weight, best + handicap)
    # Two passes if values are missing: they first go right, and then left.
    for missing_left in range(2 if n_missing > 0 else 1):
        if missing_left:
            column = move_missing_left(column, missing_code, n_missing, counts)
        reduction, below, above = scan_column(
            search, node, column, reduction, search.phi_table, search.gini, monotonic
        )
        if below >= 0:
            found, found_above = below, above
            if n_missing > 0:
                side = np.int64(LEFT if missing_left else RIGHT)
    threshold = np.inf
    if found >= 0:
        threshold = threshold_of(values, found, found_above, missing_code)
        if categories is not None:  # noqa: SIM102
            if values.categorical:
                threshold = np.nan
                keep_order(missing_code, categories)
    return Split(reduction - handicap, reduction, found, threshold, side)
