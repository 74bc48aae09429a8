"""Impurities of losses of two classes: the minimum of lines in the proportion of the second class."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ._kernels.criterion_codes import DISTRIBUTION
from .criterion import Impurity

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LineImpurity(Impurity):
    """``I(p) = min over predictions of {(1 - p) loss of class 0 + p loss of class 1}``, for two classes.

    Each prediction is a line in p.  The minimum of lines is concave, as impurities are.
    """

    code = DISTRIBUTION

    def _losses(self) -> NDArray[np.float64]:
        """Losses of many predictions: the first column if the class is 0, the second one if it is 1."""
        raise NotImplementedError

    # Functions and frozen distributions compare by identity, so an estimator's clone would have another one.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    @property
    def parameter(self) -> float:
        """Always 0; the kernel needs the table only."""
        return 0.0

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Lines whose minimum is the impurity: start of each in p, then values at p = 0, then at p = 1."""
        at_zero, at_one = _lower_left_hull(np.unique(self._losses(), axis=0)).T
        rise = np.diff(at_zero)
        begins = np.concatenate([[0.0], rise / (rise - np.diff(at_one))])
        return np.concatenate([begins, at_zero, at_one])

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError for more than two classes."""
        if n_classes > 2:
            raise ValueError(f"{type(self).__name__} is for two classes, got {n_classes}")


def _lower_left_hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower left convex hull of points sorted by x, then y: the minimisers of weighted means of x and y."""
    hull: list[tuple[float, float]] = []
    for x, y in points.tolist():
        if hull and y >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (x1, y1), (x2, y2) = hull[-2:]
            if (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1) > 0:
                break
            hull.pop()
        hull.append((x, y))
    return np.array(hull)
