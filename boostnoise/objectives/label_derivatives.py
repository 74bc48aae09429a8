"""Gradient and curvature of losses of p_t, as a library expects them, in one compiled pass over the margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.label import LabelLoss
from ..losses.probability import Logistic
from ..losses.softmax import Floats, Softmax
from .label_kernels import write_classes, write_two_classes

NO_NUMBERS = np.empty(0)  # instead of one per row


def label_derivatives(
    loss: LabelLoss,
    y: NDArray[Any],
    softmax: Softmax,
    weight: Floats | None,
    factor: float,
    smallest: float,
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
) -> bool:
    """Write gradient and curvature of the strategy "irls", and return whether all are finite.

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
    gradient, hessian : float32 arrays in the shape of the margins
        Where they are written.
    """
    label = softmax.of_label(y)
    precision = softmax.margin.dtype.type
    terms: tuple[Any, ...] = (
        *(NO_NUMBERS.astype(precision) if term is None else term for term in loss.irls_terms(label)),
        NO_NUMBERS if weight is None else weight.astype(np.float64),
        precision(factor),
        precision(smallest),
    )
    if isinstance(label, Logistic):  # of two classes
        return bool(write_two_classes(y, label.odds, *terms, gradient, hessian))
    by_class = np.empty((2, *softmax.margin.shape[::-1]), dtype=np.float32)
    is_finite = write_classes(y, softmax.exponentials, softmax.others, *terms, by_class[0].T, by_class[1].T)
    gradient[...], hessian[...] = by_class[0].T, by_class[1].T
    return bool(is_finite)
