"""A starter config, with comments, for a user's own data file."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..config.dataset_spec import FORMAT_OF_SUFFIX
from ..config.reader import parse_text
from ..config.run import parse_config
from ..datasets.encoding import MAX_CATEGORIES
from ..datasets.files import read_files
from ..errors import ConfigError
from ..execution.plan import check

SEPARATORS = ";\t|"

# Columns with one of these names are taken for the labels, whatever their case.
NAMES_OF_TARGETS = ("label", "labels", "target", "class", "y")
MANY_ROWS, FEWER_ROWS = 50_000, 20_000
MODELS = ("random_forest", "robust_forest", "xgboost", "robust_xgboost", "lightgbm", "adaboost")

# A key of the data set's object: a comment, or "" for none, its name, and its value as JSON.
Key = tuple[str, str, str]

TEXT = """\
// A config for noisyeval, to start from.  docs/config.md tells of every key, noisyeval --schema tells editors.
{{
  "datasets": [
    {{
{keys}
    }}
  ],
  // Names from noisyeval's list, or objects such as {{"model": "xgboost", "params": {{"max_depth": 3}}}}.
  "models": [{models}],
  // So many of the training labels are made wrong; test labels stay as they are.
  "noise": [{{"kind": "uniform", "rates": [0.0, 0.1, 0.2, 0.3, 0.4]}}],
  // Each repeat has its own split, noise and seeds.
  "repeats": 3,
  "test_fraction": 0.2,
{stratify}  "random_state": 0,
  "results_dir": "results"
}}
"""
NOT_STRATIFIED = """\
  // Some classes have too few rows to be in training and test rows alike.
  "stratify": false,
"""


def write_starter(path: Path, data: str, target: str | None = None) -> list[str]:
    """Write a starter config for a data file.

    Parameters
    ----------
    path : Path
        The config; no file may be there.
    data : str
        A CSV, Parquet, ARFF or svmlight file.
    target : str or None, default=None
        The column of the labels, by name or position; None for a guess: the column that is named label, target,
        class or y, otherwise the last.

    Returns
    -------
    list of str
        What was guessed, for the user to judge.

    Raises
    ------
    ConfigError
        If `path` is there already or cannot be written, or nothing can be learnt from the file.
    """
    there = ConfigError(f"{path}: is there already, and is not overwritten")
    if path.exists():
        raise there
    text, remarks = starter_config(data, target)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise there from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None
    return remarks


def starter_config(data: str, target: str | None = None) -> tuple[str, list[str]]:
    """The text of a starter config, and what was guessed; parameters and errors are those of `write_starter`.

    Columns that only tell rows apart are dropped, missing values imputed, and text becomes ranks where it has
    too many values to be one-hot; a comment says so.  What is returned has passed every check of a run.
    """
    file_format = FORMAT_OF_SUFFIX.get(Path(data).suffix.lower())
    if file_format is None:
        raise ConfigError(f"{data}: must be a file that ends in {', '.join(FORMAT_OF_SUFFIX)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what pandas thinks of a file's columns
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
            keys += _keys_of_table(frame, target, remarks)
        elif target is not None:
            raise ConfigError(f"{data}: --target is too much: a row of an svmlight file begins with its label")
        if len(frame) > MANY_ROWS:
            comment = f"For a first look; without this key all {len(frame)} rows are used."
            keys.append((comment, "max_rows", str(FEWER_ROWS)))
        try:
            return _checked(keys, stratify=True), remarks
        except ConfigError:
            pass
        try:
            return _checked(keys, stratify=False), remarks
        except ConfigError as error:
            raise ConfigError("; ".join([str(error), *remarks])) from None


def _checked(keys: list[Key], *, stratify: bool) -> str:
    lines = ",\n".join(
        (f"      // {comment}\n" if comment else "") + f"      {_json(key)}: {value}"
        for comment, key, value in keys
    )
    text = TEXT.format(
        keys=lines, models=", ".join(map(_json, MODELS)), stratify="" if stratify else NOT_STRATIFIED
    )
    check(parse_config(parse_text(text), "starter"))
    return text


def _keys_of_table(frame: pd.DataFrame, target: str | None, remarks: list[str]) -> list[Key]:
    column, guess = _target_of(frame, target)
    if guess:
        remarks.append(f"the target is guessed: column {column!r}, {guess}; --target COLUMN takes another")
    comment = f"A guess: {guess}." if guess else ""
    keys = [(comment, "target", _json(_said(frame, column)))]
    features = frame.drop(columns=column)
    reasons = {name: reason for name in features if (reason := _why_dropped(str(name), features[name]))}
    if reasons:
        lines = [f"        {_json(_said(frame, name))}" for name in reasons]
        last = len(lines) - 1
        dropped = "\n".join(
            f"{line}{',' * (i < last)}  // {reason}"
            for i, (line, reason) in enumerate(zip(lines, reasons.values(), strict=True))
        )
        keys.append(("Columns that are no features.", "drop", f"[\n{dropped}\n      ]"))
        names = ", ".join(repr(str(name)) for name in list(reasons)[:10]) + ", ..." * (len(reasons) > 10)
        remarks.append(f"left out as no features: {names}")
    features = features.drop(columns=list(reasons))
    text = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    if text:
        most = max(features[name].nunique() for name in text)
        how = "onehot" if most <= MAX_CATEGORIES else "ordinal"
        comment = f"Columns that hold text: {len(text)}, of up to {most} values each.  onehot or ordinal."
        keys.append((comment, "categorical", _json(how)))
    n_missing = int(features.isna().any().sum())
    n_unlabelled = int(frame[column].isna().sum())
    if n_unlabelled:
        comment = (
            f"Rows without a label: {n_unlabelled}.  They are left out, with those that lack another value."
        )
        keys.append((comment, "missing", _json("drop_rows")))
    elif n_missing:
        comment = (
            f"Columns with missing values: {n_missing}.  impute, drop_rows, or keep for models that take them."
        )
        keys.append((comment, "missing", _json("impute")))
    return keys


def _target_of(frame: pd.DataFrame, target: str | None) -> tuple[Any, str]:
    """The column of the labels and, if it was guessed, why."""
    if target is None:
        for wanted in NAMES_OF_TARGETS:
            for name in frame.columns:
                if str(name).strip().lower() == wanted:
                    return name, "for its name"
        return frame.columns[-1], "for it is the last"
    if target in frame.columns:
        return target, ""
    position = int(target) if re.fullmatch(r"-?\d{1,9}", target) else frame.shape[1]
    if not -frame.shape[1] <= position < frame.shape[1]:
        names = ", ".join(repr(str(name)) for name in frame.columns[:20]) + ", ..." * (frame.shape[1] > 20)
        raise ConfigError(f"--target: {target!r} is not a column; columns are {names}")
    return frame.columns[position], ""


def _said(frame: pd.DataFrame, column: Any) -> str | int:
    """How a config names a column: by its position if its name is no text."""
    return column if isinstance(column, str) else int(np.flatnonzero(frame.columns == column)[0])


def _why_dropped(name: str, column: pd.Series[Any]) -> str:
    """Why a column is no feature; "" if it may be one."""
    if column.isna().all():
        return "has no value"
    if pd.api.types.is_float_dtype(column):
        return "holds infinite values" if np.isinf(column).any() else ""
    try:
        n_values = column.nunique()
    except TypeError:
        return "holds neither numbers nor text"
    if not pd.api.types.is_numeric_dtype(column):
        many = n_values > max(MAX_CATEGORIES, len(column) / 2)
        return "another value in every row" if n_values == len(column) else "nearly free text" if many else ""
    is_counter = n_values == len(column) and (column.diff().dropna() == 1).all()
    is_named_so = n_values == len(column) and re.search(r"(?i)(^|[\W_])(id|index|uuid)$|^unnamed: 0$", name)
    return "numbers the rows" if is_counter or is_named_so else ""


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
