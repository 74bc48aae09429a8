"""Guess the keys of a data set from its table, with remarks on possible mistakes."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._input_file import check_input_file
from .._wording import joined, numbered
from ..config.data_paths import FORMAT_OF_SUFFIX, advice_on_format, format_of, stem_of
from ..datasets.encoding import MAX_CATEGORIES, is_number
from ..datasets.files import CsvOptions, default_separator, read_files, repeated_names
from ..datasets.inspection import (
    find_date_format,
    find_label_variants,
    find_leaks,
    has_decimal_commas,
    has_thousands,
    stray_values,
)
from ..datasets.row_columns import check_single_values
from ..errors import ConfigError, nearest_first, shell_word, suggest

SEPARATORS = ";\t|"
MAX_STRAYS = 5  # more different values are not taken for missing ones
MAX_CLASSES = 10  # whose rows are counted in the comment

# Names of columns that are used as the target, in upper or lower case.
TARGET_NAMES = ("label", "labels", "target", "class", "y")

# Names of columns that may hold groups of rows.
DECIMAL_NUMBER = r"[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?"
GROUP_NAMES = r"(?i)(^|[\W_])(id|group|patient|subject|user|customer)$"

NESTED = "neither numbers nor text"

# A key of the data set: a comment or "", its name, and its value as JSON.
Key = tuple[str, str, str]


def guess_keys(
    data: str,
    target: str | None,
    remarks: list[str],
    csv: dict[str, Any] | None = None,
    *,
    by_options: bool = False,
    known_columns: Collection[str] = (),
    labels_option: str = "--target",
) -> tuple[pd.DataFrame, list[Key]]:
    """Read a data file, and guess the keys that a config needs for it.

    Parameters
    ----------
    data : str
        A CSV, Parquet, ARFF or svmlight file.
    target : str or None
        Column of the labels, by name or position; None for a guess.
    remarks : list of str
        Gets what the user should check.
    csv : dict or None, default=None
        Known keys of a CSV file, which are not guessed.
    by_options : bool, default=False
        Whether remarks name options of `noisyaudit` in place of keys of a config.
    known_columns : collection of str, default=()
        Columns whose use is known, so that no remark is needed.
    labels_option : str, default="--target"
        Option that named `target`.  If it is another one, there are no remarks on the labels.

    Returns
    -------
    DataFrame
        All columns.
    list of (comment, key, value)

    Raises
    ------
    ConfigError
        If the file cannot be read, or `target` is no column.
    """
    file_format = format_of(data)
    if file_format is None:
        raise ConfigError(f"{data}: must end in {', '.join(FORMAT_OF_SUFFIX)}{advice_on_format(data)}")
    context = f"data set {stem_of(data)!r}"
    keys: list[Key] = [("", "path", to_json(data))]
    if file_format == "csv":
        frame, csv_keys = guess_csv(data, context, csv or {})
        keys += csv_keys
        remarks += repeated_names(data, CsvOptions(**{key: json.loads(value) for _, key, value in csv_keys}))
    else:
        (frame,) = read_files([data], [file_format], context)
    if file_format != "svmlight":
        table_keys, on_labels = _guess_table_keys(
            frame, target, remarks, by_options, known_columns, labels_option
        )
        keys += table_keys
        remarks += on_labels if labels_option == "--target" else []
    elif target is not None:
        raise ConfigError(
            f"{labels_option}: not allowed for {data}: rows of svmlight files begin with their labels"
        )
    return frame, keys


def guess_csv(path: str, context: str, known: dict[str, Any]) -> tuple[pd.DataFrame, list[Key]]:
    """Read a CSV file, and guess the keys that it needs to be read so; those of `known` are not guessed."""
    found: dict[str, Any] = dict(known)
    comments: dict[str, str] = {}

    def read() -> pd.DataFrame:
        (frame,) = read_files([path], ["csv"], context, CsvOptions(**found))
        return frame

    file = check_input_file(path, context)
    if "encoding" not in known and (encoding := _guess_encoding(file)):
        found["encoding"] = encoding
    if "separator" not in known and (separator := _guess_separator(str(file), found.get("encoding"))):
        found["separator"] = separator
    frame = read()
    if any(has_decimal_commas(frame[name], found.get("separator")) for name in frame):
        found["decimal"] = ","
        frame = read()
    strays = {name: values for name in frame if (values := _missing_values(frame[name]))}
    if strays and "missing_values" not in known:
        name, values = next(iter(strays.items()))
        n_values = int(frame[name].isin(values).sum())
        comments["missing_values"] = (
            f"{n_values} of {len(frame)} values of the column {to_json(str(name))} are not numbers."
        )
        found["missing_values"] = sorted({value for values in strays.values() for value in values})
        frame = read()
    return frame, [(comments.get(key, ""), key, to_json(value)) for key, value in found.items()]


def _guess_encoding(path: Path) -> str | None:
    """Encoding of a file that is not UTF-8."""
    if path.name.lower().endswith(".gz"):
        return None
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return None


def _guess_separator(path: str, encoding: str | None) -> str | None:
    """Separator of a CSV file whose head has no comma."""
    try:
        head = pd.read_csv(path, nrows=0, encoding=encoding, sep=default_separator(path))
    except (OSError, EOFError, zlib.error, ValueError, LookupError):
        return None  # reading the whole file says why
    name = str(head.columns[0]) if head.shape[1] == 1 else ""
    separator = max(SEPARATORS, key=name.count)
    return separator if separator in name else None


def _missing_values(column: pd.Series[Any]) -> list[str]:
    """Values without digits in a column of numbers."""
    strays = stray_values(column)
    return strays if len(strays) <= MAX_STRAYS and not any(re.search(r"\d", value) for value in strays) else []


def _guess_table_keys(
    frame: pd.DataFrame,
    target: str | None,
    remarks: list[str],
    by_options: bool,
    known_columns: Collection[str],
    labels_option: str,
) -> tuple[list[Key], list[str]]:
    """Guess the keys of a data set in a table, with remarks on its labels; parameters as of `guess_keys`."""
    column, reason = _find_target(frame, target, labels_option)
    check_single_values(frame[[column]], labels_option)
    if reason:
        remarks.append(f"guessed the target: column {column!r}, {reason}; use --target COLUMN to change it")
    comment = " ".join(filter(None, [f"Guessed {reason}." if reason else "", _count_labels(frame[column])]))
    keys = [(comment, "target", to_json(_column_key(frame, column)))]
    numbers = [str(name) for name in frame if re.fullmatch(DECIMAL_NUMBER, str(name))]
    if numbers:
        remarks.append(
            f"names of columns are taken from the first line: {joined(map(repr, numbers), limit=3)}; "
            "if that is a row of data, put a line of names before it"
        )
    labels, features = frame[column], frame.drop(columns=column)
    remarks += [
        f"column {str(name)!r} is text, because its numbers have commas; remove them if they separate thousands"
        + ("" if by_options else ', or set "decimal": ","')
        for name in features
        if has_thousands(features[name])
    ]
    dates = {name: found[1] for name in features if (found := find_date_format(features[name]))[0]}
    reasons = {
        name: reason
        for name in features.columns.difference(list(dates), sort=False)
        if (reason := _drop_reason(str(name), features[name]))
    }
    # An audit looks for them itself.
    made = {} if by_options else _label_columns(features.drop(columns=[*reasons, *dates]), labels, remarks)
    reasons |= made
    if reasons:
        unnamed = [repr(str(name)) for name in reasons if name not in known_columns and name not in made]
        lines = [f"        {to_json(_column_key(frame, name))}" for name in reasons]
        last = len(lines) - 1
        dropped = "\n".join(
            f"{line}{',' * (i < last)}  // {reason}"
            for i, (line, reason) in enumerate(zip(lines, reasons.values(), strict=True))
        )
        keys.append(("Columns not used as features.", "drop", f"[\n{dropped}\n      ]"))
        if unnamed:
            remarks.append(f"dropped columns that are not features: {joined(unnamed, limit=10)}")
    remarks += [
        f"several rows share a value of {str(name)!r}; if they belong together, "
        + (
            f"use --group {shell_word(str(name))}"
            if by_options
            else f'set "group": {to_json(_column_key(frame, name))}'
        )
        for name in features
        if name not in known_columns
        and reasons.get(name) != NESTED
        and re.search(GROUP_NAMES, str(name))
        and 1 < features[name].nunique() < len(frame)
    ]
    features = features.drop(columns=list(reasons))
    if dates:
        date_format = next(iter(dates.values()))
        names = [_column_key(frame, name) for name in dates if dates[name] == date_format]
        keys.append(("Days since 1970, except for pipelines.", "dates", to_json(names)))
        if date_format is not None:
            keys.append(("", "date_format", to_json(date_format)))
    text = [name for name in features if not is_number(features[[name]]).all() and name not in dates]
    if text:
        most = max(features[name].nunique() for name in text)
        encoding = "onehot" if most <= MAX_CATEGORIES else "ordinal"
        comment = f"{numbered(len(text), 'text column')}, with up to {most} values.  onehot or ordinal."
        keys.append((comment, "categorical", to_json(encoding)))
    n_missing = int(features.isna().any().sum())
    if n_missing:
        comment = (
            f"{numbered(n_missing, 'column')} with missing values.  "
            "impute, drop_rows, or keep for models that support them."
        )
        keys.append((comment, "missing", to_json("impute")))
    return keys, _warnings(features, labels, by_options)


def _count_labels(labels: pd.Series[Any]) -> str:
    """Number of rows of each class, for a comment."""
    counts = labels.value_counts()
    if len(counts) > MAX_CLASSES:
        return f"{len(counts)} classes with {counts.min()} to {counts.max()} rows each."
    return f"Rows by class: {', '.join(f'{to_json(str(label))} {n}' for label, n in counts.items())}."


def _label_columns(features: pd.DataFrame, labels: pd.Series[Any], remarks: list[str]) -> dict[Any, str]:
    """Columns that were probably made from the label, with the reason to drop them."""
    from ..audit.inputs import judge_table  # slow to import

    try:
        judged = judge_table(features, labels)
    except ConfigError:
        return {}  # of columns that no model accepts, which a run reports
    if judged is None or not judged.left_out:
        return {}
    remarks += judged.remarks
    return dict.fromkeys(judged.left_out, "probably made from the label, or another label of the same rows")


def _warnings(features: pd.DataFrame, labels: pd.Series[Any], by_options: bool) -> list[str]:
    """Remarks on labels, copies of rows, and columns that give the labels away."""
    known, n_rows = labels.notna(), len(labels)
    # The report of an audit counts copies itself.
    n_copies = 0 if by_options else int(pd.concat([features, labels], axis=1).duplicated().sum())
    remarks = []
    if not known.all():
        remarks.append(f"{int((~known).sum())} of {n_rows} rows have no label and are not used")
    if not by_options:  # an audit makes them one class
        remarks += [
            f"labels that differ in case or blanks only: {joined(map(repr, variants))}; correct the file, or "
            'list those of one class in "positive"'
            for variants in find_label_variants(labels)
        ]
    if known.any():
        remarks += [
            f"column {str(name)!r} alone tells nearly all labels; drop it if it is not known before the label"
            for name in find_leaks(features[known], labels[known])
        ]
    if n_copies:
        remarks.append(
            f"{n_copies} of {n_rows} rows are copies of others; copies among the test rows make scores too good"
        )
    return remarks


def _find_target(frame: pd.DataFrame, target: str | None, labels_option: str) -> tuple[Any, str]:
    """Column of the labels, and the reason for a guess."""
    if target is None:
        for target_name in TARGET_NAMES:
            for name in frame.columns:
                if str(name).strip().lower() == target_name:
                    return name, "because of its name"
        return frame.columns[-1], "because it is the last column"
    if target in frame.columns:
        return target, ""
    position = int(target) if re.fullmatch(r"-?\d{1,9}", target) else frame.shape[1]
    if not -frame.shape[1] <= position < frame.shape[1]:
        names = [str(name) for name in frame.columns]
        raise ConfigError(
            f"{labels_option}: {target!r} is not a column{suggest(target, names)}; "
            f"columns are {nearest_first(target, names)}"
        )
    return frame.columns[position], ""


def _column_key(frame: pd.DataFrame, column: Any) -> str | int:
    """Name of a column in a config: its position if its name is not text."""
    return column if isinstance(column, str) else int(np.flatnonzero(frame.columns == column)[0])


def _drop_reason(name: str, column: pd.Series[Any]) -> str:
    """Reason why a column is not a feature; "" if it may be one."""
    if column.isna().all():
        return "no values"
    if pd.api.types.is_float_dtype(column):
        return "infinite values" if np.isinf(column).any() else ""
    try:
        n_values = column.nunique()
    except TypeError:
        return NESTED
    if n_values == 1 and column.notna().all():
        return "the same value in all rows"
    if not pd.api.types.is_numeric_dtype(column):
        many = n_values > max(MAX_CATEGORIES, len(column) / 2)
        return "unique in every row" if n_values == len(column) else "mostly unique text" if many else ""
    is_counter = n_values == len(column) and (column.diff().dropna() == 1).all()
    is_named_so = n_values == len(column) and re.search(r"(?i)(^|[\W_])(id|index|uuid)$|^unnamed: 0$", name)
    return "row number or ID" if is_counter or is_named_so else ""


def to_json(value: Any) -> str:
    """JSON of a key or value, with printable characters only."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
