"""Read the features and groups of an audit, and judge its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from boostnoise.label_noise.checked_labels import check_labels
from boostnoise.label_noise.judges import predict_out_of_bag
from robust_splits.label_noise.clean_posterior import is_above_chance
from robust_splits.label_noise.weights import spaced_rows

from ..datasets.encoding import Encoding, FeatureEncoder, check_features
from ..errors import ConfigError, one_line
from ..models.input_form import enable_categories, input_form
from .label_columns import (
    find_label_columns,
    remark_on_label_columns,
    remark_on_the_only_columns,
    without_columns,
)
from .spelling import spelled_as

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

JUDGED_ROWS = 2_000  # of a table whose labels are not audited


def read_rows(X: Any, n_rows: int, labels: str, **arguments: Any) -> Any:
    """Features with a shape, after a check of their columns and of the numbers of rows.

    Parameters
    ----------
    X : array-like
    n_rows : int
        Number of labels.
    labels : str
        Name of their argument, for messages.
    **arguments
        Others that have a value for each row, or are None.

    Raises
    ------
    ConfigError
        If an argument has another number of rows, or X has no columns or two of one name.
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    check_lengths(n_rows, labels, X=X, **arguments)
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        raise ConfigError(f"X: two columns are called {X.columns[X.columns.duplicated()][0]!r}")
    if len(X.shape) == 2 and X.shape[1] == 0:
        raise ConfigError("X has no columns")
    return X


def check_lengths(n_rows: int, labels: str, **arguments: Any) -> None:
    """Raise a ConfigError if one of the arguments that are not None has another number of rows than labels."""
    for argument, values in arguments.items():
        if values is not None and len_of(values) != n_rows:
            raise ConfigError(f"{argument} has {len_of(values)} rows, but {labels} has {n_rows}")


def read_checked(
    checked: Any, classes: NDArray[Any], n_rows: int, spellings: dict[Any, Any], merge_spellings: bool
) -> dict[Any, Any]:
    """Right labels by row, spelled as the classes.

    Raises
    ------
    TypeError
        If `checked` is no dict or Series.
    ConfigError
        If it is empty, or rows or labels do not exist.
    """
    if not isinstance(checked, dict | pd.Series):
        raise TypeError(f"checked must be a dict, Series or DataFrame of labels by row, got {checked!r:.60}")
    if isinstance(checked, pd.Series):
        repeated = checked.index[checked.index.duplicated()]
        if repeated.size:
            raise ConfigError(f"checked: row {repeated[0]} occurs more than once")
    right = {row: spellings.get(label, label) for row, label in dict(checked).items()}
    if not right:
        raise ConfigError("checked must have the right label of at least one row, or be None")
    if merge_spellings:
        right = dict(zip(right, spelled_as(classes, right.values()), strict=True))
    try:
        check_labels(classes, n_rows, [*right], [*right.values()])
    except ValueError as error:
        raise ConfigError(one_line(error)) from None
    return right


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


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """Converts features to the form that a model takes; those that are no frame are kept.

    Attributes
    ----------
    encoder : FeatureEncoder or None
        With the categories of the rows that it was fitted to; None for features that are no frame.
    """

    encoder: FeatureEncoder | None

    @classmethod
    def fit(cls, X: Any, model: Any = None) -> Self:
        """Read the categories of text; the default models, None, take numbers."""
        if not isinstance(X, pd.DataFrame):
            return cls(None)
        return cls(_encoder(_checked_features(X), model))

    def transform(self, X: Any) -> Any:
        """Features in the form of the model."""
        return X if self.encoder is None else self.encoder.transform(_checked_features(X))


def _checked_features(X: pd.DataFrame) -> pd.DataFrame:
    return check_features(X.set_axis(X.columns.map(str), axis=1).reset_index(drop=True), "keep", "X")


def _encoder(frame: pd.DataFrame, model: Any) -> FeatureEncoder:
    form = "numbers" if model is None else input_form(model)
    return FeatureEncoder(form, Encoding(categorical="ordinal", missing="keep")).fit(frame)


def converted(X: Any, model: Any) -> tuple[Any, Any]:
    """Features in the form that the model takes, and the model, set to accept it."""
    if not isinstance(X, pd.DataFrame):
        return X, model
    frame = _checked_features(X)
    features = _encoder(frame, model).transform(frame)
    if model is not None and isinstance(features, pd.DataFrame):
        model = clone(model)
        enable_categories(model)
    return features, model


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Predicted probabilities of labels, and columns that were probably made from the labels.

    Attributes
    ----------
    p : float array of shape (n, K)
        Probabilities without the columns that were left out.
    p_of_all : float array of shape (n, K)
        Probabilities with all columns.
    left_out : list
        Columns that were left out.
    only : list
        Columns that were not, as nothing else predicts the labels.
    """

    p: Floats
    p_of_all: Floats
    left_out: list[Any]
    only: list[Any]

    @property
    def remarks(self) -> list[str]:
        """Remark on these columns, if there are any."""
        if self.left_out:
            return [remark_on_label_columns(self.left_out)]
        return [remark_on_the_only_columns(self.only)] if self.only else []


def judge_rows(
    X: Any,
    codes: Codes,
    classes: NDArray[Any],
    judge: Callable[[Any], Floats],
    *,
    keep: bool = False,
    same_values_only: bool = False,
) -> JudgedRows:
    """Predict the labels of rows, without the columns that were probably made from them.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of n rows
    codes : int array of shape (n,)
        Class numbers of the labels.
    classes : ndarray of shape (K,)
        Labels.
    judge : callable
        Predicts the probabilities of the labels from features, by models that were fitted to other rows.
    keep : bool, default=False
        Whether such columns are not sought, as they are not in a sparse matrix.
    same_values_only : bool, default=False
        Whether only columns with the values of the labels are such columns.
    """
    p = judge(X)
    if keep or issparse(X):
        return JudgedRows(p, p, [], [])
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    encoded = pd.DataFrame(converted(frame, None)[0]).set_axis(frame.columns, axis=1)
    columns = find_label_columns(frame, encoded, codes, classes, p, same_values_only=same_values_only)
    if not columns:
        return JudgedRows(p, p, [], [])
    p_without = judge(without_columns(X, columns))
    if is_informative(p_without, codes):
        return JudgedRows(p_without, p, columns, [])
    return JudgedRows(p, p, [], columns)


def judge_table(features: pd.DataFrame, labels: pd.Series[Any]) -> JudgedRows | None:
    """Judge some rows of a table by forests, to find columns made from the label; None without classes."""
    known = np.flatnonzero(labels.notna())
    rows = known[spaced_rows(known.size, JUDGED_ROWS)]
    given = labels.iloc[rows]
    try:
        classes, codes = np.unique(given.convert_dtypes().to_numpy(), return_inverse=True)
    except TypeError:  # of several types
        classes, codes = np.unique(given.astype(str), return_inverse=True)
    classes = np.array(classes.tolist())
    if not 1 < classes.size <= rows.size / 2:
        return None

    def judge(some: Any) -> Floats:
        return predict_out_of_bag(converted(some, None)[0], codes, n_jobs=-1)

    return judge_rows(features.iloc[rows].reset_index(drop=True), codes, classes, judge)


def is_informative(p: Floats, codes: Codes) -> bool:
    """Whether probabilities of labels are higher than those of labels drawn at random."""
    shares = np.bincount(codes, minlength=p.shape[1]) / codes.size
    return is_above_chance(codes, p, shares, np.ones(codes.size))


def len_of(values: Any) -> int:
    """Number of rows."""
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)
