"""The losses and their names.

A loss takes class numbers y and margins f, and gives its value, its gradient and a curvature.  Two classes: f
has shape (n,), the probability of class 1 is ``p = 1 / (1 + exp(-f))``, and the margin of the label is v = f or
-f.  K classes: f has shape (n, K), ``p = softmax(f)``.  In both, p_t is the probability of the given label.

======================== ========================================== ===========================
name                     loss                                       class
======================== ========================================== ===========================
``ce``                   ``-ln p_t``                                `CrossEntropy`
``mae``                  ``2 (1 - p_t)``                            `MeanAbsoluteError`
``mse``                  ``sum_k (p_k - onehot_k)^2``               `BrierScore`
``gce``                  ``(1 - p_t^q) / q``                        `GeneralizedCrossEntropy`
``sce``                  ``alpha CE - beta A (1 - p_t)``            `SymmetricCrossEntropy`
``focal``                ``-(1 - p_t)^r ln p_t``                    `FocalLoss`
``rfl``                  ``(1 - p_t)^r (1 - p_t^q) / q``            `RobustFocalLoss`
``alpha``                ``a / (a-1) (1 - p_t^(1 - 1/a))``          `AlphaLoss`
``label_smoothing``      CE with smooth targets                     `LabelSmoothing`
``bootstrap``            CE with targets in part the model's own    `Bootstrap`
``nce_mae``              ``alpha NCE + beta MAE``                   `NormalizedCrossEntropyMAE`
``nce_rce``              ``alpha NCE + beta RCE``                   `NormalizedCrossEntropyRCE`
``sigmoid``              ``1 / (1 + exp(v))``, two classes          `SigmoidLoss`
``ramp``                 ``min{1, max{0, (1-v)/2}}``, two classes   `RampLoss`
``savage``               ``1 / (1 + exp(2v))^2``, two classes       `SavageLoss`
``tangent``              ``(2 arctan v - 1)^2``, two classes        `TangentLoss`
``negative_exponential`` ``min{1, exp(-v-mu)}``, two classes        `NegativeExponential`
``distribution``         ``F(-v)``, two classes                     `DistributionLoss`
``forward``              ``-ln sum_i p_i T[i, t]``                  `ForwardCorrection`
``backward``             ``-sum_k inverse(T)[t, k] ln p_k``         `BackwardCorrection`
``unbiased``             the same from two noise rates, two classes `UnbiasedCrossEntropy`
======================== ========================================== ===========================
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ._base import Loss
from .distribution_loss import DistributionLoss
from .label_losses import (
    AlphaLoss,
    CrossEntropy,
    FocalLoss,
    GeneralizedCrossEntropy,
    MeanAbsoluteError,
    RobustFocalLoss,
    SymmetricCrossEntropy,
)
from .margin_losses import NegativeExponential, RampLoss, SavageLoss, SigmoidLoss, TangentLoss
from .softmax import Classes, Floats, probabilities
from .transition import BackwardCorrection, ForwardCorrection, UnbiasedCrossEntropy
from .vector_losses import (
    Bootstrap,
    BrierScore,
    LabelSmoothing,
    NormalizedCrossEntropyMAE,
    NormalizedCrossEntropyRCE,
)

__all__ = ["LOSSES", "Classes", "Floats", "Loss", "get_loss", "probabilities"]

LOSSES: dict[str, type[Loss]] = {
    "ce": CrossEntropy,
    "mae": MeanAbsoluteError,
    "mse": BrierScore,
    "gce": GeneralizedCrossEntropy,
    "sce": SymmetricCrossEntropy,
    "focal": FocalLoss,
    "rfl": RobustFocalLoss,
    "alpha": AlphaLoss,
    "label_smoothing": LabelSmoothing,
    "bootstrap": Bootstrap,
    "nce_mae": NormalizedCrossEntropyMAE,
    "nce_rce": NormalizedCrossEntropyRCE,
    "sigmoid": SigmoidLoss,
    "ramp": RampLoss,
    "savage": SavageLoss,
    "tangent": TangentLoss,
    "negative_exponential": NegativeExponential,
    "distribution": DistributionLoss,
    "forward": ForwardCorrection,
    "backward": BackwardCorrection,
    "unbiased": UnbiasedCrossEntropy,
}

# What may be meant by a word in place of a number.
CHOSEN = (
    "only RobustXGBClassifier and RobustLGBMClassifier choose on data, with loss_params: "
    '{"q": "auto"} of "gce", {"T": "estimate"} of "forward" and "backward"'
)


def get_loss(loss: str | Loss, **params: Any) -> Loss:
    """Loss object from its name.

    Parameters
    ----------
    loss : str or Loss
        A name from the table of `boostnoise.losses`, or an object, which is handed back.
    **params
        Parameters of the loss, such as ``q=0.5`` for ``"gce"``.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If the name is unknown (the message lists those known), or a parameter is unknown, missing or out of
        range.
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
    kind = LOSSES[loss]
    known = [parameter.name for parameter in fields(kind) if parameter.init]  # type: ignore[arg-type]
    for name in params:
        if name not in known:
            raise ValueError(f"loss {loss!r} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
    for name in needed_parameters(loss):
        if name not in params:
            raise ValueError(f"loss {loss!r} needs the parameter {name!r}")
    try:
        return kind(**params)
    except TypeError as error:
        if any(isinstance(params.get(name), str) for name in ("q", "T")):
            raise TypeError(f"{error}; {CHOSEN}") from None
        raise


def needed_parameters(loss: str) -> list[str]:
    """Parameters of a named loss that have no default."""
    of_loss = fields(LOSSES[loss])  # type: ignore[arg-type]
    return [parameter.name for parameter in of_loss if parameter.init and parameter.default is MISSING]
