"""Gradient and curvature of losses of p_t, as a library expects them, in one compiled pass over the margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.label import LabelLoss
from ..losses.softmax import BinarySoftmax, Floats, Softmax
from .label_kernels import write_classes, write_two_classes

NO_NUMBERS = np.empty(0)  # instead of one per row


def label_derivatives(
    loss: LabelLoss,
    y: NDArray[Any],
    softmax: Softmax,
    weight: Floats | None,
    factor: float,
    smallest: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """Gradient and curvature of the strategy "irls", or None if one of them is not finite.

    Parameters
    ----------
    loss : LabelLoss
        One whose class has terms; see `LabelLoss.has_terms`.
    y : integer array of shape (n,)
    softmax : Softmax
    weight : float array of shape (n,) or None
    factor : float
        Factor of the curvature.
    smallest : float
        Lower limit of the curvature, before weighting.
    """
    label = softmax.of_label(y)
    first, second = loss.irls_terms(label)
    precision = softmax.margin.dtype.type
    terms: tuple[Any, ...] = (
        first,
        NO_NUMBERS.astype(precision) if second is None else second,
        NO_NUMBERS if weight is None else weight.astype(np.float64),
        precision(factor),
        precision(smallest),
    )
    gradient = np.empty(softmax.margin.shape, dtype=np.float32, order="F")
    hessian = np.empty_like(gradient)
    if isinstance(softmax, BinarySoftmax):
        is_finite = write_two_classes(y, label.p, label.complement, *terms, gradient, hessian)
    else:
        is_finite = write_classes(y, softmax.exponentials, softmax.others, *terms, gradient, hessian)
    return (gradient, hessian) if is_finite else None
