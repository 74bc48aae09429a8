"""Margins, labels and weights from what XGBoost and LightGBM hand to objectives and metrics."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .softmax import Classes, check_labels


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


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    """Weights of the rows, or None where there are none."""
    if sample_weight is None or np.size(sample_weight) == 0:
        return None
    weight = np.asarray(sample_weight)
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weight.shape}")
    return weight


def read_classes(y: ArrayLike, n_classes: int | None) -> tuple[Classes, int]:
    """Class numbers and how many classes there are."""
    labels = np.asarray(y)
    if labels.size == 0:
        raise ValueError("y is empty")
    n_classes = max(2, int(np.max(labels)) + 1) if n_classes is None else n_classes
    return class_numbers(labels, n_classes), n_classes
