"""The compiled tree grower: split search, partition of the rows, storage of the nodes.

`grow` is one compiled function that holds no Python object and releases the interpreter's lock, so threads grow
trees side by side.  Rows of weight 0 take no part.  A node is split only where the best gain is positive.
"""

import math

import numpy as np

from ._gain import EPSILON, ROUNDING, split_gain, weighted_impurity
from ._kernel import kernel

LEAF = -1

# A feature is searched through the class histogram of its codes where the node holds at least half as many rows
# as the feature has distinct values and the histogram fits the second-level cache; else through sorted codes.
MAX_HISTOGRAM_CELLS = 1 << 15
MAX_INSERTION_SORT = 48


@kernel()
def _next_below(state, bound):
    """Draw an integer in [0, bound) and advance `state` (1,) uint64, a xorshift64* generator."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    high = (x * np.uint64(2685821657736338717)) >> np.uint64(32)
    return np.int64((high * np.uint64(bound)) >> np.uint64(32))


@kernel()
def _sort(keys, scratch, code_range):
    """Sort keys of the form (code << 32 | position), whose positions ascend; return the sorted array."""
    n = keys.shape[0]
    if n <= MAX_INSERTION_SORT:
        for i in range(1, n):
            key = keys[i]
            j = i - 1
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = key
        return keys
    # Radix sort, the least significant digit of the code first; each pass is stable.
    counts = np.empty(256, dtype=np.int64)
    shift = np.uint64(32)
    while code_range > 0:
        counts[:] = 0
        for i in range(n):
            counts[np.int64((keys[i] >> shift) & np.uint64(255))] += 1
        begin = 0
        for digit in range(256):
            count = counts[digit]
            counts[digit] = begin
            begin += count
        for i in range(n):
            digit = np.int64((keys[i] >> shift) & np.uint64(255))
            scratch[counts[digit]] = keys[i]
            counts[digit] += 1
        keys, scratch = scratch, keys
        shift += np.uint64(8)
        code_range >>= 8
    return keys


@kernel()
def _scan_sorted(keys, labels, weights, totals, n_node, min_samples_leaf, criterion, parameter, impurity, best):  # fmt: skip  # noqa: E501
    """Best split of a feature from its sorted keys.

    Returns the gain, and the codes below and above the split: -1, -1 where no gain exceeds `best`.
    """
    n = keys.shape[0]
    n_classes = totals.shape[0]
    left = np.zeros(n_classes)
    right = totals.copy()
    n_left = 0.0
    below, above = np.int64(-1), np.int64(-1)
    previous = np.int64(-1)
    for i in range(n):
        code = np.int64(keys[i] >> np.uint64(32))
        if code != previous and min_samples_leaf <= i <= n - min_samples_leaf:
            n_right = n_node - n_left
            if n_left > 0.0 and n_right > 0.0:
                gain = split_gain(criterion, parameter, impurity, left, right, n_left, n_right)
                if gain > best:
                    best, below, above = gain, previous, code
        previous = code
        row = np.int64(keys[i] & np.uint64(0xFFFFFFFF))
        k = labels[row]
        left[k] += weights[row]
        right[k] = max(totals[k] - left[k], 0.0)
        n_left += weights[row]
    return best, below, above


@kernel()
def _scan_histogram(counts, rows, n, totals, n_node, min_samples_leaf, criterion, parameter, impurity, best):  # fmt: skip  # noqa: E501
    """Best split of a feature from the class counts and row numbers of its codes; see `_scan_sorted`."""
    n_classes = totals.shape[0]
    left = np.zeros(n_classes)
    right = totals.copy()
    n_left = 0.0
    rows_left = 0
    below, above = np.int64(-1), np.int64(-1)
    previous = np.int64(-1)
    for code in range(rows.shape[0]):
        if rows[code] == 0:
            continue
        if rows_left > 0 and min_samples_leaf <= rows_left <= n - min_samples_leaf:
            n_right = n_node - n_left
            if n_left > 0.0 and n_right > 0.0:
                gain = split_gain(criterion, parameter, impurity, left, right, n_left, n_right)
                if gain > best:
                    best, below, above = gain, previous, np.int64(code)
        previous = np.int64(code)
        rows_left += rows[code]
        for k in range(n_classes):
            left[k] += counts[code, k]
            right[k] = max(totals[k] - left[k], 0.0)
            n_left += counts[code, k]
    return best, below, above


@kernel()
def _grown(array, size):
    """A copy of `array` with room for `size` rows."""
    copy = np.empty((size,) + array.shape[1:], dtype=array.dtype)  # noqa: RUF005 - not known to Numba
    copy[: array.shape[0]] = array
    return copy


@kernel()
def _midpoint(low, high):
    """A threshold t with low <= t < high, half-way where the numbers allow."""
    middle = low + (high - low) / 2.0
    return low if middle >= high else middle


@kernel()
def grow(codes, values, offsets, labels, weights, n_classes, criterion, parameter, max_depth, min_samples_split, min_samples_leaf, max_features, seed):  # fmt: skip  # noqa: E501
    """Grow one tree depth first.

    Parameters
    ----------
    codes, values, offsets
        The fields of `RankCodes`.
    labels : int64 array of shape (n_samples,)
        Class numbers.
    weights : float64 array of shape (n_samples,)
        Not negative.
    n_classes, criterion, max_depth, min_samples_split, min_samples_leaf, max_features : int
    parameter : float
    seed : uint64
        Not 0.

    Returns
    -------
    feature : int32 array of shape (n_nodes,)
        -1 at a leaf.
    threshold : float64 array of shape (n_nodes,)
        Values up to the threshold go left.
    children : int32 array of shape (n_nodes, 2)
        Left and right; -1 at a leaf.
    counts : float64 array of shape (n_nodes, n_classes)
        Weighted class counts.
    n_rows : int64 array of shape (n_nodes,)
        Number of rows with a weight.
    """
    n_features, n_samples = codes.shape
    state = np.full(1, seed, dtype=np.uint64)

    rows = np.empty(n_samples, dtype=np.int32)
    n = 0
    for i in range(n_samples):
        if weights[i] > 0.0:
            rows[n] = i
            n += 1
    rows = rows[:n]
    rounding = ROUNDING
    for i in range(n):
        if weights[rows[i]] != math.floor(weights[rows[i]]):
            rounding = max(ROUNDING, EPSILON * n)
            break
    scratch_rows = np.empty(n, dtype=np.int32)
    node_labels = np.empty(n, dtype=np.int64)
    node_weights = np.empty(n, dtype=np.float64)
    keys = np.empty(n, dtype=np.uint64)
    scratch_keys = np.empty(n, dtype=np.uint64)
    bin_counts = np.empty((MAX_HISTOGRAM_CELLS // n_classes + 1, n_classes))
    bin_rows = np.empty(MAX_HISTOGRAM_CELLS // n_classes + 1, dtype=np.int64)
    features = np.arange(n_features)
    totals = np.empty(n_classes)

    capacity = 64
    feature = np.full(capacity, LEAF, dtype=np.int32)
    threshold = np.empty(capacity)
    children = np.full((capacity, 2), LEAF, dtype=np.int32)
    counts = np.empty((capacity, n_classes))
    n_rows = np.empty(capacity, dtype=np.int64)
    n_nodes = 0

    # Nodes to come: first row, end, depth, parent, side.  Depth first, one waits per level.
    stack = np.empty((64, 5), dtype=np.int64)
    stack[0] = np.array([0, n, 0, -1, 0])
    n_stack = 1
    while n_stack > 0:
        n_stack -= 1
        begin, end, depth, parent, side = stack[n_stack]
        m = end - begin

        totals[:] = 0.0
        for i in range(m):
            row = rows[begin + i]
            node_labels[i] = labels[row]
            node_weights[i] = weights[row]
            totals[node_labels[i]] += node_weights[i]
        n_node = totals.sum()

        node = n_nodes
        n_nodes += 1
        if n_nodes > capacity:
            capacity *= 2
            feature = _grown(feature, capacity)
            threshold = _grown(threshold, capacity)
            children = _grown(children, capacity)
            counts = _grown(counts, capacity)
            n_rows = _grown(n_rows, capacity)
        feature[node] = LEAF
        threshold[node] = np.nan
        children[node, 0] = LEAF
        children[node, 1] = LEAF
        counts[node] = totals
        n_rows[node] = m
        if parent >= 0:
            children[parent, side] = node

        impurity = weighted_impurity(criterion, parameter, totals, n_node)
        if (
            impurity <= rounding * n_node
            or m < min_samples_split
            or m < 2 * min_samples_leaf
            or depth >= max_depth
        ):
            continue

        best = rounding
        best_feature, best_below, best_above = -1, np.int64(-1), np.int64(-1)
        tried = 0
        varies = False  # Constant features count as tried, but the search goes on until one is not.
        while tried < n_features and (tried < max_features or not varies):
            other = tried + _next_below(state, n_features - tried)
            features[tried], features[other] = features[other], features[tried]
            f = features[tried]
            tried += 1

            column = codes[f]
            low = np.int64(column[rows[begin]])
            high = low
            for i in range(begin + 1, end):
                code = np.int64(column[rows[i]])
                low = min(low, code)
                high = max(high, code)
            if low == high:
                continue
            varies = True
            n_codes = high - low + 1
            if n_codes <= 2 * m and n_codes * n_classes <= MAX_HISTOGRAM_CELLS:
                bin_counts[:n_codes] = 0.0
                bin_rows[:n_codes] = 0
                for i in range(m):
                    b = np.int64(column[rows[begin + i]]) - low
                    bin_counts[b, node_labels[i]] += node_weights[i]
                    bin_rows[b] += 1
                gain, below, above = _scan_histogram(
                    bin_counts, bin_rows[:n_codes], m, totals, n_node, min_samples_leaf,
                    criterion, parameter, impurity, best,
                )  # fmt: skip
            else:
                for i in range(m):
                    code = np.int64(column[rows[begin + i]]) - low
                    keys[i] = np.uint64((code << 32) | i)
                gain, below, above = _scan_sorted(
                    _sort(keys[:m], scratch_keys[:m], high - low), node_labels, node_weights, totals, n_node,
                    min_samples_leaf, criterion, parameter, impurity, best,
                )  # fmt: skip
            if below >= 0:
                best = gain
                best_feature, best_below, best_above = f, below + low, above + low
        if best_feature < 0:
            continue

        feature[node] = best_feature
        first = offsets[best_feature]
        threshold[node] = _midpoint(values[first + best_below], values[first + best_above])
        # A stable partition keeps the rows in ascending order, and so the reads of the codes.
        column = codes[best_feature]
        n_left = 0
        n_right = 0
        for i in range(begin, end):
            row = rows[i]
            if np.int64(column[row]) <= best_below:
                rows[begin + n_left] = row
                n_left += 1
            else:
                scratch_rows[n_right] = row
                n_right += 1
        rows[begin + n_left : end] = scratch_rows[:n_right]

        if n_stack + 2 > stack.shape[0]:
            stack = _grown(stack, 2 * stack.shape[0])
        middle = begin + n_left
        stack[n_stack] = np.array([middle, end, depth + 1, node, 1])
        stack[n_stack + 1] = np.array([begin, middle, depth + 1, node, 0])
        n_stack += 2
    return feature[:n_nodes], threshold[:n_nodes], children[:n_nodes], counts[:n_nodes], n_rows[:n_nodes]
