"""The compiled tree grower: search nodes for splits, split them, and choose the next node.

Everything except reallocation runs in one compiled function that holds no Python object and releases the GIL,
so threads grow trees in parallel.  Rows of weight 0 are ignored.  A node is split only if its best gain is
positive.
"""

from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .coding import Columns
from .compile import inlined_kernel, merged_kernel, outer_kernel
from .criterion_codes import GINI
from .frontier import pop, push
from .gain import EPSILON, ROUNDING
from .nodes import LEAF, UNKNOWN, Nodes, Pending, double_capacity, init_node, new_nodes, new_pending
from .partition import copy_codes, partition
from .random import next_below
from .scan import LOW_HALF, TABULATED, Measure, Samples, class_and_weight, describe, fill_table
from .search import count_classes, count_codes, gather, has_few_cells, new_scratch, search_exact, search_random

MAX_TABLE = 1 << 24
FIRST_CAPACITY = 1024

# The codes of a subtree's rows are copied to a small array, `local`, once they fit the second-level cache.  If
# there are more than MAX_LOCAL_COLUMNS columns per feature tried, most of the copy would never be read.
LOCAL_BYTES = 1 << 19
MIN_LOCAL_ROWS = 32
MAX_LOCAL_COLUMNS = 64


class GrowthSettings(NamedTuple):
    """Limits on growth, and how features and thresholds are drawn.

    A very large count means no limit.  `max_leaf_nodes` 0 grows depth-first without a limit, a positive number
    grows best-first.
    """

    max_depth: int
    max_leaf_nodes: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_reduction: float
    max_features: int
    random_thresholds: bool


@outer_kernel()
def _init_root(samples, rows, nodes, pending, growth):
    """Initialise the root, and write its rows, those of positive weight, in the format of `scan`.

    Returns the number of rows, and whether to search the root for a split.
    """
    n, weight = np.int64(0), 0.0
    for i in range(samples.weights.shape[0]):
        if samples.weights[i] > 0.0:
            weight += samples.weights[i]
            payload = np.int64(i)
            if samples.class_bits > 0:
                payload = (np.int64(samples.weights[i]) << samples.class_bits) | samples.labels[i]
            rows[n] = (np.int64(i) << 32) | payload
            n += 1
    count_classes(rows, np.int64(0), n, samples, np.int64(0), np.int64(LOW_HALF), nodes.counts[0])
    pending.waiting[0] = 0
    only_class = find_only_class(rows[0], samples, nodes.counts[0], weight) if n > 0 else -1
    return n, init_node(nodes, pending, 0, np.int64(0), n, 0, -1, only_class, growth)


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
def _search_node(rows, begin, end, columns, samples, counts, measure, phi_table, growth, scratch, features, constant, rounding, state):  # fmt: skip  # noqa: E501
    """Best split of a node over a random selection of features.

    Returns the feature or -1, the highest code on the left, threshold, missing_left, and reduction.

    Sets the bits in `constant` of features found to be constant at the node.  Constant features count as tried,
    but the search continues until one feature varies.
    """
    n_features = features.shape[0]
    node = describe(measure.code, measure.parameter, counts, end - begin, phi_table)
    best = rounding * node.weight
    enough = node.limit - best  # beyond this, no split is better by more than rounding
    best_feature, best_below, best_threshold, best_missing = -1, np.int64(-1), 0.0, False
    tried = 0
    varies = False
    while tried < n_features and (tried < growth.max_features or not varies) and best < enough:
        other = tried + next_below(state, n_features - tried)
        f = features[other]
        features[other] = features[tried]
        features[tried] = f
        tried += 1
        bit = np.uint64(1) << np.uint64(f & 63)
        if constant[f >> 6] & bit:
            continue
        first, last = columns.offsets[f], columns.offsets[f + 1]
        n_codes = last - first + 1  # with that of missing values
        counted = not growth.random_thresholds and columns.width[f] == 1
        counted = counted and has_few_cells(n_codes, counts.shape[0], end - begin)
        if counted:
            low, high = count_codes(
                columns.codes8, columns.first[f], columns.step[f], rows, begin, end, samples, n_codes,
                scratch.bins, scratch.bin_rows,
            )  # fmt: skip
        else:
            low, high = gather(columns, f, rows, begin, end, scratch.keys)
        if low == high:
            constant[f >> 6] |= bit
            continue
        varies = True
        values, highest = columns.values[first:last], columns.highest[first:last]
        if growth.random_thresholds:
            reduction, below, threshold, missing = search_random(
                low, high, last - first, values, highest, node, samples, measure, growth.min_samples_leaf,
                growth.min_weight_leaf, scratch, best, state,
            )  # fmt: skip
        else:
            reduction, below, threshold, missing = search_exact(
                low, high, counted, last - first, values, highest, node, samples, measure, phi_table,
                growth.min_samples_leaf, growth.min_weight_leaf, scratch, best,
            )  # fmt: skip
        if below >= 0:
            best, best_feature, best_below, best_threshold, best_missing = (
                reduction,
                f,
                below,
                threshold,
                missing,
            )
    return best_feature, best_below, best_threshold, best_missing, best


@outer_kernel()
def _expand(columns, local, max_local_rows, samples, measure, phi_table, growth, rounding, rows, nodes, pending, scratch, features, state, progress):  # fmt: skip  # noqa: E501
    """Grow until no node is waiting or the capacity is reached.

    `progress` holds the numbers of nodes, leaves and waiting nodes, the begin and end of the rows whose codes
    are in `local`, and whether the criterion failed.  After a failure, the next two nodes hold the class counts
    that caused it.
    """
    n_nodes, n_leaves, n_waiting = progress[0], progress[1], progress[2]
    local_begin, local_end = progress[3], progress[4]
    best_first = growth.max_leaf_nodes > 0
    n_classes = nodes.counts.shape[1]
    n_words = pending.constant.shape[1]
    capacity = nodes.feature.shape[0]
    while n_waiting > 0 and n_nodes + 2 <= capacity:
        node = (
            pop(pending.waiting, n_waiting, pending.priority) if best_first else pending.waiting[n_waiting - 1]
        )
        n_waiting -= 1
        begin, end = pending.plan[node, 0], pending.plan[node, 1]
        depth, parent = pending.plan[node, 2], pending.plan[node, 3]
        counts = nodes.counts[node]
        is_local = local_begin <= begin and end <= local_end

        if nodes.feature[node] == UNKNOWN:
            nodes.feature[node] = LEAF
            if not is_local and MIN_LOCAL_ROWS <= end - begin <= max_local_rows:
                copy_codes(columns, rows, begin, end, local)
                local_begin, local_end, is_local = begin, end, True
            constant = pending.constant[node]
            for i in range(n_words):
                constant[i] = pending.constant[parent, i] if parent >= 0 else 0
            f, below, threshold, missing_left, reduction = _search_node(
                rows, begin, end, local if is_local else columns, samples, counts, measure, phi_table, growth,
                scratch, features, constant, rounding, state,
            )  # fmt: skip
            if f < 0:
                continue
            nodes.feature[node] = f
            nodes.threshold[node] = threshold
            nodes.missing_left[node] = missing_left
            pending.plan[node, 4] = below
            pending.priority[node] = reduction
            if best_first:
                n_waiting = push(pending.waiting, n_waiting, pending.priority, node)
                continue

        n_left, n_right = 0.0, 0.0
        middle, n_missing = begin, 0
        reduction = 0.0
        if not (best_first and n_leaves >= growth.max_leaf_nodes):
            middle, n_missing = partition(
                local if is_local else columns, nodes.feature[node], rows, begin, end, scratch.keys,
                pending.plan[node, 4], nodes.missing_left[node],
            )  # fmt: skip
            left, right = nodes.counts[n_nodes], nodes.counts[n_nodes + 1]
            is_exact = samples.class_bits > 0  # integer weights, whose differences are exact
            few_left = middle - begin <= end - middle
            if few_left or not is_exact:
                count_classes(rows, begin, middle, samples, np.int64(0), np.int64(LOW_HALF), left)
            if not (few_left and is_exact):
                count_classes(rows, middle, end, samples, np.int64(0), np.int64(LOW_HALF), right)
            for k in range(n_classes):
                if is_exact and few_left:
                    right[k] = counts[k] - left[k]
                elif is_exact:
                    left[k] = counts[k] - right[k]
                n_left += left[k]
                n_right += right[k]
            reduction = pending.priority[node]
            if samples.class_bits == 0 or measure.code != GINI:  # the sums of a scan may be inexact
                reduction = measure.reduction(
                    measure.code, measure.parameter, measure.table.ctypes, measure.table.shape[0],
                    counts.ctypes, left.ctypes, right.ctypes, n_classes,
                )  # fmt: skip
        if reduction <= rounding * (n_left + n_right) or reduction < growth.min_reduction:
            nodes.feature[node] = LEAF
            nodes.threshold[node] = np.nan
            nodes.missing_left[node] = False
            continue
        if reduction == np.inf:
            progress[5] = 1
            break
        if n_missing == 0:
            nodes.missing_left[node] = n_left > n_right
        nodes.gain[node] = reduction / (n_left + n_right)
        nodes.left[node] = n_nodes
        for child in range(n_nodes, n_nodes + 2):
            first, last, weight = (begin, middle, n_left) if child == n_nodes else (middle, end, n_right)
            only_class = find_only_class(rows[first], samples, nodes.counts[child], weight)
            if init_node(nodes, pending, child, first, last, depth + 1, node, only_class, growth):
                if best_first:
                    n_waiting = push(pending.waiting, n_waiting, pending.priority, child)
                else:
                    pending.waiting[n_waiting] = child
                    n_waiting += 1
        n_nodes += 2
        n_leaves += 1
    progress[0], progress[1], progress[2], progress[3], progress[4] = (
        n_nodes,
        n_leaves,
        n_waiting,
        local_begin,
        local_end,
    )


class Workspace:
    """Buffers reused by successive trees on the same rows; not thread-safe.

    The first access to new memory is slow: on small data it would take a quarter of the time.

    Parameters
    ----------
    columns : Columns
    n_rows : int
        Maximum number of rows of a tree.
    n_classes : int
    """

    def __init__(self, columns: Columns, n_rows: int, n_classes: int) -> None:
        n_features = columns.first.size
        bytes_per_row = columns.rows8.shape[1] + 2 * columns.rows16.shape[1] + 4 * columns.rows32.shape[1]
        self.max_local_rows = min(n_rows, LOCAL_BYTES // bytes_per_row)
        self.local = columns.allocate_local(self.max_local_rows)
        self.rows = np.empty(n_rows, dtype=np.int64)
        self.scratch = new_scratch(n_rows, n_classes)
        self.nodes = new_nodes(FIRST_CAPACITY, n_classes)
        self.pending = new_pending(FIRST_CAPACITY, (n_features + 63) // 64)
        self._n_classes = n_classes
        self._table: tuple[object, NDArray[np.float64]] = (None, np.empty(0))

    def phi_table(self, measure: Measure, size: int) -> NDArray[np.float64]:
        """Table of phi from `fill_table`, cached for one criterion and size."""
        key = (measure.code, measure.parameter, size)
        if key != self._table[0]:
            self._table = (key, np.empty(size))
            fill_table(measure.code, measure.parameter, self._n_classes, self._table[1])
        return self._table[1]


def grow_nodes(
    columns: Columns,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    n_classes: int,
    measure: Measure,
    growth: GrowthSettings,
    seed: int,
    workspace: Workspace | None = None,
) -> Nodes:
    """Grow the nodes of one tree.

    Parameters
    ----------
    columns : Columns
    labels : int32 array of shape (n_samples,)
        Class numbers.
    weights : float64 array of shape (n_samples,)
        Non-negative.
    n_classes : int
    measure : Measure
    growth : GrowthSettings
    seed : int
        Nonzero.
    workspace : Workspace or None
        Made for these columns and numbers of rows and classes.  Its contents are overwritten.

    Returns
    -------
    Nodes

    Raises
    ------
    ValueError
        If the criterion returns a non-finite value or raises an error.
    """
    n_features = columns.first.size
    total_weight = weights.sum()
    integer_weights = bool((weights == np.floor(weights)).all())
    class_bits = max(1, (n_classes - 1).bit_length())
    if not integer_weights or class_bits >= 31 or total_weight >= 1 << (32 - class_bits):
        class_bits = 0
    samples = Samples(class_bits, labels, weights)
    memory = workspace or Workspace(columns, weights.size, n_classes)
    n, root_waits = _init_root(samples, memory.rows, memory.nodes, memory.pending, growth)
    rounding = ROUNDING if integer_weights else max(ROUNDING, EPSILON * n)
    tabulated = integer_weights and total_weight <= MAX_TABLE and measure.code in TABULATED
    phi_table = memory.phi_table(measure, int(total_weight) + 1 if tabulated else 0)
    few_columns = n_features <= MAX_LOCAL_COLUMNS * growth.max_features
    max_local_rows = memory.max_local_rows if growth.max_leaf_nodes == 0 and few_columns else 0
    features = np.arange(n_features)
    state = np.full(1, seed, dtype=np.uint64)
    progress = np.array([1, 1, int(root_waits), 0, 0, 0])
    while True:
        _expand(
            columns, memory.local, max_local_rows, samples, measure, phi_table, growth, rounding, memory.rows,
            memory.nodes, memory.pending, memory.scratch, features, state, progress,
        )  # fmt: skip
        n_nodes, _, n_waiting, _, _, failed = progress
        nodes = memory.nodes
        if failed:
            raise ValueError(
                "criterion must return a finite number, but did not or raised an error for the class counts "
                f"{nodes.counts[n_nodes].tolist()} and {nodes.counts[n_nodes + 1].tolist()}"
            )
        if n_waiting == 0:
            return Nodes._make(array[:n_nodes].copy() for array in nodes)
        memory.nodes = Nodes._make(double_capacity(array) for array in nodes)
        memory.pending = Pending._make(double_capacity(array) for array in memory.pending)
