"""The compiled tree grower: search nodes for splits, split them, and choose the next node.

Everything except reallocation runs in one compiled function that holds no Python object and releases the GIL,
so threads grow trees in parallel.  Rows of weight 0 are ignored.  A node is split only if its best gain is
positive.

A node draws random numbers of its own, from a seed that depends only on the tree's seed and the path to the
node.  So its split does not depend on where growth stops elsewhere: removing the splits of nodes with few rows
gives the tree that a larger ``min_samples_split`` grows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .categories import write_divided
from .category_buffers import new_categories
from .children import add_children, divide_rows, second_share
from .coding import Codes, Columns
from .compile import merged_kernel, outer_kernel
from .criterion_codes import GINI
from .gain import EPSILON, ROUNDING, reduction_of
from .inputs import Measure, Samples, Search, new_scratch
from .listed_rows import init_places
from .monotonic import clip_counts, keeps_order, new_monotonic
from .node_search import search_node
from .nodes import LEAF, UNKNOWN, GrowthSettings, Nodes, keep_counts, new_nodes
from .partition import copy_codes
from .root import init_root
from .scan import TABULATED, fill_table
from .search import LEFT, NO_MISSING
from .waiting import free_entry, new_waiting, put_entry, take_entry

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


class Local(NamedTuple):
    """A copy of the codes of a subtree's rows.

    Attributes
    ----------
    words : uint64 array
        The codes, row by row.
    codes : Codes
        The same memory.
    max_rows : int
        How many rows are copied at most.
    """

    words: NDArray[np.uint64]
    codes: Codes
    max_rows: int


@merged_kernel()
def make_leaf(nodes, waiting, progress, at, monotonic):
    """Make a waiting node a leaf with several classes."""
    entry = waiting.entries[at]
    node = entry.node
    if monotonic is not None:
        clip_counts(waiting.counts[at], entry.lower, entry.upper)
    nodes.feature[node] = LEAF
    nodes.threshold[node] = np.nan
    nodes.missing_left[node] = False
    keep_counts(nodes, node, waiting.counts[at], progress)
    free_entry(waiting, progress, at)


@merged_kernel()
def keep_split(nodes, waiting, progress, at, feature, split, categories):
    """Store the best split of a waiting node."""
    entry = waiting.entries[at]
    nodes.feature[entry.node] = feature
    nodes.threshold[entry.node] = split.threshold
    if categories is not None and split.threshold != split.threshold:
        nodes.threshold[entry.node] = progress.n_divided
        progress.n_divided = write_divided(split.below, categories, nodes, progress.n_divided)
    nodes.missing_left[entry.node] = split.missing == LEFT
    entry.feature, entry.below, entry.missing = feature, split.below, split.missing
    waiting.priority[at] = split.reduction


@outer_kernel(level=1)
def expand(columns, search, local, nodes, waiting, progress, best_first, categories, monotonic):
    """Grow until no node is waiting or the capacity is reached.

    `progress` holds a `PROGRESS` record.  `best_first` is None if trees grow depth-first.  If the criterion
    fails, the last two free entries of `waiting` hold the class counts that caused it.
    """
    growth, measure, progress = search.growth, search.measure, progress[0]
    is_exact = search.samples.class_bits > 0 and measure.code == GINI
    capacity, most_divided = nodes.feature.shape[0], nodes.divided.shape[0]
    if categories is not None:
        most_divided -= categories.codes.shape[0] + 2  # of one split
    while (
        progress.n_waiting > 0 and progress.n_nodes + 2 <= capacity and progress.n_free >= 2
        and progress.n_divided <= most_divided
    ):  # fmt: skip
        at = take_entry(waiting, progress, best_first)
        entry = waiting.entries[at]
        begin, end, node = entry.begin, entry.end, entry.node
        is_local = progress.local_begin <= begin and end <= progress.local_end

        if nodes.feature[node] == UNKNOWN:
            if search.rows[begin] >> 32 == search.rows[end - 1] >> 32:  # several labels of one row
                make_leaf(nodes, waiting, progress, at, monotonic)
                continue
            if not is_local and MIN_LOCAL_ROWS <= end - begin <= local.max_rows:
                copy_codes(columns.rows, search.rows, begin, end, local.words)
                progress.local_begin, progress.local_end, is_local = begin, end, True
            codes = local.codes if is_local else columns.codes
            feature, split = search_node(
                columns, search, codes, is_local, waiting, at, search.exhaustive, search.random, categories,
                monotonic,
            )  # fmt: skip
            if feature < 0:
                make_leaf(nodes, waiting, progress, at, monotonic)
                continue
            keep_split(nodes, waiting, progress, at, feature, split, categories)
            if best_first is not None:
                put_entry(waiting, progress, at, best_first)
                continue

        if best_first is not None and progress.n_leaves >= growth.max_leaf_nodes:
            make_leaf(nodes, waiting, progress, at, monotonic)
            continue
        codes = local.codes if is_local else columns.codes
        children = divide_rows(columns, search, codes, is_local, nodes, waiting, at, progress, categories)
        weight = children.left_weight + children.right_weight
        reduction = waiting.priority[at]
        if not is_exact:  # the sums of the scan may be inexact
            left, right = waiting.counts[children.left], waiting.counts[children.right]
            reduction = reduction_of(measure, waiting.counts[at], left, right)
        allowed = reduction > search.rounding * weight and reduction >= growth.min_reduction
        if monotonic is not None:
            monotonic.current[0], monotonic.current[1] = entry.lower, entry.upper
            is_threshold = nodes.threshold[node] < np.inf
            monotonic.current[2] = monotonic.signs[entry.feature] if is_threshold else 0.0
            allowed &= keeps_order(monotonic, *second_share(waiting, children))
        if not allowed:
            make_leaf(nodes, waiting, progress, at, monotonic)
            continue
        if reduction == np.inf:
            progress.failed = True
            break
        if entry.missing == NO_MISSING:
            nodes.missing_left[node] = children.left_weight > children.right_weight
        nodes.gain[node] = reduction / weight
        add_children(search, nodes, waiting, at, children, progress, best_first, monotonic)
        progress.n_leaves += 1


class Workspace:
    """Buffers reused by successive trees on the same rows; not thread-safe.

    The first access to new memory is slow: on small data it would take a quarter of the time.

    Parameters
    ----------
    columns : Columns
    n_rows : int
        Maximum number of rows of a tree, or of their labels if these are soft.
    n_classes : int
    """

    def __init__(self, columns: Columns, n_rows: int, n_classes: int) -> None:
        row_bytes = columns.rows[0].nbytes
        n_sparse = min(SPARSE_LOCAL_BYTES // row_bytes, n_rows // MIN_SPARSENESS)
        max_rows = min(n_rows, max(LOCAL_BYTES // row_bytes, n_sparse))
        self.local = Local(*columns.allocate_local(max_rows), max_rows)
        self.rows = np.empty(n_rows, dtype=np.int64)
        self.places = np.empty(len(columns.rows) if columns.listed.rows.size else 0, dtype=np.int32)
        self.scratch = new_scratch(n_rows, n_classes)
        max_categories = min(columns.max_categories, n_rows)
        self.categories = new_categories(columns.max_categories, max_categories, n_classes)
        self.nodes = new_nodes(FIRST_CAPACITY, n_classes, max_categories)
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
    row_of_label: NDArray[np.int64],
    n_classes: int,
    measure: Measure,
    growth: GrowthSettings,
    seed: int,
    integer_weights: bool,
    workspace: Workspace | None = None,
    monotonic: NDArray[np.int8] | None = None,
) -> Nodes:
    """Grow the nodes of one tree.

    Parameters
    ----------
    columns : Columns
    labels : int32 array of shape (n_labels,)
        Class numbers.
    weights : float64 array of shape (n_labels,)
        Non-negative.
    row_of_label : int64 array of shape (n_labels,) or (0,)
        Row of each label; empty if each row has one.
    n_classes : int
    measure : Measure
    growth : GrowthSettings
    seed : int
        Nonzero.
    integer_weights : bool
        Whether all weights are integers.
    workspace : Workspace or None
        Made for these columns and numbers of rows and classes.  Its contents are overwritten.
    monotonic : int8 array of shape (n_features,) or None
        Signs of the monotonic constraints; see `Monotonic`.

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
    samples = Samples(class_bits, min(32, 64 // n_classes), labels, weights)
    memory = workspace or Workspace(columns, weights.size, n_classes)
    progresses = init_root(samples, row_of_label, memory.rows, memory.nodes, memory.waiting, growth, seed)
    # Only searches of all thresholds with integer weights read lists.
    places = memory.places if class_bits > 0 and not growth.random_thresholds else memory.places[:0]
    if places.size:
        init_places(memory.rows[: memory.waiting.entries[0].end], places)
    tabulated = integer_weights and total_weight <= MAX_TABLE and measure.code in TABULATED
    categories, constraints = memory.categories, new_monotonic(monotonic)
    gini = measure.code == GINI and constraints is None  # which the scan by gini does not know
    phi_table: NDArray[np.float64] | None = None
    if not gini:
        phi_table = memory.phi_table(measure, int(total_weight) + 1 if tabulated else 0)
    search = Search(
        samples=samples,
        measure=measure,
        growth=growth,
        scratch=memory.scratch.for_search(gini, categories is not None),
        rows=memory.rows,
        features=np.arange(n_features),
        places=places,
        state=np.empty(1, dtype=np.uint64),
        rounding=ROUNDING if integer_weights else max(ROUNDING, EPSILON * memory.nodes.n_rows[0]),
        phi_table=phi_table,
        gini=True if gini else None,
        exhaustive=None if growth.random_thresholds else True,
        random=True if growth.random_thresholds else None,
        categories=categories,
        monotonic=constraints,
    )
    best_first = True if growth.max_leaf_nodes > 0 else None
    local = memory.local
    if best_first or n_features > MAX_LOCAL_COLUMNS * growth.max_features:
        local = local._replace(max_rows=0)
    progress = progresses[0]
    while True:
        nodes, waiting = memory.nodes, memory.waiting
        expand(columns, search, local, nodes, waiting, progresses, best_first, categories, constraints)
        if progress.failed:
            left, right = waiting.counts[waiting.free[progress.n_free - 2 : progress.n_free][::-1]]
            raise ValueError(
                "criterion must return a finite number, but did not or raised an error for the class counts "
                f"{left.tolist()} and {right.tolist()}"
            )
        if progress.n_waiting == 0:
            return Nodes._make(array.copy() for array in nodes.used(progress))
        if progress.n_free < 2:
            memory.waiting = waiting.grown(progress.n_free)
            progress.n_free += waiting.free.size
        else:
            memory.nodes = nodes.grown(progress)
