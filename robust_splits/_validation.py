"""Validation of training data, weights and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_X_y, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._checks import check_number
from ._rows import Rows
from ._soft_labels import SoftLabels
from .frames import (
    check_columns,
    column_names,
    feature_mask,
    find_categories,
    is_frame,
    load_dask,
    to_numbers,
    unordered_categories,
)
from .label_noise.labels import as_numpy_labels
from .label_noise.soft_labels import are_soft_labels, read_soft_labels

CONVERSION: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}
Labels = NDArray[np.int32] | SoftLabels

MIN_WEIGHT_SUM = 1e-100
MAX_ROWS = 1 << 30  # a tree has fewer than twice as many nodes, so that int32 holds their indices


def check_training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True
) -> tuple[Rows, Labels, NDArray[Any], NDArray[np.float64]]:
    """Validate the arguments of `fit`.

    Sets ``n_features_in_``, ``is_categorical_``, ``_categories`` and, for data frames, ``feature_names_in_`` on
    `estimator`.  Without `reset`, compares the columns with these attributes instead.

    Returns
    -------
    X : float32 or float64 array, or sparse array, of shape (n_samples, n_features)
        NaN means a missing value.
    labels : int32 array of shape (n_samples,), or SoftLabels
        Class numbers, unless labels are soft.
    classes : ndarray of shape (n_classes,)
        The sorted class labels.
    weights : float64 array of shape (n_samples,)

    Raises
    ------
    ValueError
        If `X` or `y` is empty, infinite, of the wrong shape or has more than 2^30 rows, a label is missing, a
        weight is negative, or the sum of the weights is 0 or out of range.
    """
    X = load_dask(X)
    shape = getattr(X, "shape", ())  # checked first, before arrays of this size are copied
    if shape and shape[0] > MAX_ROWS:
        raise ValueError(f"X must have at most {MAX_ROWS} rows, got {shape[0]}")
    frame = X
    check_columns(X, () if reset else estimator._categories)
    if reset:
        estimator._categories = find_categories(X)
    X = _to_numbers(estimator, X, reset=reset)
    labels: Labels
    if are_soft_labels(y):
        X = _validate(estimator, X, is_frame(frame), reset=reset, **CONVERSION)
        classes, p = read_soft_labels(y, X.shape[0])
        labels = SoftLabels.from_probabilities(p)
    else:
        X, y = _validate(estimator, X, is_frame(frame), as_numpy_labels(y), reset=reset, **CONVERSION)
        if y.dtype == object and (n_missing := sum(label is None for label in y)):
            raise ValueError(f"y contains {n_missing} missing labels")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        labels = codes.astype(np.int32)
    if reset:
        estimator.is_categorical_ = _find_categorical(estimator, frame)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    weights = np.require(weights, requirements="W")  # Numba would compile the learner again for read-only ones
    check_weight_sum("sample_weight", weights)
    return X, labels, classes, weights


def _to_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Convert a data frame to numbers, after the names of its columns; return anything else as it is."""
    if not is_frame(X):
        return X
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return to_numbers(X, estimator._categories)


def _validate(estimator: Any, X: Any, named: bool, *labels: Any, reset: bool, **conversion: Any) -> Any:
    """Validate rows, and labels if there are any; the names of `named` rows are known already."""
    if not named:
        return validate_data(estimator, X, *labels, reset=reset, **conversion)
    if labels:
        return check_X_y(X, *labels, estimator=estimator, **conversion)
    return check_array(X, estimator=estimator, input_name="X", **conversion)


def _find_categorical(estimator: Any, X: Any) -> NDArray[np.bool_]:
    """Mask of the features with categories that have no order."""
    chosen, n_features = estimator.categorical_features, estimator.n_features_in_
    if isinstance(chosen, str) and chosen == "from_dtype":
        unordered = unordered_categories(X)
        return np.array([name in unordered for name in column_names(X, n_features)], dtype=bool)
    if chosen is None:
        return np.zeros(n_features, dtype=bool)
    return feature_mask("categorical_features", chosen, X, n_features)


def check_weight_sum(name: str, weights: NDArray[np.float64]) -> None:
    """Raise a ValueError if the sum of sample weights is 0 or out of range."""
    total = weights.sum()
    # Squares of class counts must neither overflow nor all underflow to 0.
    if not MIN_WEIGHT_SUM < total < 1 / MIN_WEIGHT_SUM:
        raise ValueError(
            f"{name} must sum to more than {MIN_WEIGHT_SUM:g} and less than {1 / MIN_WEIGHT_SUM:g} over the "
            f"rows, got {total:g}"
        )


def check_class_weight(class_weight: Any, names: tuple[str, ...]) -> None:
    """Raise a ValueError or TypeError unless `class_weight` is None, one of `names`, or a dict of weights."""
    message = f"class_weight must be a dict, {' or '.join(map(repr, names))}, or None, got {class_weight!r}"
    if isinstance(class_weight, str):
        if class_weight not in names:
            raise ValueError(message)
    elif isinstance(class_weight, dict):
        for label, weight in class_weight.items():
            check_number(f"class_weight[{label!r}]", weight, low=0.0, high=np.inf)
    elif class_weight is not None:
        raise TypeError(message)


def class_weights(
    class_weight: dict[Any, float] | str | None, classes: NDArray[Any], totals: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Weight of each class, or None if all are 1; "balanced_subsample" is for the rows that a tree draws.

    Parameters
    ----------
    class_weight : dict, str or None
        Checked.
    classes : ndarray of shape (n_classes,)
        The class labels.
    totals : float array of shape (n_classes,)
        Number of rows of each class, or the sum of its probabilities.
    """
    if class_weight is None or class_weight == "balanced_subsample":
        return None
    if class_weight == "balanced":
        balanced: NDArray[np.float64] = totals.sum() / (
            np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0)
        )
        return balanced
    by_class: NDArray[np.float64] = compute_sample_weight(class_weight, classes)
    return by_class


def check_features(estimator: Any, X: Any) -> Rows:
    """Validate the rows that a fitted `estimator` predicts on; returns them in any memory order.

    Infinite values are found later, by `leaves_of`, which reads all values anyway.
    """
    rows: Rows = X
    if not _is_checked(estimator, X):
        X = load_dask(X)
        check_columns(X, estimator._categories)
        named, X = is_frame(X), _to_numbers(estimator, X, reset=False)
        conversion = {**CONVERSION, "ensure_all_finite": False}
        rows = _validate(estimator, X, named, reset=False, **conversion)
    return rows


def _is_checked(estimator: Any, X: Any) -> bool:
    """Whether `X` is an array that the checks of rows to predict would return as it is.

    They take longer than all trees of a forest for one row.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")  # whose absence in X is worth a warning
    )


def check_groups(groups: Any, n_samples: int) -> NDArray[np.int64]:
    """Number the groups of rows, in the order of their first rows."""
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(f"groups must have shape ({n_samples},), got {labels.shape}")
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    order: NDArray[np.int64] = np.argsort(np.argsort(first)).astype(np.int64)
    return order[numbers]
