"""Losses by name."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from .base import Loss
from .distribution import DistributionLoss
from .label import (
    AlphaLoss,
    CrossEntropy,
    FocalLoss,
    GeneralizedCrossEntropy,
    MeanAbsoluteError,
    RobustFocalLoss,
    SymmetricCrossEntropy,
)
from .margin import NegativeExponential, RampLoss, SavageLoss, SigmoidLoss, TangentLoss
from .transition import BackwardCorrection, ForwardCorrection, UnbiasedCrossEntropy
from .vector import Bootstrap, BrierScore, LabelSmoothing, NormalizedCrossEntropyMAE, NormalizedCrossEntropyRCE

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
