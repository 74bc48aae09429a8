"""Convert data frames of pandas, polars, Arrow and others to arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

MAX_SHOWN = 5  # columns in a message


def load_dask(X: Any) -> Any:
    """Load a frame or array of Dask into memory, as one of pandas or NumPy; return any other as it is."""
    return X.compute() if hasattr(X, "__dask_graph__") else X


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame of any library."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def check_columns(
    X: Any, known: Collection[Any] = (), refuse: Callable[[nw.Series[Any]], str | None] | None = None
) -> None:
    """Check that all columns of a data frame are numbers or categories; accepts anything else.

    Parameters
    ----------
    X : array-like or DataFrame
    known : collection of column names
        Columns that may have any type.
    refuse : callable or None
        Called with a column of categories; returns what is wrong with it, or None.

    Raises
    ------
    ValueError
        If two have the same name, or some are text or dates.
    """
    if not is_frame(X):
        return
    columns: Any = getattr(X, "columns", None)  # narwhals refuses names that are there twice, in its own words
    if hasattr(columns, "is_unique") and not columns.is_unique:
        raise ValueError(f"X must have unique column names, got {columns[columns.duplicated()][0]!r} twice")
    if _is_numpy_frame(X, "biuf"):  # often, and narwhals takes 50 microseconds for a column
        return
    others = {}
    for name, column in _columns(X):
        if name in known or _are_numbers(column):
            continue
        if has_categories(column):
            if refuse is not None and (reason := refuse(column)):
                others[name] = reason
            continue
        is_text = column.dtype == nw.String or column.dtype == nw.Object
        is_date = isinstance(column.dtype, nw.Datetime | nw.Date)
        others[name] = "dates" if is_date else "text" if is_text else str(column.dtype)
    if others:
        found = ", ".join(f"{name!r} ({what})" for name, what in [*others.items()][:MAX_SHOWN])
        more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
        raise ValueError(
            f"X has columns that are not numbers: {found}{more}; make text a category and dates numbers, for "
            "example with skrub's TableVectorizer"
        )


def column_names(X: Any, n_features: int) -> Sequence[Any]:
    """Names of the columns of a data frame; numbers of the features of anything else."""
    return [name for name, _ in _columns(X)] if is_frame(X) else range(n_features)


def find_categories(X: Any) -> dict[Any, list[Any]]:
    """Categories of the columns of a data frame that have them, in their order; none of any other `X`."""
    if not is_frame(X):
        return {}
    return {name: _categories_of(column) for name, column in _columns(X) if has_categories(column)}


def unordered_categories(X: Any) -> set[Any]:
    """Names of the columns of a data frame with categories that have no order."""
    if not is_frame(X):
        return set()
    return {
        name
        for name, column in _columns(X)
        if has_categories(column) and not nw.is_ordered_categorical(_as_category(column))
    }


def to_numbers(X: Any, categories: dict[Any, list[Any]]) -> Any:
    """Convert a data frame of numbers and categories to an array.

    Parameters
    ----------
    X : DataFrame
        Checked by `check_columns`.
    categories : dict of column names to lists
        Known categories, which become their ranks 0, 1, ...; unknown ones become NaN.

    Returns
    -------
    float array of shape (n_samples, n_features), or DataFrame
        In single precision if all columns are.  Missing values are NaN.  `X` itself if scikit-learn reads it
        without a copy, or if its columns are sparse.
    """
    if not categories and _is_numpy_frame(X, "biufO"):
        return X
    columns = _columns(X)
    singles = [name not in categories and column.dtype == nw.Float32 for name, column in columns]
    values = np.empty(X.shape, dtype=np.float32 if columns and all(singles) else np.float64, order="F")
    for j, (name, column) in enumerate(columns):
        if name in categories:
            values[:, j] = _ranks(column, categories[name])
        else:
            dtype = nw.Float32 if values.dtype == np.float32 else nw.Float64
            values[:, j] = column.cast(dtype).to_numpy()
    return values


def has_categories(column: nw.Series[Any]) -> bool:
    """Whether a column holds categories, or a dictionary of Arrow."""
    return isinstance(column.dtype, nw.Categorical | nw.Enum)


def _ranks(column: nw.Series[Any], categories: list[Any]) -> NDArray[np.float64]:
    """Ranks of the categories of a column among known ones; NaN for unknown and missing ones."""
    rank_of = {category: rank for rank, category in enumerate(categories)}
    native = column.to_native()
    if hasattr(native, "iloc") and hasattr(native.dtype, "categories"):  # pandas
        ranks = np.array([*(rank_of.get(category, np.nan) for category in native.cat.categories), np.nan])
        found: NDArray[np.float64] = ranks[native.cat.codes.to_numpy()]  # missing values have code -1
        return found
    return np.array([rank_of.get(category, np.nan) for category in column.to_list()])


def _columns(X: Any) -> Sequence[tuple[Any, nw.Series[Any]]]:
    frame = nw.from_native(X, eager_only=True)
    return list(zip(frame.columns, frame.iter_columns(), strict=True))


def _as_category(column: nw.Series[Any]) -> nw.Series[Any]:
    """A column of pandas with an Arrow dictionary as one of pandas categories, which narwhals knows better."""
    native = column.to_native()
    if hasattr(native, "iloc") and not hasattr(native.dtype, "categories"):
        return nw.from_native(native.dropna().astype("category"), series_only=True)
    return column


def _categories_of(column: nw.Series[Any]) -> list[Any]:
    native = _as_category(column).to_native()
    if hasattr(native, "iloc"):  # pandas, whose categories may be numbers
        categories: list[Any] = native.cat.categories.tolist()
        return categories
    if isinstance(column.dtype, nw.Enum):
        return list(column.dtype.categories)
    return sorted(column.drop_nulls().unique().to_list())


def _is_numpy_frame(X: Any, kinds: str) -> bool:
    """Whether a frame is one of pandas whose columns are sparse, or NumPy's of some kinds."""
    if not hasattr(X, "iloc"):
        return False
    plain = (
        hasattr(dtype, "fill_value") or (isinstance(dtype, np.dtype) and dtype.kind in kinds)
        for dtype in X.dtypes
    )
    return all(plain)


def _are_numbers(column: nw.Series[Any]) -> bool:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return True
    if str(getattr(column.to_native(), "dtype", "")) != "object":  # of pandas, which may hold numbers
        return False
    try:
        column.to_numpy().astype(np.float64)
    except (ValueError, TypeError):
        return False
    return True


def feature_mask(name: str, features: Any, X: Any, n_features: int) -> NDArray[np.bool_]:
    """Mask of some features, given as a mask, as indices or as names of the columns of a data frame.

    Raises
    ------
    ValueError, TypeError
        If they are anything else, or not among the features.
    """
    allowed = f"{name} must be 'from_dtype', None, or a list of column names, indices, or booleans"
    chosen = np.asarray(features)
    mask = np.zeros(n_features, dtype=bool)
    if chosen.ndim != 1:
        raise ValueError(f"{allowed}, got {features!r}")
    if chosen.dtype.kind == "b":
        if chosen.size != n_features:
            raise ValueError(f"{name} must have {n_features} booleans, one for each feature; got {chosen.size}")
        return chosen.copy()
    if chosen.dtype.kind in "iu":
        if chosen.size and (chosen.min() < 0 or chosen.max() >= n_features):
            raise ValueError(f"{name} must be indices from 0 to {n_features - 1}, got {features!r}")
        mask[chosen] = True
    elif all(isinstance(column, str) for column in features):
        names = [column for column, _ in _columns(X)] if is_frame(X) else []
        unknown = [column for column in features if column not in names]
        if unknown:
            found = f"columns {', '.join(map(repr, names[:MAX_SHOWN]))}, ..." if names else "no column names"
            raise ValueError(f"{name} has {unknown[0]!r}, but X has {found}")
        mask[[names.index(column) for column in features]] = True
    elif chosen.size:
        raise TypeError(f"{allowed}, got {features!r}")
    return mask
