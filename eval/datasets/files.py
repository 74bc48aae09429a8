"""Read data files: CSV, Parquet, ARFF and svmlight (LIBSVM)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._input_file import check_input_file
from ..config.data_paths import suffix_of
from ..config.download_advice import advice_to_download
from ..errors import ConfigError, one_line
from .file_size import check_unpacked_size

# In a small svmlight file, one large index implies a huge dense matrix.  2**30 numbers need 8 GiB.
MAX_NUMBERS = 2**30
SVMLIGHT_TARGET = "target"


@dataclass(frozen=True)
class CsvOptions:
    """How CSV files are written; None for the usual.

    Attributes
    ----------
    separator, decimal, encoding : str or None
    missing_values : sequence of str
        Text that stands for a missing value, in addition to empty cells and, in columns of numbers, to the text
        that pandas knows.
    text_columns : sequence of str
        Columns that are text even if all their values look like numbers.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing_values: Sequence[str] = ()
    text_columns: Sequence[str] = ()


def read_files(
    paths: Sequence[str], formats: Sequence[str], context: str, csv: CsvOptions = CsvOptions()
) -> list[pd.DataFrame]:
    """Read one or two files with the same columns.

    For an svmlight file, the columns are numbered from 0, and the last is `SVMLIGHT_TARGET` with the labels.

    Parameters
    ----------
    paths, formats : sequence of str
    context : str
        Prefix of error messages.
    csv : CsvOptions

    Returns
    -------
    list of DataFrame

    Raises
    ------
    ConfigError
        If a file does not exist, is empty or cannot be parsed, if two columns have the same name, or if the
        files differ in their columns or one of them only is an svmlight file.
    """
    if set(formats) == {"svmlight"}:
        return _read_svmlight(paths, context)
    readers = {"csv": partial(_read_csv, options=csv), "parquet": pd.read_parquet, "arff": _read_arff}
    tables = []
    for path, file_format in zip(paths, formats, strict=True):
        if file_format == "svmlight":
            raise ConfigError(f"{context}: {path} is an svmlight file, but {paths[0]} is not")
        tables.append(_read_file(readers[file_format], path, file_format, context))
        repeated = tables[-1].columns[tables[-1].columns.duplicated()]
        if len(repeated):
            raise ConfigError(f"{context}: several columns are named {repeated[0]!r}")
    columns = tables[0].columns
    for path, table in zip(paths, tables, strict=True):
        if set(table.columns) != set(columns):
            differing = min(map(str, set(table.columns) ^ set(columns)))
            raise ConfigError(f"{context}: {paths[0]} and {path} differ in column {differing!r}")
    return [table[columns] for table in tables]


def _read_file(read: Any, path: str, file_format: str, context: str) -> Any:
    """Read a file with `read`, and convert its errors."""
    file = check_input_file(path, context, advice_to_download)
    try:
        check_unpacked_size(file, file_format, context)
        return read(str(file))
    except ConfigError:
        raise
    except pd.errors.EmptyDataError:
        raise ConfigError(f"{context}: the file is empty: {path}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{context}: {path} cannot be read: it is not {error.encoding.upper()}; "
            'set "encoding", for example to "latin-1"'
        ) from None
    except Exception as error:  # noqa: BLE001 - parsers may raise anything for damaged files
        raise ConfigError(f"{context}: {path} cannot be read: {one_line(error)}") from None


def default_separator(path: str) -> str:
    """Separator of a CSV file, by its suffix."""
    return "\t" if suffix_of(path).startswith(".tsv") else ","


def _read_csv(path: str, options: CsvOptions) -> pd.DataFrame:
    read: Any = partial(
        pd.read_csv,
        path,
        sep=options.separator or default_separator(path),
        decimal=options.decimal or ".",
        encoding=options.encoding,
        low_memory=False,  # otherwise the type of a value may depend on its row
    )
    missing = list(options.missing_values)
    first = 0  # field of the first column
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            table: pd.DataFrame = read(na_values=missing, index_col=False)
        except pd.errors.ParserWarning:  # rows have more fields than there are names, as R writes them
            indexed = read(na_values=missing)
            first, names = indexed.index.nlevels, list(indexed.columns)
    if first:
        ignored = "the first field is" if first == 1 else f"the first {first} fields are"
        warnings.warn(
            f"{path}: rows have {len(names) + first} fields, but the first line has {len(names)} names of "
            f"columns; {ignored} ignored",
            stacklevel=2,
        )
        read = partial(read, names=[*range(first), *names], header=0)
        table = read(na_values=missing, usecols=range(first, first + len(names)))
    for remark in repeated_names(path, options):
        warnings.warn(f"{path}: {remark}", stacklevel=3)
    texts = [
        i
        for i, (name, column) in enumerate(table.items())
        if name in options.text_columns or (column.isna().any() and is_text(column))
    ]
    if texts:
        # In text, values such as NA may be names.
        columns = [first + i for i in texts]
        as_text = read(
            usecols=columns, index_col=False, dtype=str, keep_default_na=False, na_values=["", *missing]
        )
        table[table.columns[texts]] = as_text.to_numpy()
    return table


def repeated_names(path: str, options: CsvOptions) -> list[str]:
    """Remark on columns of a CSV file that have the same name, since pandas renames the later ones."""
    first = pd.read_csv(
        path,
        sep=options.separator or default_separator(path),
        encoding=options.encoding,
        header=None,
        nrows=1,
        dtype=str,
    ).iloc[0]
    repeated = first[first.duplicated() & first.notna()].tolist()
    return [
        f"several columns are named {name!r}; the second is read as {name + '.1'!r}" for name in repeated[:1]
    ]


def is_text(column: pd.Series[Any]) -> bool:
    """Whether all values of a column are text, but for missing ones."""
    return pd.api.types.infer_dtype(column, skipna=True) == "string"


def _read_arff(path: str) -> pd.DataFrame:
    # scikit-learn's copy of liac-arff.  SciPy's reader does not support text, or quotes if row 1 has none.
    from sklearn.externals import _arff

    with Path(path).open(encoding="utf-8") as file:
        content = _arff.load(file)
    table = pd.DataFrame(content["data"], columns=[name for name, _ in content["attributes"]])
    for name, attribute_type in content["attributes"]:
        if isinstance(attribute_type, list):  # the possible values
            table[name] = pd.Categorical(table[name], categories=attribute_type)
    return table


def _read_svmlight(paths: Sequence[str], context: str) -> list[pd.DataFrame]:
    from sklearn.datasets import load_svmlight_file

    n_features: int | None = None
    matrices = []
    for path in paths:
        X, y = _read_file(lambda path: load_svmlight_file(path), path, "svmlight", context)
        n_features = max(n_features or 0, X.shape[1])
        matrices.append((X, y))
    n_rows = sum(y.size for _, y in matrices)
    if n_rows * (n_features or 0) > MAX_NUMBERS:
        raise ConfigError(
            f"{context}: {n_rows} rows of {n_features} features are more than {MAX_NUMBERS} numbers, "
            "too many for a dense matrix"
        )
    tables = []
    for X, y in matrices:
        X.resize(X.shape[0], n_features)
        table = pd.DataFrame(X.toarray())
        is_whole = ((y == np.trunc(y)) & (np.abs(y) <= 2**53)).all()
        table[SVMLIGHT_TARGET] = y.astype(np.int64) if is_whole else y
        tables.append(table)
    return tables
