"""The compiled scan for the best split by gini, faster than the general one in `scan`.

A child has weight n, and s is the sum of the squares of its class counts.  The reduction of a split is
s_left / n_left + s_right / n_right, less s / n of the node.

With two classes it has a shorter form.  The first class has weight c in the node and a in the left child, and
n is the weight of the node.  With d = n a - n_left c, the reduction is 2 d^2 / (n n_left n_right).

Both forms need one division.  With integer weights the scores of equally good splits are equal.

Candidate i is the split with key or bin i, and all after it, on the right.  Candidates are scored in blocks of
`BLOCK`, in three loops: the first adds up class counts, the second computes scores, and the third finds the
highest one.  None of them branches on a new best split: such branches are unpredictable, and slow in nodes of
a few rows.

The first loop has a variant for each form and source of the rows.  They are not kernels of their own, because
that would add 5 to 10 % to the time of a first fit.
"""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel
from .inputs import BLOCK, LOW_HALF, class_and_weight


@inlined_kernel()
def _candidates(column, bin_rows, n_rows, min_rows):
    """Begin and end of the candidates that leave both children of a node of `n_rows` rows enough rows.

    A candidate also needs a code on its left, which missing values are not.
    """
    rows_left, lowest, n_bins = column.rows_left, column.lowest, column.n_bins
    if not column.cells:
        first = 0 if lowest >= 0 else 1
        return max(min_rows - rows_left, first), min(column.keys.shape[0], n_rows - rows_left - min_rows + 1)
    begin, n_before = 0, rows_left
    while begin < n_bins and (n_before < min_rows or (n_before == rows_left and lowest < 0)):
        n_before += bin_rows[uintp(begin)]
        begin += 1
    end, n_after = n_bins, 0
    while end > begin and n_after < min_rows:
        end -= 1
        n_after += bin_rows[uintp(end)]
    return begin, end + 1 if n_after >= min_rows else begin


@inlined_kernel()
def scan_gini(search, node, column, best):
    """Best split of a `SortedColumn`, whose histogram it reads if there is one; see `scan`."""
    samples, scratch, growth = search.samples, search.scratch, search.growth
    keys, cells, low = column.keys, column.cells, column.first_code
    lowest, rows_left = column.lowest, column.rows_left
    left, candidates = scratch.counts.left, scratch.candidates
    weights, scores = candidates.weights, candidates.scores
    sums_left, sums_right = candidates.left_sums, candidates.right_sums
    bins, bin_rows = scratch.histogram.weights, scratch.histogram.n_rows
    counts, n_node = node.counts, node.weight
    n_classes = counts.shape[0]
    n_first, n_second = counts[0], counts[n_classes - 1]
    n_left, sum_left, sum_right = 0.0, 0.0, node.total
    if rows_left > 0:
        sum_right = 0.0
        for k in range(n_classes):
            rest = max(counts[k] - left[k], 0.0)
            n_left += left[k]
            sum_left += left[k] * left[k]
            sum_right += rest * rest
    two_classes = n_classes == 2 and (cells or samples.class_bits > 0)
    if two_classes:  # d in place of the sum
        sum_left = n_node * left[0] - n_left * n_first
    # The reduction is `scale` times the score, less `offset`.
    scale, offset = (2.0 / n_node, 0.0) if two_classes else (1.0, node.total / n_node)
    highest, found = (best + offset) / scale, np.int64(-1)
    begin, end = _candidates(column, bin_rows, node.n_rows, growth.min_samples_leaf)
    previous = lowest
    for start in range(0, end, BLOCK):
        n = min(BLOCK, end - start)
        if cells and two_classes:
            for i in range(n):
                b = uintp(start + i)
                weights[uintp(i)], sums_left[uintp(i)] = n_left, sum_left
                n_left += bins[b, 0] + bins[b, 1]
                sum_left += bins[b, 0] * n_second - bins[b, 1] * n_first
        elif cells:
            for i in range(n):
                b = uintp(start + i)
                weights[uintp(i)], sums_left[uintp(i)], sums_right[uintp(i)] = n_left, sum_left, sum_right
                if bin_rows[b] > 0:
                    for k in range(n_classes):
                        w = bins[b, uintp(k)]
                        x = left[uintp(k)]
                        y = max(counts[uintp(k)] - x, 0.0)
                        z = max(y - w, 0.0)
                        sum_left += w * (x + x + w)
                        sum_right -= (y - z) * (y + z)
                        left[uintp(k)] = x + w
                        n_left += w
        elif two_classes:
            for i in range(n):
                key = keys[uintp(start + i)]
                code = key >> 32
                weights[uintp(i)] = n_left if code != previous else 0.0  # 0 if not between two codes
                sums_left[uintp(i)] = sum_left
                previous = code
                w = float((key & LOW_HALF) >> 1)
                n_left += w
                sum_left += w * (-n_first if key & 1 else n_second)
        else:
            for i in range(n):
                key = keys[uintp(start + i)]
                code = key >> 32
                weights[uintp(i)] = n_left if code != previous else 0.0
                sums_left[uintp(i)], sums_right[uintp(i)] = sum_left, sum_right
                previous = code
                k, w = class_and_weight(key, samples)
                x = left[k]
                y = max(counts[k] - x, 0.0)
                z = max(y - w, 0.0)
                sum_left += w * (x + x + w)
                sum_right -= (y - z) * (y + z)
                left[k] = x + w
                n_left += w

        first, n_higher = max(begin - start, 0), 0
        if two_classes:
            for i in range(first, n):
                n_i, d = weights[uintp(i)], sums_left[uintp(i)]
                rest = n_node - n_i
                score = d * d / (n_i * rest) if min(n_i, rest) >= growth.min_weight_leaf else 0.0
                scores[uintp(i)] = score
                n_higher += score > highest
        else:
            for i in range(first, n):
                n_i = weights[uintp(i)]
                rest = n_node - n_i
                score = (sums_left[uintp(i)] * rest + sums_right[uintp(i)] * n_i) / (n_i * rest)
                score = score if min(n_i, rest) >= growth.min_weight_leaf else 0.0
                scores[uintp(i)] = score
                n_higher += score > highest

        if n_higher > 0:
            for i in range(first, n):
                score = scores[uintp(i)]
                found = start + i if score > highest else found
                highest = score if score > highest else highest

    reduction = highest * scale - offset
    if found < 0 or reduction <= best:
        return best, np.int64(-1), np.int64(-1)
    if not cells:
        return reduction, keys[uintp(found - 1)] >> 32 if found > 0 else lowest, keys[uintp(found)] >> 32
    # Bins may be empty, but not the one before the first of equal candidates.
    below = found - 1 + low if found > 0 else lowest
    while bin_rows[uintp(found)] == 0:
        found += 1
    return reduction, below, found + low
