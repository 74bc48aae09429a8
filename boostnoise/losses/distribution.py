"""The loss induced by a probability distribution (Wilton & Ye, AAAI 2024, Lemmas 6 and 7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .margin import MarginLoss
from .softmax import Floats

STEP = 1e-3  # step of the numerical derivative, as a share of the interquartile range
METHODS = ("cdf", "pdf", "ppf", "support")


@dataclass(frozen=True, repr=False)
class DistributionLoss(MarginLoss):
    """``F(-v)``, with F the distribution function of a continuous distribution.

    The gradient is ``-s`` times the density f at -v.  It is zero where the density is zero: beyond the ends of
    the support, rows have no influence.  The second derivative is ``f'(-v)``, computed by central differences
    of fourth order.  Its error is about 1e-9 if the density is smooth on the scale of its interquartile range.
    Closer to an end of the support than 1/200 of that range, the derivative of ln f is that of the point 1/200
    inside.

    The standard logistic distribution gives the sigmoid loss, the uniform distribution on [-1, 1] the ramp
    loss, and ``mu - Exp(1)``, in SciPy ``scipy.stats.weibull_max(1, loc=mu)``, the negative exponential loss.

    Parameters
    ----------
    dist : frozen continuous distribution of scipy.stats
        It must have no atoms and a bounded density.  Two losses are equal if their distributions have the same
        999 quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import get_loss
    >>> from scipy.stats import norm
    >>> loss = get_loss("distribution", dist=norm(scale=2))
    >>> loss
    DistributionLoss(dist=norm(scale=2))
    >>> loss.value(np.array([0, 1]), np.array([0.0, 2.0])).round(3)
    array([0.5  , 0.159])
    """

    dist: Any = field(compare=False)
    # Frozen distributions compare by identity.  Quantiles identify equal ones after pickling or cloning.
    _quantiles: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        shown = _format_distribution(self.dist)
        if hasattr(self.dist, "pmf") and not hasattr(self.dist, "pdf"):
            raise TypeError(f"dist of DistributionLoss must be continuous, got the discrete {shown}")
        if not all(callable(getattr(self.dist, name, None)) for name in METHODS):
            raise TypeError(
                "dist of DistributionLoss must be a frozen continuous distribution of scipy.stats, with the "
                f"methods {', '.join(METHODS)}; got {shown}"
            )
        probabilities = np.arange(1, 1000) / 1000
        points = np.asarray(
            self.dist.ppf(probabilities) if np.ndim(self.dist.cdf(0.0)) == 0 else np.nan, dtype=float
        )
        if not np.isfinite(points).all():
            raise ValueError(
                f"dist of DistributionLoss must have scalar parameters within their range, got {shown}"
            )
        if not np.allclose(self.dist.cdf(points), probabilities, rtol=0.0, atol=1e-6):
            raise ValueError(f"dist of DistributionLoss must be continuous, got {shown} with an atom")
        ends = [end for end in self.dist.support() if np.isfinite(end)]
        if not np.isfinite(self.dist.pdf(np.append(points, ends))).all():
            raise ValueError(f"dist of DistributionLoss must have a bounded density, got {shown}")
        object.__setattr__(self, "_quantiles", tuple(points.tolist()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dist={_format_distribution(self.dist)})"

    def _phi(self, v: Floats) -> Floats:
        return np.asarray(self.dist.cdf(-v), dtype=np.float64)

    def _derivative(self, v: Floats) -> Floats:
        return -np.asarray(self.dist.pdf(-v), dtype=np.float64)

    def _second_derivative(self, v: Floats) -> Floats:
        f, (low, high) = self.dist.pdf, self.dist.support()
        step = STEP * (self._quantiles[749] - self._quantiles[249])
        inside = np.clip(-v, low + 5.0 * step, high - 5.0 * step)
        rise = 8.0 * (f(inside + step) - f(inside - step)) - (f(inside + 2.0 * step) - f(inside - 2.0 * step))
        density = f(inside)
        positive = density > 0.0
        ratio = np.divide(f(-v), density, out=np.zeros_like(v), where=positive)
        return np.asarray(rise / (12.0 * step) * ratio, dtype=np.float64)


def _format_distribution(dist: Any) -> str:
    """Representation of a frozen distribution as an expression; its own is a memory address."""
    name = getattr(getattr(dist, "dist", None), "name", None)
    if name is None:
        return repr(dist)
    arguments = [repr(value) for value in dist.args] + [f"{key}={value!r}" for key, value in dist.kwds.items()]
    return f"{name}({', '.join(arguments)})"
