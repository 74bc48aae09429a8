"""Columns of data frames as numbers of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def rank_categories(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Replace categories of pandas or Arrow with their ranks 0, 1, ..., in the order of the categories.

    Sets ``_categories`` on the estimator, a dict of column names to lists of categories.  Without `reset`, uses
    these categories instead of those of `X`.

    Parameters
    ----------
    estimator : BaseRobustTrees
    X : array-like or DataFrame
    reset : bool

    Returns
    -------
    array-like or DataFrame
        `X` itself if there is nothing to replace.  Missing and unknown categories are NaN.
    """
    is_frame = hasattr(X, "iloc") and hasattr(X, "columns")
    if reset:
        is_frame = is_frame and X.columns.is_unique  # other frames are rejected with the other checks of X
        names = [name for name, dtype in X.dtypes.items() if _has_categories(dtype)] if is_frame else []
        estimator._categories = {name: _categories_of(X[name]) for name in names}
    known = {name: categories for name, categories in estimator._categories.items() if is_frame and name in X}
    if not known:
        return X
    import pandas as pd  # imported already, as X is a frame

    X = X.copy(deep=False)
    for name, categories in known.items():
        ranks = pd.Index(categories).get_indexer(pd.Index(X[name].astype(object)))
        X[name] = np.where(ranks < 0, np.nan, ranks)
    return X


def _has_categories(dtype: Any) -> bool:
    """Whether columns of this type hold pandas categories, or a dictionary of Arrow."""
    return hasattr(dtype, "categories") or str(getattr(dtype, "pyarrow_dtype", "")).startswith("dictionary")


def _categories_of(column: Any) -> list[Any]:
    # pandas cannot convert an Arrow dictionary with missing values.
    categories: list[Any] = column.dropna().astype("category").cat.categories.tolist()
    return categories


def to_numpy_columns(X: Any) -> Any:
    """Replace nullable and Arrow numbers with NumPy's, in a frame that holds a single array.

    scikit-learn would convert them to double precision, in two copies; this is one copy, and columns of single
    precision keep it.

    Parameters
    ----------
    X : array-like or DataFrame

    Returns
    -------
    array-like or DataFrame
        `X` itself if it has no such columns, or others that are not numbers.  Missing values are NaN.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return X
    import pandas as pd  # only where there may be a frame

    if not isinstance(X, pd.DataFrame):
        return X
    kinds = [getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes]
    if all(kind is dtype for kind, dtype in zip(kinds, X.dtypes, strict=True)):
        return X
    if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
        return X
    dtype = np.float32 if all(kind == np.float32 for kind in kinds) else np.float64
    values = np.empty(X.shape, dtype=dtype, order="F")
    for j in range(X.shape[1]):
        values[:, j] = X.iloc[:, j].to_numpy(dtype=dtype, na_value=np.nan)
    return pd.DataFrame(values, columns=X.columns, copy=False)
