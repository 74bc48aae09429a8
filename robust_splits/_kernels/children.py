"""Split a node: divide its rows between two children, and initialise these."""

from typing import NamedTuple

import numpy as np
from numpy import uintp

from .categories import MISSING_RANK, reset_ranks, set_ranks
from .coding import Column
from .compile import inlined_kernel, merged_kernel
from .inputs import LOW_HALF, class_and_weight
from .listed_rows import update_places
from .monotonic import clip_counts
from .nodes import UNKNOWN, init_node, is_final, keep_counts
from .partition import partition
from .random import split_seed
from .search import LEFT, count_classes
from .waiting import free_entry, put_entry


class Children(NamedTuple):
    """The children of a node.

    Attributes
    ----------
    left, right : int
        Their entries of `Waiting`.
    middle : int
        Begin of the right child's rows.
    left_weight, right_weight : float
    """

    left: int
    right: int
    middle: int
    left_weight: float
    right_weight: float


@merged_kernel()
def divide_rows(columns, search, codes, is_local, nodes, waiting, at, progress, categories):
    """Divide the rows of a node at its split, and count the classes of both children; return the `Children`.

    The node is entry `at` of `waiting`; `codes` are local ones if `is_local`.  The children get the last two
    free entries, which stay free.
    """
    samples, rows, entry, counts = search.samples, search.rows, waiting.entries[at], waiting.counts[at]
    begin, end, feature, below = entry.begin, entry.end, entry.feature, entry.below
    left_at, right_at = waiting.free[progress.n_free - 1], waiting.free[progress.n_free - 2]
    left, right = waiting.counts[left_at], waiting.counts[right_at]
    missing_code = columns.offsets[feature + 1] - columns.offsets[feature]
    column = Column(codes.data, codes.first[feature], codes.step[feature], columns.mask[feature])
    buffer, threshold = search.scratch.keys.keys, nodes.threshold[entry.node]
    if categories is not None and columns.categorical[feature]:
        first, missing_left = np.int64(threshold), MISSING_RANK if entry.missing == LEFT else below
        set_ranks(nodes.divided, first, missing_code, categories.rank_of)
        middle = partition(column, rows, begin, end, below, missing_left, categories.rank_of, buffer)
        reset_ranks(nodes.divided, first, missing_code, categories.rank_of)
    else:
        missing_left = missing_code if entry.missing == LEFT else below
        middle = partition(column, rows, begin, end, below, missing_left, None, buffer)
    if search.places.shape[0] > 0 and not is_local:
        update_places(rows, begin, end, search.places)
    weight = nodes.weight[entry.node]
    is_exact = samples.class_bits > 0  # integer weights, whose differences are exact
    few_left = middle - begin <= end - middle
    if few_left or not is_exact:
        count_classes(rows, begin, middle, samples, weight, np.int64(0), np.int64(LOW_HALF), left)
    if not (few_left and is_exact):
        count_classes(rows, middle, end, samples, weight, np.int64(0), np.int64(LOW_HALF), right)
    left_weight, right_weight = 0.0, 0.0
    for k in range(counts.shape[0]):
        if is_exact and few_left:
            right[k] = counts[k] - left[k]
        elif is_exact:
            left[k] = counts[k] - right[k]
        left_weight += left[k]
        right_weight += right[k]
    return Children(left_at, right_at, middle, left_weight, right_weight)


@inlined_kernel()
def find_only_class(row, samples, counts, weight):
    """The only class of a node, -1 if it has several; `row` is any of its rows."""
    k = class_and_weight(row, samples)[0]
    if counts[k] < weight:
        return np.int64(-1)
    if samples.class_bits == 0:  # rounding may hide the tiny weight of another class in the sum
        for other in range(counts.shape[0]):
            if other != k and counts[uintp(other)] > 0.0:
                return np.int64(-1)
    return np.int64(k)


@merged_kernel()
def second_share(waiting, children):
    """Share of the second class in both children."""
    left, right = waiting.counts[children.left], waiting.counts[children.right]
    return left[1] / children.left_weight, right[1] / children.right_weight


@inlined_kernel()
def bound_child(monotonic, nodes, waiting, at, children, i):
    """Bounds of the share of the second class in the left (0) or the right (1) child of a node."""
    parent = waiting.entries[at]
    lower, upper = parent.lower, parent.upper
    sign = monotonic.signs[parent.feature]
    if sign != 0.0 and nodes.threshold[parent.node] < np.inf:
        left, right = second_share(waiting, children)
        middle = (left + right) / 2.0
        if (sign > 0.0) == (i == 0):
            upper = middle
        else:
            lower = middle
    return lower, upper


@merged_kernel()
def add_children(search, nodes, waiting, at, children, progress, best_first, monotonic):
    """Initialise the children of a node, the next two nodes.

    Those to be searched join the waiting nodes.  The entries of the others are freed, as is the node's own.
    """
    parent, middle = waiting.entries[at], children.middle
    depth = parent.depth + 1
    nodes.left[parent.node] = progress.n_nodes
    progress.n_free -= 2
    for i in range(2):
        begin, end, weight, child = parent.begin, middle, children.left_weight, children.left
        if i == 1:
            begin, end, weight, child = middle, parent.end, children.right_weight, children.right
        counts = waiting.counts[child]
        only_class = find_only_class(search.rows[begin], search.samples, counts, weight)
        node = progress.n_nodes
        progress.n_nodes += 1
        init_node(nodes, node, end - begin, weight, only_class)
        lower, upper = 0.0, 1.0
        if monotonic is not None:
            lower, upper = bound_child(monotonic, nodes, waiting, at, children, i)
        if is_final(search.growth, end - begin, depth, only_class):
            if monotonic is not None:  # noqa: SIM102 - Numba leaves out only what depends on this alone
                if clip_counts(counts, lower, upper):
                    only_class = np.int64(-1)
            if only_class < 0:
                keep_counts(nodes, node, counts, progress)
            free_entry(waiting, progress, child)
            continue
        nodes.feature[node] = UNKNOWN
        for word in range(waiting.constant.shape[1]):
            waiting.constant[child, word] = waiting.constant[at, word]
        entry = waiting.entries[child]
        entry.begin, entry.end, entry.depth, entry.node = begin, end, depth, node
        entry.seed = split_seed(parent.seed, i)
        entry.lower, entry.upper = lower, upper
        waiting.priority[child] = np.inf
        put_entry(waiting, progress, child, best_first)
    free_entry(waiting, progress, at)
