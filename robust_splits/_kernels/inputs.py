"""Inputs and buffers of the search for the best split, the same for all nodes of a tree.

The rows of a node are int64 numbers with the row index in the high 32 bits.  If all weights are integers, and
their sum is small enough, the low 32 bits hold weight and class number, so a scan reads nothing but the sorted
keys.  Otherwise they hold the row index again, and labels and weights are looked up.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .category_buffers import Categories
from .compile import inlined_kernel
from .monotonic import Monotonic
from .nodes import GrowthSettings
from .sorting import INDEX_BITS, N_COUNTERS

LOW_HALF = 0xFFFFFFFF
# Class histograms must fit the second-level cache.
MAX_HISTOGRAM_CELLS = 1 << 15
BLOCK = 64  # candidates that a scan by gini scores at a time


class Measure(NamedTuple):
    """A criterion in the form that the kernels take.

    Attributes
    ----------
    code : int
        One of `criterion_codes`.
    parameter : float
    table : float64 array of shape (n,)
        Lookup table of the criterion; see `Criterion.table`.
    address : int
        Of its compiled function of type `REDUCTION`.  Numba finds the types of numbers and arrays in a fraction
        of the time that it takes for a function.
    """

    code: int
    parameter: float
    table: NDArray[np.float64]
    address: int


class Samples(NamedTuple):
    """Labels and weights.  Keys hold both, with the class in the low `class_bits` bits, unless that is 0.

    An int64 holds the counts of all classes if these have at most `count_bits` bits each.
    """

    class_bits: int
    count_bits: int
    labels: NDArray[np.int32]
    weights: NDArray[np.float64]


class Keys(NamedTuple):
    """Buffers for keys and for sorting them."""

    keys: NDArray[np.int64]
    sorted: NDArray[np.int64]
    short: NDArray[np.int32]
    counters: NDArray[np.int64]


class Histogram(NamedTuple):
    """Weights of a node's rows by code and class, and number of rows by code."""

    weights: NDArray[np.float64]
    n_rows: NDArray[np.int64]


class Cells(NamedTuple):
    """Class and weight of cells of a histogram with positive weights, and rows of a bin at its first cell."""

    classes: NDArray[np.int32]
    weights: NDArray[np.float64]
    n_rows: NDArray[np.int64]


class ClassCounts(NamedTuple):
    """Class counts of both children, and of the rows with missing values."""

    left: NDArray[np.float64]
    right: NDArray[np.float64]
    missing: NDArray[np.float64]


class Candidates(NamedTuple):
    """Weight of the left child, sums of both children, and scores of candidates of a scan by gini."""

    weights: NDArray[np.float64]
    left_sums: NDArray[np.float64]
    right_sums: NDArray[np.float64]
    scores: NDArray[np.float64]


class Scratch(NamedTuple):
    """Buffers of a search.

    Attributes
    ----------
    keys : Keys
    histogram : Histogram
    counts : ClassCounts
    cells : Cells or None
        None in searches by gini without categories, so that there is less to compile.
    candidates : Candidates or None
        None in searches by other criteria.
    """

    keys: Keys
    histogram: Histogram
    counts: ClassCounts
    cells: Cells | None
    candidates: Candidates | None

    def for_search(self, gini: bool, categories: bool) -> Scratch:
        """The buffers that a search by gini or by another criterion needs, with or without categories."""
        scratch = self if gini else self._replace(candidates=None)
        return scratch._replace(cells=None) if gini and not categories else scratch


class Search(NamedTuple):
    """Inputs of the searches of a tree other than the columns, and their buffers.

    Numba leaves out code for an argument that is None, but not for a field that is None.  So kernels with code
    for one of the last six fields also take it as an argument.

    Attributes
    ----------
    samples : Samples
    measure : Measure
    growth : GrowthSettings
    scratch : Scratch
    rows : int64 array of shape (n_samples,)
        The rows.  Those of a node are consecutive, and each split divides them.
    features : int64 array of shape (n_features,)
        The features in their order.  A search draws among them, and restores the order.
    places : int32 array of shape (n_samples,) or (0,)
        Index in `rows` of each row, or of the first of its labels; -1 if it is not drawn.  Empty if no list
        of rows is read.
    state : uint64 array of shape (1,)
        State of the random numbers of a search.
    rounding : float
        Rounding error of a reduction, relative to the weight of the node.
    phi_table : float64 array of shape (n,) or None
        Table of phi, empty if it is not tabulated; None for gini.
    gini : True or None
        None for other criteria than gini.
    exhaustive : True or None
        None if thresholds are drawn at random.
    random : True or None
        None if all thresholds are searched.
    categories : Categories or None
        None if no column has categories.
    monotonic : Monotonic or None
        None if there are no monotonic constraints.
    """

    samples: Samples
    measure: Measure
    growth: GrowthSettings
    scratch: Scratch
    rows: NDArray[np.int64]
    features: NDArray[np.int64]
    places: NDArray[np.int32]
    state: NDArray[np.uint64]
    rounding: float
    phi_table: NDArray[np.float64] | None
    gini: Literal[True] | None
    exhaustive: Literal[True] | None
    random: Literal[True] | None
    categories: Categories | None
    monotonic: Monotonic | None


@inlined_kernel()
def class_and_weight(key, samples):
    """Class and weight of the row of a key."""
    class_bits = samples.class_bits
    if class_bits > 0:
        return uintp(key & ((1 << class_bits) - 1)), float((key & LOW_HALF) >> class_bits)
    row = uintp(key & LOW_HALF)
    return uintp(samples.labels[row]), samples.weights[row]


def new_scratch(n_rows: int, n_classes: int) -> Scratch:
    """Allocate buffers for nodes of up to `n_rows` rows."""
    n_bins = MAX_HISTOGRAM_CELLS // n_classes + 1
    n_cells = n_bins * n_classes
    return Scratch(
        Keys(
            keys=np.empty(n_rows, dtype=np.int64),
            sorted=np.empty(max(n_rows, n_cells), dtype=np.int64),
            short=np.empty(1 << INDEX_BITS, dtype=np.int32),
            counters=np.empty(N_COUNTERS, dtype=np.int64),
        ),
        Histogram(np.empty((n_bins, n_classes)), np.empty(n_bins, dtype=np.int64)),
        ClassCounts(np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)),
        Cells(np.empty(n_cells, dtype=np.int32), np.empty(n_cells), np.empty(n_cells, dtype=np.int64)),
        Candidates(np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)),
    )
