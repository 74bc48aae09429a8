"""Losses of the margin of the label, for two classes.

The margin of the label is ``v = s f`` with s = 1 for class 1 and s = -1 for class 0.  Of a loss phi(v) the
gradient is ``s phi'(v)`` and the second derivative ``phi''(v)``.

A row whose gradient is zero pulls at no tree, and a booster whose rows are all like that never moves; each loss
says where its gradient vanishes.  The libraries read the margin as log-odds, ``p = 1 / (1 + exp(-f))``; where a
loss means something else by it, predicted classes are right and probabilities are not.

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

from ._validation import check_number
from .base import Loss, check_shape
from .softmax import Classes, Floats, Margin, check_labels, sign


class MarginLoss(Loss):
    """A loss phi(v) for two classes; a subclass gives phi and its derivatives, element by element."""

    binary_only = True

    @abstractmethod
    def _phi(self, v: Floats) -> Floats:
        """The loss."""

    @abstractmethod
    def _slope(self, v: Floats) -> Floats:
        """Its derivative."""

    @abstractmethod
    def _bend(self, v: Floats) -> Floats:
        """Its second derivative."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read(y, margin)
        return self._phi(s * f)

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read(y, margin)
        return s * self._slope(s * f)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        s, f = self._read(y, margin)
        return self._bend(s * f)

    def _read(self, y: Classes, margin: Margin) -> tuple[Floats, Floats]:
        """Signs of the labels, and margins in double precision."""
        f = np.asarray(margin, dtype=np.float64)
        check_shape(self, f)
        return sign(check_labels(y, f.size, 2)), f


@dataclass(frozen=True)
class SigmoidLoss(MarginLoss):
    """``1 / (1 + exp(v))`` [1]_: ``1 - p_t``, and symmetric, ``phi(v) + phi(-v) = 1``.

    The gradient is nowhere zero but falls off exponentially on both sides, and so below the smallest double
    beyond margins of about 700.
    """

    def _phi(self, v: Floats) -> Floats:
        phi: Floats = expit(-v)
        return phi

    def _slope(self, v: Floats) -> Floats:
        slope: Floats = -expit(v) * expit(-v)
        return slope

    def _bend(self, v: Floats) -> Floats:
        bend: Floats = expit(v) * expit(-v) * np.tanh(v / 2.0)
        return bend


@dataclass(frozen=True)
class RampLoss(MarginLoss):
    """``min{1, max{0, (1 - v) / 2}}`` [1]_: symmetric, ``phi(v) + phi(-v) = 1``.

    The gradient is zero where ``|v| > 1``, and the second derivative everywhere; at the kinks the slope is that
    of the inside.  A booster that starts from an intercept beyond 1, of classes more unequal than 2.7 to 1,
    gets no gradient at all from any row: start it at 0.
    """

    def _phi(self, v: Floats) -> Floats:
        return np.clip((1.0 - v) / 2.0, 0.0, 1.0)

    def _slope(self, v: Floats) -> Floats:
        return np.where(np.abs(v) <= 1.0, -0.5, 0.0)

    def _bend(self, v: Floats) -> Floats:
        return np.zeros_like(v)


@dataclass(frozen=True)
class SavageLoss(MarginLoss):
    """``1 / (1 + exp(2v))^2``, the loss of SavageBoost [2]_.

    The margin is half the log-odds, as in AdaBoost.  Elsewhere one finds ``1 / (1 + exp(v))^2``, whose margin
    is the log-odds: half the Brier score, ``mse``.  The gradient is nowhere zero but falls off exponentially on
    both sides.
    """

    def _phi(self, v: Floats) -> Floats:
        phi: Floats = expit(-2.0 * v) ** 2
        return phi

    def _slope(self, v: Floats) -> Floats:
        slope: Floats = -4.0 * expit(-2.0 * v) ** 2 * expit(2.0 * v)
        return slope

    def _bend(self, v: Floats) -> Floats:
        wrong, right = expit(-2.0 * v), expit(2.0 * v)
        bend: Floats = 8.0 * wrong**2 * right * (2.0 * right - wrong)
        return bend


@dataclass(frozen=True)
class TangentLoss(MarginLoss):
    """``(2 arctan v - 1)^2``, the loss of TangentBoost [3]_.

    It is bounded and also charges rows that are classified too well: the gradient is zero at
    ``v = tan(1/2) = 0.55`` and positive above.  A probability p of class 1 has the margin ``tan(p - 1/2)``.

    All useful margins lie within 0.55, where steps that suit log-odds are far too long.  So the strategy "irls"
    is ``max(phi'(v) / (v - tan(1/2)), h)``, the curvature of a reweighted quadratic instead of cross entropy:
    the step of a row alone ends at its minimum.
    """

    def _phi(self, v: Floats) -> Floats:
        return self._angle(v) ** 2

    def _slope(self, v: Floats) -> Floats:
        slope: Floats = 4.0 * self._angle(v) / (1.0 + v**2)
        return slope

    def _bend(self, v: Floats) -> Floats:
        bend: Floats = 8.0 * (1.0 - v * self._angle(v)) / (1.0 + v**2) ** 2
        return bend

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        sign, f = self._read(y, margin)
        v = sign * f
        away, bend = v - math.tan(0.5), self._bend(v)
        return np.maximum(np.divide(self._slope(v), away, out=np.zeros_like(v), where=away != 0.0), bend)

    @staticmethod
    def _angle(v: Floats) -> Floats:
        angle: Floats = 2.0 * np.arctan(v) - 1.0
        return angle


@dataclass(frozen=True)
class NegativeExponential(MarginLoss):
    """``min{1, exp(-v - mu)}`` [4]_: exponential loss, capped where the model contradicts the label.

    The gradient is zero where it is capped, ``v < -mu``; at the kink it is that of the exponential.  A booster
    that starts from an intercept beyond mu gets gradients from the rows of one class only.  It is the loss of
    the split criterion of the same name with ``lam = 2 exp(-mu)``.  Where it is not capped the margin is half
    the log-odds, as in AdaBoost.

    Parameters
    ----------
    mu : float, default=ln 4
        Not negative, as below 0 the loss is capped, and does not move, at the margin 0.  The default is that of
        the criterion, lam = 0.5.
    """

    mu: float = math.log(4.0)

    def __post_init__(self) -> None:
        check_number(self, "mu", 0, float("inf"), "[)")

    def _phi(self, v: Floats) -> Floats:
        return np.exp(np.minimum(-v - self.mu, 0.0))

    def _slope(self, v: Floats) -> Floats:
        return -self._bend(v)

    def _bend(self, v: Floats) -> Floats:
        return np.where(v >= -self.mu, self._phi(v), 0.0)
