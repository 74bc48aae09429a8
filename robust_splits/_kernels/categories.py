"""Order the categories of a node, so that a scan of their ranks finds a split into two subsets.

With two classes, categories are ordered by the share of the second class.  For a concave impurity, one of the
splits between neighbours in this order is the best of all splits into two subsets (Breiman et al. 1984,
Theorem 4.5).  With more classes, they are ordered by the first principal component of their class shares,
weighted by their sizes (Coppersmith, Hong & Hosking 1999), which need not contain the best split.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import uintp

from .category_buffers import UNRANKED
from .compile import inlined_kernel, inner_kernel
from .gain import reduction_of
from .inputs import LOW_HALF, class_and_weight
from .random import next_below

MISSING_RANK = 1 << 30
POWER_STEPS = 10
GOLDEN_RATIO = 0.6180339887498949


@inner_kernel()
def find_categories(keys, missing_code, categories):
    """Find where the keys of each category start, in sorted keys; return the number of categories."""
    n, previous = 0, np.int64(-1)
    for i in range(keys.shape[0]):
        code = keys[uintp(i)] >> 32
        if code == missing_code:
            categories.first_key[n] = i
            return n
        if code != previous:
            categories.first_key[n], categories.codes[n] = i, code
            previous = code
            n += 1
    categories.first_key[n] = keys.shape[0]
    return n


@inner_kernel()
def score_categories(keys, samples, n, categories):
    """Score the first `n` categories by the means of their rows' class scores; return the overall mean."""
    total, total_weight = 0.0, 0.0
    for c in range(n):
        score, weight = 0.0, 0.0
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            k, w = class_and_weight(keys[uintp(i)], samples)
            score += w * categories.class_scores[k]
            weight += w
        categories.weights[c], categories.scores[c] = weight, score / weight
        total += score
        total_weight += weight
    return total / total_weight


@inner_kernel()
def score_classes(keys, samples, n, mean, categories):
    """Multiply the scores of the categories by their class shares: one step of the power iteration."""
    class_scores = categories.class_scores
    class_scores[:] = 0.0
    for c in range(n):
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            k, w = class_and_weight(keys[uintp(i)], samples)
            class_scores[k] += w * (categories.scores[c] - mean)
    largest = 0.0
    for k in range(class_scores.shape[0]):
        largest = max(largest, abs(class_scores[k]))
    for k in range(class_scores.shape[0]):
        class_scores[k] /= largest if largest > 0.0 else 1.0


@inlined_kernel()
def is_less(scores, a, b):
    """Whether category `a` comes before `b`; categories with equal scores keep the order of their codes."""
    return scores[a] < scores[b] or (scores[a] == scores[b] and a < b)


@inner_kernel()
def sift_down(order, scores, at, n):
    """Restore the heap property below one place of a heap of categories, the largest score first."""
    moved = order[at]
    while 2 * at + 1 < n:
        child = 2 * at + 1
        if child + 1 < n and is_less(scores, order[child], order[child + 1]):
            child += 1
        if not is_less(scores, moved, order[child]):
            break
        order[at] = order[child]
        at = child
    order[at] = moved


@inner_kernel()
def sort_categories(n, categories):
    """Write the first `n` categories to ``order``, sorted by score."""
    order, scores = categories.order, categories.scores
    for c in range(n):
        order[c] = c
    for at in range(n // 2 - 1, -1, -1):
        sift_down(order, scores, at, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        sift_down(order, scores, 0, end)


@inner_kernel()
def rank_categories(keys, samples, missing_code, categories):
    """Rank the categories in sorted keys; return their number."""
    n = find_categories(keys, missing_code, categories)
    class_scores = categories.class_scores
    if class_scores.shape[0] == 2:
        class_scores[0], class_scores[1] = 0.0, 1.0
        score_categories(keys, samples, n, categories)
    else:
        for k in range(class_scores.shape[0]):
            class_scores[k] = ((k + 1) * GOLDEN_RATIO) % 1.0  # not orthogonal to the component, in practice
        for _ in range(POWER_STEPS):
            mean = score_categories(keys, samples, n, categories)
            score_classes(keys, samples, n, mean, categories)
        score_categories(keys, samples, n, categories)
    sort_categories(n, categories)
    return n


@inner_kernel()
def chance_reduction(measure, node, n, categories):
    """Reduction that a split of `n` categories may have if they say nothing about the classes.

    The more categories, the better some split of them fits the noise.  If p is the share of a class in the
    node, its standard deviation among categories of m rows is ``sqrt(p (1 - p) / m)``.  The split supposed here
    has that much more of the class on one side, and less on the other.
    """
    counts, k = node.counts, 0
    for j in range(counts.shape[0]):
        k = j if counts[j] > counts[k] else k
    p = counts[k] / node.weight
    if n <= 2 or p == 1.0:
        return 0.0
    deviation = min(math.sqrt(p * (1.0 - p) * n / node.n_rows), 1.0 - p)
    for j in range(counts.shape[0]):
        share = 1.0 if j == k else -counts[j] / (node.weight - counts[k])
        moved = node.weight * deviation * share
        categories.halves[0, j] = max(counts[j] + moved, 0.0) / 2.0
        categories.halves[1, j] = max(counts[j] - moved, 0.0) / 2.0
    reduction = reduction_of(measure, counts, categories.halves[0], categories.halves[1])
    return reduction if reduction < math.inf else 0.0  # a user's criterion may fail for these counts


@inner_kernel()
def order_keys(keys, n, categories, out):
    """Write sorted keys to `out` with the ranks of their categories as codes; missing values come last."""
    j = 0
    for r in range(n):
        c = categories.order[r]
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            out[uintp(j)] = r << 32 | (keys[uintp(i)] & LOW_HALF)
            j += 1
    for i in range(categories.first_key[n], keys.shape[0]):
        out[uintp(i)] = n << 32 | (keys[uintp(i)] & LOW_HALF)


@inner_kernel()
def order_histogram(n_cells, n, categories, cells, histogram):
    """Write the cells of a histogram back with the ranks of their categories as codes."""
    weights, n_rows = histogram.weights, histogram.n_rows
    weights[: n + 1] = 0.0
    n_rows[: n + 1] = 0
    for r in range(n + 1):
        c = categories.order[r] if r < n else n
        end = categories.first_key[c + 1] if r < n else n_cells
        for i in range(categories.first_key[c], end):
            weights[r, uintp(cells.classes[uintp(i)])] = cells.weights[uintp(i)]
            n_rows[r] += cells.n_rows[uintp(i)]


@inner_kernel()
def keep_order(n, categories):
    """Store the codes of `n` categories in their order, as those of the best split so far."""
    categories.best[0] = n
    for r in range(n):
        categories.best[r + 1] = categories.codes[categories.order[r]]


@inner_kernel()
def write_divided(below, categories, nodes, begin):
    """Write the best split of categories to ``nodes.divided``; return the end of its entries."""
    n = categories.best[0]
    nodes.divided[begin], nodes.divided[begin + 1] = n, below + 1
    for r in range(n):
        nodes.divided[begin + 2 + r] = categories.best[r + 1]
    return begin + 2 + n


@inner_kernel()
def set_ranks(divided, begin, missing_code, rank_of):
    """Set the ranks of the codes that a split divides, and of the missing values."""
    for r in range(divided[begin]):
        rank_of[divided[begin + 2 + r]] = r
    rank_of[missing_code] = MISSING_RANK


@inner_kernel()
def reset_ranks(divided, begin, missing_code, rank_of):
    """Undo `set_ranks`."""
    for r in range(divided[begin]):
        rank_of[divided[begin + 2 + r]] = UNRANKED
    rank_of[missing_code] = UNRANKED


@inner_kernel()
def shuffle_categories(keys, missing_code, state, categories):
    """Give the categories of a node random ranks, and write these into the keys; return their number."""
    rank_of, codes = categories.rank_of, categories.codes
    n = 0
    for i in range(keys.shape[0]):
        code = keys[uintp(i)] >> 32
        if code != missing_code and rank_of[uintp(code)] == UNRANKED:
            rank_of[uintp(code)], codes[n] = n, code
            n += 1
    for r in range(n - 1, 0, -1):
        other = next_below(state, r + 1)
        codes[r], codes[other] = codes[other], codes[r]
    for r in range(n):
        rank_of[uintp(codes[r])], categories.order[r] = r, r
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        code = key >> 32
        rank = n if code == missing_code else rank_of[uintp(code)]
        keys[uintp(i)] = rank << 32 | (key & LOW_HALF)
    for r in range(n):
        rank_of[uintp(codes[r])] = UNRANKED
    return n
