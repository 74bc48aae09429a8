"""Split criteria from losses (Wilton & Ye 2024, Equation 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._line_impurity import LineImpurity

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_MARGINS = 1 << 15
MAX_MARGIN = 1e3
LARGEST = 1e15  # loss whose products do not overflow; only at p below 1e-15 a larger one would be worth it
KINKS = np.arange(-50, 50.25, 0.25)  # at which losses such as hinge loss have their minima


@dataclass(frozen=True, eq=False)
class LossCriterion(LineImpurity):
    """Impurity that a loss induces, ``I(p) = inf_v {(1 - p) l(0, v) + p l(1, v)}``, for two classes.

    A split reduces it by as much as it reduces the mean loss of the best predictions (Wilton & Ye, Equation 1).
    The infimum is taken over 2^15 margins v up to 1,000 on either side, and so is attained if the loss is flat
    beyond; for smooth losses its relative error is below 1e-6.  What the best predictions for pure nodes lose
    is subtracted, which changes no gain, so that the impurity of pure nodes is 0.

    Parameters
    ----------
    loss : callable, or object with a method ``value``
        ``loss(y, margin)``, or ``loss.value(y, margin)`` as in `boostnoise.losses`, takes class numbers 0
        and 1 and margins, two arrays of shape (n,), and returns the loss of each row.  Pickling the criterion
        needs a loss that can be pickled.

    Raises
    ------
    TypeError
        If the loss is not callable and has no method ``value``.
    ValueError
        If the loss does not return one number for each row, or a value is NaN or below all bounds.

    See Also
    --------
    check_conservative : Whether a loss induces the misclassification impurity, for any number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_splits import Entropy, LossCriterion
    >>> def logistic(y, margin):
    ...     return np.logaddexp(0, np.where(y == 1, -margin, margin))
    >>> round(LossCriterion(logistic).impurity([3, 5]), 4), round(Entropy().impurity([3, 5]), 4)
    (0.6616, 0.6616)
    """

    loss: Any

    def __post_init__(self) -> None:
        loss_function("loss of LossCriterion", self.loss)
        self.table  # noqa: B018 - so that a loss that cannot be used is refused here

    def _losses(self) -> NDArray[np.float64]:
        spread = np.sinh(np.linspace(-1, 1, N_MARGINS) * np.arcsinh(MAX_MARGIN))
        margins = np.union1d(spread, KINKS)
        value = loss_function("loss of LossCriterion", self.loss)
        losses = [np.asarray(value(np.full(margins.size, y), margins), dtype=np.float64) for y in (0, 1)]
        for found in losses:
            if found.shape != margins.shape:
                raise ValueError(
                    f"loss of LossCriterion must return an array of shape {margins.shape}, got {found.shape}"
                )
            if np.isnan(found).any() or np.isneginf(found).any():
                raise ValueError(f"loss of LossCriterion must not be NaN or -inf, as {self.loss!r} is")
        table = np.array(losses).T
        table = table[(table < LARGEST).all(axis=1)]
        return np.asarray(table - table.min(axis=0))


def loss_function(name: str, loss: Any) -> Callable[..., Any]:
    """A loss as a function; raises a TypeError if it is neither one nor has a method ``value``."""
    function = getattr(loss, "value", loss)
    if not callable(function):
        raise TypeError(f"{name} must be callable or have a method value, got {loss!r}")
    return function  # type: ignore[no-any-return]
