"""Monotonic constraints: bounds on the share of the second class in the subtrees of a node.

As in scikit-learn, the children of a split on a constrained feature are in order and within the bounds of their
parent, and the middle between them bounds their subtrees.  The values of leaves are clipped to their bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compile import inlined_kernel


class Monotonic(NamedTuple):
    """Monotonic constraints, and the bounds at the node and column that are searched.

    Attributes
    ----------
    signs : float64 array of shape (n_features,)
        1 if the probability of the second class must not decrease in a feature, -1 if it must not increase,
        and 0 if it is not constrained.
    current : float64 array of shape (3,)
        Lower and upper bound of the share of the second class, and the sign of the feature.
    """

    signs: NDArray[np.float64]
    current: NDArray[np.float64]


def new_monotonic(signs: NDArray[np.int8] | None) -> Monotonic | None:
    """Allocate the constraints; None if there are none."""
    return None if signs is None else Monotonic(signs.astype(np.float64), np.array([0.0, 1.0, 0.0]))


@inlined_kernel()
def keeps_order(monotonic, left, right):
    """Whether a split respects the constraints, given the shares of the second class in both children.

    Splits on other features are allowed, since the values of leaves are clipped.
    """
    lower, upper, sign = monotonic.current[0], monotonic.current[1], monotonic.current[2]
    within = lower <= min(left, right) and max(left, right) <= upper
    return sign == 0.0 or (within and (right - left) * sign >= 0.0)


@inlined_kernel()
def clip_counts(counts, lower, upper):
    """Clip the share of the second class in the counts of a leaf; return whether that changes it."""
    weight = counts[0] + counts[1]
    share = counts[1] / weight
    clipped = min(max(share, lower), upper)
    if clipped == share:
        return False
    counts[0], counts[1] = weight * (1.0 - clipped), weight * clipped
    return True
