"""Columns of a training table, and new rows of this form as numbers."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types
from pydantic import Field

from .._wording import joined, numbered
from ..config.base import Strict
from ..config.data_paths import format_of
from ..datasets.encoding import Encoding, FeatureEncoder, check_features, is_number
from ..datasets.files import CsvOptions, read_files
from ..datasets.inspection import parse_dates
from ..errors import ConfigError, suggest

ENCODING = Encoding(categorical="ordinal", missing="keep")  # as that of an audit


class ColumnForm(Strict):
    """Name of a feature, its kind, and the values of text."""

    name: str
    kind: Literal["number", "date", "text"]
    categories: tuple[str | int | float | bool, ...] = ()


class TableForm(Strict):
    """Columns of a table, and how its CSV files are written.

    Attributes
    ----------
    columns : tuple of ColumnForm
        The features.
    others : tuple of str
        Columns that are not features, such as the labels.  New rows may have them.
    separator, decimal, encoding : str or None
    missing_values : tuple of str
        See `CsvOptions`.
    date_format : str or None
        See `parse_dates`.
    """

    columns: tuple[ColumnForm, ...] = Field(min_length=1)
    others: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing_values: tuple[str, ...] = ()
    date_format: str | None = None

    @classmethod
    def of(cls, features: pd.DataFrame, **keys: Any) -> Self:
        """Form of features that `check_features` has checked; `keys` are the other attributes."""
        numbers = is_number(features)
        columns = [
            ColumnForm(name=name, kind="number")
            if is_numeric
            else ColumnForm(name=name, kind="date")
            if types.is_datetime64_dtype(features[name])
            else ColumnForm(name=name, kind="text", categories=_categories(features[name]))
            for name, is_numeric in zip(features.columns, numbers, strict=True)
        ]
        return cls(columns=tuple(columns), **keys)

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [column.name for column in self.columns]

    def read(self, path: str, missing_values: tuple[str, ...] = ()) -> pd.DataFrame:
        """Read a file of such rows; `missing_values` are added to those of the training data.

        Raises
        ------
        ConfigError
            If the file cannot be read.
        """
        file_format = format_of(path)
        if file_format is None or file_format == "svmlight":
            raise ConfigError(f"{path}: must be a CSV, Parquet or ARFF file")
        missing = (*self.missing_values, *missing_values)
        texts = tuple(column.name for column in self.columns if column.kind == "text")
        csv = CsvOptions(self.separator, self.decimal, self.encoding, missing, texts)
        (frame,) = read_files([path], [file_format], path, csv)
        return frame

    def encode(self, frame: pd.DataFrame, context: str) -> tuple[NDArray[np.float64], list[str]]:
        """Convert rows to numbers, with remarks on what the training data lack.

        Parameters
        ----------
        frame : DataFrame of n rows
        context : str
            Prefix of error messages.

        Returns
        -------
        float64 array of shape (n, n_features)
        list of str

        Raises
        ------
        ConfigError
            If a feature is missing, or has values of another type.
        """
        names = self.names
        absent = [name for name in names if name not in frame]
        if absent:
            others = [name for name in frame.columns if name not in names]
            hints = joined(f"{name!r}{suggest(name, others)}" for name in absent)
            raise ConfigError(f"{context}: columns of the training data are missing: {hints}")
        new = [name for name in frame.columns if name not in names and name not in self.others]
        remarks = [f"columns that the training data lack are not used: {joined(map(repr, new))}"] if new else []
        frame = frame[names].copy(deep=False)
        for column in self.columns:
            if column.kind == "date" and not types.is_datetime64_any_dtype(frame[column.name]):
                frame[column.name] = parse_dates(frame[column.name], self.date_format, context)
        frame = check_features(frame, "keep", context)
        for column in self.columns:
            _check_type(frame[column.name], column, context)
            remarks += _remark_on_new_values(frame[column.name], column)
        encoder = FeatureEncoder("numbers", ENCODING).fit(self._no_rows())
        return np.asarray(encoder.transform(frame), dtype=np.float64), remarks

    def _no_rows(self) -> pd.DataFrame:
        """A table without rows, whose types have the categories."""
        dtypes: dict[str, Any] = {"number": np.float64, "date": "datetime64[ns]"}
        return pd.DataFrame(
            {
                column.name: pd.Series(
                    dtype=pd.CategoricalDtype(list(column.categories))
                    if column.kind == "text"
                    else dtypes[column.kind]
                )
                for column in self.columns
            }
        )


def _categories(column: pd.Series[Any]) -> tuple[Any, ...]:
    """Values of text, in the order of their ranks."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(column.cat.categories.tolist())
    return tuple(sorted(column.dropna().unique().tolist()))


def _check_type(values: pd.Series[Any], column: ColumnForm, context: str) -> None:
    """Raise a ConfigError if a column has numbers in place of text, or the other way round."""
    if values.isna().all():
        return
    if column.kind == "number" and not types.is_numeric_dtype(values):
        numbers = pd.to_numeric(values.astype(str), errors="coerce")
        found = values[numbers.isna() & values.notna()]
        example = found.iloc[0] if len(found) else values.dropna().iloc[0]
        raise _wrong_type(column, "numbers", example, context)
    if column.kind == "text" and (types.is_numeric_dtype(values) or types.is_datetime64_any_dtype(values)):
        raise _wrong_type(column, "text", values.dropna().iloc[0], context)


def _wrong_type(column: ColumnForm, expected: str, found: Any, context: str) -> ConfigError:
    return ConfigError(
        f"{context}: column {column.name!r} must have {expected}, as in the training data, got {str(found)!r}"
    )


def _remark_on_new_values(values: pd.Series[Any], column: ColumnForm) -> list[str]:
    """Remark on text that no training row has."""
    if column.kind != "text":
        return []
    new = values[values.notna() & ~values.isin(column.categories)]
    if new.empty:
        return []
    examples = joined((repr(value) for value in new.unique().tolist()), limit=3)
    rows = numbered(len(new), "row")
    return [f"column {column.name!r} has values that no training row has, in {rows}: {examples}"]
