"""The compiled search for the best split of one node on one column: gather keys, sort or count them, scan."""

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .coding import read_code
from .compile import inlined_kernel, inner_kernel, merged_kernel
from .gini_scan import BLOCK, scan_gini
from .random import next_uniform
from .scan import LOW_HALF, Samples, class_and_weight, scan
from .sorting import INDEX_BITS, LAST, N_COUNTERS, sort_keys

# Class histograms must fit the second-level cache, and have at most this number of cells per row.
MAX_HISTOGRAM_CELLS = 1 << 15
MAX_CELLS_PER_ROW = 2


# Where the missing values of a node go.
NO_MISSING = -1
RIGHT = 0
LEFT = 1


class Scratch(NamedTuple):
    """Buffers of a search."""

    keys: NDArray[np.int64]
    other_keys: NDArray[np.int64]
    short_keys: NDArray[np.int32]
    cell_rows: NDArray[np.int64]
    cell_classes: NDArray[np.int32]
    cell_weights: NDArray[np.float64]
    counters: NDArray[np.int64]
    bins: NDArray[np.float64]
    bin_rows: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    missing: NDArray[np.float64]
    left_weights: NDArray[np.float64]
    left_sums: NDArray[np.float64]
    right_sums: NDArray[np.float64]
    scores: NDArray[np.float64]


@inner_kernel()
def gather(data, first, step, mask, rows, begin, end, above, class_bits, counts, keys, left):
    """Write a key for each row whose code is above `above`, the code over the payload.

    `data` are the codes, `first`, `step` and `mask` those of the feature; see `Codes`.  Returns the lowest and
    the highest code, and the number of keys.  If rows are left out, which needs integer weights, their class
    counts are written to `left`.
    """
    low, high, n_keys = LAST, np.int64(0), 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        code = read_code(data, first + (row >> 32) * step, mask)
        keys[uintp(n_keys)] = (code << 32) | (row & LOW_HALF)
        n_keys += np.int64(code > above)
        low = min(low, code)
        high = max(high, code)
    if 0 < n_keys < end - begin:
        for k in range(counts.shape[0]):
            left[k] = counts[k]
        for i in range(n_keys):
            key = keys[uintp(i)]
            left[uintp(key & ((1 << class_bits) - 1))] -= float((key & LOW_HALF) >> class_bits)
    return low, high, n_keys


@inner_kernel()
def count_codes(data, first, step, rows, begin, end, samples, n_bins, bins, bin_rows):
    """Add up the weights of a node's rows by code and class, and the rows by code.

    The codes have one byte and are below `n_bins`.  Returns the lowest and the highest code.
    """
    bins[:n_bins] = 0.0
    bin_rows[:n_bins] = 0
    for i in range(begin, end):
        row = rows[uintp(i)]
        b = uintp(data[uintp(first + (row >> 32) * step)])
        bin_rows[b] += 1
        k, w = class_and_weight(row, samples)
        bins[b, k] += w
    low, high = 0, n_bins - 1
    while bin_rows[uintp(low)] == 0:
        low += 1
    while bin_rows[uintp(high)] == 0:
        high -= 1
    return low, high


@inner_kernel()
def has_few_cells(n_bins, n_classes, n_rows):
    """Whether a histogram of this size is faster than sorting."""
    return n_bins * n_classes <= min(MAX_CELLS_PER_ROW * n_rows, MAX_HISTOGRAM_CELLS)


@inlined_kernel()
def fill_bins(keys, samples, low, n_bins, scratch):
    """Add up the weights of the rows by code and class in ``scratch.bins``, and the rows by code."""
    bins, bin_rows = scratch.bins, scratch.bin_rows
    bins[:n_bins] = 0.0
    bin_rows[:n_bins] = 0
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        b = uintp((key >> 32) - low)
        bin_rows[b] += 1
        k, w = class_and_weight(key, samples)
        bins[b, k] += w


@inlined_kernel()
def list_cells(class_bits, low, n_bins, phi_table, scratch):
    """Write a key for each code and class in ``scratch.bins``, a cell; return their number, 0 for gini.

    The keys come out sorted in ``scratch.other_keys``.  They hold weight and class or, if weights are not
    integers, the cell number.  Scans by gini read the bins themselves.
    """
    if phi_table is None:
        return 0
    bins, bin_rows = scratch.bins, scratch.bin_rows
    n_classes = bins.shape[1]
    n_cells = 0
    for b in range(n_bins):
        # The first cell of a code counts all its rows.
        n_rows = bin_rows[uintp(b)]
        if n_rows > 0:
            for k in range(n_classes):
                weight = bins[uintp(b), uintp(k)]
                if weight > 0.0:
                    payload = np.int64(weight) << class_bits | k if class_bits > 0 else n_cells
                    cell = uintp(n_cells)
                    scratch.other_keys[cell] = (b + low) << 32 | payload
                    scratch.cell_classes[cell] = k
                    scratch.cell_weights[cell] = weight
                    scratch.cell_rows[cell] = n_rows
                    n_rows = 0
                    n_cells += 1
    return n_cells


@inner_kernel()
def midpoint(low, high):
    """Threshold t with low <= t < high, halfway unless rounding prevents it."""
    middle = low + (high - low) / 2.0
    return low if middle >= high else middle


@inlined_kernel()
def count_classes(keys, begin, end, samples, low, high, out):
    """Write the class counts of keys[begin:end] with codes in [low, high] to `out`; return their number."""
    out[:] = 0.0
    n = 0
    for i in range(begin, end):
        key = keys[uintp(i)]
        if low <= key >> 32 <= high:
            n += 1
            k, w = class_and_weight(key, samples)
            out[k] += w
    return n


@inlined_kernel()
def scan_keys(keys, cells, first_code, n_bins, node, lowest, rows_left, samples, measure, phi_table, gini, min_rows, min_weight, scratch, best):  # fmt: skip  # noqa: E501
    """Best split of sorted keys or, if `cells`, of ``scratch.bins``, whose codes start at `first_code`."""
    left = scratch.left
    if phi_table is not None:
        if cells:
            samples = Samples(samples.class_bits, scratch.cell_classes, scratch.cell_weights)
        return scan(
            keys, node, lowest, rows_left, samples, scratch.cell_rows, cells, measure, phi_table, min_rows,
            min_weight, left, scratch.right, best,
        )  # fmt: skip
    if gini is not None:
        return scan_gini(
            keys, cells, first_code, n_bins, node, lowest, rows_left, samples, min_rows, min_weight, left,
            scratch, best,
        )  # fmt: skip
    return best, np.int64(-1), np.int64(-1)  # never: one of the two is given


@merged_kernel()
def search_exact(low, high, n_keys, counted, missing_code, values, highest, node, samples, measure, phi_table, gini, min_rows, min_weight, scratch, best):  # fmt: skip  # noqa: E501
    """Best split over all thresholds between the values of the column's codes.

    The rows are the gathered keys or, if `counted`, in ``scratch.bins``.  Rows without a key have code 0.
    Returns the reduction, the highest code on the left, the threshold, and the side of missing values.  The
    code is -1 if no reduction exceeds `best`.
    """
    keys = scratch.keys[:n_keys]
    n_classes = node.counts.shape[0]
    left, missing = scratch.left, scratch.missing
    rows_left = node.n_rows - n_keys
    lowest = np.int64(-1)  # the highest code that is already on the left
    if rows_left > 0:
        lowest, low = np.int64(0), np.int64(1)
    else:
        left[:] = 0.0
    first = 0 if counted else low  # code of the first bin
    n_bins = high - first + 1
    n_missing = np.int64(0)
    if high == missing_code:
        if counted:
            n_missing = scratch.bin_rows[high]
            for k in range(n_classes):
                missing[k] = scratch.bins[high, k]
        else:
            n_missing = count_classes(keys, np.int64(0), n_keys, samples, high, high, missing)
        for k in range(n_classes):
            missing[k] += left[k]
    cells = counted or has_few_cells(n_bins, n_classes, n_keys)
    if cells:
        if not counted:
            fill_bins(keys, samples, first, n_bins, scratch)
        keys = scratch.other_keys[: list_cells(samples.class_bits, first, n_bins, phi_table, scratch)]
    elif n_keys > 1 and low < high:
        other_keys = scratch.other_keys[:n_keys]
        if sort_keys(keys, other_keys, scratch.short_keys, scratch.counters, low, high):
            keys = other_keys
    found, found_above, side = np.int64(-1), np.int64(-1), np.int64(NO_MISSING)
    # Missing values have the highest code, so they first go right, and then left.
    for missing_left in range(2 if n_missing > 0 else 1):
        if missing_left:
            for k in range(n_classes):
                left[k] = missing[k]
            rows_left += n_missing
            n_bins -= 1
            end = keys.shape[0]
            while end > 0 and keys[end - 1] >> 32 == missing_code:
                end -= 1
            keys = keys[:end]
        best, below, above = scan_keys(
            keys, cells, first, n_bins, node, lowest, rows_left, samples, measure, phi_table, gini, min_rows,
            min_weight, scratch, best,
        )  # fmt: skip
        if below >= 0:
            found, found_above = below, above
            if n_missing > 0:
                side = np.int64(LEFT if missing_left else RIGHT)
    if found < 0:
        return best, found, 0.0, side
    # An infinite threshold separates all values from the missing ones.
    threshold = np.inf if found_above == missing_code else midpoint(highest[found], values[found_above])
    return best, found, threshold, side


@inner_kernel()
def search_random(low, high, missing_code, values, highest, node, samples, measure, min_rows, min_weight, scratch, best, state):  # fmt: skip  # noqa: E501
    """Split at a threshold drawn uniformly between the lowest and the highest value; see `search_exact`."""
    m = node.n_rows
    keys = scratch.keys[:m]
    left, right = scratch.left, scratch.right
    n_missing = 0
    if high == missing_code:
        n_missing = count_classes(keys, np.int64(0), m, samples, high, high, scratch.missing)
        high = low
        for i in range(m):
            if keys[i] >> 32 != missing_code:
                high = max(high, keys[i] >> 32)
    threshold, below = np.inf, low
    if low < high:
        u = next_uniform(state)
        threshold = values[low] * (1.0 - u) + values[high] * u
        if not values[low] <= threshold < values[high]:
            threshold = values[low]
        below, end = low, high
        while end - below > 1:
            middle = (below + end) // 2
            if values[middle] <= threshold:
                below = middle
            else:
                end = middle
        threshold = max(threshold, highest[below])  # not within a bin
    rows_left = count_classes(keys, np.int64(0), m, samples, low, below, left)
    found, side = np.int64(-1), np.int64(NO_MISSING)
    for missing_left in range(2 if n_missing > 0 and low < high else 1):
        if missing_left:
            for k in range(left.shape[0]):
                left[k] += scratch.missing[k]
            rows_left += n_missing
        n_left, n_right = 0.0, 0.0
        for k in range(left.shape[0]):
            right[k] = max(node.counts[k] - left[k], 0.0)
            n_left += left[k]
            n_right += right[k]
        if min(rows_left, m - rows_left) >= min_rows and min(n_left, n_right) >= min_weight:
            reduction = measure.reduction(
                measure.code, measure.parameter, measure.table.ctypes, measure.table.shape[0],
                node.counts.ctypes, left.ctypes, right.ctypes, left.shape[0],
            )  # fmt: skip
            if reduction > best:
                best, found = reduction, below
                if n_missing > 0:
                    side = np.int64(LEFT if missing_left else RIGHT)
    return best, found, threshold, side


def new_scratch(n_rows: int, n_classes: int) -> Scratch:
    """Allocate buffers for nodes of up to `n_rows` rows."""
    n_bins = MAX_HISTOGRAM_CELLS // n_classes + 1
    n_cells = n_bins * n_classes
    return Scratch(
        np.empty(n_rows, dtype=np.int64),
        np.empty(max(n_rows, n_cells), dtype=np.int64),
        np.empty(1 << INDEX_BITS, dtype=np.int32),
        np.empty(n_cells, dtype=np.int64),
        np.empty(n_cells, dtype=np.int32),
        np.empty(n_cells),
        np.empty(N_COUNTERS, dtype=np.int64),
        np.empty((n_bins, n_classes)),
        np.empty(n_bins, dtype=np.int64),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty(BLOCK),
    )
