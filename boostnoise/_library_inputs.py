"""Margins, labels and weights from what XGBoost and LightGBM hand to objectives and metrics."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .losses.softmax import Classes, check_labels

# XGBoost squares sums of gradients in single precision, and estimates no intercept from less than 1e-6.
SMALLEST_TOTAL, LARGEST_TOTAL = 1e-6, 1e18


def by_class(margin: NDArray[Any], n_rows: int, order: Literal["C", "F"]) -> NDArray[Any]:
    """Margins of shape (n,) or (n, K), also from those that a library hands out flat in its order."""
    flat = margin.ndim == 1 and margin.size > n_rows > 0 and margin.size % n_rows == 0
    return margin.reshape((n_rows, -1), order=order) if flat else margin


def count_classes(margin: NDArray[Any]) -> int:
    """Number of classes of margins, whose shape is checked."""
    if margin.ndim not in (1, 2) or (margin.ndim == 2 and margin.shape[1] < 2):
        raise ValueError(f"margins must have shape (n,) for two classes, else (n, K), got {margin.shape}")
    return 2 if margin.ndim == 1 else margin.shape[1]


def class_numbers(labels: NDArray[Any], n_classes: int) -> Classes:
    """Class numbers from the floats that libraries make of them, checked."""
    # Short integers are converted in a fraction of the time.  A number that does not fit becomes another one.
    kind = np.int8 if n_classes == 2 else np.int64
    with np.errstate(invalid="ignore"):
        numbers: Classes = labels.astype(kind)
    # Compared in their own type, which is quicker than in the wider one that both fit.
    if not np.array_equal(numbers.astype(labels.dtype), labels):
        wrong = labels[numbers != labels]
        raise ValueError(
            f"labels must be class numbers, integers from 0 to {n_classes - 1}, got {wrong[:3].tolist()}"
        )
    return check_labels(numbers, len(labels), n_classes)


def read_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> NDArray[Any]:
    """Weights of the rows, checked; `name` is that of the argument."""
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "biuf":
        try:
            weight = weight.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers, got the type {weight.dtype}") from None
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {weight.shape}")
    # NaN is neither.
    if n_rows and not (weight.min() >= 0 and weight.max() < np.inf):
        wrong = weight[~((weight >= 0) & (weight < np.inf))]
        raise ValueError(f"{name} must be finite and not negative, got {wrong[:3].tolist()}")
    check_total(weight, name, smallest=0.0)
    return weight


def check_total(weight: NDArray[Any], name: str = "sample_weight", smallest: float = SMALLEST_TOTAL) -> None:
    """Raise a ValueError if weights of rows sum to what single precision does not hold."""
    with np.errstate(over="ignore"):
        total = weight.sum(dtype=np.result_type(weight, np.float32))
    if not smallest <= total <= LARGEST_TOTAL:
        raise ValueError(
            f"{name} must sum to at least {SMALLEST_TOTAL:g} and at most {LARGEST_TOTAL:g} over the rows, "
            f"got {total:g}"
        )


def read_data(data: Any, library: str, instead: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels and weights of what a library hands over natively, which must not be the other library.

    Its type tells which it is, so neither is imported; `instead` is what serves the other one, "{}" its name.
    """
    other = "lightgbm" if library == "xgboost" else "xgboost"
    if any(kind.__module__.partition(".")[0] == other for kind in type(data).__mro__):
        found, right = type(data).__name__, instead.format(other)
        raise TypeError(f"got a {found} of {other}, but this is for {library}; use {right}")
    labels, weight = data.get_label(), data.get_weight()
    if labels is None or len(labels) == 0:
        raise ValueError("the training data have no labels")
    return labels, None if np.size(weight) == 0 else weight


def read_start(
    y: ArrayLike, sample_weight: ArrayLike | None, n_classes: int | None
) -> tuple[Classes, NDArray[Any] | None, int]:
    """Class numbers, weights and the number of classes, for an estimate of their shares."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y must have shape (n,) and not be empty, got the shape {labels.shape}")
    if labels.dtype == object:
        labels = np.array(labels.tolist())  # numbers of a column of pandas that may be missing
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must hold class numbers, integers from 0, got {labels[:3].tolist()}")
    found = np.unique(labels)
    if n_classes is None:
        n_classes = max(2, found.size)
        if not np.array_equal(found, np.arange(found.size)) and found.size > 1:
            raise ValueError(
                f"y must hold class numbers, integers from 0 without gaps, got {found[:10].tolist()}; "
                "for a class without rows give the objective n_classes"
            )
    numbers = class_numbers(labels, n_classes)
    if found.size < 2:
        raise ValueError(f"y must hold at least two classes, got one class, {found[0]}")
    weight = None if sample_weight is None else read_weights(sample_weight, labels.size)
    if weight is not None:
        if not weight.any():
            raise ValueError("sample_weight is zero for all rows")
        check_total(weight)
    return numbers, weight, n_classes
