"""Checks of data frames that the libraries make late, unclearly or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

MAX_SHOWN = 5  # columns in a message


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a data frame of any library; None for anything else."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))  # of Arrow, or others
    return None if columns is None else [str(column) for column in columns]


def check_column_names(X: Any, seen: Sequence[str] | None) -> None:
    """Raise a ValueError if `X` is a data frame whose columns are not those of the training data, in order.

    Both libraries take columns by position, except those of pandas in XGBoost.
    """
    names = column_names(X)
    if names is None or seen is None or names == list(seen):
        return
    missing = [name for name in seen if name not in names]
    unknown = [name for name in names if name not in seen]
    if missing:
        raise ValueError(f"X must have the columns that fit saw, but {missing[:MAX_SHOWN]} are missing")
    if unknown:
        raise ValueError(f"X must have the columns that fit saw, but {unknown[:MAX_SHOWN]} are new")
    raise ValueError(
        f"the columns of X must be in the order that fit saw, {list(seen[:MAX_SHOWN])}, got {names[:MAX_SHOWN]}"
    )


def with_numpy_columns(X: Any) -> Any:
    """A pandas frame whose numbers have types of NumPy, which LightGBM reads; anything else as it is."""
    dtypes: Any = getattr(X, "dtypes", None)
    if not hasattr(X, "assign") or not hasattr(dtypes, "items"):
        return X
    numbers = {name for name, dtype in dtypes.items() if _numpy_kind(dtype) in ("i", "u", "f")}
    if not numbers:
        return X
    columns = {name: X[name].to_numpy(dtype=float, na_value=float("nan")) for name in numbers}
    return X.assign(**columns)


def with_numpy_columns_evaluated(eval_set: Any) -> Any:
    """The same for evaluation sets."""
    pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
    return pairs and [(with_numpy_columns(X), y) for X, y in pairs]


def _numpy_kind(dtype: Any) -> str:
    """Kind of the NumPy type of a type of pandas or Arrow; empty for types of NumPy itself."""
    return getattr(getattr(dtype, "numpy_dtype", None), "kind", "")


def refuse_for_lightgbm(column: nw.Series[Any]) -> str | None:
    """Why LightGBM cannot read a column of categories; it would end the process."""
    is_of_pandas = str(getattr(column.to_native(), "dtype", "")) == "category"
    return None if is_of_pandas else "categories that LightGBM reads from pandas only; use X.to_pandas()"
