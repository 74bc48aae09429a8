"""The compiled scan for the best split of one node on one sorted column.

The rows of a node are int64 numbers with the row index in the high 32 bits.  If all weights are integers, and
their sum is small enough, the low 32 bits hold weight and class number, so a scan reads nothing but the sorted
keys.  Otherwise they hold the row index again, and labels and weights are looked up.

A split is scored by its reduction n g, where g is its gain: the risk that it removes.  Scans update sums row by
row and derive a bound of the reduction from them.  The criterion itself is called with the class counts only if
the bound beats the best split so far.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import inlined_kernel, inner_kernel, outer_kernel
from .criterion_codes import (
    CREDAL,
    CREDAL_RATIO,
    ENTROPY,
    GCE,
    LAST_BOUNDED,
    MISCLASSIFICATION,
    NEGATIVE_EXPONENTIAL,
    PAIRWISE,
    SQRT_GINI,
    TWOING,
)
from .gain import EPSILON, credal_entropy, x_log_x

LOW_HALF = 0xFFFFFFFF
BOUND_ROUNDING = 1e-10
SMALLEST_SUM = 1e-250

# Criteria whose phi is expensive, so that it is tabulated if weights are integers.
TABULATED = (ENTROPY, GCE, CREDAL, CREDAL_RATIO)


class Measure(NamedTuple):
    """A criterion in the form that the kernels take.

    Attributes
    ----------
    code : int
        One of `criterion_codes`.
    parameter : float
    table : float64 array of shape (n,)
        Lookup table of the criterion; see `Criterion.table`.
    reduction : compiled function of type `REDUCTION`
    """

    code: int
    parameter: float
    table: NDArray[np.float64]
    reduction: Any


class Samples(NamedTuple):
    """Labels and weights.  Keys hold both, with the class in the low `class_bits` bits, unless that is 0."""

    class_bits: int
    labels: NDArray[np.int32]
    weights: NDArray[np.float64]


@inlined_kernel()
def class_and_weight(key, samples):
    """Class and weight of the row of a key."""
    class_bits = samples.class_bits
    if class_bits > 0:
        return uintp(key & ((1 << class_bits) - 1)), float((key & LOW_HALF) >> class_bits)
    row = uintp(key & LOW_HALF)
    return uintp(samples.labels[row]), samples.weights[row]


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


@inlined_kernel()
def scan(keys, node, lowest, rows_left, samples, cell_rows, cells, measure, phi_table, min_rows, min_weight, left, right, best):  # fmt: skip  # noqa: E501
    """Best split of sorted keys by any criterion but gini; see `scan_gini`.

    The left child starts with class counts `left` and `rows_left` rows.  Their highest code is `lowest`, or -1
    if there are none, or all have missing values.  Returns the reduction, and the codes below and above the
    split; both are -1 if no reduction exceeds `best`.
    """
    code, parameter = measure.code, measure.parameter
    counts = node.counts
    n_classes = counts.shape[0]
    class_bits = samples.class_bits
    logarithms = uses_logarithms(code, parameter)
    norms = code == GCE and 0.0 < parameter < 1.0
    squares = not logarithms and not norms
    tabulated = phi_table.shape[0] > 0
    # The root of n^2 - sum n_k^2 needs exact sums, which integer weights give.
    roots = code == SQRT_GINI or (code == NEGATIVE_EXPONENTIAL and parameter < 1.0)
    bounded = code <= LAST_BOUNDED and (class_bits > 0 or not roots)
    # Sums of powers must neither overflow nor underflow.
    bounded = bounded and (not norms or is_moderate(node.total))
    slack = node.n_rows * EPSILON * node.total  # rounding error of the sums
    credal = code in (CREDAL, CREDAL_RATIO)
    exact = bounded and (logarithms or code == SQRT_GINI or (code == NEGATIVE_EXPONENTIAL and parameter == 0.0))
    power = 1.0 - parameter
    n_node = node.weight
    n_left, sum_right, max_left, max_right = 0.0, node.total, 0.0, node.norm
    sum_left = n_classes * phi(code, parameter, n_classes, 0.0)
    if rows_left > 0:
        sum_left, sum_right = 0.0, 0.0
        for k in range(n_classes):
            n_left += left[k]
            rest = max(counts[k] - left[k], 0.0)
            if tabulated:
                sum_left += phi_table[uintp(left[k])]
                sum_right += phi_table[uintp(rest)]
            else:
                sum_left += phi(code, parameter, n_classes, left[k])
                sum_right += phi(code, parameter, n_classes, rest)
            max_left = max(max_left, left[k])
    # The norms (sum n_k^r)^(1/r) are concave in the sum, so tangents bound them: point, norm and slope of each
    # tangent.  Tangents are updated when their bound beats the best split.
    at_left, norm_left, slope_left = 1.0, 1.0, power
    at_right, norm_right, slope_right = node.total, node.norm, power * node.norm / node.total
    below, above = np.int64(-1), np.int64(-1)
    previous = lowest if lowest >= 0 else keys[0] >> 32
    for i in range(keys.shape[0]):
        key = keys[uintp(i)]
        key_code = key >> 32
        if key_code != previous:
            n_right = n_node - n_left
            if (
                rows_left >= min_rows and node.n_rows - rows_left >= min_rows
                and n_left >= min_weight and n_right >= min_weight
            ):  # fmt: skip
                if bounded:
                    bound_left, bound_right = max_left, max_right
                    if norms:
                        bound_left = norm_left + slope_left * (sum_left + slack - at_left)
                        bound_right = norm_right + slope_right * (sum_right + slack - at_right)
                    log_left, log_right = 0.0, 0.0
                    if logarithms:
                        if tabulated:
                            log_left, log_right = phi_table[uintp(n_left)], phi_table[uintp(n_right)]
                        else:
                            log_left, log_right = x_log_x(n_left), x_log_x(n_right)
                    reduction = (
                        node.impurity
                        - bounded_impurity(code, parameter, n_classes, n_left, log_left, sum_left, bound_left)
                        - bounded_impurity(
                            code, parameter, n_classes, n_right, log_right, sum_right, bound_right
                        )
                    )
                    promising = reduction > best
                elif credal:
                    reduction = credal_bound(code, parameter, node, n_left, n_right, sum_left, sum_right)
                    promising = reduction > best
                else:
                    promising, reduction = True, 0.0
                if promising and norms and bounded:
                    at_left, at_right = max(sum_left, slack), max(sum_right, slack)
                    norm_left, norm_right = at_left**power, at_right**power
                    slope_left = power * norm_left / at_left
                    slope_right = power * norm_right / at_right
                    bound_left = norm_left + slope_left * (sum_left + slack - at_left)
                    bound_right = norm_right + slope_right * (sum_right + slack - at_right)
                    children = n_left - bound_left + n_right - bound_right
                    promising = node.impurity - children / parameter > best
                if promising:
                    if not exact:
                        max_right = 0.0
                        for k in range(n_classes):
                            rest = counts[k] - left[k]
                            right[k] = rest if rest > node.n_rows * EPSILON * counts[k] else 0.0
                            max_right = max(max_right, right[k])
                        reduction = measure.reduction(
                            code, parameter, measure.table.ctypes, measure.table.shape[0], counts.ctypes,
                            left.ctypes, right.ctypes, n_classes,
                        )  # fmt: skip
                    if reduction > best:
                        best, below, above = reduction, previous, key_code
            previous = key_code
        k, w = class_and_weight(key, samples)
        rows_left += cell_rows[uintp(i)] if cells else 1
        a = left[k]
        b = max(counts[k] - a, 0.0)
        c = max(b - w, 0.0)
        if squares:
            sum_left += w * (a + a + w)
            sum_right -= (b - c) * (b + c)
        elif tabulated:
            sum_left += phi_table[uintp(a + w)] - phi_table[uintp(a)]
            sum_right += phi_table[uintp(c)] - phi_table[uintp(b)]
        else:
            sum_left += phi(code, parameter, n_classes, a + w) - phi(code, parameter, n_classes, a)
            sum_right += phi(code, parameter, n_classes, c) - phi(code, parameter, n_classes, b)
        left[k] = a + w
        max_left = max(max_left, a + w)
        n_left += w
    return best, below, above
