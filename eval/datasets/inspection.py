"""Look at the columns of a data set for what a user may have overlooked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._wording import joined
from ..errors import ConfigError, one_line
from .files import is_text

MOSTLY = 0.5  # share of the values that determines what a column contains
DATE_FORMATS = (None, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")
DECIMAL_COMMA = r"[+-]?\d+,\d+"
WITH_COMMAS = r"[+-]?\d+(?:,\d+)*"
THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})+"
LEAK_ROWS, LEAK_ACCURACY = 5000, 0.99


def parse_dates(column: pd.Series[Any], date_format: str | None, context: str) -> pd.Series[Any]:
    """Convert text to dates.

    Parameters
    ----------
    column : Series
    date_format : str or None
        Format as in ``strptime``; None for the ISO format.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If a value is not a date of this format, or if there is no such format.
    """
    try:
        dates = pd.to_datetime(column, format=date_format or "ISO8601", errors="coerce", utc=True)
    except ValueError as error:
        raise ConfigError(f"{context}: date_format {date_format!r}: {one_line(error)}") from None
    invalid = column[dates.isna() & column.notna()]
    if len(invalid):
        expected = f"of the format {date_format!r}" if date_format else 'in the ISO format; set "date_format"'
        raise ConfigError(
            f"{context}: column {column.name!r} has {invalid.iloc[0]!r}, which is no date {expected}"
        )
    return dates.dt.tz_localize(None)


def stray_values(column: pd.Series[Any]) -> list[str]:
    """Values that make text of a column of numbers, each once; empty if there are none."""
    if not is_text(column):
        return []
    values = column.dropna()
    strays = values[pd.to_numeric(values, errors="coerce").isna()]
    return list(strays.unique()) if len(strays) < (1 - MOSTLY) * len(values) else []


def has_decimal_commas(column: pd.Series[Any], separator: str | None = None) -> bool:
    """Whether a column has numbers with a decimal comma, which make text of it.

    Where columns are separated by semicolons, commas are taken for decimal ones even if they might separate
    thousands.
    """
    if not is_text(column) or (separator != ";" and has_thousands(column)):
        return False
    return bool(column.dropna().str.fullmatch(DECIMAL_COMMA).mean() > MOSTLY)


def has_thousands(column: pd.Series[Any]) -> bool:
    """Whether a column has numbers whose commas may separate thousands: three digits follow each of them."""
    if not is_text(column):
        return False
    values = column.dropna()
    numbers = values[values.str.fullmatch(WITH_COMMAS)]
    with_commas = numbers[numbers.str.contains(",")]
    most = len(numbers) > MOSTLY * len(values)
    return most and len(with_commas) > 0 and bool(with_commas.str.fullmatch(THOUSANDS).all())


def describe_numbers_as_text(column: pd.Series[Any]) -> str:
    """Why a column of numbers is text; empty if it is no such column."""
    if has_thousands(column):
        return (
            f"column {column.name!r} is text, because its numbers have commas; remove them if they separate "
            'thousands, or set "decimal": ","'
        )
    if has_decimal_commas(column):
        return f'column {column.name!r} is text, because its numbers have decimal commas; set "decimal": ","'
    strays = stray_values(column)
    if not strays:
        return ""
    n_strays, n_values = int(column.isin(strays).sum()), int(column.notna().sum())
    return (
        f"column {column.name!r} is text, because {n_strays} of {n_values} values are not numbers: "
        f'{joined(map(repr, strays), limit=3)}; if they stand for missing values, set "missing_values"'
    )


def find_date_format(column: pd.Series[Any]) -> tuple[bool, str | None]:
    """Whether a column of text has dates, and their format; None is the ISO format."""
    values = column.dropna()
    if len(values) and is_text(column) and values.str.contains(r"\d\D\d+\D\d").all():
        for date_format in DATE_FORMATS:
            if pd.to_datetime(values, format=date_format or "ISO8601", errors="coerce", utc=True).notna().all():
                return True, date_format
    return False, None


def find_leaks(features: pd.DataFrame, labels: pd.Series[Any]) -> list[Any]:
    """Columns that predict nearly all labels on their own.

    The labels of at most 5,000 rows are predicted by the majority label of each text value, or by a decision
    tree on a numeric column with one leaf per class.  A column is named if 99 % of them are right, and the
    errors are less than half of those of the most frequent label.
    """
    rows = np.linspace(0, len(labels) - 1, min(len(labels), LEAK_ROWS)).astype(int)
    y: NDArray[np.int64] = pd.factorize(labels.iloc[rows])[0]
    if y.max() < 1 or y.max() + 1 > y.size / 2:
        return []  # one class, or none, which would be slow
    majority = np.bincount(y).max() / y.size
    needed = max(LEAK_ACCURACY, 1 - (1 - majority) / 2)
    return [name for name in features if _accuracy_of(features[name].iloc[rows], y) >= needed]


def _accuracy_of(column: pd.Series[Any], y: NDArray[np.int64]) -> float:
    """Share of the labels that one column predicts."""
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    if not pd.api.types.is_numeric_dtype(column):
        values, _ = pd.factorize(column.map(str))
        return 0.0 if values.max() > y.size / 4 else float(pd.crosstab(values, y).max(axis=1).sum() / y.size)
    x = column.to_numpy(dtype=np.float32, na_value=np.nan).reshape(-1, 1)
    if np.isinf(x).any():
        return 0.0
    return float(DecisionTreeClassifier(max_leaf_nodes=max(2, y.max() + 1)).fit(x, y).score(x, y))


def without_case_and_blanks(label: str) -> str:
    """Text that labels share if they differ in case and blanks only."""
    return " ".join(label.split()).casefold()


def find_label_variants(labels: pd.Series[Any]) -> list[list[str]]:
    """Groups of labels that differ in case and blanks only."""
    names = pd.Series([label for label in labels.dropna().unique() if isinstance(label, str)], dtype=object)
    groups = names.groupby(names.map(without_case_and_blanks), sort=False)
    return [group.tolist() for _, group in groups if len(group) > 1]
