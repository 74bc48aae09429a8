"""Predictions of models in columns of the data, and the file of rows to check next."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..audit.checked import LABEL, PROBABILITY, ROUND
from ..audit.predictions import read_predictions as parse_predictions
from ..errors import ConfigError
from ..report.files import write_csv
from .checked_rows import ROW

if TYPE_CHECKING:
    from ..audit.label_audit import LabelAudit
    from ..config.dataset_spec import DatasetSpec
    from .audit_options import Options

GIVEN = "given label"


def read_predictions(found: LabelAudit, frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Predictions of models by the names of their columns.

    Parameters
    ----------
    found : LabelAudit
    frame : DataFrame
        The data.
    columns : sequence of str
        Each has labels, or with two classes the probability of the second one.

    Raises
    ------
    ConfigError
        If a value is missing, or is neither a label nor a probability.
    """
    table = frame.iloc[found.rows][list(columns)]
    for column in columns:
        if table[column].isna().any():
            raise ConfigError(f"--prediction: column {column!r} has missing values in rows with a label")
    predictions = {column: table[column].to_numpy() for column in columns}
    if predictions:
        try:
            parse_predictions(found, predictions, np.arange(found.rows.size))
        except ConfigError as error:
            raise ConfigError(f"--prediction: {error}") from None
    return predictions


def next_rows_table(
    found: LabelAudit,
    frame: pd.DataFrame,
    spec: DatasetSpec,
    options: Options,
    predictions: dict[str, NDArray[Any]],
) -> bytes:
    """Rows to check next as a CSV file: an empty column for the label, the data, and how they were drawn.

    Raises
    ------
    ConfigError
        If fewer rows are left than shall be drawn.
    """
    assert options.n_next is not None  # noqa: S101 - for the type checker
    try:
        drawn = found.rows_to_check(options.n_next, predictions or None, random_state=options.seed)
    except ConfigError as error:
        raise ConfigError(f"--next: {error}") from None
    rows = found.rows[drawn.index.to_numpy()]
    table = pd.DataFrame({ROW: rows})
    if options.id_column is not None:
        table[options.id_column] = frame[options.id_column].to_numpy()[rows]
    table[LABEL] = ""
    target = frame.columns[spec.target] if isinstance(spec.target, int) else spec.target
    ours = {*table.columns, GIVEN, PROBABILITY, ROUND}
    left_out = {target, *options.predictions, options.id_column}
    for column in frame.columns:
        if column not in left_out:
            name = f"{column} in the data" if column in ours else str(column)
            table[name] = frame[column].to_numpy()[rows]
    table[GIVEN] = drawn["given"].astype(str).to_numpy()
    table[PROBABILITY] = drawn[PROBABILITY].to_numpy()
    table[ROUND] = drawn[ROUND].to_numpy()
    file = io.BytesIO()
    write_csv(table, file)
    return file.getvalue()
