"""Losses in margin space: value, gradient and curvature, binary and softmax.

Notation: y is the given class number, f the margin.  Two classes: f has shape (n,), the probability of class 1
is ``p = 1 / (1 + exp(-f))``.  K classes: f has shape (n, K), ``p = softmax(f)``.  In both, p_t is the
probability of the given class.

References
----------
.. [1] Zhang & Sabuncu, "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy Labels",
       NeurIPS 2018.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

Floats = NDArray[np.float64]
Classes = NDArray[np.integer]


class Loss(ABC):
    """A loss of a class number and a margin; use a subclass."""

    @abstractmethod
    def value(self, y: Classes, margin: Floats) -> Floats:
        """Loss of each row.

        Parameters
        ----------
        y : integer array of shape (n,)
            Class numbers, 0 to K - 1.
        margin : float array of shape (n,) for two classes, else (n, K)

        Returns
        -------
        float array of shape (n,)
        """

    @abstractmethod
    def gradient(self, y: Classes, margin: Floats) -> Floats:
        """Derivative of the value with respect to `margin`, in the shape of `margin`."""

    @abstractmethod
    def hessian(self, y: Classes, margin: Floats) -> Floats:
        """Positive curvature for a Newton step, in the shape of `margin`.

        For a loss that is not convex this is not the second derivative, but that of a convex function which
        lies above the loss and touches it at `margin`.
        """


@dataclass(frozen=True)
class GeneralizedCrossEntropy(Loss):
    """``(1 - p_t^q) / q``: between cross entropy (q -> 0) and mean absolute error (q = 1) [1]_.

    A row's gradient is that of cross entropy times p_t^q, so rows that contradict the model count less; the
    curvature is weighted in the same way, ``p_t^q p (1 - p)``, as in iteratively reweighted least squares.

    Parameters
    ----------
    q : float, default=0.7
        In [0, 1]; 0 stands for the limit, cross entropy.
    """

    q: float = 0.7

    def __post_init__(self) -> None:
        if isinstance(self.q, bool) or not isinstance(self.q, Real):
            raise TypeError(f"q of {type(self).__name__} must be a number, got {self.q!r}")
        if not 0 <= self.q <= 1:
            raise ValueError(f"q of {type(self).__name__} must be in [0, 1], got {self.q!r}")

    def value(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        log_p_t = _log_probability_of_label(y, margin)
        return -log_p_t if self.q == 0 else -np.expm1(self.q * log_p_t) / self.q

    def gradient(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        return self._confidence(y, margin) * _residual(y, margin)

    def hessian(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        return self._confidence(y, margin) * _variance(margin)

    def _confidence(self, y: Classes, margin: Floats) -> Floats:
        """p_t^q, in a shape that broadcasts with `margin`."""
        confidence = np.exp(self.q * _log_probability_of_label(y, margin))
        return confidence if margin.ndim == 1 else confidence[:, np.newaxis]


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """``-ln p_t``, the loss that XGBoost and LightGBM minimise themselves."""

    def value(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        return -_log_probability_of_label(y, margin)

    def gradient(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        return _residual(y, margin)

    def hessian(self, y: Classes, margin: Floats) -> Floats:  # noqa: D102
        return _variance(margin)


LOSSES: dict[str, type[Loss]] = {"ce": CrossEntropy, "gce": GeneralizedCrossEntropy}


def get_loss(loss: str | Loss, **params: Any) -> Loss:
    """Loss object from its name.

    Parameters
    ----------
    loss : str or Loss
        ``"ce"``, ``"gce"``, or an object, which is handed back.
    **params
        Parameters of the loss, such as ``q=0.5`` for ``"gce"``.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If the name is unknown (the message lists those known) or a parameter is unknown or out of range.
    TypeError
        If `loss` is neither a string nor a loss, or is an object and parameters are given as well.

    Examples
    --------
    >>> from boostnoise import get_loss
    >>> get_loss("gce", q=0.5)
    GeneralizedCrossEntropy(q=0.5)
    """
    if isinstance(loss, Loss):
        if params:
            raise TypeError(f"parameters come with the name of a loss, not with an object; got {params!r}")
        return loss
    if not isinstance(loss, str):
        raise TypeError(f"loss must be a name or a Loss, got {loss!r}")
    if loss not in LOSSES:
        raise ValueError(f"loss {loss!r} is unknown; known are {', '.join(LOSSES)}")
    known = getattr(LOSSES[loss], "__dataclass_fields__", {})
    for name in params:
        if name not in known:
            raise ValueError(f"loss {loss!r} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
    return LOSSES[loss](**params)


def probabilities(margin: Floats) -> Floats:
    """Class probabilities of shape (n, K) from margins of shape (n,) or (n, K)."""
    if margin.ndim == 1:
        return np.column_stack([expit(-margin), expit(margin)])
    p: Floats = softmax(margin, axis=1)
    return p


def _log_probability_of_label(y: Classes, margin: Floats) -> Floats:
    if margin.ndim == 1:
        log_p: Floats = log_expit(np.where(y == 1, margin, -margin))
        return log_p
    log_p = log_softmax(margin, axis=1)
    return log_p[np.arange(y.size), y]


def _residual(y: Classes, margin: Floats) -> Floats:
    """Gradient of cross entropy, p - onehot(y)."""
    residual: Floats
    if margin.ndim == 1:
        # expit(-f) rather than 1 - expit(f), which loses all digits where p is near 1.
        residual = np.where(y == 1, -expit(-margin), expit(margin))
        return residual
    residual = softmax(margin, axis=1)
    residual[np.arange(y.size), y] -= 1.0
    return residual


def _variance(margin: Floats) -> Floats:
    """Diagonal of the hessian of cross entropy, p (1 - p)."""
    variance: Floats
    if margin.ndim == 1:
        variance = expit(margin) * expit(-margin)
        return variance
    p = softmax(margin, axis=1)
    variance = p * (1.0 - p)
    return variance
