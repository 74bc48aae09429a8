"""Compiled impurities and gains, computed exactly from class counts.

The grower and `Criterion.gain` call the same kernels.  A criterion is passed as plain data, a `Measure`, so one
compiled grower, cached on disk, serves all criteria, including user-defined ones.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, cfunc, njit, types  # type: ignore[attr-defined]
from numba.core.errors import NumbaError
from numba.extending import intrinsic
from numpy.typing import NDArray

from .compile import inner_kernel, merged_kernel, outer_kernel
from .criterion_codes import (
    CREDAL_RATIO,
    DISTRIBUTION,
    ENTROPY,
    GCE,
    GINI,
    MISCLASSIFICATION,
    NEGATIVE_EXPONENTIAL,
    SQRT_GINI,
)

# Rounding error of a gain, relative to the largest impurities, which are about 1.  Sums of integer weights are
# exact, so only the arithmetic of the impurities adds to it; the error of other sums grows with their length.
ROUNDING = 1e-14
EPSILON = np.finfo(np.float64).eps

# Type of a criterion: reduction(code, parameter, table, n_table, counts, left, right, n_classes).
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
# Type of a user's function: gain(left, right).
GAIN = types.float64(types.float64[::1], types.float64[::1])


@inner_kernel(fastmath={"nnan", "nsz", "reassoc"})
def largest(counts):
    """Largest count.  As no count is NaN, fast math lets the compiler compare several at once."""
    value = 0.0
    for k in range(counts.shape[0]):
        value = max(value, counts[k])
    return value


@inner_kernel()
def x_log_x(x):
    """``x ln x``, with 0 at x = 0."""
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
    """``n sqrt(1 - sum p_k^2)``, without the cancellation error that the root would magnify."""
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
    """``n (1 - S^(1-q)) / q`` with ``S = sum p_k^(1/(1-q))``, computed from ``log S``.

    For small q, S is near 1, and ``p^(1+d) = p + p (e^(d ln p) - 1)`` preserves the digits of 1 - S.  For large
    q the powers would underflow, so the largest is factored out of the sum.
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
        max_count = largest(counts)
        powers = 0.0
        for k in range(counts.shape[0]):
            if counts[k] > 0.0:
                powers += (counts[k] / max_count) ** exponent
        log_sum = math.log(powers) + exponent * math.log(max_count / total)
    return -total * math.expm1((1.0 - q) * log_sum) / q


@inner_kernel()
def _distribution(counts, total, table):
    """Minimum of the lines in `table` at p = n_1 / n, times n; see `DistributionCriterion.table`."""
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
    """Weighted impurity n I(p) of a node with class `counts` (K,) that sum to n = `total` > 0.

    The factor n makes gains of 0 come out as 0: ``n - max n_k`` is exact where ``1 - max p_k`` is not.
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
    """Largest entropy after adding mass `s` to the counts, which fills the smallest ones to a common level."""
    n_classes = counts.shape[0]
    level = (total + s) / n_classes
    n_below = n_classes + 1
    while True:
        mass, n_filled = s, 0
        for k in range(n_classes):
            if counts[k] < level:
                mass += counts[k]
                n_filled += 1
        if n_filled == 0 or n_filled >= n_below:  # rounding may let the number of filled counts rise again
            break
        n_below = n_filled
        level = mass / n_filled
    entropy = 0.0
    for k in range(n_classes):
        entropy -= x_log_x(max(counts[k], level) / (total + s))
    return entropy


@inner_kernel()
def twoing(left, right, n_left, n_right):
    difference = 0.0
    for k in range(left.shape[0]):
        difference += abs(left[k] * n_right - right[k] * n_left)
    n = n_left + n_right
    difference /= n * n
    return difference * difference / 4.0 * (n / n_left) * (n / n_right)


@inner_kernel()
def pairwise(left, right):
    total = 0.0
    for j in range(left.shape[0]):
        for k in range(j):
            total += abs(left[j] * right[k] - left[k] * right[j])
    return 0.5 * total


@inner_kernel()
def credal(criterion, s, counts, left, right, n_left, n_right):
    n = n_left + n_right
    entropy_left = credal_entropy(left, n_left, s)
    entropy_right = credal_entropy(right, n_right, s)
    children = n_left * entropy_left + n_right * entropy_right + s * max(entropy_left, entropy_right)
    gain = credal_entropy(counts, n, s) - children / (n + s)
    if criterion == CREDAL_RATIO:
        gain /= -x_log_x(n_left / n) - x_log_x(n_right / n)
    return gain


@inner_kernel()
def newton(table, left, right, n_left, n_right):
    """Gain of `NewtonGain`, whose parameters are in `table`.

    With ``a = H_L + lambda`` and ``b = H_R + lambda`` it equals ``(b G_L - a G_R)^2 / (a b (a + b)) -
    lambda G^2 / ((a + b) (H + lambda)) - gamma``.  Only the first term depends on the split.  Unlike the
    difference of the nodes' scores, it does not cancel, so that useless splits have no gain.
    """
    reg_lambda, gamma, base_score = table[0], table[1], table[2]
    hessian = base_score * (1.0 - base_score)
    gradient_left, gradient_right = base_score * left[0], base_score * right[0]
    if left.shape[0] > 1:
        gradient_left -= (1.0 - base_score) * left[1]
        gradient_right -= (1.0 - base_score) * right[1]
    a, b = hessian * n_left + reg_lambda, hessian * n_right + reg_lambda
    difference = (b * gradient_left - a * gradient_right) / (a + b)
    gradient = gradient_left + gradient_right
    lost = reg_lambda / (a + b - reg_lambda) * gradient * gradient / (a + b)
    return difference * difference / a * ((a + b) / b) - lost - gamma


@intrinsic
def call_at(typing_context, address, code, parameter, table, counts, left, right):
    """Call the function of type `REDUCTION` at an address."""

    def generate(context, builder, signature, arguments):
        integer, number, pointer = ir.IntType(64), ir.DoubleType(), ir.DoubleType().as_pointer()
        function = ir.FunctionType(
            number, [integer, number, pointer, integer, pointer, pointer, pointer, integer]
        )
        lookup, *of_classes = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[3:], arguments[3:], strict=True)
        )
        pointers = [counts.data for counts in of_classes]
        return builder.call(
            builder.inttoptr(arguments[0], function.as_pointer()),
            [*arguments[1:3], lookup.data, lookup.nitems, *pointers, of_classes[0].nitems],
        )

    return types.float64(types.int64, types.int64, types.float64, table, counts, left, right), generate


@merged_kernel()
def reduction_of(measure, counts, left, right):
    """Reduction of a split by a `Measure`, from the class counts of the node and of its children."""
    return call_at(measure.address, measure.code, measure.parameter, measure.table, counts, left, right)


def call_reduction(
    compiled: Any,
    code: int,
    parameter: float,
    table: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
) -> float:
    """Call a compiled function of type `REDUCTION` from Python, with the class counts of the children."""
    arrays = [np.ascontiguousarray(table, dtype=np.float64), left + right, left, right]
    double = ctypes.POINTER(ctypes.c_double)
    lookup, *counts = (array.ctypes.data_as(double) for array in arrays)
    return float(compiled.ctypes(code, parameter, lookup, arrays[0].size, *counts, left.size))


@lru_cache(maxsize=128)
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
        # Numba's message: a heading, the cause, then the call chain that led there.
        lines = str(error).split("\nDuring: ")[0].splitlines()
        cause = "\n".join(line for line in lines if not line.startswith("Failed in nopython mode pipeline"))
        raise TypeError(
            f"criterion function {name}(left, right) must compile with Numba, from two float64 vectors to a "
            f"float: {cause}"
        ) from error

    def compiled(criterion, parameter, table, n_table, counts, left, right, n_classes):
        left = carray(left, n_classes)
        right = carray(right, n_classes)
        # A callback cannot raise: Numba would print the exception at every split.
        try:
            value = gain(left, right) * (left.sum() + right.sum())
        except Exception:  # noqa: BLE001 - the only exception type that Numba can catch
            return math.inf
        return value if value == value else math.inf

    return cfunc(REDUCTION)(compiled)
