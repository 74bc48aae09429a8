"""The compiled scans for the best split by gini, faster than the general one in `scan`.

The gain of gini needs no more than the sums of squares of the class counts on both sides, so every split is
scored, and the only branch in the loop is taken when a split is better than the best so far.  With two classes
the sums come from the counts, which stay in registers; with more, they are updated row by row.
"""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel
from .scan import LOW_HALF, class_and_weight


@inlined_kernel()
def _sums_of_squares(node, left, rows_left):
    """Weight of the left child, and the sums of squares of the class counts of both children."""
    if rows_left == 0:
        return 0.0, 0.0, node.total
    n_left, sum_left, sum_right = 0.0, 0.0, 0.0
    for k in range(node.counts.shape[0]):
        right = max(node.counts[k] - left[k], 0.0)
        n_left += left[k]
        sum_left += left[k] * left[k]
        sum_right += right * right
    return n_left, sum_left, sum_right


@inlined_kernel()
def is_better(n_left, n_right, sum_left, sum_right, threshold):
    """Whether ``sum_left / n_left + sum_right / n_right > threshold``, without a division."""
    return sum_left * n_right + sum_right * n_left > threshold * (n_left * n_right)


@inlined_kernel()
def scan_gini(keys, node, lowest, rows_left, samples, min_rows, min_weight, left, best):
    """Best split of sorted keys by gini; see `scan`."""
    counts, n_node = node.counts, node.weight
    offset = node.total / n_node  # the reduction is sum_left / n_left + sum_right / n_right - offset
    threshold = best + offset
    n_left, sum_left, sum_right = _sums_of_squares(node, left, rows_left)
    below, above = np.int64(-1), np.int64(-1)
    previous = lowest if lowest >= 0 else keys[0] >> 32
    two_classes = counts.shape[0] == 2 and samples.class_bits > 0
    first = left[0]
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        code = key >> 32
        n_right = n_node - n_left
        if is_better(n_left, n_right, sum_left, sum_right, threshold) & (code != previous):
            reduction = sum_left / n_left + sum_right / n_right - offset
            if (
                reduction > best
                and min(rows_left, node.n_rows - rows_left) >= min_rows
                and min(n_left, n_right) >= min_weight
            ):
                best, below, above = reduction, previous, code
                threshold = best + offset
        previous = code
        rows_left += 1
        if two_classes:
            w = float((key & LOW_HALF) >> 1)
            n_left += w
            first += w * float(1 - (key & 1))
            second = n_left - first
            right_first, right_second = counts[0] - first, counts[1] - second
            sum_left = first * first + second * second
            sum_right = right_first * right_first + right_second * right_second
        else:
            k, w = class_and_weight(key, samples)
            a = left[k]
            b = max(counts[k] - a, 0.0)
            c = max(b - w, 0.0)
            sum_left += w * (a + a + w)
            sum_right -= (b - c) * (b + c)
            left[k] = a + w
            n_left += w
    return best, below, above


@inlined_kernel()
def scan_gini_bins(bins, bin_rows, low, n_bins, node, lowest, rows_left, min_rows, min_weight, left, best):
    """Best split by gini of the histograms `bins` (n_bins, n_classes) of weights; see `scan`.

    The codes start at `low`, and `bin_rows` counts the rows of each.
    """
    counts, n_node = node.counts, node.weight
    offset = node.total / n_node
    threshold = best + offset
    n_left, sum_left, sum_right = _sums_of_squares(node, left, rows_left)
    below, above = np.int64(-1), np.int64(-1)
    previous = lowest
    n_classes = counts.shape[0]
    two_classes = n_classes == 2
    first, second = left[0], left[n_classes - 1]
    for b in range(n_bins):
        n_rows = bin_rows[uintp(b)]
        n_right = n_node - n_left
        if is_better(n_left, n_right, sum_left, sum_right, threshold) & (n_rows > 0):
            reduction = sum_left / n_left + sum_right / n_right - offset
            if (
                reduction > best
                and previous >= 0
                and min(rows_left, node.n_rows - rows_left) >= min_rows
                and min(n_left, n_right) >= min_weight
            ):
                best, below, above = reduction, previous, b + low
                threshold = best + offset
        previous = b + low if n_rows > 0 else previous
        rows_left += n_rows
        if two_classes:
            first += bins[uintp(b), 0]
            second += bins[uintp(b), 1]
            n_left = first + second
            right_first, right_second = max(counts[0] - first, 0.0), max(counts[1] - second, 0.0)
            sum_left = first * first + second * second
            sum_right = right_first * right_first + right_second * right_second
        elif n_rows > 0:
            for k in range(n_classes):
                w = bins[uintp(b), uintp(k)]
                a = left[uintp(k)]
                rest = max(counts[uintp(k)] - a, 0.0)
                c = max(rest - w, 0.0)
                sum_left += w * (a + a + w)
                sum_right -= (rest - c) * (rest + c)
                left[uintp(k)] = a + w
                n_left += w
    return best, below, above
