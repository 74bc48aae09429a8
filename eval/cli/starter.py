"""Starter configs with comments, for a user's own data file."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._wording import joined, numbered
from ..config.dataset_spec import FORMAT_OF_SUFFIX
from ..config.reader import parse_text
from ..config.run import parse_config
from ..datasets.encoding import MAX_CATEGORIES
from ..datasets.files import read_files
from ..errors import ConfigError
from ..execution.plan import check

SEPARATORS = ";\t|"

# Names of columns that are used as the target, in upper or lower case.
TARGET_NAMES = ("label", "labels", "target", "class", "y")
MANY_ROWS, FEWER_ROWS = 50_000, 20_000
MODELS = ("random_forest", "robust_forest", "xgboost", "robust_xgboost", "lightgbm", "adaboost")

# A key of the data set: a comment or "", its name, and its value as JSON.
Key = tuple[str, str, str]

TEXT = """\
// Starter config for noisyeval.  docs/config.md describes all keys; noisyeval --schema is for editors.
{{
  "datasets": [
    {{
{keys}
    }}
  ],
  // Names from noisyeval --list, or objects such as {{"model": "xgboost", "params": {{"max_depth": 3}}}}.
  "models": [{models}],
  // Shares of the training labels to corrupt.  Test labels stay unchanged.
  "noise": [{{"kind": "uniform", "rates": [0.0, 0.1, 0.2, 0.3, 0.4]}}],
  // Each repeat has its own split, noise and seeds.
  "repeats": 3,
  "test_fraction": 0.2,
{stratify}  "random_state": 0,
  "results_dir": "results"
}}
"""
NOT_STRATIFIED = """\
  // Some classes have too few rows for a stratified split.
  "stratify": false,
"""


def write_starter(path: Path, data: str, target: str | None = None) -> list[str]:
    """Write a starter config for a data file.

    Parameters
    ----------
    path : Path
        Path of the config.  It must not exist.
    data : str
        A CSV, Parquet, ARFF or svmlight file.
    target : str or None, default=None
        Column of the labels, by name or position.  None for a guess: a column named label, target, class or y,
        otherwise the last column.

    Returns
    -------
    list of str
        Guesses, for the user to check.

    Raises
    ------
    ConfigError
        If `path` exists or cannot be written, or the data cannot be used.
    """
    exists = ConfigError(f"{path}: already exists and is not overwritten")
    if path.exists():
        raise exists
    text, remarks = starter_config(data, target)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise exists from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None
    return remarks


def starter_config(data: str, target: str | None = None) -> tuple[str, list[str]]:
    """Return the text of a starter config, and the guesses.  For parameters and errors see `write_starter`.

    Columns that only identify rows are dropped, missing values are imputed, and text columns become ranks if
    they have too many values for one-hot encoding; comments say so.  The config has passed all checks of a run.
    """
    file_format = FORMAT_OF_SUFFIX.get(Path(data).suffix.lower())
    if file_format is None:
        raise ConfigError(f"{data}: must end in {', '.join(FORMAT_OF_SUFFIX)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the columns
        where = f"data set {Path(data).stem!r}"
        (frame,) = read_files([data], [file_format], where)
        keys: list[Key] = [("", "path", _json(data))]
        if file_format == "csv" and frame.shape[1] == 1:
            separator = max(SEPARATORS, key=str(frame.columns[0]).count)
            if separator in str(frame.columns[0]):
                (frame,) = read_files([data], [file_format], where, separator)
                keys.append(("", "separator", _json(separator)))
        remarks: list[str] = []
        if file_format != "svmlight":
            keys += _table_keys(frame, target, remarks)
        elif target is not None:
            raise ConfigError(
                f"--target: not allowed for {data}: rows of svmlight files begin with their labels"
            )
        if len(frame) > MANY_ROWS:
            comment = f"Keeps a first run short.  Without this key, all {len(frame)} rows are used."
            keys.append((comment, "max_rows", str(FEWER_ROWS)))
        try:
            return _render(keys, stratify=True), remarks
        except ConfigError:
            pass
        try:
            return _render(keys, stratify=False), remarks
        except ConfigError as error:
            raise ConfigError("; ".join([str(error), *remarks])) from None


def _render(keys: list[Key], *, stratify: bool) -> str:
    """Text of the config, after the checks of a run."""
    lines = ",\n".join(
        (f"      // {comment}\n" if comment else "") + f"      {_json(key)}: {value}"
        for comment, key, value in keys
    )
    text = TEXT.format(
        keys=lines, models=", ".join(map(_json, MODELS)), stratify="" if stratify else NOT_STRATIFIED
    )
    check(parse_config(parse_text(text), "starter"))
    return text


def _table_keys(frame: pd.DataFrame, target: str | None, remarks: list[str]) -> list[Key]:
    column, reason = _find_target(frame, target)
    if reason:
        remarks.append(f"guessed the target: column {column!r}, {reason}; use --target COLUMN to change it")
    comment = f"Guessed {reason}." if reason else ""
    keys = [(comment, "target", _json(_column_key(frame, column)))]
    features = frame.drop(columns=column)
    reasons = {name: reason for name in features if (reason := _drop_reason(str(name), features[name]))}
    if reasons:
        lines = [f"        {_json(_column_key(frame, name))}" for name in reasons]
        last = len(lines) - 1
        dropped = "\n".join(
            f"{line}{',' * (i < last)}  // {reason}"
            for i, (line, reason) in enumerate(zip(lines, reasons.values(), strict=True))
        )
        keys.append(("Columns not used as features.", "drop", f"[\n{dropped}\n      ]"))
        names = joined((repr(str(name)) for name in reasons), limit=10)
        remarks.append(f"dropped columns that are not features: {names}")
    features = features.drop(columns=list(reasons))
    text = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    if text:
        most = max(features[name].nunique() for name in text)
        encoding = "onehot" if most <= MAX_CATEGORIES else "ordinal"
        comment = f"{numbered(len(text), 'text column')}, with up to {most} values.  onehot or ordinal."
        keys.append((comment, "categorical", _json(encoding)))
    n_missing = int(features.isna().any().sum())
    n_unlabelled = int(frame[column].isna().sum())
    if n_unlabelled:
        remarks.append(f"{n_unlabelled} of {len(frame)} rows have no label and are not used")
    if n_missing:
        comment = (
            f"{numbered(n_missing, 'column')} with missing values.  "
            "impute, drop_rows, or keep for models that support them."
        )
        keys.append((comment, "missing", _json("impute")))
    return keys


def _find_target(frame: pd.DataFrame, target: str | None) -> tuple[Any, str]:
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
        names = joined(repr(str(name)) for name in frame.columns)
        raise ConfigError(f"--target: {target!r} is not a column; columns are {names}")
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
        return "neither numbers nor text"
    if not pd.api.types.is_numeric_dtype(column):
        many = n_values > max(MAX_CATEGORIES, len(column) / 2)
        return "unique in every row" if n_values == len(column) else "mostly unique text" if many else ""
    is_counter = n_values == len(column) and (column.diff().dropna() == 1).all()
    is_named_so = n_values == len(column) and re.search(r"(?i)(^|[\W_])(id|index|uuid)$|^unnamed: 0$", name)
    return "row number or ID" if is_counter or is_named_so else ""


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
