"""Products of the weights of rows and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_sample_weight

from robust_splits.label_noise.weights import check_any_weight, check_weight_sum, read_weights

from ..losses.softmax import Floats
from .target import Target


def combine_weights(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Floats | None:
    """Product of sample weights and class weights, or None if neither is given.

    Raises
    ------
    ValueError
        If there is not one weight for each row, if a weight is negative or not finite, if the weights sum to
        less than 1e-6 or more than 1e18, or if ``class_weight`` is unknown or lacks a class.
    """
    if sample_weight is None and class_weight is None:
        return None
    weight = np.ones(labels.size)
    if sample_weight is not None:
        weight *= read_weights(sample_weight, labels.size)
    check_any_weight(weight)
    name = "sample_weight"
    if class_weight is not None:
        if not (isinstance(class_weight, dict) or class_weight == "balanced"):
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
        weight *= read_weights(compute_sample_weight(class_weight, labels), labels.size, "class_weight")
        name = "sample_weight times class_weight"
        check_any_weight(weight, name)
    check_weight_sum(weight, name)
    return weight


def combine_all_weights(
    target: Target, sample_weight: Any, class_weight: Any, scale_pos_weight: float
) -> Floats | None:
    """Product of `combine_weights` and of the weight of class 1, which the objective applies in a fit."""
    weight = combine_weights(target.labels, sample_weight, class_weight)
    if scale_pos_weight == 1:
        return weight
    return np.where(target.codes == 1, scale_pos_weight, 1.0) * (1.0 if weight is None else weight)


def positive_weight(scale_pos_weight: float | None, n_classes: int) -> float:
    """Weight of class 1; like the built-in objectives, ignored for more than two classes."""
    return 1.0 if scale_pos_weight is None or n_classes > 2 else float(scale_pos_weight)
