"""Features as numbers: missing values, and columns of text and categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..config.dataset_spec import Categorical, Missing
from ..errors import ConfigError

MAX_CATEGORIES = 255


def code_features(
    frame: pd.DataFrame, categorical: Categorical, missing: Missing, where: str
) -> NDArray[np.float64]:
    """Features as a matrix of numbers.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_columns)
    categorical : {"onehot", "ordinal"}
        Whether a column that does not hold numbers becomes one column of zeros and ones per value, after all
        columns of numbers, or the ranks 0, 1, ... of its values: in the order that a Parquet or ARFF file
        gives its categories, otherwise sorted.
    missing : {"error", "drop_rows", "impute", "keep"}
        Whether missing values are an error, their rows were dropped before, they become the median of their
        column or, among text, its most frequent value, over all rows and without a look at the labels, or they
        stay: as NaN, and as zeros only in one-hot columns.
    where : str
        Begins the message of an error.

    Returns
    -------
    float64 array of shape (n_samples, n_features)

    Raises
    ------
    ConfigError
        If there is no column, a value is infinite or is missing and must not be, a column to be made one-hot
        holds more than `MAX_CATEGORIES` values, or a column holds neither numbers nor text.
    """
    if frame.shape[1] == 0:
        raise ConfigError(f"{where}: has no column but the target")
    incomplete = frame.columns[frame.isna().any()]
    if len(incomplete) and missing != "keep":
        if missing != "impute":
            raise ConfigError(
                f"{where}: {len(incomplete)} columns have missing values, the first {incomplete[0]!r}; "
                'fill or drop them, or set "missing" to "drop_rows", "impute" or "keep"'
            )
        frame = _imputed(frame, incomplete, where)
    numeric = frame.dtypes.map(pd.api.types.is_numeric_dtype).to_numpy(dtype=bool)
    text = list(frame.columns[~numeric])
    for column in text:
        try:
            n_values = frame[column].nunique()
        except TypeError:
            raise ConfigError(f"{where}: column {column!r} holds neither numbers nor text") from None
        if categorical == "onehot" and n_values > MAX_CATEGORIES:
            raise ConfigError(
                f"{where}: column {column!r} holds text with {n_values} different values, more than "
                f'{MAX_CATEGORIES}; drop or encode it, or set "categorical" to "ordinal"'
            )
    if categorical == "onehot":
        frame = pd.get_dummies(frame, columns=text)
    else:
        frame = frame.assign(**{column: _ranks(frame[column]) for column in text})
    if missing == "keep":
        X: NDArray[np.float64] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        X = frame.to_numpy(dtype=np.float64)
    if np.isinf(X).any():
        raise ConfigError(f"{where}: has infinite values")
    return np.ascontiguousarray(X)


def _imputed(frame: pd.DataFrame, incomplete: pd.Index, where: str) -> pd.DataFrame:
    empty = incomplete[frame[incomplete].isna().all().to_numpy()]
    if len(empty):
        raise ConfigError(f"{where}: column {empty[0]!r} has no value; drop it")
    numeric = frame[incomplete].dtypes.map(pd.api.types.is_numeric_dtype).to_numpy(dtype=bool)
    # All columns of numbers at once: there may be very many.  A median of integers may lie between two of them.
    X = frame[incomplete[numeric]].to_numpy(dtype=np.float64, na_value=np.nan)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    filled = pd.DataFrame(X, frame.index, incomplete[numeric])
    texts = {name: frame[name].fillna(frame[name].mode()[0]) for name in incomplete[~numeric]}
    return pd.concat([frame.drop(columns=incomplete), filled, pd.DataFrame(texts, frame.index)], axis=1)[
        frame.columns
    ]


def _ranks(column: pd.Series) -> NDArray[np.float64]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        ranks = column.cat.codes.to_numpy()
    else:
        ranks, _ = pd.factorize(column, sort=True)
    return np.where(ranks < 0, np.nan, ranks)
