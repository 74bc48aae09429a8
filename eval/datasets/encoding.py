"""Encode features as numbers: missing values, text and categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import numbered
from ..config.dataset_spec import Categorical, Missing
from ..errors import ConfigError

MAX_CATEGORIES = 255


def encode_features(
    frame: pd.DataFrame, categorical: Categorical, missing: Missing, where: str
) -> NDArray[np.float64]:
    """Encode features as a matrix of numbers.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_columns)
    categorical : {"onehot", "ordinal"}
        Encoding of columns that are not numeric.  ``"onehot"``: one column of zeros and ones per value, after
        all numeric columns.  ``"ordinal"``: the ranks 0, 1, ... of the values, in the order of the categories
        in a Parquet or ARFF file, otherwise sorted.
    missing : {"error", "drop_rows", "impute", "keep"}
        Treatment of missing values.  ``"error"`` raises an error.  ``"drop_rows"`` does too, as the caller has
        dropped their rows.  ``"impute"`` inserts the median of the column, or the most frequent value if it is
        not numeric, over all rows and independent of the labels.  ``"keep"`` inserts NaN, or zeros in one-hot
        columns.
    where : str
        Prefix of error messages.

    Returns
    -------
    float64 array of shape (n_samples, n_features)

    Raises
    ------
    ConfigError
        If there is no column, a value is infinite or must not be missing, a column has more than
        `MAX_CATEGORIES` values with ``"onehot"``, or a column has neither numbers nor text.
    """
    if frame.shape[1] == 0:
        raise ConfigError(f"{where}: has no columns except the target")
    incomplete = frame.columns[frame.isna().any()]
    if len(incomplete) and missing != "keep":
        if missing != "impute":
            raise ConfigError(
                f"{where}: missing values in {numbered(len(incomplete), 'column')} (first: {incomplete[0]!r}); "
                'fill or drop them, or set "missing" to "drop_rows", "impute" or "keep"'
            )
        frame = _impute(frame, incomplete, where)
    numeric = frame.dtypes.map(pd.api.types.is_numeric_dtype).to_numpy(dtype=bool)
    text = list(frame.columns[~numeric])
    for column in text:
        try:
            n_values = frame[column].nunique()
        except TypeError:
            raise ConfigError(f"{where}: column {column!r} has neither numbers nor text") from None
        if categorical == "onehot" and n_values > MAX_CATEGORIES:
            raise ConfigError(
                f"{where}: column {column!r} has {n_values} different text values, more than "
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


def _impute(frame: pd.DataFrame, incomplete: pd.Index, where: str) -> pd.DataFrame:
    empty = incomplete[frame[incomplete].isna().all().to_numpy()]
    if len(empty):
        raise ConfigError(f"{where}: column {empty[0]!r} has no values; drop it")
    numeric = frame[incomplete].dtypes.map(pd.api.types.is_numeric_dtype).to_numpy(dtype=bool)
    # All numeric columns at once, as there may be many; as floats, as the median of integers may be a fraction.
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
