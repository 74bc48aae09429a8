"""Files of an audit: suspects, noise, and cleaned data."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..config.dataset_spec import suffix_of
from ..datasets.files import CsvOptions
from ..errors import ConfigError
from ..models.packages import version_of
from ..report.files import write_csv
from .label_audit import LabelAudit, write

SUSPECTS, NOISE, PAGE = "suspects.csv", "noise.json", "audit.html"


def write_audit(audit: LabelAudit, folder: Path) -> list[Path]:
    """Write the list of suspects, the estimates and the page of an audit.

    Parameters
    ----------
    audit : LabelAudit
    folder : Path
        Created if needed.

    Returns
    -------
    list of Path

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    files = [folder / SUSPECTS, folder / NOISE]
    table = audit.suspects
    texts = table.select_dtypes(exclude="number").columns
    suspects = io.BytesIO()
    write_csv(table.astype(dict.fromkeys(texts, str)).round({"p_wrong": 6}), suspects)
    write(files[0], suspects.getvalue())
    write(files[1], (json.dumps(summary(audit), indent=2) + "\n").encode())
    return [*files, audit.report(folder / PAGE)]


def summary(audit: LabelAudit) -> dict[str, Any]:
    """The estimates as JSON values."""
    return {
        "name": audit.name,
        "rows": audit.labels.size,
        "checked": audit.n_checked,
        "classes": [str(name) for name in audit.classes.tolist()],
        "noise_rate": audit.noise_rate,
        "noise_rate_interval": list(audit.noise_rate_interval),
        "transition_matrix": audit.transition_matrix.tolist(),
        "expected_precision": {str(n): float(share) for n, share in audit.expected_precision.items()},
        "version": version_of("boostnoise"),
    }


def clean_csv(
    path: str, csv: CsvOptions, target: str, rows: NDArray[np.int64], labels: NDArray[Any] | None
) -> bytes:
    """A CSV file without some rows, or with other labels in them; all other values are unchanged.

    Parameters
    ----------
    path : str
        The CSV file.
    csv : CsvOptions
    target : str
        Column of the labels.
    rows : int array
        Rows to drop or to relabel.
    labels : array or None
        The new labels of these rows; None to drop them.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    """
    separator = csv.separator or ("\t" if suffix_of(path).startswith(".tsv") else ",")
    encoding = csv.encoding or "utf-8"
    try:
        frame = pd.read_csv(
            str(Path(path).absolute()), sep=separator, encoding=encoding, dtype=str, keep_default_na=False
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    if labels is None:
        frame = frame.drop(index=rows.tolist())
    else:
        frame.loc[rows, target] = labels.astype(str)
    text: str = frame.to_csv(index=False, sep=separator)
    return text.encode(encoding)
