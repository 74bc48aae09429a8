"""A split criterion for trees and forests."""

import numpy as np


def balance(left, right):
    """Gain of a split: the difference of the children's class shares, less for children of unequal weight.

    Numba compiles the function.  It gets the weighted class counts of both children, and must not change them.
    """
    n_left, n_right = left.sum(), right.sum()
    difference = np.abs(left / n_left - right / n_right).sum()
    return difference * n_left * n_right / (n_left + n_right) ** 2
