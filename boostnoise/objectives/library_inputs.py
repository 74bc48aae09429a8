"""Read the margins, labels and weights that XGBoost and LightGBM pass to objectives and metrics."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_splits.label_noise.weights import check_any_weight, check_weight_sum, read_weights

from ..losses.softmax import Classes, check_labels


def to_host(array: Any) -> Any:
    """Copy an array of a GPU to the memory of the processor; others are returned as they are.

    With ``device="cuda"``, XGBoost may return labels and weights as CuPy arrays, which CuPy does not convert to
    NumPy's implicitly.
    """
    return array.get() if hasattr(array, "__cuda_array_interface__") else array


def reshape_margins(margin: NDArray[Any], n_rows: int, order: Literal["C", "F"]) -> NDArray[Any]:
    """Margins of shape (n,) or (n, K); flat margins of K classes are reshaped in the order of their library."""
    flat = margin.ndim == 1 and margin.size > n_rows > 0 and margin.size % n_rows == 0
    return margin.reshape((n_rows, -1), order=order) if flat else margin


def to_class_numbers(labels: NDArray[Any], n_classes: int) -> Classes:
    """Check class numbers that a library stores as floats, and convert them to integers."""
    numbers: Classes
    if n_classes == 2:  # for which this takes a quarter of the time
        first, second = labels == 0, labels == 1
        if np.count_nonzero(first) + np.count_nonzero(second) == labels.size:
            numbers = second.view(np.int8)
            return numbers
    # A label that does not fit changes its value, which the comparison below detects.
    with np.errstate(invalid="ignore"):
        numbers = labels.astype(np.int64)
    # Comparing in the type of the labels is faster than in the wider type that NumPy would choose.
    if not np.array_equal(numbers.astype(labels.dtype), labels):
        wrong = labels[numbers != labels]
        raise ValueError(
            f"labels must be class numbers, integers from 0 to {n_classes - 1}, got {wrong[:3].tolist()}"
        )
    return check_labels(numbers, len(labels), n_classes)


def check_probabilities(p: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Check probabilities of shape (n, n_classes), and return them; they are not summed, to save time."""
    if p.shape[1:] != (n_classes,) or (p.size and not (p.min() >= 0 and p.max() <= 1)):
        raise ValueError(
            f"soft labels must be probabilities in [0, 1] of {n_classes} classes, "
            f"got shape {p.shape} and the first row {p[0].tolist() if len(p) else []}"
        )
    return p


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
    labels, weight = to_host(data.get_label()), to_host(data.get_weight())
    n_rows = data.num_row() if hasattr(data, "num_row") else None  # XGBoost's may be empty on some workers
    if labels is None or (len(labels) == 0 and n_rows != 0):
        raise ValueError("the data set has no labels")
    return labels, None if np.size(weight) == 0 else weight


def read_intercept_inputs(
    y: ArrayLike, sample_weight: ArrayLike | None, n_classes: int | None
) -> tuple[NDArray[Any], NDArray[Any] | None, int]:
    """Check labels and weights for an intercept; return labels, weights and the number of classes.

    Labels are class numbers or, of shape (n, K), probabilities.
    """
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or labels.size == 0:
        raise ValueError(f"y must have shape (n,) or (n, K) and not be empty, got shape {labels.shape}")
    if labels.ndim == 2:
        n_classes = n_classes or labels.shape[1]
        return check_probabilities(labels, n_classes), _read_some_weights(sample_weight, len(labels)), n_classes
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
    return numbers, _read_some_weights(sample_weight, labels.size), n_classes


def _read_some_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Weights that can be trained with, or None."""
    if sample_weight is None:
        return None
    weight = read_weights(sample_weight, n_rows)
    check_any_weight(weight)
    check_weight_sum(weight)
    return weight
