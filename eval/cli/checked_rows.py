"""Read the rows whose labels were checked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from .._wording import joined, numbered
from ..config.data_paths import format_of
from ..datasets.files import read_files
from ..errors import ConfigError
from .table_guesses import guess_csv

if TYPE_CHECKING:
    from collections.abc import Hashable

ROW, LABEL = "row", "label"


def read_checked(
    path: str, frame: pd.DataFrame, target: str | int | None, id_column: str | None
) -> dict[int, Any]:
    """Read right labels by the numbers of their rows.

    Parameters
    ----------
    path : str
        A CSV, Parquet or ARFF file with the columns ``row``, or that of the names of rows, and ``label``, or
        that of the labels of the data.
    frame : DataFrame
        The data.
    target : str, int or None
        Column of the labels of the data; None if the file must have the column ``label``.
    id_column : str or None
        Column of the names of rows.

    Raises
    ------
    ConfigError
        If the file cannot be read or has no such columns, a row does not exist or is checked twice, or a label
        is missing.
    """
    context = "--checked"
    file_format = format_of(path)
    if file_format is None or file_format == "svmlight":
        raise ConfigError(f"{context}: {path}: must be a CSV, Parquet or ARFF file")
    if file_format == "csv":
        table, _ = guess_csv(path, context, {})
    else:
        (table,) = read_files([path], [file_format], context)
    label = next((name for name in (LABEL, target) if isinstance(name, str) and name in table), None)
    key = next((name for name in (ROW, id_column) if name is not None and name in table), None)
    if label is None or key is None:
        needed = f"{ROW!r}{'' if id_column is None else f' or {id_column!r}'} and {LABEL!r}"
        raise ConfigError(
            f"{context}: {path} needs the columns {needed}; its columns are {joined(table.columns)}"
        )
    n_missing = int(table[label].isna().sum())
    if n_missing:
        raise ConfigError(f"{context}: column {label!r} has {numbered(n_missing, 'missing label')}")
    known: dict[Hashable, int] = {row: row for row in range(len(frame))}
    if key != ROW:
        names = frame[id_column]
        if not names.is_unique:
            raise ConfigError(
                f"{context}: column {id_column!r} names several rows {str(names[names.duplicated()].iloc[0])!r}"
            )
        known = {name: row for row, name in enumerate(names.tolist())}
    right: dict[int, Any] = {}
    for name, value in zip(table[key].tolist(), table[label].tolist(), strict=True):
        if key == ROW and isinstance(name, str) and name.strip().isdecimal():
            name = int(name)  # in a column with text
        if name not in known:
            raise ConfigError(f"{context}: {key} {name!r} is not a row of the data")
        if known[name] in right:
            raise ConfigError(f"{context}: {key} {name!r} is checked more than once")
        right[known[name]] = value
    if not right:
        raise ConfigError(f"{context}: {path} has no rows")
    return right
