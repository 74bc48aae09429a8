"""Reading data files: CSV, Parquet, ARFF and svmlight, also called LIBSVM."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import ConfigError, one_line

# An svmlight file says its number of features by its largest index; more numbers than these need 8 GiB.
MAX_NUMBERS = 2**30
SVMLIGHT_TARGET = "target"


def read_files(
    paths: Sequence[str], formats: Sequence[str], where: str, separator: str = ","
) -> list[pd.DataFrame]:
    """Read files that hold the same columns, as many as one or two.

    `separator` is the character between the values of a CSV file.  An svmlight file becomes columns that are
    numbered from 0, and at the end `SVMLIGHT_TARGET`, its labels.

    Raises
    ------
    ConfigError
        If a file is not there, is empty, is not of its format, has two columns of one name, or lacks a column
        that the first one has; it begins with `where`.
    """
    if set(formats) == {"svmlight"}:
        return _read_svmlight(paths, where)
    readers = {"csv": partial(pd.read_csv, sep=separator), "parquet": pd.read_parquet, "arff": _read_arff}
    tables = []
    for path, file_format in zip(paths, formats, strict=True):
        if file_format == "svmlight":
            raise ConfigError(f"{where}: {path} is an svmlight file, but {paths[0]} is none")
        tables.append(_try(readers[file_format], path, where))
        repeated = tables[-1].columns[tables[-1].columns.duplicated()]
        if len(repeated):
            raise ConfigError(f"{where}: several columns are named {repeated[0]!r}")
    columns = tables[0].columns
    for path, table in zip(paths, tables, strict=True):
        if set(table.columns) != set(columns):
            differing = min(map(str, set(table.columns) ^ set(columns)))
            raise ConfigError(f"{where}: {paths[0]} and {path} differ in column {differing!r}")
    return [table[columns] for table in tables]


def _try(read: Any, path: str, where: str) -> Any:
    try:
        is_there = Path(path).is_file()
    except OSError:  # such as a name that is too long
        is_there = False
    if not is_there:
        raise ConfigError(f"{where}: no such file: {path}")
    try:
        # From the root: pandas would take a path such as http:/x for an address.
        return read(str(Path(path).absolute()))
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{where}: the file is empty: {path}") from None
    except Exception as error:  # noqa: BLE001 - parsers raise anything on files that are damaged
        raise ConfigError(f"{where}: {path} cannot be read: {one_line(error)}") from None


def _read_arff(path: str) -> pd.DataFrame:
    # The copy of liac-arff that scikit-learn reads OpenML with.  SciPy's public reader takes neither text nor
    # quotes that the first row does not have.
    from sklearn.externals import _arff

    with Path(path).open(encoding="utf-8") as file:
        content = _arff.load(file)
    table = pd.DataFrame(content["data"], columns=[name for name, _ in content["attributes"]])
    for name, kind in content["attributes"]:
        if isinstance(kind, list):  # of the values that are possible
            table[name] = pd.Categorical(table[name], categories=kind)
    return table


def _read_svmlight(paths: Sequence[str], where: str) -> list[pd.DataFrame]:
    from sklearn.datasets import load_svmlight_file

    n_features: int | None = None
    matrices = []
    for path in paths:
        X, y = _try(lambda path: load_svmlight_file(path), path, where)
        n_features = max(n_features or 0, X.shape[1])
        matrices.append((X, y))
    n_rows = sum(y.size for _, y in matrices)
    if n_rows * (n_features or 0) > MAX_NUMBERS:
        raise ConfigError(
            f"{where}: {n_rows} rows of {n_features} features are more than {MAX_NUMBERS} numbers, "
            "too many for a matrix that is not sparse"
        )
    tables = []
    for X, y in matrices:
        X.resize(X.shape[0], n_features)
        table = pd.DataFrame(X.toarray())
        is_whole = ((y == np.trunc(y)) & (np.abs(y) <= 2**53)).all()
        table[SVMLIGHT_TARGET] = y.astype(np.int64) if is_whole else y
        tables.append(table)
    return tables
