"""What all losses share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from .curvature import Strategy, check_strategy
from .softmax import Classes, Floats, Margin, Softmax, read


class Loss(ABC):
    """A loss of a class number and a margin; use a subclass, or write one with the three abstract methods.

    Two classes have margins of shape (n,), K classes margins of shape (n, K).  The losses of this package also
    take a `Softmax` in place of the margins, and share one between gradient and hessian, so what derives from
    one of them must take it too (NumPy reads it as an array); what derives from this class sees arrays only.

    Attributes
    ----------
    binary_only : bool
        Whether the loss takes margins of shape (n,) alone.
    default_hessian : str
        The strategy of `hessian` where none is named.
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
            If the shapes do not fit, a label is not one of 0, ..., K - 1, or the loss cannot deal with so many
            classes.
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
            Formulas and advice are in `boostnoise.curvature`.  None stands for `default_hessian`.

        Returns
        -------
        float array in the shape of `margin`
            Finite and not negative wherever the margins are finite.

        Raises
        ------
        ValueError
            If the strategy is unknown (the message lists those known), and as in `value`.
        """
        return curvature(self, y, margin, self.default_hessian if strategy is None else strategy)

    def gradient_hessian(
        self, y: Classes, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        """`gradient` and `hessian` at once, which shares work."""
        gradient = self.gradient(y, margin)
        check_derivative(self, "gradient", gradient, margin)  # curvatures may be made of it
        return gradient, self.hessian(y, margin, strategy)

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        """Curvature of the strategy "irls"."""
        return reweighted(self, y, margin)

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        """Curvature of the strategy "fisher"."""
        return expected(self, y, margin)

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the loss cannot deal with this number of classes."""
        if self.binary_only and n_classes > 2:
            raise ValueError(f"{type(self).__name__} is for two classes, got {n_classes}")


class SoftmaxLoss(Loss):
    """A loss of class probabilities.  Its methods also take a `Softmax` in place of the margins."""

    def hessian(self, y: Classes, margin: Margin, strategy: Strategy | None = None) -> Floats:
        y, softmax = self._read(y, margin)
        return curvature(self, y, softmax, self.default_hessian if strategy is None else strategy)

    def gradient_hessian(
        self, y: Classes, margin: Margin, strategy: Strategy | None = None
    ) -> tuple[Floats, Floats]:
        y, softmax = self._read(y, margin)
        return super().gradient_hessian(y, softmax, strategy)

    def _read(self, y: Classes, margin: Margin) -> tuple[Classes, Softmax]:
        """Labels and probabilities, checked."""
        y, softmax = read(y, margin)
        if softmax is not margin:
            check_shape(self, softmax.margin)
            self.check_classes(softmax.n_classes)
        return y, softmax


def check_shape(loss: Loss, margin: Floats) -> None:
    """Raise a ValueError where a loss for two classes gets margins of more than one column."""
    if loss.binary_only and margin.ndim != 1:
        raise ValueError(
            f"{type(loss).__name__} is for two classes, whose margins have shape (n,), got {margin.shape}"
        )


FLOOR = 0.1  # of "exact_clipped", as a share of p (1 - p)


def check_derivative(loss: Loss, name: str, found: Any, margin: Margin) -> None:
    """Raise a ValueError where a derivative is not in the shape of the margins; NumPy may repeat it."""
    expected = margin.margin.shape if isinstance(margin, Softmax) else np.shape(margin)
    shape = getattr(found, "shape", None)
    if shape != expected:
        what = f"is no array but {found!r}" if shape is None else f"has shape {shape}"
        raise ValueError(f"the {name} of {loss!r} {what}, margins have {expected}")


def _second_derivative(loss: Loss, y: Classes, margin: Margin) -> Floats:
    found = loss.exact_hessian(y, margin)
    check_derivative(loss, "exact_hessian", found, margin)
    return found


def curvature(loss: Loss, y: Classes, margin: Margin, strategy: Strategy) -> Floats:
    """Curvature of a loss by one of the strategies.

    Parameters
    ----------
    loss : Loss
    y : integer array of shape (n,)
    margin : float array of shape (n,) or (n, K), or their `Softmax`
    strategy : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"}

    Returns
    -------
    float array in the shape of the margins
        Finite and not negative.
    """
    check_strategy(strategy)
    if strategy == "irls":
        return loss.irls_hessian(y, margin)
    if strategy == "fisher":
        return loss.fisher_hessian(y, margin)
    if strategy == "abs":
        return np.abs(_second_derivative(loss, y, margin))
    y, softmax = read(y, margin)
    if strategy == "logistic":
        return softmax.variance
    if strategy == "exact_clipped":
        return np.maximum(_second_derivative(loss, y, margin), FLOOR * softmax.variance)
    return np.ones_like(softmax.variance)


def reweighted(loss: Loss, y: Classes, margin: Margin) -> Floats:
    """``max(|g| (1 - |r|), h)``; see "irls"."""
    y, softmax = read(y, margin)
    weighted = np.abs(loss.gradient(y, margin)) * softmax.agreement(y)
    return np.maximum(weighted, _second_derivative(loss, y, margin))


def expected(loss: Loss, y: Classes, margin: Margin) -> Floats:
    """``sum_j p_j g_j r_j``; see "fisher"."""
    _, softmax = read(y, margin)
    total = np.zeros_like(softmax.variance)
    for label in range(softmax.n_classes):
        given = np.full_like(y, label)
        p = softmax.spread(softmax.p[:, label])
        total += p * loss.gradient(given, margin) * softmax.residual(given)
    # Where single labels pull the other way, rounding may leave a sum that is barely negative.
    return np.maximum(total, 0.0)
