"""Files of an audit: suspects, noise, picture and page."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from .._atomic_file import write
from ..extensions.versions import version_of
from ..report.files import write_csv
from .clean_scores import CleanScores
from .label_audit import LabelAudit
from .page import render_page
from .plot import as_png

SUSPECTS, NOISE, PICTURE, PAGE = "suspects.csv", "noise.json", "audit.png", "audit.html"
SCORES = "clean_scores.csv"


def write_audit(audit: LabelAudit, folder: Path, scores: CleanScores | None = None) -> list[Path]:
    """Write the list of suspects, the estimates, the picture and the page of an audit.

    Parameters
    ----------
    audit : LabelAudit
    folder : Path
        Created if needed.
    scores : CleanScores or None, default=None
        Scores of models, for a table of their own and the page.

    Returns
    -------
    list of Path

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    files = [folder / name for name in (SUSPECTS, NOISE, PICTURE, PAGE)]
    if scores is not None:
        table_of_scores = io.BytesIO()
        write_csv(pd.concat([scores.scores, scores.by_class]), table_of_scores)
        files.insert(0, folder / SCORES)
        write(files[0], table_of_scores.getvalue())
    table = audit.suspects
    texts = table.select_dtypes(exclude="number").columns
    suspects = io.BytesIO()
    write_csv(table.astype(dict.fromkeys(texts, str)).round({"p_wrong": 6}), suspects)
    write(folder / SUSPECTS, suspects.getvalue())
    write(folder / NOISE, (json.dumps(summary(audit), indent=2) + "\n").encode())
    picture = as_png(audit)
    write(folder / PICTURE, picture)
    write(folder / PAGE, render_page(audit, picture, scores).encode("utf-8", "backslashreplace"))
    return files


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as JSON values."""
    values: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return values


def summary(audit: LabelAudit) -> dict[str, Any]:
    """The estimates as JSON values."""
    return {
        "name": audit.name,
        "rows": audit.labels.size,
        "checked": audit.n_checked,
        "classes": [str(name) for name in audit.classes.tolist()],
        "noise_rate": audit.noise_rate,
        "noise_rate_interval": list(audit.noise_rate_interval),
        "noise_rate_without_overlap": audit.noise_rate_without_overlap,
        "transition_matrix": audit.transition_matrix.tolist(),
        "transition_matrix_without_overlap": audit.errors.transition_matrix_without_overlap.tolist(),
        "by_label": records(audit.by_label),
        "rounds": records(audit.rounds),
        "remarks": list(audit.remarks),
        "expected_precision": {str(n): float(share) for n, share in audit.expected_precision.items()},
        "version": version_of("boostnoise"),
    }
