"""Split a node: divide its rows between two children, and initialise these."""

import numpy as np
from numpy import uintp

from .compile import inlined_kernel, merged_kernel
from .frontier import push
from .nodes import init_node, keep_counts
from .partition import partition
from .scan import LOW_HALF, class_and_weight
from .search import LEFT, count_classes


@merged_kernel()
def divide_rows(rows, columns, codes, samples, waiting, at, left_at, right_at, feature, scratch):
    """Divide the rows of a node at its split, and count the classes of both children.

    The node is row `at` of `waiting`.  The counts of the children are written to the rows `left_at` and
    `right_at`.  Returns the start of the right child's rows, and the weights of both children.
    """
    plan, counts = waiting.plan[at], waiting.counts[at]
    left, right = waiting.counts[left_at], waiting.counts[right_at]
    begin, end, below, missing = plan[0], plan[1], plan[4], plan[5]
    missing_left = columns.offsets[feature + 1] - columns.offsets[feature] if missing == LEFT else below
    middle = partition(
        codes.data, codes.first[feature], codes.step[feature], columns.mask[feature], rows, begin, end,
        scratch.keys, below, missing_left,
    )  # fmt: skip
    is_exact = samples.class_bits > 0  # integer weights, whose differences are exact
    few_left = middle - begin <= end - middle
    if few_left or not is_exact:
        count_classes(rows, begin, middle, samples, np.int64(0), np.int64(LOW_HALF), left)
    if not (few_left and is_exact):
        count_classes(rows, middle, end, samples, np.int64(0), np.int64(LOW_HALF), right)
    n_left, n_right = 0.0, 0.0
    for k in range(counts.shape[0]):
        if is_exact and few_left:
            right[k] = counts[k] - left[k]
        elif is_exact:
            left[k] = counts[k] - right[k]
        n_left += left[k]
        n_right += right[k]
    return middle, n_left, n_right


@inlined_kernel()
def find_only_class(row, samples, counts, weight):
    """The only class of a node, -1 if it has several; `row` is any of its rows."""
    k = class_and_weight(row, samples)[0]
    if counts[k] < weight:
        return np.int64(-1)
    if samples.class_bits == 0:  # a weight too small to change the sum does not count as nothing
        for other in range(counts.shape[0]):
            if other != k and counts[uintp(other)] > 0.0:
                return np.int64(-1)
    return np.int64(k)


@merged_kernel()
def add_children(rows, samples, nodes, waiting, at, left_at, right_at, middle, n_left, n_right, growth, best_first, n_nodes, n_waiting, n_free, n_mixed):  # fmt: skip  # noqa: E501
    """Initialise the two children of a node whose rows have been divided; see `divide_rows`.

    They follow the first `n_nodes` nodes, and take the last two of the `n_free` free rows of `waiting`,
    `left_at` and `right_at`.  Children to be searched join the waiting nodes.  The rows of the others are freed
    again, as is the node's own.  Returns `n_waiting`, `n_free` and `n_mixed`.
    """
    begin, end, depth = waiting.plan[at, 0], waiting.plan[at, 1], waiting.plan[at, 2] + 1
    n_free -= 2
    for i in range(2):
        first, last, weight, row = begin, middle, n_left, left_at
        if i == 1:
            first, last, weight, row = middle, end, n_right, right_at
        node = n_nodes + i
        only_class = find_only_class(rows[first], samples, waiting.counts[row], weight)
        if init_node(nodes, waiting, node, row, first, last, depth, weight, only_class, growth):
            for word in range(waiting.constant.shape[1]):
                waiting.constant[row, word] = waiting.constant[at, word]
            if best_first is not None:
                n_waiting = push(waiting.order, n_waiting, waiting.priority, row)
            else:
                waiting.order[n_waiting] = row
                n_waiting += 1
            continue
        if only_class < 0:
            n_mixed = keep_counts(nodes, node, waiting.counts[row], n_mixed)
        waiting.free[n_free] = row
        n_free += 1
    waiting.free[n_free] = at
    return n_waiting, n_free + 1, n_mixed
