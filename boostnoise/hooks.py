"""What XGBoost and LightGBM call: a loss in the shapes, scale and weights that each expects.

Both libraries call ``objective(labels, margins, weights)`` from their scikit-learn interface and want the
gradient and the curvature of each row.  For K classes the diagonal of the hessian alone would make Newton steps
too long, as every class moves at once, and each library has its own factor for that: 2 p (1-p) in XGBoost,
which bounds the whole hessian, K/(K-1) p (1-p) in LightGBM.  The same factor goes on every curvature that comes
from second derivatives; "unit" is no such curvature and stays 1, so that a leaf is the mean gradient in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .curvature import Strategy, check_strategy
from .losses import Floats, Loss, probabilities

SMALLEST_HESSIAN = 1e-16  # XGBoost's own floor; LightGBM's lies below it


@dataclass(frozen=True)
class Objective:
    """A loss as the custom objective of a booster.

    Parameters
    ----------
    loss : Loss
    library : {"xgboost", "lightgbm"}
        Whose scale of the softmax curvature to use.
    scale_pos_weight : float, default=1.0
        Weight of class 1 of two.  Both libraries leave it to the objective; as a sample weight it would also
        move XGBoost's bins.
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Which curvature to use, see `boostnoise.curvature`; None stands for the default of the loss.
    """

    loss: Loss
    library: Literal["xgboost", "lightgbm"]
    scale_pos_weight: float = 1.0
    hessian: Strategy | None = None

    def __post_init__(self) -> None:
        if self.hessian is not None:
            check_strategy(self.hessian)

    def __call__(
        self,
        y_true: NDArray[np.number],
        y_pred: NDArray[np.floating],
        sample_weight: NDArray[np.float32] | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and curvature of the weighted loss.

        Parameters
        ----------
        y_true : array of shape (n,)
            Class numbers, as the library stores them (it makes floats of them).
        y_pred : array of shape (n,) or (n, K)
            Margins.
        sample_weight : array of shape (n,) or None

        Returns
        -------
        gradient, hessian : float32 arrays in the shape of `y_pred`

        Raises
        ------
        FloatingPointError
            If the loss yields a value that is not finite; the message names the loss.
        """
        y = y_true.astype(np.int64)
        margin = y_pred.astype(np.float64)
        strategy = self.loss.default_hessian if self.hessian is None else self.hessian
        gradient, hessian = self.loss.gradient_hessian(y, margin, strategy)
        if margin.ndim == 2 and strategy != "unit":
            n_classes = margin.shape[1]
            hessian = hessian * (2.0 if self.library == "xgboost" else n_classes / (n_classes - 1))
        hessian = np.maximum(hessian, SMALLEST_HESSIAN)
        if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            raise FloatingPointError(f"the gradient or hessian of {self.loss!r} is not finite")
        if self.scale_pos_weight != 1.0 and margin.ndim == 1:
            class_weight = np.where(y == 1, self.scale_pos_weight, 1.0)
            gradient = gradient * class_weight
            hessian = hessian * class_weight
        if sample_weight is not None:
            weight = sample_weight if margin.ndim == 1 else sample_weight[:, np.newaxis]
            gradient = gradient * weight
            hessian = hessian * weight
        # Rounded after weighting, as both libraries do: where gains tie, the last digit decides.
        return gradient.astype(np.float32), hessian.astype(np.float32)


def log_loss_metric(
    y_true: NDArray[np.number], y_pred: NDArray[np.floating], sample_weight: Floats | None = None
) -> tuple[str, float, bool]:
    """Mean log loss of margins, as a metric of LightGBM's scikit-learn interface.

    LightGBM's own metrics read margins as probabilities when the objective is a custom one.

    Returns
    -------
    name : str
    value : float
    is_higher_better : bool
    """
    y = y_true.astype(np.int64)
    p = probabilities(y_pred.astype(np.float64))
    losses = -np.log(np.maximum(p[np.arange(y.size), y], np.finfo(np.float64).tiny))
    return "log_loss", float(np.average(losses, weights=sample_weight)), False
