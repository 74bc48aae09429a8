"""Starter configs with comments, for a user's own data file."""

from __future__ import annotations

import warnings
from pathlib import Path

from ..config.reader import parse_text
from ..config.run import parse_config
from ..errors import ConfigError
from ..execution.plan import check
from .table_guesses import Key, guess_keys, to_json

MANY_ROWS, FEWER_ROWS = 50_000, 20_000
MODELS = ("random_forest", "robust_forest", "xgboost", "robust_xgboost", "lightgbm", "adaboost")

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
  // {comment}
  "noise": [{noise}],
  // {repeats}
  "repeats": 3,
  "test_fraction": 0.2,
{stratify}  "random_state": 0,
  "results_dir": "results"
}}
"""
ON_NOISE = "Shares of the training labels to corrupt.  Test labels stay unchanged."
ON_REPEATS = "Each repeat has its own split, noise and seeds."
UNIFORM = '{"kind": "uniform", "rates": [0.0, 0.1, 0.2, 0.3, 0.4]}'
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
    remarks: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the columns
        frame, keys = guess_keys(data, target, remarks)
        if len(frame) > MANY_ROWS:
            comment = f"Keeps a first run short.  Without this key, all {len(frame)} rows are used."
            keys.append((comment, "max_rows", str(FEWER_ROWS)))
        try:
            return render(keys, ON_NOISE, UNIFORM), remarks
        except ConfigError as error:
            raise ConfigError("; ".join([str(error), *remarks])) from None


def render(keys: list[Key], comment: str, noise: str, repeats: str = ON_REPEATS) -> str:
    """Text of a config for a data set, with a stratified split if the classes have enough rows for it.

    Parameters
    ----------
    keys : list of (comment, key, value)
        Keys of the data set.
    comment : str
        What to say about the noise.
    noise : str
        The noise as JSON.
    repeats : str
        What to say about the repeats.

    Raises
    ------
    ConfigError
        If the checks of a run fail.
    """
    try:
        return _render(keys, comment, noise, repeats, stratify=True)
    except ConfigError:
        return _render(keys, comment, noise, repeats, stratify=False)


def _render(keys: list[Key], comment: str, noise: str, repeats: str, *, stratify: bool) -> str:
    """Text of the config, after the checks of a run."""
    lines = ",\n".join(
        (f"      // {remark}\n" if remark else "") + f"      {to_json(key)}: {value}"
        for remark, key, value in keys
    )
    text = TEXT.format(
        keys=lines,
        models=", ".join(map(to_json, MODELS)),
        comment=comment,
        noise=noise,
        repeats=repeats,
        stratify="" if stratify else NOT_STRATIFIED,
    )
    check(parse_config(parse_text(text), "starter"))
    return text
