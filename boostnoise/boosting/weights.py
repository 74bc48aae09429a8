"""Products of the weights of rows and classes."""

from __future__ import annotations

from dataclasses import replace
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
        check_class_weight(class_weight)
        weight *= read_weights(compute_sample_weight(class_weight, labels), labels.size, "class_weight")
        name = "sample_weight times class_weight"
        check_any_weight(weight, name)
    check_weight_sum(weight, name)
    return weight


def check_class_weight(class_weight: Any) -> None:
    """Raise a ValueError if ``class_weight`` is neither a dict nor "balanced"."""
    if not (isinstance(class_weight, dict) or class_weight == "balanced"):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")


def weigh_soft_labels(
    target: Target, sample_weight: Any, class_weight: Any, scale_pos_weight: float
) -> tuple[Target, Floats | None]:
    """Soft labels and weights of rows that multiply the weight of each class of a row by that of the class.

    Errors are those of `combine_weights`.
    """
    p = target.probabilities
    assert p is not None  # noqa: S101 - for the type checker
    weight = combine_weights(target.codes, sample_weight, None)
    by_class = np.ones(target.n_classes)
    if class_weight is not None:
        check_class_weight(class_weight)
        if isinstance(class_weight, dict):
            by_class = compute_sample_weight(class_weight, target.classes)
        else:
            total = p.sum(axis=0, dtype=np.float64)
            by_class = np.divide(len(p) / target.n_classes, total, out=by_class, where=total > 0)
        by_class = read_weights(by_class, target.n_classes, "class_weight")
    if scale_pos_weight != 1:
        by_class = by_class * [1.0, scale_pos_weight]
    if (by_class == 1).all():
        return target, weight
    by_row = p @ by_class
    # Rows of no weight keep their soft labels.
    p = np.where(by_row[:, np.newaxis] > 0, p * by_class / np.maximum(by_row, 1e-300)[:, np.newaxis], p)
    weight = by_row if weight is None else weight * by_row
    name = "sample_weight times class_weight"
    check_any_weight(weight, name)
    check_weight_sum(weight, name)
    return replace(target, probabilities=p.astype(np.float32)), weight


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
