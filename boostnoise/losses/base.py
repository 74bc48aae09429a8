"""Base classes of losses, and the computation of their hessian strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from .curvature import Strategy, check_strategy
from .softmax import Classes, Floats, Margin, Softmax, read_inputs


class Loss(ABC):
    """Base class of losses.  For a custom loss, derive a class and implement the three abstract methods.

    Margins have shape (n,) for two classes, else (n, K).  The losses of this package also accept a `Softmax` in
    place of the margins, which gradient and hessian then share.  A class derived from one of them must accept
    it too (NumPy converts it to an array); a class derived from `Loss` receives arrays only.

    Attributes
    ----------
    binary_only : bool
        Whether the loss supports only two classes, with margins of shape (n,).
    default_hessian : str
        Default strategy of `hessian`.
    """

    binary_only: ClassVar[bool] = False
    default_hessian: ClassVar[Strategy] = "irls"

    @abstractmethod
    def value(self, y: Classes, margin: Margin) -> Floats:
        """Loss of each row.

        Parameters
        ----------
        y : integer array of shape (n,)
            Class numbers, 0 to K - 1.
        margin : float array of shape (n,) for two classes, else (n, K)

        Returns
        -------
        float array of shape (n,)

        Raises
        ------
        ValueError
            If the shapes do not match, if a label is not one of 0, ..., K - 1, or if the loss does not support
            the number of classes.
        TypeError
            If the labels are not integers.
        """

    @abstractmethod
    def gradient(self, y: Classes, margin: Margin) -> Floats:
        """Derivative of the value with respect to `margin`, in the shape of `margin`."""

    @abstractmethod
    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        """Second derivative of the value with respect to each margin, in the shape of `margin`.

        It may be negative.
        """

    def hessian(self, y: Classes, margin: Margin, strategy: Strategy | None = None) -> Floats:
        """Positive curvature for a Newton step, in the shape of `margin`.

        Parameters
        ----------
        y, margin : as in `value`
        strategy : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None
            Formulas and advice are in `boostnoise.losses.curvature`.  None uses `default_hessian`.

        Returns
        -------
        float array in the shape of `margin`
            Finite and non-negative wherever the margins are finite.

        Raises
        ------
        ValueError
            If the strategy is unknown, and as in `value`.
        """
        return curvature(self, y, margin, self.default_hessian if strategy is None else strategy)

    def gradient_hessian(
        self, y: Classes, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        """`gradient` and `hessian` in one call, with shared computations."""
        gradient = self.gradient(y, margin)
        check_derivative(self, "gradient", gradient, margin)  # before a strategy computes with it
        return gradient, self.hessian(y, margin, strategy)

    def expected_gradient_hessian(
        self, p: Floats, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        """Means of `gradient_hessian` over the labels of each row, which have the probabilities p.

        Parameters
        ----------
        p : float array of shape (n, K)
            Soft labels: the probability of each class.
        margin, strategy : as in `hessian`
        """
        n_dimensions = margin.margin.ndim if isinstance(margin, Softmax) else np.ndim(margin)
        gradient, hessian = 0.0, 0.0
        for label, share in enumerate(p.T):
            found = self.gradient_hessian(np.full(len(p), label), margin, strategy)
            share = share if n_dimensions == 1 else share[:, np.newaxis]
            gradient, hessian = gradient + share * found[0], hessian + share * found[1]
        return gradient, hessian  # type: ignore[return-value]

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        """Curvature of the strategy "irls"."""
        return reweighted(self, y, margin)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        """Curvature of the strategy "fisher"."""
        return expected(self, y, margin)

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the loss does not support this number of classes."""
        if self.binary_only and n_classes > 2:
            raise ValueError(f"{type(self).__name__} is for two classes, got {n_classes}")


class SoftmaxLoss(Loss):
    """A loss of class probabilities.  Its methods also accept a `Softmax` in place of the margins."""

    def hessian(self, y: Classes, margin: Margin, strategy: Strategy | None = None) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return curvature(self, y, softmax, self.default_hessian if strategy is None else strategy)

    def gradient_hessian(
        self, y: Classes, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        y, softmax = self._read_inputs(y, margin)
        return super().gradient_hessian(y, softmax, strategy)

    def _read_inputs(self, y: Classes, margin: Margin) -> tuple[Classes, Softmax]:
        """Check labels and margins; return class numbers and the `Softmax`."""
        y, softmax = read_inputs(y, margin)
        if softmax is not margin:
            check_shape(self, softmax.margin)
            self.check_classes(softmax.n_classes)
        return y, softmax


def check_shape(loss: Loss, margin: Floats) -> None:
    """Raise a ValueError if a loss for two classes receives margins of shape (n, K)."""
    if loss.binary_only and margin.ndim != 1:
        raise ValueError(
            f"{type(loss).__name__} is for two classes, with margins of shape (n,), got {margin.shape}"
        )


FLOOR = 0.1  # lower limit of "exact_clipped", as a share of p (1 - p)


def check_derivative(loss: Loss, name: str, found: Any, margin: Margin) -> None:
    """Raise a ValueError if a derivative does not have the shape of the margins; NumPy might broadcast it."""
    expected = margin.margin.shape if isinstance(margin, Softmax) else np.shape(margin)
    shape = getattr(found, "shape", None)
    if shape != expected:
        what = repr(found) if shape is None else f"shape {shape}"
        raise ValueError(f"{name} of {loss!r} must be an array of shape {expected}, as the margins, got {what}")


def _checked_exact_hessian(loss: Loss, y: Classes, margin: Margin) -> Floats:
    found = loss.exact_hessian(y, margin)
    check_derivative(loss, "exact_hessian", found, margin)
    return found


def curvature(loss: Loss, y: Classes, margin: Margin, strategy: Strategy) -> Floats:
    """Curvature of a loss for a hessian strategy.

    Parameters
    ----------
    loss : Loss
    y : integer array of shape (n,)
    margin : float array of shape (n,) or (n, K), or their `Softmax`
    strategy : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"}

    Returns
    -------
    float array in the shape of the margins
        Finite and non-negative.
    """
    check_strategy(strategy)
    if strategy == "irls":
        return loss.irls_hessian(y, margin)
    if strategy == "fisher":
        return loss.fisher_hessian(y, margin)
    if strategy == "abs":
        return np.abs(_checked_exact_hessian(loss, y, margin))
    y, softmax = read_inputs(y, margin)
    if strategy == "logistic":
        return softmax.variance
    if strategy == "exact_clipped":
        return np.maximum(_checked_exact_hessian(loss, y, margin), FLOOR * softmax.variance)
    return np.ones_like(softmax.variance)


def reweighted(loss: Loss, y: Classes, margin: Margin) -> Floats:
    """``max(|g| (1 - |r|), h)``; see "irls"."""
    y, softmax = read_inputs(y, margin)
    weighted = np.abs(loss.gradient(y, margin)) * softmax.agreement(y)
    return np.maximum(weighted, _checked_exact_hessian(loss, y, margin))


def expected(loss: Loss, y: Classes, margin: Margin) -> Floats:
    """``sum_j p_j g_j r_j``; see "fisher"."""
    _, softmax = read_inputs(y, margin)
    total = np.zeros_like(softmax.variance)
    for label in range(softmax.n_classes):
        labels = np.full_like(y, label)
        p = softmax.spread(softmax.p[:, label])
        total += p * loss.gradient(labels, margin) * softmax.residual(labels)
    # If labels contribute terms of opposite sign, rounding may make the sum slightly negative.
    return np.maximum(total, 0.0)
