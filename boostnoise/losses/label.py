"""Losses of the probability of the given label, p_t.

Each is a function phi of p_t alone.  With u = ln p_t, p the probabilities and r = p - onehot(y), the
derivatives by the margins are

- gradient: ``w r`` with the weight ``w = -dphi/du``: cross entropy's, times what the loss trusts the row;
- second derivative: ``w p (1 - p) + b r^2`` with the bend ``b = d2phi/du2``, negative where the loss is
  concave.

References
----------
.. [1] Zhang & Sabuncu, "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy Labels",
       NeurIPS 2018.
.. [2] Ghosh, Kumar & Sastry, "Robust Loss Functions under Label Noise for Deep Neural Networks", AAAI 2017.
.. [3] Wang, Ma, Chen, Luo, Yi & Bailey, "Symmetric Cross Entropy for Robust Learning with Noisy Labels",
       ICCV 2019.
.. [4] Lin, Goyal, Girshick, He & Dollár, "Focal Loss for Dense Object Detection", ICCV 2017.
.. [5] Luo, Quan & Xu, "Robust-GBDT: GBDT with Nonconvex Loss for Tabular Classification in the Presence of
       Label Noise and Class Imbalance", 2023, arXiv 2310.05067.
.. [6] Sypherd, Nock & Sankar, "Being Properly Improper", ICML 2022.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._validation import check_number, check_weights
from .base import SoftmaxLoss
from .probability import Probabilities
from .softmax import Classes, Floats, Margin, Softmax, sum_of_others

SMALLEST = np.finfo(np.float64).tiny


class LabelLoss(SoftmaxLoss):
    """A loss phi(p_t); a subclass gives phi and its derivatives by ln p_t, element by element.

    Attributes
    ----------
    concave : bool
        Whether the loss is a concave function of cross entropy, so that its bend is nowhere positive.
    """

    concave: ClassVar[bool] = False

    @abstractmethod
    def _phi(self, of: Probabilities) -> Floats:
        """The loss."""

    @abstractmethod
    def _weight(self, of: Probabilities) -> Floats:
        """``-dphi / d ln p_t``, not negative."""

    @abstractmethod
    def _bend(self, of: Probabilities) -> Floats:
        """Second derivative of phi with respect to ln p_t."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read(y, margin)
        return self._phi(softmax.of_label(y))

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read(y, margin)
        return softmax.spread(softmax.of_label(y).once(self._weight)) * softmax.residual(y)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read(y, margin)
        return self._curved(y, softmax, self._bend(softmax.of_label(y)))

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        # What the general formula comes to.
        y, softmax = self._read(y, margin)
        bend = None if self.concave else np.maximum(self._bend(softmax.of_label(y)), 0.0)
        return self._curved(y, softmax, bend)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        # What the general formula comes to, without a pass for each label.
        _, softmax = self._read(y, margin)
        p, rest = softmax.p, softmax.complement
        weighted = p * self._weight(softmax)
        return softmax.shaped(rest**2 * weighted + p**2 * sum_of_others(weighted))

    def _curved(self, y: Classes, softmax: Softmax, bend: Floats | None) -> Floats:
        """``w p (1 - p) + bend r^2``; None stands for a bend of 0."""
        curved = softmax.spread(softmax.of_label(y).once(self._weight)) * softmax.variance
        if bend is not None:
            residual = softmax.residual(y)
            # In this order: r^2 alone may be too small for a double where the bend is large.
            curved += softmax.spread(bend) * residual * residual
        return curved


@dataclass(frozen=True)
class CrossEntropy(LabelLoss):
    """``-ln p_t``, the loss that XGBoost and LightGBM minimise themselves."""

    concave = True

    def _phi(self, of: Probabilities) -> Floats:
        return -of.log_p

    def _weight(self, of: Probabilities) -> Floats:
        return np.ones_like(of.p)

    def _bend(self, of: Probabilities) -> Floats:
        return np.zeros_like(of.p)


@dataclass(frozen=True)
class MeanAbsoluteError(LabelLoss):
    """``sum_k |p_k - onehot_k| = 2 (1 - p_t)`` [2]_: bounded, and symmetric.

    Uniform noise does not move its minimiser.  The gradient ``2 p_t (p - onehot)`` vanishes where the model
    contradicts the label as well as where it agrees.
    """

    concave = True

    def _phi(self, of: Probabilities) -> Floats:
        return 2.0 * of.complement

    def _weight(self, of: Probabilities) -> Floats:
        return 2.0 * of.p

    def _bend(self, of: Probabilities) -> Floats:
        return -2.0 * of.p


class _PowerLoss(LabelLoss):
    """``(1 - p_t^q) / q``."""

    q: float
    concave = True

    def _phi(self, of: Probabilities) -> Floats:
        return _power_gap(of.log_p, self.q)

    def _weight(self, of: Probabilities) -> Floats:
        return np.exp(self.q * of.log_p)

    def _bend(self, of: Probabilities) -> Floats:
        return -self.q * np.exp(self.q * of.log_p)


@dataclass(frozen=True)
class GeneralizedCrossEntropy(_PowerLoss):
    """``(1 - p_t^q) / q``: between cross entropy (q -> 0) and mean absolute error (q = 1) [1]_.

    A row's gradient is that of cross entropy times p_t^q, so rows that contradict the model count less.

    Parameters
    ----------
    q : float, default=0.7
        In [0, 1]; 0 stands for the limit, cross entropy.
    """

    q: float = 0.7

    def __post_init__(self) -> None:
        check_number(self, "q", 0, 1)


@dataclass(frozen=True)
class AlphaLoss(_PowerLoss):
    """``a / (a - 1) (1 - p_t^(1 - 1/a))``, the alpha-loss of PILBoost [6]_.

    It equals generalised cross entropy with ``q = 1 - 1/a``.

    Parameters
    ----------
    a : float, default=2.0
        In [1, inf]; 1 stands for the limit, cross entropy, and inf for ``1 - p_t``.  Values below 1, which the
        paper has as well, make a loss less robust than cross entropy.
    """

    a: float = 2.0

    def __post_init__(self) -> None:
        check_number(self, "a", 1, float("inf"))

    @property
    def q(self) -> float:  # type: ignore[override]
        """The exponent of generalised cross entropy."""
        return 1.0 - 1.0 / self.a


@dataclass(frozen=True)
class SymmetricCrossEntropy(LabelLoss):
    """``alpha CE + beta RCE`` with the reverse cross entropy ``-sum_k p_k ln onehot_k = -A (1 - p_t)`` [3]_.

    Parameters
    ----------
    alpha, beta : float, default=0.1, 1.0
        Weights, not negative and not both 0.
    A : float, default=-4.0
        What stands for ln 0, negative.  The paper's own code has ``ln 1e-4``, about -9.2.
    """

    concave = True
    alpha: float = 0.1
    beta: float = 1.0
    A: float = -4.0

    def __post_init__(self) -> None:
        check_weights(self, "alpha", "beta")
        check_number(self, "A", float("-inf"), 0, "()")

    def _phi(self, of: Probabilities) -> Floats:
        return -self.alpha * of.log_p - self.beta * self.A * of.complement

    def _weight(self, of: Probabilities) -> Floats:
        return self.alpha - self.beta * self.A * of.p

    def _bend(self, of: Probabilities) -> Floats:
        return self.beta * self.A * of.p


class _FocalPowerLoss(LabelLoss):
    """``(1 - p_t)^r (1 - p_t^q) / q``."""

    r: float
    q: float

    def _phi(self, of: Probabilities) -> Floats:
        return of.complement**self.r * _power_gap(of.log_p, self.q)

    def _weight(self, of: Probabilities) -> Floats:
        power, scaled_gap, rest = self._parts(of)
        return rest**self.r * (power + self.r * scaled_gap)

    def _bend(self, of: Probabilities) -> Floats:
        power, scaled_gap, rest = self._parts(of)
        p, q, r = of.p, self.q, self.r
        terms = 2.0 * r * p * power - q * rest * power + r * ((r - 1.0) * p - rest) * scaled_gap
        return rest ** (r - 1.0) * terms

    def _parts(self, of: Probabilities) -> tuple[Floats, Floats, Floats]:
        """``p_t^q``, ``p_t (1 - p_t^q) / (q (1 - p_t))``, and 1 - p_t kept from 0.

        Where 1 - p_t is less than the smallest double so are the residuals that multiply weight and bend.
        """
        rest = np.maximum(of.complement, SMALLEST)
        return np.exp(self.q * of.log_p), of.p * _power_gap(of.log_p, self.q) / rest, rest


@dataclass(frozen=True)
class RobustFocalLoss(_FocalPowerLoss):
    """``(1 - p_t)^r (1 - p_t^q) / q``, focal and generalised cross entropy in one, of Robust-GBDT [5]_.

    Parameters
    ----------
    r : float, default=0.5
        How much less the rows count that the model agrees with; not negative, 0 gives generalised cross
        entropy.
    q : float, default=0.5
        How much less those count that contradict it; in [0, 1], 0 gives focal loss.
    """

    r: float = 0.5
    q: float = 0.5

    def __post_init__(self) -> None:
        check_number(self, "r", 0, float("inf"), "[)")
        check_number(self, "q", 0, 1)


@dataclass(frozen=True)
class FocalLoss(_FocalPowerLoss):
    """``-(1 - p_t)^r ln p_t`` [4]_: rows that the model agrees with count less; for imbalance, not noise.

    Parameters
    ----------
    r : float, default=2.0
        Not negative; 0 gives cross entropy.  The paper calls it gamma.
    """

    r: float = 2.0
    q = 0.0

    def __post_init__(self) -> None:
        check_number(self, "r", 0, float("inf"), "[)")


def _power_gap(log_p: Floats, q: float) -> Floats:
    """``(1 - p^q) / q``, for q = 0 its limit ``-ln p``."""
    return -log_p if q == 0 else -np.expm1(q * log_p) / q
