"""Compiled impurities and gains, exact, from class counts.

The grower and `Criterion.gain` call the same kernels.  A criterion comes as plain data, a `Measure`, so that
one compiled grower, cached on disk, serves all criteria, those of users among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined]
from numba.core.errors import NumbaError

from .codes import (
    CREDAL_RATIO,
    DISTRIBUTION,
    ENTROPY,
    GCE,
    GINI,
    LAST_IMPURITY,
    MISCLASSIFICATION,
    NEGATIVE_EXPONENTIAL,
    PAIRWISE,
    SQRT_GINI,
    TWOING,
)
from .compile import callback, inner_kernel, outer_kernel

# Rounding of a gain, relative to the largest impurities, which are about 1.  Sums of whole weights are exact,
# and only the arithmetic of the impurities counts; sums of other weights are off by as much as their number.
ROUNDING = 1e-14
EPSILON = np.finfo(np.float64).eps

# reduction(code, parameter, table, n_table, counts, left, right, n_classes): how the grower calls a criterion.
REDUCTION = types.float64(
    types.int64,
    types.float64,
    types.CPointer(types.float64),
    types.intp,
    types.CPointer(types.float64),
    types.CPointer(types.float64),
    types.CPointer(types.float64),
    types.intp,
)
# gain(left, right): what a user writes.
GAIN = types.float64(types.float64[::1], types.float64[::1])


@inner_kernel(fastmath={"nnan", "nsz", "reassoc"})
def largest(counts):
    """Largest of the counts, which are numbers: the compiler may compare several at once."""
    value = 0.0
    for k in range(counts.shape[0]):
        value = max(value, counts[k])
    return value


@inner_kernel()
def x_log_x(x):
    """``x ln x``, 0 at 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@inner_kernel()
def _gini(counts, total):
    """``n (1 - sum p_k^2)``."""
    squares = 0.0
    for k in range(counts.shape[0]):
        squares += counts[k] * counts[k]
    return max(0.0, total - squares / total)


@inner_kernel()
def _spread(counts, total):
    """``n sqrt(1 - sum p_k^2)``, without the cancellation that the root would magnify."""
    square = 0.0
    for k in range(counts.shape[0]):
        square += counts[k] * max(0.0, total - counts[k])
    return math.sqrt(square)


@inner_kernel()
def _entropy(counts, total):
    value = 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0.0:
            value -= counts[k] * math.log(counts[k] / total)
    return value


@inner_kernel()
def _generalized_cross_entropy(counts, total, q):
    """``n (1 - S^(1-q)) / q`` with ``S = sum p_k^(1/(1-q))``, through ``log S``.

    For small q, S is near 1, and ``p^(1+d) = p + p (e^(d ln p) - 1)`` keeps the digits of their difference; for
    large q the powers would underflow, and the largest is taken out of the sum.
    """
    if q <= 0.5:
        exponent = q / (1.0 - q)
        difference = 0.0
        for k in range(counts.shape[0]):
            if counts[k] > 0.0:
                p = counts[k] / total
                difference += p * math.expm1(exponent * math.log(p))
        log_sum = math.log1p(difference)
    else:
        exponent = 1.0 / (1.0 - q)
        most = largest(counts)
        powers = 0.0
        for k in range(counts.shape[0]):
            if counts[k] > 0.0:
                powers += (counts[k] / most) ** exponent
        log_sum = math.log(powers) + exponent * math.log(most / total)
    return -total * math.expm1((1.0 - q) * log_sum) / q


@inner_kernel()
def _distribution(counts, total, table):
    """Lowest of some lines at p = n_1 / n, times n; `table` is that of `DistributionCriterion`."""
    if counts.shape[0] == 1:
        return 0.0
    n_lines = table.shape[0] // 3
    p = counts[1] / total
    line, end = 0, n_lines
    while end - line > 1:
        middle = (line + end) // 2
        if table[middle] <= p:
            line = middle
        else:
            end = middle
    return counts[0] * table[n_lines + line] + counts[1] * table[2 * n_lines + line]


@outer_kernel()
def weighted_impurity(criterion, parameter, table, counts, total):
    """Impurity n I(p) of a node with class `counts` (K,) that sum to n = `total` > 0.

    Times n, because ``n - max n_k`` is exact where ``1 - max p_k`` is not: a gain of 0 comes out as 0.
    """
    n_classes = counts.shape[0]
    if criterion == GINI:
        return _gini(counts, total)
    if criterion == MISCLASSIFICATION or (criterion == NEGATIVE_EXPONENTIAL and parameter == 1.0):
        return total - largest(counts)
    if criterion == NEGATIVE_EXPONENTIAL and parameter > 0.0:
        spread = math.sqrt((n_classes - 1) / n_classes) * _spread(counts, total)
        return min(total - largest(counts), parameter * spread)
    if criterion in (SQRT_GINI, NEGATIVE_EXPONENTIAL):
        return math.sqrt(n_classes / max(1, n_classes - 1)) * _spread(counts, total)
    if criterion == ENTROPY or (criterion == GCE and parameter == 0.0):
        return _entropy(counts, total)
    if criterion == DISTRIBUTION:
        return _distribution(counts, total, table)
    if parameter >= 1.0:
        return (total - largest(counts)) / parameter
    return _generalized_cross_entropy(counts, total, parameter)


@inner_kernel()
def credal_entropy(counts, total, s):
    """Largest entropy when mass `s` is poured on the counts: the smallest ones are filled to one level."""
    n_classes = counts.shape[0]
    level = (total + s) / n_classes
    n_below = n_classes + 1
    while True:
        mass, n_filled = s, 0
        for k in range(n_classes):
            if counts[k] < level:
                mass += counts[k]
                n_filled += 1
        if n_filled == 0 or n_filled >= n_below:  # rounding may fill one more again
            break
        n_below = n_filled
        level = mass / n_filled
    entropy = 0.0
    for k in range(n_classes):
        entropy -= x_log_x(max(counts[k], level) / (total + s))
    return entropy


@inner_kernel()
def _twoing(left, right, n_left, n_right):
    difference = 0.0
    for k in range(left.shape[0]):
        difference += abs(left[k] * n_right - right[k] * n_left)
    n = n_left + n_right
    difference /= n * n
    return difference * difference / 4.0 * (n / n_left) * (n / n_right)


@inner_kernel()
def _credal(criterion, s, counts, left, right, n_left, n_right):
    n = n_left + n_right
    entropy_left = credal_entropy(left, n_left, s)
    entropy_right = credal_entropy(right, n_right, s)
    children = n_left * entropy_left + n_right * entropy_right + s * max(entropy_left, entropy_right)
    gain = credal_entropy(counts, n, s) - children / (n + s)
    if criterion == CREDAL_RATIO:
        gain /= -x_log_x(n_left / n) - x_log_x(n_right / n)
    return gain


@callback(REDUCTION)
def reduction(criterion, parameter, table, n_table, counts, left, right, n_classes):
    """Reduction n g of a split into two children with these class counts, and those of both together."""
    counts = carray(counts, n_classes)
    left = carray(left, n_classes)
    right = carray(right, n_classes)
    n_left, n_right = left.sum(), right.sum()
    n = n_left + n_right
    if criterion <= LAST_IMPURITY:
        table = carray(table, n_table)
        children = weighted_impurity(criterion, parameter, table, left, n_left)
        children += weighted_impurity(criterion, parameter, table, right, n_right)
        return weighted_impurity(criterion, parameter, table, counts, n) - children
    if criterion == TWOING:
        return n * _twoing(left, right, n_left, n_right)
    if criterion == PAIRWISE:
        return 0.5 * abs(left[0] * right[1] - left[1] * right[0]) / n if n_classes == 2 else 0.0
    return n * _credal(criterion, parameter, counts, left, right, n_left, n_right)


def compile_gain(function: Callable[..., float]) -> Any:
    """Compile a user's ``gain(left, right)`` to a function of type `REDUCTION`; NaN and errors become infinity.

    Raises
    ------
    TypeError
        If Numba cannot compile it.
    """
    name = getattr(function, "__name__", repr(function))
    try:
        gain = njit(GAIN, error_model="numpy")(getattr(function, "py_func", function))
    except (NumbaError, TypeError, AttributeError, NotImplementedError) as error:
        # The cause stands between a heading and how Numba came there.
        lines = str(error).split("\nDuring: ")[0].splitlines()
        cause = "\n".join(line for line in lines if not line.startswith("Failed in nopython mode pipeline"))
        raise TypeError(
            f"the criterion function {name}(left, right) must be code that Numba compiles, from two float64 "
            f"vectors to a float: {cause}"
        ) from error

    def compiled(criterion, parameter, table, n_table, counts, left, right, n_classes):
        left = carray(left, n_classes)
        right = carray(right, n_classes)
        # An exception could not leave a callback: it would be printed, for each split.
        try:
            value = gain(left, right) * (left.sum() + right.sum())
        except Exception:  # noqa: BLE001 - Numba knows no other
            return math.inf
        return value if value == value else math.inf

    return cfunc(REDUCTION)(compiled)
