"""Compiled impurities and gains.

The grower inlines these kernels; `Criterion.gain` calls the same ones.  The criterion comes as an integer and
one parameter, so that one compiled grower, cached on disk, serves all criteria.
"""

import math

import numpy as np

from ._kernel import kernel
from .criteria import ENTROPY, GCE, GINI, MISCLASSIFICATION, NEGATIVE_EXPONENTIAL, SQRT_GINI

# Rounding of a gain, relative to the largest impurities, which are about 1.  Sums of whole weights are exact,
# and only the arithmetic of the impurities counts; sums of other weights are off by as much as their number.
ROUNDING = 1e-14
EPSILON = np.finfo(np.float64).eps


@kernel(inline="always")
def _largest(counts):
    largest = 0.0
    for k in range(counts.shape[0]):
        largest = max(largest, counts[k])
    return largest


@kernel(inline="always")
def _gini(counts, total):
    """``n (1 - sum p_k^2)``."""
    squares = 0.0
    for k in range(counts.shape[0]):
        squares += counts[k] * counts[k]
    return max(0.0, total - squares / total)


@kernel(inline="always")
def _entropy(counts, total):
    value = 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0.0:
            value -= counts[k] * math.log(counts[k] / total)
    return value


@kernel(inline="always")
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
        largest = _largest(counts)
        powers = 0.0
        for k in range(counts.shape[0]):
            if counts[k] > 0.0:
                powers += (counts[k] / largest) ** exponent
        log_sum = math.log(powers) + exponent * math.log(largest / total)
    return -total * math.expm1((1.0 - q) * log_sum) / q


@kernel()
def weighted_impurity(criterion, parameter, counts, total):
    """Impurity n I(p) of a node with class `counts` (K,) that sum to n = `total` > 0.

    Times n, because ``n - max n_k`` is exact where ``1 - max p_k`` is not: a gain of 0 comes out as 0.
    """
    n_classes = counts.shape[0]
    if criterion == GINI:
        return _gini(counts, total)
    if criterion == MISCLASSIFICATION or (criterion == NEGATIVE_EXPONENTIAL and parameter == 1.0):
        return total - _largest(counts)
    if criterion == NEGATIVE_EXPONENTIAL and parameter > 0.0:
        spread = math.sqrt(total * _gini(counts, total) * (n_classes - 1) / n_classes)
        return min(total - _largest(counts), parameter * spread)
    if criterion == SQRT_GINI or criterion == NEGATIVE_EXPONENTIAL:  # noqa: SIM109 - not known to Numba
        return math.sqrt(total * _gini(counts, total) * n_classes / max(1, n_classes - 1))
    if criterion == ENTROPY or (criterion == GCE and parameter == 0.0):
        return _entropy(counts, total)
    if parameter >= 1.0:
        return (total - _largest(counts)) / parameter
    return _generalized_cross_entropy(counts, total, parameter)


@kernel()
def split_gain(criterion, parameter, parent, left, right, n_left, n_right):
    """Gain of a split with class counts `left`, `right` (K,) that sum to `n_left`, `n_right` > 0.

    `parent` is the weighted impurity of the node.
    """
    children = weighted_impurity(criterion, parameter, left, n_left)
    children += weighted_impurity(criterion, parameter, right, n_right)
    return (parent - children) / (n_left + n_right)


@kernel()
def node_gain(criterion, parameter, left, right):
    """Gain of a split from its class counts alone."""
    counts = left + right
    n_left = left.sum()
    n_right = right.sum()
    parent = weighted_impurity(criterion, parameter, counts, n_left + n_right)
    return split_gain(criterion, parameter, parent, left, right, n_left, n_right)
