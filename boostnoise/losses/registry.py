"""Create losses by name.

Installed packages may add names by entry points of the group ``boostnoise.losses``, which refer to classes, or
to functions that return a `Loss` from keyword parameters; see `robust_splits.plugins`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from robust_splits.plugins import load_plugin, plugin_names, plugins

from .base import Loss
from .distribution import DistributionLoss
from .equal_losses import alpha, sigmoid, unbiased
from .label import (
    CrossEntropy,
    FocalLoss,
    GeneralizedCrossEntropy,
    MeanAbsoluteError,
    RobustFocalLoss,
    SymmetricCrossEntropy,
)
from .margin import NegativeExponential, RampLoss, SavageLoss, TangentLoss
from .transition import BackwardCorrection, ForwardCorrection
from .vector import Bootstrap, BrierScore, LabelSmoothing, NormalizedCrossEntropyMAE, NormalizedCrossEntropyRCE

# Default of the estimators.
DEFAULT_LOSS = "ce"

LOSSES: dict[str, Callable[..., Loss]] = {
    "ce": CrossEntropy,
    "mae": MeanAbsoluteError,
    "mse": BrierScore,
    "gce": GeneralizedCrossEntropy,
    "sce": SymmetricCrossEntropy,
    "focal": FocalLoss,
    "rfl": RobustFocalLoss,
    "alpha": alpha,
    "label_smoothing": LabelSmoothing,
    "bootstrap": Bootstrap,
    "nce_mae": NormalizedCrossEntropyMAE,
    "nce_rce": NormalizedCrossEntropyRCE,
    "sigmoid": sigmoid,
    "ramp": RampLoss,
    "savage": SavageLoss,
    "tangent": TangentLoss,
    "negative_exponential": NegativeExponential,
    "distribution": DistributionLoss,
    "forward": ForwardCorrection,
    "backward": BackwardCorrection,
    "unbiased": unbiased,
}

# Added to the error if q or T is a string.
DATA_CHOICE_HINT = (
    "only RobustXGBClassifier and RobustLGBMClassifier choose parameters on data, with loss_params: "
    '{"q": "auto"} of "gce", {"T": "auto"} of "forward" and "backward"'
)


def get_loss(loss: str | Loss, **params: Any) -> Loss:
    """Create a loss from its name.

    Parameters
    ----------
    loss : str or Loss
        A name from the table of `boostnoise.losses` or of an installed package, or a loss, which is returned
        unchanged.
    **params
        Parameters of the loss, such as ``q=0.5`` for ``"gce"``.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If the name is unknown, or if a parameter is unknown, missing or out of range.
    TypeError
        If `loss` is neither a name nor a loss, or if parameters are passed together with a loss.

    Examples
    --------
    >>> from boostnoise import get_loss
    >>> get_loss("gce", q=0.5)
    GeneralizedCrossEntropy(q=0.5)
    """
    if isinstance(loss, Loss):
        if params:
            raise TypeError(f"loss must be a name if parameters are given, got {loss!r} and {params!r}")
        return loss
    if not isinstance(loss, str):
        raise TypeError(f"loss must be a name or a Loss, got {loss!r}")
    if not is_known(loss):
        raise ValueError(f"loss {loss!r} is unknown; allowed losses: {', '.join(loss_names())}")
    allowed = loss_parameters(loss)
    for name in params:
        if name not in allowed:
            raise ValueError(
                f"loss {loss!r} has no parameter {name!r}; allowed parameters: {', '.join(allowed) or 'none'}"
            )
    for name in needed_parameters(loss):
        if name not in params:
            raise ValueError(f"loss {loss!r} needs the parameter {name!r}")
    try:
        made = _maker(loss)(**params)
    except TypeError as error:
        if any(isinstance(params.get(name), str) for name in ("q", "T")):
            raise TypeError(f"{error}; {DATA_CHOICE_HINT}") from None
        raise
    if not isinstance(made, Loss):
        raise ValueError(f"{loss!r} of boostnoise.losses must make a Loss, got {made!r:.60}")
    return made


def loss_names() -> list[str]:
    """Names of all losses, those of installed packages last."""
    return [*LOSSES, *plugin_names("losses", LOSSES)]


def is_known(loss: str) -> bool:
    """Whether there is a loss of this name."""
    return loss in LOSSES or loss in plugins("losses")


def _maker(loss: str) -> Callable[..., Loss]:
    """Class or function that makes a loss from its parameters."""
    if loss in LOSSES:
        return LOSSES[loss]
    maker: Callable[..., Loss] = load_plugin("losses", loss)
    if not callable(maker):
        raise ValueError(f"{loss!r} of boostnoise.losses must be a class or a function, got {maker!r:.60}")
    return maker


def name_of(loss: Loss) -> str:
    """Name from the table of `boostnoise.losses`, or the name of the class for a loss that is not in it."""
    return next((name for name, cls in LOSSES.items() if type(loss) is cls), type(loss).__name__)


def loss_parameters(loss: str) -> list[str]:
    """Names of the parameters of a loss."""
    return list(inspect.signature(_maker(loss)).parameters)


def needed_parameters(loss: str) -> list[str]:
    """Names of the parameters of a loss that have no default."""
    parameters = inspect.signature(_maker(loss)).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]
