"""The compiled scan for the best split of one node on one sorted column.

A split is scored by its reduction n g, where g is its gain: the risk that it removes.  Scans update sums row by
row and derive a bound of the reduction from them.  The criterion itself is called with the class counts only if
the bound beats the best split so far.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import inlined_kernel, inner_kernel, merged_kernel, outer_kernel
from .criterion_codes import (
    CREDAL,
    CREDAL_RATIO,
    ENTROPY,
    GCE,
    GINI,
    LAST_BOUNDED,
    MISCLASSIFICATION,
    NEGATIVE_EXPONENTIAL,
    PAIRWISE,
    SQRT_GINI,
    TWOING,
)
from .gain import EPSILON, credal_entropy, reduction_of, x_log_x
from .inputs import Samples, class_and_weight
from .monotonic import keeps_order

BOUND_ROUNDING = 1e-10
SMALLEST_SUM = 1e-250

# Criteria whose phi is expensive, so that it is tabulated if weights are integers.
TABULATED = (ENTROPY, GCE, CREDAL, CREDAL_RATIO)


@inner_kernel()
def uses_logarithms(code, parameter):
    """Whether scans sum x ln x."""
    return code in (ENTROPY, CREDAL, CREDAL_RATIO) or (code == GCE and parameter == 0.0)


@inner_kernel()
def phi(code, parameter, n_classes, x):
    """Term of one class with count x in the sums of a scan."""
    if code in (CREDAL, CREDAL_RATIO):
        return x_log_x(x + parameter / n_classes)
    if uses_logarithms(code, parameter):
        return x_log_x(x)
    if code == GCE and parameter < 1.0:
        return x ** (1.0 / (1.0 - parameter))
    return x * x


@outer_kernel()
def fill_table(code, parameter, n_classes, table):
    """Write phi(0), phi(1), ... to `table`."""
    for i in range(table.shape[0]):
        table[i] = phi(code, parameter, n_classes, float(i))


@inner_kernel()
def is_moderate(total):
    """Whether a sum of powers is far enough from overflow and underflow for similar sums to be safe."""
    return SMALLEST_SUM < total < 1.0 / SMALLEST_SUM


class Node(NamedTuple):
    """Properties of a node that a search needs."""

    counts: NDArray[np.float64]
    n_rows: int
    weight: float
    total: float  # the sum of phi over the classes
    norm: float  # for GCE the r-norm of the counts with r = 1 / (1 - q), otherwise the largest count
    impurity: float  # n I of criteria that have a bound
    limit: float  # upper bound of the reduction, attained by a split that separates two classes completely


@inner_kernel()
def describe(code, parameter, counts, n_rows, phi_table):
    """Compute a `Node` from its class counts."""
    weight, total, largest, second = 0.0, 0.0, 0.0, 0.0
    for k in range(counts.shape[0]):
        weight += counts[k]
        if phi_table is None:
            total += counts[k] * counts[k]
        elif phi_table.shape[0] > 0:
            total += phi_table[uintp(counts[k])]
        else:
            total += phi(code, parameter, counts.shape[0], counts[k])
        second = max(second, min(largest, counts[k]))
        largest = max(largest, counts[k])
    if phi_table is None:  # sum n_k^2 / n of a child is at most its largest count
        impurity = weight - total / weight
        return Node(counts, n_rows, weight, total, largest, impurity, largest + second - total / weight)
    norm = largest
    if code == GCE and 0.0 < parameter < 1.0:
        norm = total ** (1.0 - parameter)
    if code in (CREDAL, CREDAL_RATIO):
        impurity = weight * credal_entropy(counts, weight, parameter)
    else:
        log_weight = x_log_x(weight) if uses_logarithms(code, parameter) else 0.0
        impurity = bounded_impurity(code, parameter, counts.shape[0], weight, log_weight, total, norm)
    limit = np.inf
    if code <= LAST_BOUNDED and (code != GCE or is_moderate(total)):
        limit = impurity
    elif code in (TWOING, PAIRWISE) and largest + second >= weight:
        limit = largest * second / weight * (1.0 if code == TWOING else 0.5)
    return Node(counts, n_rows, weight, total, norm, impurity, limit)


@inner_kernel()
def bounded_impurity(code, parameter, n_classes, n, log_n, total, norm):
    """Lower bound of n I from n, n ln n, the sum of phi and a bound of the norm; exact for some criteria."""
    if code == MISCLASSIFICATION or (code == NEGATIVE_EXPONENTIAL and parameter == 1.0):
        return n - norm
    if code in (NEGATIVE_EXPONENTIAL, SQRT_GINI):
        spread = math.sqrt(max(0.0, n * n - total))
        if code == SQRT_GINI or parameter == 0.0:
            return math.sqrt(n_classes / max(1, n_classes - 1)) * spread
        return min(n - norm, parameter * math.sqrt((n_classes - 1) / n_classes) * spread)
    if uses_logarithms(code, parameter):
        return log_n - total
    if code == GINI:
        return n - total / n
    return (n - norm) / parameter  # GCE


@inner_kernel()
def credal_bound(code, s, node, n_left, n_right, sum_left, sum_right):
    """Upper bound of the reduction by the imprecise information gain.

    Spreading the mass s evenly over the classes is one of the allowed distributions, so its entropy is at most
    the largest.
    """
    entropy_left = math.log(n_left + s) - sum_left / (n_left + s)
    entropy_right = math.log(n_right + s) - sum_right / (n_right + s)
    children = n_left * entropy_left + n_right * entropy_right + s * max(entropy_left, entropy_right)
    n = n_left + n_right
    reduction = node.impurity - children * n / (n + s)
    if code == CREDAL_RATIO and reduction > 0.0:
        reduction /= (x_log_x(n) - x_log_x(n_left) - x_log_x(n_right)) / n
    # Rounding of the sums must not lose a split.
    return reduction + BOUND_ROUNDING * n


class SortedColumn(NamedTuple):
    """The rows of a node on one column, sorted by code, without those that are on the left from the start.

    Attributes
    ----------
    keys : int64 array of shape (n,)
        Keys of the rows or, with `cells`, of the cells of the histogram; gini reads the histogram itself.
    cells : bool
    first_code, n_bins : int
        Code of the first bin, and number of bins of the histogram.
    lowest : int
        Highest code of the rows that are on the left from the start; -1 if there are none, or all have missing
        values.
    rows_left : int
        How many rows these are.  `ClassCounts.left` holds their class counts.
    """

    keys: NDArray[np.int64]
    cells: bool
    first_code: int
    n_bins: int
    lowest: int
    rows_left: int


class Bound(NamedTuple):
    """How a scan bounds the reduction of a split from its sums, so that it calls the criterion less often.

    Attributes
    ----------
    exists : bool
        Whether the criterion has a bound from `bounded_impurity`.
    exact : bool
        Whether this bound is the reduction itself.
    credal : bool
        Whether it has one from `credal_bound` instead.
    logarithms : bool
        Whether it needs n ln n of the children.
    power : float
        Power of the sums that gives norms, or 0 if phi is no power.
    slack : float
        Rounding error of the sums.
    """

    exists: bool
    exact: bool
    credal: bool
    logarithms: bool
    power: float
    slack: float


class Tangent(NamedTuple):
    """Tangent of a concave function, which is nowhere below it."""

    at: float
    value: float
    slope: float


@inlined_kernel()
def choose_bound(code, parameter, node, class_bits):
    """The `Bound` of a criterion at a node."""
    norms = code == GCE and 0.0 < parameter < 1.0
    logarithms = uses_logarithms(code, parameter)
    # The root of n^2 - sum n_k^2 needs exact sums, which integer weights give.
    roots = code == SQRT_GINI or (code == NEGATIVE_EXPONENTIAL and parameter < 1.0)
    exists = code <= LAST_BOUNDED and (class_bits > 0 or not roots)
    # Sums of powers must neither overflow nor underflow.
    exists = exists and (not norms or is_moderate(node.total))
    exact = logarithms or code == SQRT_GINI or (code == NEGATIVE_EXPONENTIAL and parameter == 0.0)
    credal = code in (CREDAL, CREDAL_RATIO)
    power = 1.0 - parameter if norms else 0.0
    return Bound(exists, exists and exact, credal, logarithms, power, node.n_rows * EPSILON * node.total)


@inlined_kernel()
def tangent_of_norm(total, power):
    """Tangent of the norm ``total^power``."""
    norm = total**power
    return Tangent(total, norm, power * norm / total)


@inlined_kernel()
def bound_norm(tangent, total):
    """Upper bound of the norm of a sum."""
    return tangent.value + tangent.slope * (total - tangent.at)


@inlined_kernel()
def phi_of(measure, phi_table, n_classes, x):
    """Term of one class with count x in the sums, from the table if there is one."""
    if phi_table.shape[0] > 0:
        return phi_table[uintp(x)]
    return phi(measure.code, measure.parameter, n_classes, x)


@inlined_kernel()
def bound_impurity(measure, bound, phi_table, n_classes, n, total, norm):
    """Lower bound of n I of a child from the sum of phi and a bound of its norm."""
    log_n = 0.0
    if bound.logarithms:
        log_n = phi_table[uintp(n)] if phi_table.shape[0] > 0 else x_log_x(n)
    return bounded_impurity(measure.code, measure.parameter, n_classes, n, log_n, total, norm)


@merged_kernel()
def change_sums(measure, phi_table, n_classes, squares, n_left, n_right, weight):
    """Changes of the sums of both children if this weight of a class, with these counts, moves to the left."""
    rest = max(n_right - weight, 0.0)
    if squares:
        return weight * (n_left + n_left + weight), (rest - n_right) * (n_right + rest)
    return (
        phi_of(measure, phi_table, n_classes, n_left + weight) - phi_of(measure, phi_table, n_classes, n_left),
        phi_of(measure, phi_table, n_classes, rest) - phi_of(measure, phi_table, n_classes, n_right),
    )


@inlined_kernel()
def subtract_counts(node, left, right):
    """Write the class counts of the right child to `right`; return the largest."""
    largest = 0.0
    for k in range(node.counts.shape[0]):
        rest = node.counts[k] - left[k]
        right[k] = rest if rest > node.n_rows * EPSILON * node.counts[k] else 0.0
        largest = max(largest, right[k])
    return largest


@inlined_kernel()
def scan(search, node, column, best, phi_table, monotonic):
    """Best split of a `SortedColumn` by any criterion.  Without constraints, `scan_gini` is faster for gini.

    Returns the reduction, and the codes below and above the split; both are -1 if no reduction exceeds `best`.
    """
    samples, measure, growth, scratch = search.samples, search.measure, search.growth, search.scratch
    if column.cells:
        samples = Samples(samples.class_bits, samples.count_bits, scratch.cells.classes, scratch.cells.weights)
    keys, rows_left = column.keys, column.rows_left
    counts, left, right = node.counts, scratch.counts.left, scratch.counts.right
    n_classes = counts.shape[0]
    bound = choose_bound(measure.code, measure.parameter, node, samples.class_bits)
    norms, slack = bound.power > 0.0, bound.slack
    squares = not bound.logarithms and not norms
    n_left, max_left, max_right = 0.0, 0.0, node.norm
    sum_left, sum_right = n_classes * phi(measure.code, measure.parameter, n_classes, 0.0), node.total
    if rows_left > 0:
        sum_left, sum_right = 0.0, 0.0
        for k in range(n_classes):
            n_left += left[k]
            sum_left += phi_of(measure, phi_table, n_classes, left[k])
            sum_right += phi_of(measure, phi_table, n_classes, max(counts[k] - left[k], 0.0))
            max_left = max(max_left, left[k])
    # The norms (sum n_k^r)^(1/r) are concave in the sum, so tangents bound them.  They are updated when their
    # bound beats the best split.
    tangent_left = Tangent(1.0, 1.0, bound.power)
    tangent_right = Tangent(node.total, node.norm, bound.power * node.norm / node.total)
    below, above = np.int64(-1), np.int64(-1)
    previous = column.lowest if column.lowest >= 0 else keys[0] >> 32
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        code = key >> 32
        n_right = node.weight - n_left
        if (
            code != previous
            and rows_left >= growth.min_samples_leaf and node.n_rows - rows_left >= growth.min_samples_leaf
            and n_left >= growth.min_weight_leaf and n_right >= growth.min_weight_leaf
        ):  # fmt: skip
            reduction, promising = 0.0, True
            if bound.exists:
                norm_left, norm_right = max_left, max_right
                if norms:
                    norm_left = bound_norm(tangent_left, sum_left + slack)
                    norm_right = bound_norm(tangent_right, sum_right + slack)
                reduction = (
                    node.impurity
                    - bound_impurity(measure, bound, phi_table, n_classes, n_left, sum_left, norm_left)
                    - bound_impurity(measure, bound, phi_table, n_classes, n_right, sum_right, norm_right)
                )
                promising = reduction > best
                if promising and norms:
                    tangent_left = tangent_of_norm(max(sum_left, slack), bound.power)
                    tangent_right = tangent_of_norm(max(sum_right, slack), bound.power)
                    norm_left = bound_norm(tangent_left, sum_left + slack)
                    norm_right = bound_norm(tangent_right, sum_right + slack)
                    children = n_left - norm_left + n_right - norm_right
                    promising = node.impurity - children / measure.parameter > best
            elif bound.credal:
                reduction = credal_bound(
                    measure.code, measure.parameter, node, n_left, n_right, sum_left, sum_right
                )
                promising = reduction > best
            if monotonic is not None:
                promising &= keeps_order(monotonic, left[1] / n_left, (node.counts[1] - left[1]) / n_right)
            if promising and not bound.exact:
                max_right = subtract_counts(node, left, right)
                reduction = reduction_of(measure, counts, left, right)
            if promising and reduction > best:
                best, below, above = reduction, previous, code
        previous = code
        k, w = class_and_weight(key, samples)
        rows_left += scratch.cells.n_rows[uintp(i)] if column.cells else 1
        change_left, change_right = change_sums(
            measure, phi_table, n_classes, squares, left[k], max(counts[k] - left[k], 0.0), w
        )
        sum_left += change_left
        sum_right += change_right
        left[k] += w
        max_left = max(max_left, left[k])
        n_left += w
    return best, below, above
