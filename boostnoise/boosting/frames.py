"""Checks of data frames that both libraries make late, unclearly or not at all."""

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


def check_column_types(X: Any, *, reads_categories: bool = True) -> None:
    """Raise a ValueError if `X` is a data frame with text, dates, or two columns of the same name.

    Without `reads_categories`, also if a column of categories is not one of pandas.
    """
    if not nw.dependencies.is_into_dataframe(X):
        return
    names = column_names(X) or []
    twice = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"X must have unique column names, got {twice[0]!r} twice")
    frame = nw.from_native(X, eager_only=True)
    others = {}
    for name, column in zip(names, frame.iter_columns(), strict=True):
        if isinstance(column.dtype, nw.Datetime | nw.Date):
            others[name] = "dates"
        elif column.dtype == nw.String:
            others[name] = "text"
        elif (
            isinstance(column.dtype, nw.Categorical | nw.Enum)
            and not reads_categories
            and str(getattr(column.to_native(), "dtype", "")) != "category"  # of pandas
        ):
            others[name] = "categories that LightGBM reads from pandas only; use X.to_pandas()"
    if others:
        found = ", ".join(f"{name!r} ({what})" for name, what in [*others.items()][:MAX_SHOWN])
        more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
        raise ValueError(
            f"X has columns that are not numbers: {found}{more}; make text a category and dates numbers, for "
            "example with skrub's TableVectorizer"
        )
