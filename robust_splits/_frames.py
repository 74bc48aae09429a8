"""Convert columns of data frames to NumPy numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_SHOWN = 5  # columns in a message


def load_dask(X: Any) -> Any:
    """Load a frame or array of Dask into memory, as one of pandas or NumPy; return any other as it is."""
    return X.compute() if hasattr(X, "__dask_graph__") else X


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


def check_columns(X: Any) -> None:
    """Check that all columns of a data frame of pandas are numbers, after `rank_categories`.

    Raises
    ------
    ValueError
        If two have the same name, or some are text or dates.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return
    import pandas as pd  # imported already, as X is a frame

    if not X.columns.is_unique:
        raise ValueError(f"X must have unique column names, got {X.columns[X.columns.duplicated()][0]!r} twice")
    others = {}
    for name, dtype in X.dtypes.items():
        values = getattr(dtype, "numpy_dtype", dtype)  # of nullable and Arrow types
        is_object = pd.api.types.is_object_dtype(values)
        if pd.api.types.is_numeric_dtype(values) or (is_object and _are_numbers(X[name])):
            continue
        is_date = pd.api.types.is_datetime64_any_dtype(values)
        is_text = is_object or pd.api.types.is_string_dtype(values)
        others[name] = "dates" if is_date else "text" if is_text else str(dtype)
    if others:
        found = ", ".join(f"{name!r} ({what})" for name, what in [*others.items()][:MAX_SHOWN])
        more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
        raise ValueError(
            f"X has columns that are not numbers: {found}{more}; make text a category and dates numbers, for "
            "example with skrub's TableVectorizer"
        )


def _are_numbers(column: Any) -> bool:
    try:
        column.astype(np.float64)
    except (ValueError, TypeError):
        return False
    return True


def to_numpy_columns(X: Any) -> Any:
    """Convert nullable and Arrow numbers to NumPy numbers.

    All columns of the result are in one array, which scikit-learn reads without a copy.  For columns of single
    precision, scikit-learn's own conversion needs three times the memory.

    Parameters
    ----------
    X : array-like or DataFrame

    Returns
    -------
    array-like or DataFrame
        `X` itself if it has no such columns, or columns that are not numbers.  Otherwise in single precision if
        all columns are, and in double precision if not.  Missing values are NaN.
    """
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return X
    dtypes = [getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes]
    if dtypes == X.dtypes.tolist():
        return X
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return X
    import pandas as pd  # imported already, as X is a frame

    precision = np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64
    values = np.empty(X.shape, dtype=precision, order="F")
    for j in range(X.shape[1]):
        values[:, j] = X.iloc[:, j].to_numpy(dtype=precision, na_value=np.nan)
    return pd.DataFrame(values, columns=X.columns, copy=False)
