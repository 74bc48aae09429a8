"""Losses of the margin of the label, for two classes.

The margin of the label is ``v = s f`` with s = 1 for class 1 and s = -1 for class 0.  The gradient of a loss
phi(v) is ``s phi'(v)``, its second derivative ``phi''(v)``.

A row with zero gradient has no influence on the trees, and a booster whose rows all have zero gradient does not
learn; the docstring of each loss says where its gradient vanishes.  The libraries interpret the margin as
log-odds, ``p = 1 / (1 + exp(-f))``.  For losses with another interpretation, predicted classes are correct but
probabilities are not.

References
----------
.. [1] Charoenphakdee, Lee & Sugiyama, "On Symmetric Losses for Learning from Corrupted Labels", ICML 2019.
.. [2] Masnadi-Shirazi & Vasconcelos, "On the Design of Loss Functions for Classification: theory, robustness to
       outliers, and SavageBoost", NeurIPS 2008.
.. [3] Masnadi-Shirazi, Mahadevan & Vasconcelos, "On the Design of Robust Classifiers for Computer Vision",
       CVPR 2010.
.. [4] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .base import Loss, check_shape
from .checks import check_parameter
from .softmax import Classes, Floats, Margin, check_labels, sign


class MarginLoss(Loss):
    """A loss phi(v) for two classes; subclasses implement phi and its derivatives, element-wise."""

    binary_only = True

    @abstractmethod
    def _phi(self, v: Floats) -> Floats:
        """The loss."""

    @abstractmethod
    def _derivative(self, v: Floats) -> Floats:
        """The derivative of the loss."""

    @abstractmethod
    def _second_derivative(self, v: Floats) -> Floats:
        """The second derivative of the loss."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read_inputs(y, margin)
        return self._phi(s * f)

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read_inputs(y, margin)
        return s * self._derivative(s * f)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read_inputs(y, margin)
        return self._second_derivative(s * f)

    def _read_inputs(self, y: Classes, margin: Margin) -> tuple[Floats, Floats]:
        """Check labels and margins; return signs of the labels, and margins in double precision."""
        f = np.asarray(margin, dtype=np.float64)
        check_shape(self, f)
        return sign(check_labels(y, f.size, 2)), f


@dataclass(frozen=True)
class RampLoss(MarginLoss):
    """``min{1, max{0, (1 - v) / 2}}`` [1]_; symmetric, ``phi(v) + phi(-v) = 1``.

    The gradient is zero where ``|v| > 1``, and the second derivative is zero everywhere; at the kinks the
    derivative is that of the inner side.  If a booster starts from an intercept beyond 1, which is that of
    classes more unequal than 2.7 to 1, all gradients are zero: start it at 0.
    """

    def _phi(self, v: Floats) -> Floats:
        return np.clip((1.0 - v) / 2.0, 0.0, 1.0)

    def _derivative(self, v: Floats) -> Floats:
        return np.where(np.abs(v) <= 1.0, -0.5, 0.0)

    def _second_derivative(self, v: Floats) -> Floats:
        return np.zeros_like(v)


@dataclass(frozen=True)
class SavageLoss(MarginLoss):
    """``1 / (1 + exp(2v))^2``, the loss of SavageBoost [2]_.

    The margin is half the log-odds, as in AdaBoost.  Other sources define ``1 / (1 + exp(v))^2``, whose margin
    is the log-odds; this is half the Brier score, ``mse``.  The gradient is nowhere zero but decays
    exponentially on both sides.
    """

    def _phi(self, v: Floats) -> Floats:
        phi: Floats = expit(-2.0 * v) ** 2
        return phi

    def _derivative(self, v: Floats) -> Floats:
        derivative: Floats = -4.0 * expit(-2.0 * v) ** 2 * expit(2.0 * v)
        return derivative

    def _second_derivative(self, v: Floats) -> Floats:
        wrong, right = expit(-2.0 * v), expit(2.0 * v)
        second: Floats = 8.0 * wrong**2 * right * (2.0 * right - wrong)
        return second


@dataclass(frozen=True)
class TangentLoss(MarginLoss):
    """``(2 arctan v - 1)^2``, the loss of TangentBoost [3]_.

    The loss is bounded, and also penalises rows that are classified too confidently: the gradient is zero at
    ``v = tan(1/2) = 0.55`` and positive above.  A probability p of class 1 has the margin ``tan(p - 1/2)``.

    All useful margins are within 0.55, so steps suited to log-odds are far too long.  The strategy "irls" is
    therefore ``max(phi'(v) / (v - tan(1/2)), h)``, the curvature of a reweighted quadratic instead of cross
    entropy, with which the step of a single row ends at its minimum.
    """

    def _phi(self, v: Floats) -> Floats:
        return self._angle(v) ** 2

    def _derivative(self, v: Floats) -> Floats:
        derivative: Floats = 4.0 * self._angle(v) / (1.0 + v**2)
        return derivative

    def _second_derivative(self, v: Floats) -> Floats:
        second: Floats = 8.0 * (1.0 - v * self._angle(v)) / (1.0 + v**2) ** 2
        return second

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read_inputs(y, margin)
        v = s * f
        distance = v - math.tan(0.5)
        quadratic = np.divide(self._derivative(v), distance, out=np.zeros_like(v), where=distance != 0.0)
        return np.maximum(quadratic, self._second_derivative(v))

    @staticmethod
    def _angle(v: Floats) -> Floats:
        angle: Floats = 2.0 * np.arctan(v) - 1.0
        return angle


@dataclass(frozen=True)
class NegativeExponential(MarginLoss):
    """``min{1, exp(-v - mu)}`` [4]_; exponential loss, capped where the model contradicts the label.

    The gradient is zero where the loss is capped, ``v < -mu``; at the kink it is that of the exponential.  If a
    booster starts from an intercept beyond mu, only the rows of one class have a gradient.  This is the loss of
    the split criterion of the same name with ``lam = 2 exp(-mu)``.  Where it is not capped, the margin is half
    the log-odds, as in AdaBoost.

    Parameters
    ----------
    mu : float, default=ln 4
        Non-negative, because with mu < 0 the loss would be capped at margin 0, with zero gradient.  The default
        equals that of the criterion, lam = 0.5.
    """

    mu: float = math.log(4.0)

    def __post_init__(self) -> None:
        check_parameter(self, "mu", 0, float("inf"), "[)")

    def _phi(self, v: Floats) -> Floats:
        return np.exp(np.minimum(-v - self.mu, 0.0))

    def _derivative(self, v: Floats) -> Floats:
        return -self._second_derivative(v)

    def _second_derivative(self, v: Floats) -> Floats:
        return np.where(v >= -self.mu, self._phi(v), 0.0)
