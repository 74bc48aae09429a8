"""The compiled search for a random split of one node on one column."""

import numpy as np

from .categories import keep_order, shuffle_categories
from .compile import inlined_kernel, merged_kernel
from .gain import reduction_of
from .monotonic import keeps_order
from .random import next_below, next_uniform
from .search import LEFT, NO_MISSING, RIGHT, Split, count_classes


@merged_kernel()
def draw_threshold(values, low, high, state):
    """Draw a threshold uniformly between the values of two codes; return it and the highest code below it."""
    threshold, below = np.inf, low
    if low < high:
        u = next_uniform(state)
        threshold = values.lowest[low] * (1.0 - u) + values.lowest[high] * u
        if not values.lowest[low] <= threshold < values.lowest[high]:
            threshold = values.lowest[low]
        end = high
        while end - below > 1:
            middle = (below + end) // 2
            if values.lowest[middle] <= threshold:
                below = middle
            else:
                end = middle
        threshold = max(threshold, values.highest[below])  # not within a bin
    return threshold, below


@inlined_kernel()
def search_random(search, node, gathered, values, best, categories, monotonic):
    """Split at a threshold drawn uniformly between the lowest and the highest value; see `search_exact`.

    Categories are shuffled and divided at a rank drawn uniformly.
    """
    samples, measure, growth, scratch = search.samples, search.measure, search.growth, search.scratch
    n_rows, n_classes = node.n_rows, node.counts.shape[0]
    keys, counts = scratch.keys.keys, scratch.counts
    left, right, missing = counts.left, counts.right, counts.missing
    best = max(search.rounding * node.weight, best)
    low, high, missing_code = gathered.low, gathered.high, values.lowest.shape[0]
    n_missing = 0
    if high == missing_code:
        n_missing = count_classes(keys, np.int64(0), n_rows, samples, node.weight, high, high, missing)
        high = low
        for i in range(n_rows):
            if keys[i] >> 32 != missing_code:
                high = max(high, keys[i] >> 32)
    threshold, below, n_categories = np.inf, low, np.int64(0)
    if categories is not None:  # noqa: SIM102
        if values.categorical:
            n_categories = shuffle_categories(keys[:n_rows], missing_code, search.state, categories)
            low, high = np.int64(0), n_categories - 1
            below = np.int64(next_below(search.state, max(high, 1)))
    if n_categories == 0:
        threshold, below = draw_threshold(values, low, high, search.state)
    rows_left = count_classes(keys, np.int64(0), n_rows, samples, node.weight, low, below, left)
    found, side = np.int64(-1), np.int64(NO_MISSING)
    for missing_left in range(2 if n_missing > 0 and low < high else 1):
        if missing_left:
            for k in range(n_classes):
                left[k] += missing[k]
            rows_left += n_missing
        n_left, n_right = 0.0, 0.0
        for k in range(n_classes):
            right[k] = max(node.counts[k] - left[k], 0.0)
            n_left += left[k]
            n_right += right[k]
        enough_rows = min(rows_left, n_rows - rows_left) >= growth.min_samples_leaf
        allowed = enough_rows and min(n_left, n_right) >= growth.min_weight_leaf
        if monotonic is not None:
            allowed &= keeps_order(monotonic, left[1] / n_left, right[1] / n_right)
        if allowed:
            reduction = reduction_of(measure, node.counts, left, right)
            if reduction > best:
                best, found = reduction, below
                if n_missing > 0:
                    side = np.int64(LEFT if missing_left else RIGHT)
    if categories is not None:  # noqa: SIM102
        if values.categorical and found >= 0:
            threshold = np.nan
            keep_order(n_categories, categories)
    return Split(best, best, found, threshold, side)
