"""Class labels: their classes, and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d


def encode_labels(y: ArrayLike) -> tuple[LabelEncoder, NDArray[np.int64]]:
    """Fitted label encoder, and class numbers of shape (n,).

    Raises
    ------
    ValueError
        If labels are missing, infinite or continuous, or if there is only one class.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    y = column_or_1d(as_numpy_labels(y), warn=True)
    labels = pd.Series(y)
    if labels.isna().any():
        raise ValueError(f"y contains {labels.isna().sum()} missing labels")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("y contains infinite labels")
    check_classification_targets(y)
    encoder = LabelEncoder()
    codes: NDArray[np.int64] = encoder.fit_transform(y)
    if len(encoder.classes_) < 2:
        found = [f"one class, {label!r}" for label in encoder.classes_.tolist()] or ["no labels"]
        raise ValueError(f"y must contain at least two classes, got {found[0]}")
    return encoder, codes


def as_numpy_labels(y: Any) -> Any:
    """Labels with the integers or truth values of pandas or Arrow, as those of NumPy.

    scikit-learn would make floats of them.  Anything else is returned as it is, and so are labels with missing
    values.
    """
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in "biu" or not hasattr(y, "to_numpy") or y.isna().any():
        return y
    labels: NDArray[Any] = y.to_numpy(dtype=dtype)
    return labels


def check_same_length(X: Any, codes: NDArray[np.int64]) -> None:
    """Raise a ValueError if there is not one label for each row."""
    if _num_samples(X) != codes.size:
        raise ValueError(f"X and y must have the same number of rows, got {_num_samples(X)} and {codes.size}")
