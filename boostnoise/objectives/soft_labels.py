"""Objectives that are trained on soft labels, in place of the class numbers that a library passes to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import NDArray

from .hooks import Objective


@dataclass(frozen=True, eq=False)
class SoftLabelObjective:
    """Objective with soft labels of the training rows, since data sets of LightGBM have one label per row.

    Parameters
    ----------
    objective : Objective
    probabilities : float array of shape (n, K)
        In the order of the training rows.
    """

    objective: Objective
    probabilities: NDArray[Any]

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and curvature of the expected loss, in the scikit-learn interface; `y_true` is ignored."""
        return self.objective(self.probabilities, y_pred, sample_weight)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The object itself: LightGBM copies all parameters, and a copy of the probabilities is large."""
        return self
