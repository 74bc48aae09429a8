"""Integer codes of the criteria, on which the compiled kernels dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

# How the compiled kernels know a criterion; `_gain.py` and `_scan.py` dispatch on these numbers.
GINI, ENTROPY, MISCLASSIFICATION, SQRT_GINI, GCE, NEGATIVE_EXPONENTIAL, DISTRIBUTION = range(7)


LAST_BOUNDED = NEGATIVE_EXPONENTIAL


LAST_IMPURITY = DISTRIBUTION


TWOING, PAIRWISE, CREDAL, CREDAL_RATIO, FUNCTION = range(LAST_IMPURITY + 1, LAST_IMPURITY + 6)
