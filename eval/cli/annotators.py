"""`noisyaudit --annotator`: compare annotators whose labels are columns of a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._atomic_file import write
from ..audit.annotator_comparison import AnnotatorComparison
from ..audit.annotators import compare_annotators
from ..config.dataset_spec import DatasetSpec
from ..datasets.inspection import parse_dates
from ..datasets.row_columns import find_column
from ..extensions.versions import version_of
from ..report.files import write_csv

SUMMARY, LABELS = "annotators.json", "labels.csv"


def compare_columns(
    frame: pd.DataFrame, spec: DatasetSpec, annotators: tuple[str, ...], checked: dict[int, Any], **options: Any
) -> AnnotatorComparison:
    """Compare annotators.

    Parameters
    ----------
    frame : DataFrame
        All columns of a file.
    spec : DatasetSpec
        Columns that are no features, and how to read dates.
    annotators : tuple of str
        Columns of their labels.
    checked : dict
        Right labels by row.
    **options
        Of `compare_annotators`.

    Raises
    ------
    ConfigError
        If another column does not exist, or `compare_annotators` refuses the data.
    """
    context = f"data set {spec.name!r}"
    dropped = [find_column(frame, column, "drop", context) for column in spec.drop]
    group = None if spec.group is None else find_column(frame, spec.group, "group", context)
    features = frame.drop(columns=[*annotators, *dropped, *([] if group is None else [group])])
    for name in (find_column(frame, column, "dates", context) for column in spec.dates):
        if name in features:
            features[name] = parse_dates(features[name], spec.date_format, context)
    groups = None if group is None else frame[group]
    return compare_annotators(
        features, frame[list(annotators)], checked=checked or None, groups=groups, **options
    )


def write_comparison(
    found: AnnotatorComparison, frame: pd.DataFrame, id_column: str | None, folder: Path
) -> list[Path]:
    """Write the estimates, and the most probable label of each row.

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    table = pd.DataFrame({"row": np.arange(len(frame))})
    if id_column is not None:
        table["id"] = frame[id_column].astype(str).to_numpy()
    table["label"] = found.labels.astype(str)
    table["probability"] = found.probabilities.max(axis=1).round(6)
    for name in found.annotators:
        given = frame[name].convert_dtypes()  # as the classes: 1 where the file has 1.0
        table[f"label of {name}"] = given.astype(str).where(given.notna(), "").to_numpy()
    labels = io.BytesIO()
    write_csv(table[found.labels.notna().to_numpy()], labels)
    files = [folder / SUMMARY, folder / LABELS]
    write(files[0], (json.dumps(summary(found), indent=2) + "\n").encode())
    write(files[1], labels.getvalue())
    return files


def summary(found: AnnotatorComparison) -> dict[str, Any]:
    """The estimates as JSON values."""

    def records(table: pd.DataFrame) -> list[dict[str, Any]]:
        named = {name: "string" for name in ("annotator", "first", "second", "class") if name in table}
        values: list[dict[str, Any]] = json.loads(
            table.astype(named).to_json(orient="records", double_precision=15)
        )
        return values

    return {
        "annotators": [str(name) for name in found.annotators],
        "classes": [str(name) for name in found.classes.tolist()],
        "checked": found.n_checked,
        "error_rates": records(found.error_rates),
        "differences": records(found.differences),
        "transition_matrices": found.transition_matrices.tolist(),
        "remarks": list(found.remarks),
        "version": version_of("boostnoise"),
    }
