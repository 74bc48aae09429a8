"""The compiled tree grower: search nodes for splits, split them, and choose the next node.

Everything except reallocation runs in one compiled function that holds no Python object and releases the GIL,
so threads grow trees in parallel.  Rows of weight 0 are ignored.  A node is split only if its best gain is
positive.
"""

import numpy as np
from numpy.typing import NDArray

from .children import add_children, divide_rows
from .coding import Columns
from .compile import outer_kernel
from .criterion_codes import GINI
from .frontier import pop, push
from .gain import EPSILON, ROUNDING
from .node_search import search_node
from .nodes import LEAF, UNKNOWN, GrowthSettings, Nodes, keep_counts, new_nodes, new_waiting
from .partition import copy_codes
from .root import init_root
from .scan import TABULATED, Measure, Samples, fill_table
from .search import LEFT, NO_MISSING, new_scratch

MAX_TABLE = 1 << 24
FIRST_CAPACITY = 1024
FIRST_WAITING = 64

# The codes of a subtree's rows are copied to a small array, `local`, once they have at most LOCAL_BYTES.  A
# larger copy pays if the rows are at most 1 / MIN_SPARSENESS of all, because few codes in a cache line of a
# column are then read.  Copies are not made if there are more than MAX_LOCAL_COLUMNS columns per feature tried,
# because most of them would never be read.
LOCAL_BYTES = 1 << 19
SPARSE_LOCAL_BYTES = 1 << 21
MIN_SPARSENESS = 16
MIN_LOCAL_ROWS = 32
MAX_LOCAL_COLUMNS = 64


@outer_kernel(level=1)
def expand(columns, local, local_words, max_local_rows, samples, measure, phi_table, gini, growth, rounding, rows, nodes, waiting, best_first, scratch, features, state, exhaustive, threshold_state, progress):  # fmt: skip  # noqa: E501
    """Grow until no node is waiting or the capacity is reached.

    `progress` holds the numbers of nodes, of leaves, of waiting nodes, of free rows of `waiting` and of leaves
    with several classes, the begin and end of the rows whose codes are in `local`, and whether the criterion
    failed.  After a failure, the last two free rows hold the class counts that caused it.

    `phi_table` is None for gini, and `gini` for all other criteria.  `best_first` is None if trees grow
    depth-first.  Thresholds are drawn from `threshold_state`, which is None if all are searched; otherwise
    `exhaustive` is None.  Numba does not compile code that needs one of these not to be None if it is None.
    """
    n_nodes, n_leaves, n_waiting = progress[0], progress[1], progress[2]
    n_free, n_mixed, local_begin, local_end = progress[3], progress[4], progress[5], progress[6]
    capacity = nodes.feature.shape[0]
    while n_waiting > 0 and n_nodes + 2 <= capacity and n_free >= 2:
        if best_first is None:
            at = waiting.order[n_waiting - 1]
        else:
            at = pop(waiting.order, n_waiting, waiting.priority)
        n_waiting -= 1
        begin, end = waiting.plan[at, 0], waiting.plan[at, 1]
        node, counts = waiting.plan[at, 3], waiting.counts[at]
        is_local = local_begin <= begin and end <= local_end

        if nodes.feature[node] == UNKNOWN:
            nodes.feature[node] = LEAF
            if not is_local and MIN_LOCAL_ROWS <= end - begin <= max_local_rows:
                copy_codes(columns.rows, rows, begin, end, local_words)
                local_begin, local_end, is_local = begin, end, True
            f, below, threshold, missing, reduction = search_node(
                rows, begin, end, columns, local if is_local else columns.codes, samples, counts, measure,
                phi_table, gini, growth, scratch, features, waiting.constant[at], rounding, state, exhaustive,
                threshold_state,
            )  # fmt: skip
            if f < 0:
                n_mixed = keep_counts(nodes, node, counts, n_mixed)
                waiting.free[n_free] = at
                n_free += 1
                continue
            nodes.feature[node] = f
            nodes.threshold[node] = threshold
            nodes.missing_left[node] = missing == LEFT
            waiting.plan[at, 4], waiting.plan[at, 5] = below, missing
            waiting.priority[at] = reduction
            if best_first is not None:
                n_waiting = push(waiting.order, n_waiting, waiting.priority, at)
                continue

        middle, n_left, n_right, reduction = begin, 0.0, 0.0, 0.0
        left_at, right_at = waiting.free[n_free - 1], waiting.free[n_free - 2]
        if best_first is None or n_leaves < growth.max_leaf_nodes:
            middle, n_left, n_right = divide_rows(
                rows, columns, local if is_local else columns.codes, samples, waiting, at, left_at, right_at,
                nodes.feature[node], scratch,
            )  # fmt: skip
            reduction = waiting.priority[at]
            if samples.class_bits == 0 or measure.code != GINI:  # the sums of a scan may be inexact
                left, right = waiting.counts[left_at], waiting.counts[right_at]
                reduction = measure.reduction(
                    measure.code, measure.parameter, measure.table.ctypes, measure.table.shape[0],
                    counts.ctypes, left.ctypes, right.ctypes, counts.shape[0],
                )  # fmt: skip
        if reduction <= rounding * (n_left + n_right) or reduction < growth.min_reduction:
            nodes.feature[node] = LEAF
            nodes.threshold[node] = np.nan
            nodes.missing_left[node] = False
            n_mixed = keep_counts(nodes, node, counts, n_mixed)
            waiting.free[n_free] = at
            n_free += 1
            continue
        if reduction == np.inf:
            progress[7] = 1
            break
        if waiting.plan[at, 5] == NO_MISSING:
            nodes.missing_left[node] = n_left > n_right
        nodes.gain[node] = reduction / (n_left + n_right)
        nodes.left[node] = n_nodes
        n_waiting, n_free, n_mixed = add_children(
            rows, samples, nodes, waiting, at, left_at, right_at, middle, n_left, n_right, growth, best_first,
            n_nodes, n_waiting, n_free, n_mixed,
        )  # fmt: skip
        n_nodes += 2
        n_leaves += 1
    progress[0], progress[1], progress[2] = n_nodes, n_leaves, n_waiting
    progress[3], progress[4], progress[5], progress[6] = n_free, n_mixed, local_begin, local_end


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
        row_bytes = columns.rows[0].nbytes
        n_sparse = min(SPARSE_LOCAL_BYTES // row_bytes, n_rows // MIN_SPARSENESS)
        self.max_local_rows = min(n_rows, max(LOCAL_BYTES // row_bytes, n_sparse))
        self.local_words, self.local = columns.allocate_local(self.max_local_rows)
        self.rows = np.empty(n_rows, dtype=np.int64)
        self.scratch = new_scratch(n_rows, n_classes)
        self.nodes = new_nodes(FIRST_CAPACITY, n_classes)
        self.waiting = new_waiting(FIRST_WAITING, n_classes, (columns.n_features + 63) // 64)
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
    integer_weights: bool,
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
    integer_weights : bool
        Whether all weights are integers.
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
    n_features = columns.n_features
    total_weight = weights.sum()
    class_bits = max(1, (n_classes - 1).bit_length())
    if not integer_weights or class_bits >= 31 or total_weight >= 1 << (32 - class_bits):
        class_bits = 0
    samples = Samples(class_bits, labels, weights)
    memory = workspace or Workspace(columns, weights.size, n_classes)
    n, root_waits, n_mixed = init_root(samples, memory.rows, memory.nodes, memory.waiting, growth)
    rounding = ROUNDING if integer_weights else max(ROUNDING, EPSILON * n)
    tabulated = integer_weights and total_weight <= MAX_TABLE and measure.code in TABULATED
    phi_table: NDArray[np.float64] | None = None
    if measure.code != GINI:
        phi_table = memory.phi_table(measure, int(total_weight) + 1 if tabulated else 0)
    few_columns = n_features <= MAX_LOCAL_COLUMNS * growth.max_features
    max_local_rows = memory.max_local_rows if growth.max_leaf_nodes == 0 and few_columns else 0
    features = np.arange(n_features)
    state = np.full(1, seed, dtype=np.uint64)
    n_free = memory.waiting.free.size - 1
    progress = np.array([1, 1, int(root_waits), n_free, n_mixed, 0, 0, 0])
    gini = True if measure.code == GINI else None
    best_first = True if growth.max_leaf_nodes > 0 else None
    exhaustive, threshold_state = (None, state) if growth.random_thresholds else (True, None)
    while True:
        expand(
            columns, memory.local, memory.local_words, max_local_rows, samples, measure, phi_table, gini,
            growth, rounding, memory.rows, memory.nodes, memory.waiting, best_first, memory.scratch, features,
            state, exhaustive, threshold_state, progress,
        )  # fmt: skip
        n_nodes, _, n_waiting, n_free, n_mixed, _, _, failed = progress
        nodes, waiting = memory.nodes, memory.waiting
        if failed:
            left, right = waiting.counts[waiting.free[n_free - 2 : n_free][::-1]]
            raise ValueError(
                "criterion must return a finite number, but did not or raised an error for the class counts "
                f"{left.tolist()} and {right.tolist()}"
            )
        if n_waiting == 0:
            return Nodes._make(array.copy() for array in nodes.used(n_nodes, n_mixed))
        if n_free < 2:
            memory.waiting = waiting.grown(n_free)
            progress[3] += waiting.free.size
        else:
            memory.nodes = nodes.grown(n_nodes, n_mixed)
