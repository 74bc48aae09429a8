"""Config for noisyeval from the rows of an audit whose labels were checked by hand."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from .._atomic_file import write
from ..config.dataset_spec import DatasetSpec
from ..datasets.files import SVMLIGHT_TARGET
from ..errors import ConfigError
from .starter import render
from .table_guesses import Key, to_json

ROWS = "rows.parquet"
GIVEN = "given_label"
MIN_RATE = 1e-4  # a rate of 0 would mean no noise
MIN_CHECKED = 20  # rows; fewer cannot distinguish models

# Keys about the columns.  The others describe the format of the audited file.
COLUMN_KEYS = ("drop", "group", "dates", "date_format")


def write_checked_config(
    path: Path, folder: Path, frame: pd.DataFrame, spec: DatasetSpec, right: dict[int, Any], noise_rate: float
) -> Path:
    """Write the rows with right and given labels, and a config that trains on given and tests on right ones.

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
    noise_rate : float
        Estimated noise rate.

    Returns
    -------
    Path
        The file of rows.

    Raises
    ------
    ConfigError
        If a file cannot be written, or the rows are too few for a run.
    """
    if len(right) < MIN_CHECKED:
        raise ConfigError(f"--config: requires at least {MIN_CHECKED} checked rows, got {len(right)}")
    target = SVMLIGHT_TARGET if spec.target is None else _name(frame, spec.target)
    given = GIVEN
    while given in frame.columns:
        given += "_"
    rows = frame.set_axis(frame.columns.map(str), axis=1)
    labels = rows[target].to_list()
    rows = rows.assign(**{given: labels, target: [right.get(row) for row in range(len(rows))]})
    comment_on_groups = ""
    if spec.group is not None:
        groups, is_checked = rows[_name(frame, spec.group)], rows[target].notna()
        is_used = is_checked | ~groups.isin(groups[is_checked])
        rows = rows[is_used]
        comment_on_groups = f"; {(~is_used).sum()} rows that are not checked but in their groups are left out"
    content = io.BytesIO()
    rows.to_parquet(content, index=False)
    file = folder / ROWS
    write(file, content.getvalue())
    keys: list[Key] = [
        ("", "path", to_json(str(file))),
        (
            f"Right labels of the {len(right)} checked rows, which are the test rows{comment_on_groups}.",
            "target",
            to_json(target),
        ),
        ("Labels before the check.  All other rows are trained on them.", "noisy", to_json({GIVEN: given})),
        ("", "unchecked", to_json("train")),
    ]
    found = {key: value for key in COLUMN_KEYS if (value := getattr(spec, key))}
    found["drop"] = [_name(frame, column) for column in spec.drop]
    if rows.drop(columns=[target, given]).isna().any(axis=None):
        found["missing"] = "impute"
    keys += [("", key, to_json(value)) for key, value in found.items()]
    comment = "The labels as they are.  The rate is the audit's estimate, for tables."
    noise = to_json({"kind": "given", "labels": [GIVEN], "rate": round(max(noise_rate, MIN_RATE), 4)})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns and labels, which noisyeval shows
            text = render(keys, comment, noise, "Repeats differ in the seeds of the models only.")
        write(path, text.encode())
    except ConfigError as error:
        raise ConfigError(f"--config: the rows cannot be used: {error}") from None
    return file


def _name(frame: pd.DataFrame, column: str | int) -> str:
    """Name of a column that is given by name or position."""
    return column if isinstance(column, str) else str(frame.columns[column])
