"""Losses of the probability of the given label, p_t.

Each is a function phi of p_t alone.  With u = ln p_t, probabilities p and r = p - onehot(y), the derivatives
with respect to the margins are

- gradient: ``w r``, the gradient of cross entropy times the weight ``w = -dphi/du`` of the row;
- second derivative: ``w p (1 - p) + b r^2`` with ``b = d2phi/du2``, negative where phi is concave in u.

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

from .base import SoftmaxLoss
from .checks import check_parameter, check_weights
from .curvature import Strategy, check_strategy
from .probability import Probabilities
from .softmax import Classes, Floats, Margin, Softmax, softmax_of, sum_of_others

SMALLEST = np.finfo(np.float64).tiny


class LabelLoss(SoftmaxLoss):
    """A loss phi(p_t); subclasses implement phi and its derivatives with respect to ln p_t, element-wise.

    Attributes
    ----------
    concave : bool
        Whether the loss is a concave function of cross entropy, so that ``d2phi / d(ln p_t)2`` is never
        positive.
    """

    concave: ClassVar[bool] = False

    @abstractmethod
    def _phi(self, probs: Probabilities) -> Floats:
        """The loss."""

    @abstractmethod
    def _weight(self, probs: Probabilities) -> Floats:
        """``-dphi / d ln p_t``, non-negative."""

    @abstractmethod
    def _second_derivative(self, probs: Probabilities) -> Floats:
        """Second derivative of phi with respect to ln p_t."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return self._phi(softmax.of_label(y))

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return softmax.spread(softmax.of_label(y).cached(self._weight)) * softmax.residual(y)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return self._hessian(y, softmax, self._second_derivative(softmax.of_label(y)))

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        # The general formula, simplified.
        y, softmax = self._read_inputs(y, margin)
        return self._hessian(y, softmax, self.irls_terms(softmax.of_label(y))[1])

    def irls_terms(self, probs: Probabilities) -> tuple[Floats | None, Floats | None]:
        """Numbers w and b of each row: the gradient is ``w r``, the "irls" curvature ``w p (1 - p) + b r^2``.

        Parameters
        ----------
        probs : Probabilities
            Those of the labels.

        Returns
        -------
        w : float array of shape (n,) or None
            None stands for 1.
        b : float array of shape (n,) or None
            None stands for 0.
        """
        second = None if self.concave else np.maximum(self._second_derivative(probs), 0.0)
        return probs.cached(self._weight), second

    @classmethod
    def has_terms(cls) -> bool:
        """Whether gradient and curvature follow from `irls_terms`, as no subclass computes them otherwise."""
        names = ("gradient", "hessian", "irls_hessian", "gradient_hessian")
        return all(getattr(cls, name) is getattr(LabelLoss, name) for name in names)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        # The general formula, simplified so that it needs no loop over labels.
        _, softmax = self._read_inputs(y, margin)
        p, rest = softmax.p, softmax.complement
        weighted = p * self._weight(softmax)
        return softmax.shaped(rest**2 * weighted + p**2 * sum_of_others(weighted))

    def _hessian(self, y: Classes, softmax: Softmax, second: Floats | None) -> Floats:
        """``w p (1 - p) + second r^2``; None stands for 0."""
        hessian = softmax.spread(softmax.of_label(y).cached(self._weight)) * softmax.variance
        if second is not None:
            residual = softmax.residual(y)
            # In this order, because r^2 alone may underflow where `second` is large.
            hessian += softmax.spread(second) * residual * residual
        return hessian


@dataclass(frozen=True)
class CrossEntropy(LabelLoss):
    """``-ln p_t``, the built-in loss of XGBoost and LightGBM."""

    concave = True

    def expected_gradient_hessian(
        self, p: Floats, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        # The second derivative is the same for all labels, and so are all strategies but one.
        softmax = margin if isinstance(margin, Softmax) else softmax_of(np.asarray(margin))
        gradient = softmax.shaped(softmax.p - p)
        check_strategy(strategy or self.default_hessian)
        return gradient, np.ones_like(gradient) if strategy == "unit" else softmax.variance

    def irls_terms(self, probs: Probabilities) -> tuple[None, None]:
        return None, None

    def _phi(self, probs: Probabilities) -> Floats:
        return -probs.log_p

    def _weight(self, probs: Probabilities) -> Floats:
        return np.ones_like(probs.complement)

    def _second_derivative(self, probs: Probabilities) -> Floats:
        return np.zeros_like(probs.complement)


@dataclass(frozen=True)
class MeanAbsoluteError(LabelLoss):
    """``sum_k |p_k - onehot_k| = 2 (1 - p_t)`` [2]_; bounded and symmetric.

    Uniform noise does not change its minimiser.  The gradient ``2 p_t (p - onehot)`` vanishes both where the
    model agrees with the label and where it contradicts it.
    """

    concave = True

    def _phi(self, probs: Probabilities) -> Floats:
        return 2.0 * probs.complement

    def _weight(self, probs: Probabilities) -> Floats:
        return 2.0 * probs.p

    def _second_derivative(self, probs: Probabilities) -> Floats:
        return -2.0 * probs.p


@dataclass(frozen=True)
class GeneralizedCrossEntropy(LabelLoss):
    """``(1 - p_t^q) / q``, between cross entropy (q -> 0) and mean absolute error (q = 1) [1]_.

    The gradient is that of cross entropy times p_t^q, so rows that contradict the model count less.

    Parameters
    ----------
    q : float, default=0.7
        In [0, 1]; 0 is the limit, cross entropy.
    """

    concave = True
    q: float = 0.7

    def __post_init__(self) -> None:
        check_parameter(self, "q", 0, 1)

    def _phi(self, probs: Probabilities) -> Floats:
        return _power_loss(probs.log_p, self.q)

    def _weight(self, probs: Probabilities) -> Floats:
        return np.exp(self.q * probs.log_p)

    def _second_derivative(self, probs: Probabilities) -> Floats:
        return -self.q * np.exp(self.q * probs.log_p)


@dataclass(frozen=True)
class SymmetricCrossEntropy(LabelLoss):
    """``alpha CE + beta RCE`` with the reverse cross entropy ``-sum_k p_k ln onehot_k = -A (1 - p_t)`` [3]_.

    Parameters
    ----------
    alpha, beta : float, default=0.1, 1.0
        Weights, non-negative and not both 0.
    A : float, default=-4.0
        Replacement for ln 0, negative.  The code of the paper uses ``ln 1e-4``, about -9.2.
    """

    concave = True
    alpha: float = 0.1
    beta: float = 1.0
    A: float = -4.0

    def __post_init__(self) -> None:
        check_weights(self, "alpha", "beta")
        check_parameter(self, "A", float("-inf"), 0, "()")

    def _phi(self, probs: Probabilities) -> Floats:
        return -self.alpha * probs.log_p - self.beta * self.A * probs.complement

    def _weight(self, probs: Probabilities) -> Floats:
        return self.alpha - self.beta * self.A * probs.p

    def _second_derivative(self, probs: Probabilities) -> Floats:
        return self.beta * self.A * probs.p


class _FocalPowerLoss(LabelLoss):
    """``(1 - p_t)^r (1 - p_t^q) / q``."""

    r: float
    q: float

    def _phi(self, probs: Probabilities) -> Floats:
        return probs.complement**self.r * _power_loss(probs.log_p, self.q)

    def _weight(self, probs: Probabilities) -> Floats:
        power, scaled_loss, rest = self._common_terms(probs)
        return rest**self.r * (power + self.r * scaled_loss)

    def _second_derivative(self, probs: Probabilities) -> Floats:
        power, scaled_loss, rest = self._common_terms(probs)
        p, q, r = probs.p, self.q, self.r
        terms = 2.0 * r * p * power - q * rest * power + r * ((r - 1.0) * p - rest) * scaled_loss
        return rest ** (r - 1.0) * terms

    def _common_terms(self, probs: Probabilities) -> tuple[Floats, Floats, Floats]:
        """``p_t^q``, ``p_t (1 - p_t^q) / (q (1 - p_t))``, and 1 - p_t clipped at the smallest normal double.

        Where clipping has an effect, the residuals that multiply the results are below that number too.
        """
        rest = np.maximum(probs.complement, SMALLEST)
        return np.exp(self.q * probs.log_p), probs.p * _power_loss(probs.log_p, self.q) / rest, rest


@dataclass(frozen=True)
class RobustFocalLoss(_FocalPowerLoss):
    """``(1 - p_t)^r (1 - p_t^q) / q``, focal loss and generalised cross entropy in one, from Robust-GBDT [5]_.

    Parameters
    ----------
    r : float, default=0.5
        Reduces the weight of rows that the model agrees with; non-negative, 0 gives generalised cross entropy.
    q : float, default=0.5
        Reduces the weight of rows that contradict the model; in [0, 1], 0 gives focal loss.
    """

    r: float = 0.5
    q: float = 0.5

    def __post_init__(self) -> None:
        check_parameter(self, "r", 0, float("inf"), "[)")
        check_parameter(self, "q", 0, 1)


@dataclass(frozen=True)
class FocalLoss(_FocalPowerLoss):
    """``-(1 - p_t)^r ln p_t`` [4]_, for imbalance, not noise: rows that the model agrees with count less.

    Parameters
    ----------
    r : float, default=2.0
        Non-negative; 0 gives cross entropy.  The paper calls it gamma.
    """

    r: float = 2.0
    q = 0.0

    def __post_init__(self) -> None:
        check_parameter(self, "r", 0, float("inf"), "[)")


def _power_loss(log_p: Floats, q: float) -> Floats:
    """``(1 - p^q) / q``, or its limit ``-ln p`` for q = 0."""
    return -log_p if q == 0 else -np.expm1(q * log_p) / q
