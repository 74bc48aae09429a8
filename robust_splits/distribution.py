"""Split criteria from probability distributions (Wilton & Ye 2024, Lemmas 6 to 8).

A distribution function F defines the loss ``l(y, v) = F(-y v)`` of a prediction v for a label y in {-1, 1}, and
thereby the impurity ``I(p) = inf_v {p F(-v) + (1 - p) F(v)}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kernels.criterion_codes import DISTRIBUTION
from .criteria import Impurity

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Number of quantiles for the infimum, equally spaced in log odds from -MAX_LOG_ODDS to MAX_LOG_ODDS.
N_QUANTILES = 1 << 14
MAX_LOG_ODDS = 25.0


@dataclass(frozen=True)
class DistributionCriterion(Impurity):
    """Impurity of the loss ``F(-y v)``, for two classes; the second class is y = 1.

    The infimum is taken over the predictions v for which v or -v is one of 2^14 quantiles of the distribution,
    and over infinite v.  The minimum of the resulting lines in p is concave, as the impurity is.  For smooth
    distributions its relative error is below 1e-6.

    Parameters
    ----------
    distribution : frozen distribution of scipy.stats
        Any object with methods ``cdf`` and ``ppf``.  Distributions with ``F(z) + F(-z) = 1``, such as a
        logistic or uniform distribution centred at 0, all give the misclassification rate ``min{p, 1-p}``.
        ``mu - Exp(1)`` gives the negative exponential criterion with ``lam = 2 exp(-mu)``.

    Examples
    --------
    >>> from robust_splits import DistributionCriterion
    >>> from scipy.stats import logistic
    >>> DistributionCriterion(logistic()).impurity([1, 3])
    0.25
    """

    distribution: Any
    code = DISTRIBUTION

    def __post_init__(self) -> None:
        if not all(callable(getattr(self.distribution, name, None)) for name in ("cdf", "ppf")):
            raise TypeError(
                "distribution of DistributionCriterion must be a frozen distribution of scipy.stats, with "
                f"methods cdf and ppf; got {self.distribution!r}"
            )
        if not np.isfinite(self.table).all():
            raise ValueError(f"cdf and ppf of {self.distribution!r} must be numbers; some are NaN or infinite")

    # Frozen distributions compare by identity, so an estimator's clone would have another criterion.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, DistributionCriterion) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    @property
    def parameter(self) -> float:
        """Always 0; the kernel needs the table only."""
        return 0.0

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Lines whose minimum is the impurity: start of each in p, then values at p = 0, then at p = 1."""
        odds = np.linspace(-MAX_LOG_ODDS, MAX_LOG_ODDS, N_QUANTILES)
        quantiles = np.asarray(self.distribution.ppf(1 / (1 + np.exp(-odds))), dtype=float)
        # Jumps of F lie at quantiles; include both of their sides.
        points = np.concatenate([quantiles, np.nextafter(quantiles, -np.inf)])
        v = np.unique(np.concatenate([points, -points, [0.0]]))
        at_one = np.concatenate([self.distribution.cdf(-v), [0.0, 1.0]])
        at_zero = np.concatenate([self.distribution.cdf(v), [1.0, 0.0]])
        ends = np.unique(np.column_stack([at_zero, at_one]), axis=0)
        hull = _lower_left_hull(ends)
        at_zero, at_one = hull.T
        rise = np.diff(at_zero)
        begins = np.concatenate([[0.0], rise / (rise - np.diff(at_one))])
        return np.concatenate([begins, at_zero, at_one])

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError for more than two classes."""
        if n_classes > 2:
            raise ValueError(f"DistributionCriterion is for two classes, got {n_classes}")


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
