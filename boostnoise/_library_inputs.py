"""Read the margins, labels and weights that XGBoost and LightGBM pass to objectives and metrics."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .losses.softmax import Classes, check_labels

# XGBoost squares sums of gradients in single precision, and cannot estimate an intercept from weights that sum
# to less than 1e-6.
MIN_WEIGHT_SUM, MAX_WEIGHT_SUM = 1e-6, 1e18


def reshape_margins(margin: NDArray[Any], n_rows: int, order: Literal["C", "F"]) -> NDArray[Any]:
    """Margins of shape (n,) or (n, K); flat margins of K classes are reshaped in the order of their library."""
    flat = margin.ndim == 1 and margin.size > n_rows > 0 and margin.size % n_rows == 0
    return margin.reshape((n_rows, -1), order=order) if flat else margin


def to_class_numbers(labels: NDArray[Any], n_classes: int) -> Classes:
    """Check class numbers that a library stores as floats, and convert them to integers."""
    # Converting to short integers is several times faster.  A label that does not fit changes its value, which
    # the comparison below detects.
    dtype = np.int8 if n_classes == 2 else np.int64
    with np.errstate(invalid="ignore"):
        numbers: Classes = labels.astype(dtype)
    # Comparing in the type of the labels is faster than in the wider type that NumPy would choose.
    if not np.array_equal(numbers.astype(labels.dtype), labels):
        wrong = labels[numbers != labels]
        raise ValueError(
            f"labels must be class numbers, integers from 0 to {n_classes - 1}, got {wrong[:3].tolist()}"
        )
    return check_labels(numbers, len(labels), n_classes)


def read_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> NDArray[Any]:
    """Check weights of rows and return them as an array; errors call them `name`."""
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "biuf":
        try:
            if weight.dtype.kind == "c":
                raise TypeError
            weight = weight.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must contain numbers, got dtype {weight.dtype}") from None
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {weight.shape}")
    # Negated, so that NaN is rejected too.
    if n_rows and not (weight.min() >= 0 and weight.max() < np.inf):
        wrong = weight[~((weight >= 0) & (weight < np.inf))]
        raise ValueError(f"{name} must be finite and not negative, got {wrong[:3].tolist()}")
    check_weight_sum(weight, name, smallest=0.0)
    return weight


def check_any_weight(weight: NDArray[Any], name: str = "sample_weight") -> None:
    """Raise a ValueError if all weights are zero."""
    if not weight.any():
        raise ValueError(f"{name} is zero for all rows")


def check_weight_sum(
    weight: NDArray[Any], name: str = "sample_weight", smallest: float = MIN_WEIGHT_SUM
) -> None:
    """Raise a ValueError if the sum of weights is out of the range of single-precision training."""
    with np.errstate(over="ignore"):
        total = weight.sum(dtype=np.result_type(weight, np.float32))
    if not smallest <= total <= MAX_WEIGHT_SUM:
        raise ValueError(
            f"{name} must sum to at least {MIN_WEIGHT_SUM:g} and at most {MAX_WEIGHT_SUM:g} over the rows, "
            f"got {total:g}"
        )


def read_data_set(data: Any, library: str, alternative: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels and weights of a library's native data set.

    A data set of the other library is recognised by its type, so neither library is imported.  The error then
    suggests `alternative`, in which "{}" stands for the name of that library.
    """
    other = "lightgbm" if library == "xgboost" else "xgboost"
    if any(cls.__module__.partition(".")[0] == other for cls in type(data).__mro__):
        raise TypeError(
            f"the data set must be of {library}, got a {type(data).__name__} of {other}; "
            f"use {alternative.format(other)}"
        )
    labels, weight = data.get_label(), data.get_weight()
    if labels is None or len(labels) == 0:
        raise ValueError("the data set has no labels")
    return labels, None if np.size(weight) == 0 else weight


def read_intercept_inputs(
    y: ArrayLike, sample_weight: ArrayLike | None, n_classes: int | None
) -> tuple[Classes, NDArray[Any] | None, int]:
    """Check labels and weights for an intercept; return class numbers, weights and the number of classes."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y must have shape (n,) and not be empty, got shape {labels.shape}")
    if labels.dtype == object:
        labels = np.array(labels.tolist())  # such as a pandas column of nullable integers
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must contain class numbers, integers from 0, got {labels[:3].tolist()}")
    found = np.unique(labels)
    if n_classes is None:
        n_classes = max(2, found.size)
        if not np.array_equal(found, np.arange(found.size)) and found.size > 1:
            raise ValueError(
                f"y must contain class numbers, integers from 0 without gaps, got {found[:10].tolist()}; "
                "if a class has no rows, pass n_classes to the objective"
            )
    numbers = to_class_numbers(labels, n_classes)
    if found.size < 2:
        raise ValueError(f"y must contain at least two classes, got one class, {found[0]}")
    weight = None if sample_weight is None else read_weights(sample_weight, labels.size)
    if weight is not None:
        check_any_weight(weight)
        check_weight_sum(weight)
    return numbers, weight, n_classes
