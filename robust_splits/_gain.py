"""Compiled impurities and gains.

The grower inlines these kernels; `Criterion.gain` calls the same ones.  The criterion comes as an integer and
one parameter, so that one compiled grower, cached on disk, serves all criteria.
"""

import math

import numpy as np

from ._kernel import kernel
from .criteria import ENTROPY, GCE, GINI, MISCLASSIFICATION, NEGATIVE_EXPONENTIAL, SQRT_GINI

# Gains at or below this share of the parent's impurity are rounding, not gain: the impurities below are sums of
# at most some hundred terms, each off by 1e-16.
ROUNDING = 1e-13


@kernel(inline="always")
def _one_minus_sum_of_squares(counts, total):
    squares = 0.0
    for k in range(counts.shape[0]):
        squares += counts[k] * counts[k]
    return max(0.0, 1.0 - squares / (total * total))


@kernel(inline="always")
def _one_minus_max(counts, total):
    largest = 0.0
    for k in range(counts.shape[0]):
        largest = max(largest, counts[k])
    return 1.0 - largest / total


@kernel(inline="always")
def _entropy(counts, total):
    value = 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0.0:
            p = counts[k] / total
            value -= p * math.log(p)
    return value


@kernel(inline="always")
def _generalized_cross_entropy(counts, total, q):
    # The largest count is taken out of the power sum, which would underflow for q near 1.
    largest = 0.0
    for k in range(counts.shape[0]):
        largest = max(largest, counts[k])
    exponent = 1.0 / (1.0 - q)
    powers = 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0.0:
            powers += (counts[k] / largest) ** exponent
    return (1.0 - largest / total * powers ** (1.0 - q)) / q


@kernel()
def impurity(criterion, parameter, counts, total):
    """Impurity I(p) of a node with class `counts` (K,) that sum to `total` > 0."""
    n_classes = counts.shape[0]
    if criterion == GINI:
        return _one_minus_sum_of_squares(counts, total)
    if criterion == MISCLASSIFICATION or (criterion == NEGATIVE_EXPONENTIAL and parameter == 1.0):
        return _one_minus_max(counts, total)
    if criterion == NEGATIVE_EXPONENTIAL and parameter > 0.0:
        spread = _one_minus_sum_of_squares(counts, total) * (n_classes - 1) / n_classes
        return min(_one_minus_max(counts, total), parameter * math.sqrt(spread))
    if criterion == SQRT_GINI or criterion == NEGATIVE_EXPONENTIAL:  # noqa: SIM109 - what Numba compiles well
        return math.sqrt(_one_minus_sum_of_squares(counts, total) * n_classes / max(1, n_classes - 1))
    if criterion == ENTROPY or (criterion == GCE and parameter == 0.0):
        return _entropy(counts, total)
    if parameter >= 1.0:
        return _one_minus_max(counts, total) / parameter
    return _generalized_cross_entropy(counts, total, parameter)


@kernel()
def split_gain(criterion, parameter, parent_impurity, left, right, n_left, n_right):
    """Gain of a split with class counts `left`, `right` (K,) that sum to `n_left`, `n_right` > 0."""
    children = n_left * impurity(criterion, parameter, left, n_left)
    children += n_right * impurity(criterion, parameter, right, n_right)
    return parent_impurity - children / (n_left + n_right)


@kernel()
def node_gain(criterion, parameter, left, right):
    """Gain of a split from its class counts alone."""
    parent = np.empty_like(left)
    n_left = 0.0
    n_right = 0.0
    for k in range(left.shape[0]):
        parent[k] = left[k] + right[k]
        n_left += left[k]
        n_right += right[k]
    parent_impurity = impurity(criterion, parameter, parent, n_left + n_right)
    return split_gain(criterion, parameter, parent_impurity, left, right, n_left, n_right)
