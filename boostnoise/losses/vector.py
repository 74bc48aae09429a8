"""Losses of all class probabilities, not only of the probability of the label.

Notation: p are the probabilities, t is the given label, ``r = p - onehot(t)``, ``H = -sum_k p_k ln p_k`` is the
entropy, and ``c_k = -ln p_k`` is the cross entropy of label k.

References
----------
.. [1] Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78, 1950.
.. [2] Szegedy, Vanhoucke, Ioffe, Shlens & Wojna, "Rethinking the Inception Architecture for Computer Vision",
       CVPR 2016; Lukasik, Bhojanapalli, Menon & Kumar, "Does label smoothing mitigate label noise?", ICML 2020.
.. [3] Reed, Lee, Anguelov, Szegedy, Erhan & Rabinovich, "Training Deep Neural Networks on Noisy Labels with
       Bootstrapping", ICLR 2015 (workshop).
.. [4] Ma, Huang, Wang, Romano, Erfani & Bailey, "Normalized Loss Functions for Deep Learning with Noisy
       Labels", ICML 2020.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from .base import SoftmaxLoss
from .checks import check_parameter, check_weights
from .label import MeanAbsoluteError
from .softmax import Classes, Floats, Margin, Softmax, sum_of_others


@dataclass(frozen=True)
class BrierScore(SoftmaxLoss):
    """``sum_k (p_k - onehot_k)^2`` [1]_, bounded and proper; for two classes ``2 (1 - p_t)^2``."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        value: Floats = np.square(softmax.residual_by_class(y)).sum(axis=1)
        return value

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return softmax.shaped(self._gradient(y, softmax))

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        p, rest = softmax.p, softmax.complement
        from_squares = 2.0 * p**2 * (rest**2 + sum_of_others(p**2))
        return softmax.shaped((rest - p) * self._gradient(y, softmax) + from_squares)

    def _gradient(self, y: Classes, softmax: Softmax) -> Floats:
        """``2 p_k (r_k - sum_j p_j r_j)``."""
        p, residual = softmax.p, softmax.residual_by_class(y)
        return 2.0 * p * (softmax.complement * residual - sum_of_others(p * residual))


class TargetCrossEntropy(SoftmaxLoss):
    """Cross entropy ``sum_k M[t, k] c_k`` with targets from a matrix M, whose rows sum to 1.

    The gradient is ``p - M[t]`` and the second derivative ``p (1 - p)``, so the loss is convex even if some
    targets are negative.
    """

    @abstractmethod
    def _targets(self, n_classes: int) -> Floats:
        """The matrix M of shape (n_classes, n_classes): the targets of each label."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        value: Floats = -(self._targets(softmax.n_classes)[y] * softmax.log_p).sum(axis=1)
        return value

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        # Subtract the difference between targets and onehot, because p - onehot is accurate to the last digits.
        shift = self._targets(softmax.n_classes) - np.eye(softmax.n_classes)
        return softmax.residual(y) - softmax.shaped(shift.T[:, y].T)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        return self._read_inputs(y, margin)[1].variance

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        return self.exact_hessian(y, margin)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        return self.exact_hessian(y, margin)


@dataclass(frozen=True)
class LabelSmoothing(TargetCrossEntropy):
    """Cross entropy with the targets ``(1 - eps) onehot + eps / K`` [2]_; convex.

    Parameters
    ----------
    eps : float, default=0.1
        In [0, 1); 0 gives cross entropy.
    """

    eps: float = 0.1

    def __post_init__(self) -> None:
        check_parameter(self, "eps", 0, 1, "[)")

    def _targets(self, n_classes: int) -> Floats:
        return (1.0 - self.eps) * np.eye(n_classes) + self.eps / n_classes


@dataclass(frozen=True)
class Bootstrap(SoftmaxLoss):
    """Cross entropy with targets that mix the label and the prediction of the model [3]_.

    Soft: ``-sum_k {beta onehot_k + (1 - beta) p_k} ln p_k = beta CE + (1 - beta) H``.  The gradient includes
    the derivative of the targets; the paper calls this minimum entropy regularisation.

    Hard: ``beta CE + (1 - beta) min_k c_k``, whose second term is the cross entropy of the most probable class
    (the first of several).  The loss has a kink where this class changes.

    Parameters
    ----------
    beta : float, default=0.95
        In (0, 1]; 1 gives cross entropy.  The paper uses 0.95 for the soft and 0.8 for the hard loss.
    hard : bool, default=False
        Whether to use the hard loss.
    """

    beta: float = 0.95
    hard: bool = False

    def __post_init__(self) -> None:
        check_parameter(self, "beta", 0, 1, "(]")
        if not isinstance(self.hard, bool | np.bool_):
            raise TypeError(f"hard of {type(self).__name__} must be True or False, got {self.hard!r}")

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        model_term = softmax.log_p.max(axis=1) if self.hard else (softmax.p * softmax.log_p).sum(axis=1)
        value: Floats = -self.beta * softmax.of_label(y).log_p - (1.0 - self.beta) * model_term
        return value

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        if self.hard:
            model_term = softmax.residual(softmax.log_p.argmax(axis=1))
        else:
            model_term = softmax.shaped(_entropy_gradient(softmax))
        return self.beta * softmax.residual(y) + (1.0 - self.beta) * model_term

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        if self.hard:
            return softmax.variance
        p, rest = softmax.p, softmax.complement
        model_term = softmax.shaped((rest - p) * _entropy_gradient(softmax) - p * rest)
        return self.beta * softmax.variance + (1.0 - self.beta) * model_term

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        return self.exact_hessian(y, margin) if self.hard else super().irls_hessian(y, margin)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return softmax.variance if self.hard else self.beta * softmax.variance


def _entropy_gradient(softmax: Softmax) -> Floats:
    """``-p_k (ln p_k + H)``, the gradient of H, of shape (n, n_classes)."""
    p, log_p = softmax.p, softmax.log_p
    return -p * (softmax.complement * log_p - sum_of_others(p * log_p))


class ActivePassiveLoss(SoftmaxLoss):
    """``alpha NCE + beta P``: normalised cross entropy (active) and a multiple P of ``1 - p_t`` (passive)."""

    alpha: float

    @property
    @abstractmethod
    def mae_weight(self) -> float:
        """The weight of ``2 (1 - p_t)``."""

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        passive = MeanAbsoluteError().value(y, softmax)
        return self.alpha * _nce_value(y, softmax) + self.mae_weight * passive

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        passive = MeanAbsoluteError().gradient(y, softmax)
        return self.alpha * softmax.shaped(_nce_gradient(y, softmax)) + self.mae_weight * passive

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        passive = MeanAbsoluteError().exact_hessian(y, softmax)
        return self.alpha * softmax.shaped(_nce_hessian(y, softmax)) + self.mae_weight * passive


@dataclass(frozen=True)
class NormalizedCrossEntropyMAE(ActivePassiveLoss):
    """``alpha NCE + beta MAE`` with normalised cross entropy ``c_t / sum_k c_k`` [4]_.

    MAE is ``2 (1 - p_t)``, as in the paper; the authors' code uses ``1 - p_t``.

    Parameters
    ----------
    alpha, beta : float, default=1.0
        Weights, non-negative and not both 0.
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        check_weights(self, "alpha", "beta")

    @property
    def mae_weight(self) -> float:
        return self.beta


@dataclass(frozen=True)
class NormalizedCrossEntropyRCE(ActivePassiveLoss):
    """``alpha NCE + beta RCE`` with normalised cross entropy ``c_t / sum_k c_k`` [4]_.

    RCE is the reverse cross entropy ``-A (1 - p_t)``.

    Parameters
    ----------
    alpha, beta : float, default=1.0
        Weights, non-negative and not both 0.
    A : float, default=-4.0
        Replacement for ln 0, negative.  The authors' code uses ``ln 1e-4``, about -9.2.
    """

    alpha: float = 1.0
    beta: float = 1.0
    A: float = -4.0

    def __post_init__(self) -> None:
        check_weights(self, "alpha", "beta")
        check_parameter(self, "A", float("-inf"), 0, "()")

    @property
    def mae_weight(self) -> float:
        return -self.beta * self.A / 2.0


def _nce_value(y: Classes, softmax: Softmax) -> Floats:
    """``c_t / sum_k c_k``."""
    value: Floats = softmax.of_label(y).log_p / softmax.log_p.sum(axis=1)
    return value


def _nce_gradient(y: Classes, softmax: Softmax) -> Floats:
    """``(r_k - N (K p_k - 1)) / C`` with C the sum of all c_k and N = c_t / C.

    Computed by the quotient rule, from differences of log probabilities: the formula above would lose all
    digits where a probability is near 1.
    """
    p, rest, ce = softmax.p, softmax.complement, -softmax.log_p
    at_label = np.arange(y.size), y
    ce_t = ce[at_label][:, np.newaxis]
    scaled = p * (ce + sum_of_others(ce - ce_t)) + rest * ce_t
    at_others = sum_of_others(ce)[at_label]
    scaled[at_label] = -at_others * rest[at_label] - (softmax.n_classes - 1) * ce[at_label] * p[at_label]
    total = ce.sum(axis=1)[:, np.newaxis]
    gradient: Floats = scaled / total**2
    return gradient


def _nce_hessian(y: Classes, softmax: Softmax) -> Floats:
    """``{(1 - K N) p_k (1 - p_k) - 2 (K p_k - 1) g_k} / C`` with g the gradient."""
    p, ce = softmax.p, -softmax.log_p
    ce_t = ce[np.arange(y.size), y][:, np.newaxis]
    total = ce.sum(axis=1)[:, np.newaxis]
    excess = (ce - ce_t).sum(axis=1)[:, np.newaxis] / total
    n_classes = softmax.n_classes
    hessian: Floats = (
        excess * p * softmax.complement - 2.0 * (n_classes * p - 1.0) * _nce_gradient(y, softmax)
    ) / total
    return hessian
