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
MAX_POWER_STEPS = 10
MAX_CHANGE = 0.01  # of a class score, in the last power step


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
def score_by_share(keys, samples, n, categories):
    """Score the first `n` categories by the share of the second of two classes."""
    for c in range(n):
        score, weight = 0.0, 0.0
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            k, w = class_and_weight(keys[uintp(i)], samples)
            score += w * k
            weight += w
        categories.scores[c] = score / weight


@inner_kernel()
def weigh_categories(keys, samples, n, categories):
    """Sum the weights of the first `n` categories, and of the classes in them; return the total weight."""
    class_weights = categories.class_weights
    class_weights[:] = 0.0
    total = 0.0
    for c in range(n):
        weight = 0.0
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            k, w = class_and_weight(keys[uintp(i)], samples)
            class_weights[k] += w
            weight += w
        categories.inverse_weights[c] = 1.0 / weight
        total += weight
    return total


@inner_kernel()
def start_from_category(keys, samples, n, total, categories):
    """Set the class scores to the class shares of one category, less those of all.

    It is the category that adds most to the variance of the shares, so that few steps are needed from there.
    """
    class_weights, products = categories.class_weights, categories.products
    highest = -1.0
    for c in range(n):
        products[:] = 0.0
        for i in range(categories.first_key[c], categories.first_key[c + 1]):
            k, w = class_and_weight(keys[uintp(i)], samples)
            products[k] += w
        variance = 0.0
        for k in range(products.shape[0]):
            products[k] = products[k] * categories.inverse_weights[c] - class_weights[k] / total
            variance += products[k] * products[k]
        variance /= categories.inverse_weights[c]
        if variance > highest:
            highest = variance
            for k in range(products.shape[0]):
                categories.class_scores[k] = products[k]


@inner_kernel()
def power_step(keys, samples, n, total, categories):
    """Score the first `n` categories by class scores, and multiply these scores by the class shares.

    The score of a category is the mean of its rows' class scores, less the mean of all rows.  Returns the
    largest change of a class score.
    """
    class_scores, products = categories.class_scores, categories.products
    mean = 0.0
    for k in range(class_scores.shape[0]):
        mean += categories.class_weights[k] * class_scores[k] / total
        products[k] = 0.0
    for c in range(n):
        score = 0.0
        begin, end = categories.first_key[c], categories.first_key[c + 1]
        for i in range(begin, end):
            k, w = class_and_weight(keys[uintp(i)], samples)
            score += w * class_scores[k]
        score = score * categories.inverse_weights[c] - mean
        categories.scores[c] = score
        for i in range(begin, end):
            k, w = class_and_weight(keys[uintp(i)], samples)
            products[k] += w * score
    largest, change = 0.0, 0.0
    for k in range(products.shape[0]):
        largest = max(largest, abs(products[k]))
    for k in range(products.shape[0]):
        score = products[k] / largest if largest > 0.0 else 0.0
        change = max(change, abs(score - class_scores[k]))
        class_scores[k] = score
    return change


@inner_kernel()
def score_by_component(keys, samples, n, categories):
    """Score the first `n` categories by the first principal component of their class shares."""
    total = weigh_categories(keys, samples, n, categories)
    start_from_category(keys, samples, n, total, categories)
    for _ in range(MAX_POWER_STEPS if n > 2 else 1):  # two categories need no order
        if power_step(keys, samples, n, total, categories) < MAX_CHANGE:
            return


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
    if categories.class_scores.shape[0] == 2:
        score_by_share(keys, samples, n, categories)
    else:
        score_by_component(keys, samples, n, categories)
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
