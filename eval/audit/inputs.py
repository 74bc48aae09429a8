"""Read the features and groups of an audit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from ..datasets.encoding import Encoding, FeatureEncoder, check_features
from ..errors import ConfigError
from ..models.input_form import enable_categories, input_form
from .label_columns import find_label_columns


def read_rows(X: Any, n_rows: int, **arguments: Any) -> Any:
    """Features with a shape, after a check of their number of rows and of that of other arguments.

    Raises
    ------
    ConfigError
        If an argument has another number of rows; None has none.
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    for argument, values in {"X": X, **arguments}.items():
        if values is not None and len_of(values) != n_rows:
            raise ConfigError(f"{argument} has {len_of(values)} rows, but y has {n_rows}")
    return X


def read_groups(groups: Any) -> NDArray[np.int64]:
    """Number of the group of each row.

    Raises
    ------
    ConfigError
        If groups are missing, or all rows are of one group.
    """
    numbers: NDArray[np.int64] = pd.factorize(pd.Series(np.asarray(groups)))[0]
    if numbers.min() < 0:
        raise ConfigError(
            "groups has missing values; give each row that belongs to no other a group of its own"
        )
    if numbers.max() == 0:
        raise ConfigError("groups: all rows are of one group")
    return numbers


def converted(X: Any, model: Any) -> tuple[Any, Any]:
    """Features in the form that the model takes, and the model, set to accept it."""
    if not isinstance(X, pd.DataFrame):
        return X, model
    frame = check_features(X.set_axis(X.columns.map(str), axis=1).reset_index(drop=True), "keep", "X")
    form = "numbers" if model is None else input_form(model)
    features = FeatureEncoder(form, Encoding(categorical="ordinal", missing="keep")).fit(frame).transform(frame)
    if model is not None and isinstance(features, pd.DataFrame):
        model = clone(model)
        enable_categories(model)
    return features, model


def label_columns(X: Any, codes: NDArray[np.int64], classes: NDArray[Any], p: NDArray[np.float64]) -> list[Any]:
    """Columns that were probably made from the label; none are sought in a sparse matrix."""
    if issparse(X):
        return []
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    encoded = pd.DataFrame(converted(frame, None)[0]).set_axis(frame.columns, axis=1)
    return find_label_columns(frame, encoded, codes, classes, p)


def len_of(values: Any) -> int:
    """Number of rows."""
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)
