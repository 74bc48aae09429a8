"""The compiled reduction of all criteria but a user's own.  Importing this module compiles it."""

from numba import carray  # type: ignore[attr-defined]

from .compile import callback
from .criterion_codes import LAST_IMPURITY, NEWTON, PAIRWISE, TWOING
from .gain import REDUCTION, credal, newton, pairwise, twoing, weighted_impurity


@callback(REDUCTION)
def reduction(criterion, parameter, table, n_table, counts, left, right, n_classes):
    """Reduction n g of a split, from the class counts of the node and of its two children."""
    counts = carray(counts, n_classes)
    left = carray(left, n_classes)
    right = carray(right, n_classes)
    n_left, n_right = left.sum(), right.sum()
    n = n_left + n_right
    table = carray(table, n_table)
    if criterion <= LAST_IMPURITY:
        children = weighted_impurity(criterion, parameter, table, left, n_left)
        children += weighted_impurity(criterion, parameter, table, right, n_right)
        return weighted_impurity(criterion, parameter, table, counts, n) - children
    if criterion == TWOING:
        return n * twoing(left, right, n_left, n_right)
    if criterion == PAIRWISE:
        return pairwise(left, right) / n
    if criterion == NEWTON:
        return newton(table, left, right, n_left, n_right)
    return n * credal(criterion, parameter, counts, left, right, n_left, n_right)
