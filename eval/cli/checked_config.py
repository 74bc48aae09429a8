"""Config for noisyeval from the rows of an audit that somebody has checked."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd

from ..audit.label_audit import write
from ..config.dataset_spec import DatasetSpec
from ..datasets.files import SVMLIGHT_TARGET
from ..errors import ConfigError
from .starter import render
from .table_guesses import Key, to_json

ROWS = "checked_rows.parquet"
GIVEN = "given_label"

# Keys that say what the columns are.  Others say how to read the file that was audited.
ABOUT_COLUMNS = ("drop", "group", "dates", "date_format")


def write_checked_config(
    path: Path, folder: Path, frame: pd.DataFrame, spec: DatasetSpec, right: dict[int, Any]
) -> Path:
    """Write the checked rows with right and given labels, and a config with the given noise on them.

    Parameters
    ----------
    path : Path
        The config.
    folder : Path
        Folder of the file of rows.
    frame : DataFrame
        The data.
    spec : DatasetSpec
    right : dict
        Right labels by row.

    Returns
    -------
    Path
        The file of rows.

    Raises
    ------
    ConfigError
        If a file cannot be written, or the rows are too few for a run.
    """
    target = SVMLIGHT_TARGET if spec.target is None else _name(frame, spec.target)
    given = GIVEN
    while given in frame.columns:
        given += "_"
    rows = frame.iloc[list(right)].set_axis(frame.columns.map(str), axis=1)
    rows[given] = rows[target]
    rows[target] = list(right.values())
    content = io.BytesIO()
    rows.to_parquet(content, index=False)
    file = folder / ROWS
    write(file, content.getvalue())
    keys: list[Key] = [
        ("", "path", to_json(str(file))),
        (f"{len(rows)} checked rows, with their right labels.", "target", to_json(target)),
    ]
    found = {key: value for key in ABOUT_COLUMNS if (value := getattr(spec, key))}
    found["drop"] = [*(_name(frame, column) for column in spec.drop), given]
    if rows.isna().any(axis=None):
        found["missing"] = "impute"
    keys += [("", key, to_json(value)) for key, value in found.items()]
    comment = (
        "The labels before they were checked.  If the most suspect rows were checked, these labels are wrong\n"
        "  // more often than those of all rows."
    )
    noise = f'{{"kind": "given", "path": {to_json(str(file))}, "column": {to_json(given)}}}'
    try:
        write(path, render(keys, comment, noise).encode())
    except ConfigError as error:
        raise ConfigError(f"--config: the checked rows are too few or cannot be used: {error}") from None
    return file


def _name(frame: pd.DataFrame, column: str | int) -> str:
    """Name of a column that is given by name or position."""
    return column if isinstance(column, str) else str(frame.columns[column])
