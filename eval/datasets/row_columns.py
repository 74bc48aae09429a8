"""Find columns, and read those that describe rows: the given split, groups, weights and noise rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_hashable

from .._wording import numbered
from ..config.dataset_spec import Column
from ..errors import ConfigError, nearest_first, suggest


def find_column(frame: pd.DataFrame, column: Column, key: str, context: str) -> Any:
    """Find a column by name or position.

    Parameters
    ----------
    frame : DataFrame
    column : str or int
    key : str
        Key of the config, for error messages.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If there is no such column, or it is used (its key is not ``drop``) and has lists or objects.
    """
    if isinstance(column, int):
        if not -frame.shape[1] <= column < frame.shape[1]:
            raise ConfigError(f"{context}: {key} is column {column}, but there are {frame.shape[1]} columns")
        name = frame.columns[column]
    elif column not in frame.columns:
        raise ConfigError(
            f"{context}: {key} {column!r} is not a column{suggest(column, frame.columns)}; "
            f"columns are {nearest_first(column, frame.columns)}"
        )
    else:
        name = column
    if key != "drop":
        check_single_values(frame[[name]], context)
    return name


def check_single_values(frame: pd.DataFrame, context: str) -> None:
    """Raise a ConfigError if a column has lists or objects, as Parquet files may.

    Parameters
    ----------
    frame : DataFrame
        Columns whose values will be compared or counted.
    context : str
        Prefix of error messages.
    """
    for name, column in frame.items():
        if column.dtype != object:
            continue
        nested = next((value for value in column if not is_hashable(value)), None)
        if nested is not None:
            found = "objects" if isinstance(nested, dict) else "lists"
            raise ConfigError(f"{context}: column {name!r} has {found} in place of numbers, text or dates")


def read_split(column: pd.Series[Any], context: str) -> NDArray[np.bool_]:
    """Whether each row is a test row, from a column of 'train' and 'test'."""
    is_test = column.isin(["test"]).to_numpy()
    invalid = column[~is_test & ~column.isin(["train"]).to_numpy()]
    if len(invalid):
        found = invalid.tolist()[0]
        raise ConfigError(f"{context}: column {column.name!r} must contain 'train' or 'test', found {found!r}")
    return np.asarray(is_test, dtype=np.bool_)


def read_groups(column: pd.Series[Any], context: str) -> NDArray[np.int64]:
    """Number of the group of each row, in the order of their first rows."""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ConfigError(
            f"{context}: column {column.name!r} has {numbered(n_missing, 'row')} without a group; give each "
            "row that belongs to no other a group of its own"
        )
    groups, names = pd.factorize(column)
    if len(names) < 2:
        raise ConfigError(f"{context}: column {column.name!r} has a single group, {names.tolist()[0]!r}")
    return groups.astype(np.int64)


def group_copies(features: pd.DataFrame, context: str) -> NDArray[np.int64] | None:
    """Number of the group of each row, in the order of their first rows: rows with equal features.

    None if all rows differ.
    """
    check_single_values(features, context)
    rows = features.groupby(list(features), sort=False, dropna=False, observed=True)
    groups = np.asarray(rows.ngroup(), dtype=np.int64)
    n_groups = int(groups.max()) + 1
    if n_groups == 1:
        raise ConfigError(f'{context}: all rows have the same features, so "copies" must not be "together"')
    return groups if n_groups < groups.size else None


def read_weights(column: pd.Series[Any], y: NDArray[np.int64], context: str) -> NDArray[np.float64]:
    """Weight of each row."""
    weights = _read_numbers(column, "weights", context)
    if not np.bincount(y, weights).all():
        raise ConfigError(f"{context}: column {column.name!r} gives all rows of a class the weight 0")
    return weights


def read_noise_rates(column: pd.Series[Any], context: str) -> NDArray[np.float64]:
    """Noise rate of each row, up to a common factor."""
    rates = _read_numbers(column, "noise rates", context)
    if not rates.any():
        raise ConfigError(f"{context}: column {column.name!r} gives all rows the noise rate 0")
    return rates


def _read_numbers(column: pd.Series[Any], what: str, context: str) -> NDArray[np.float64]:
    if not pd.api.types.is_numeric_dtype(column):
        raise ConfigError(
            f"{context}: column {column.name!r} must contain {what}, which are numbers, "
            f"found {column.tolist()[0]!r}"
        )
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    invalid = numbers[~(np.isfinite(numbers) & (numbers >= 0))]
    if invalid.size:
        raise ConfigError(
            f"{context}: column {column.name!r} must contain {what} from 0, without gaps, found {invalid[0]:g}"
        )
    return numbers


def check_split(
    y: NDArray[np.int64], is_test: NDArray[np.bool_], groups: NDArray[np.int64] | None, context: str
) -> None:
    """Check that a given split has training and test rows, and divides no group."""
    if not is_test.any() or is_test.all():
        raise ConfigError(f"{context}: the split has no {'training' if is_test.any() else 'test'} rows")
    if np.unique(y[~is_test]).size < 2:
        raise ConfigError(f"{context}: the training rows of the split have only one class")
    if groups is not None:
        divided = np.intersect1d(groups[is_test], groups[~is_test])
        if divided.size:
            raise ConfigError(
                f"{context}: the split has rows of {numbered(divided.size, 'group')} among both training and "
                "test rows; correct the split or leave out 'group'"
            )
