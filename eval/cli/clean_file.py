"""The audited CSV file again, cleaned: with weights, with soft labels, without suspects, or relabelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from ..audit.clean_csv import clean_csv, extend_csv
from ..audit.cleaning import DROP, RELABEL, SOFT_LABELS, WEIGHTS
from ..datasets.files import CsvOptions
from ..errors import ConfigError

if TYPE_CHECKING:
    from ..audit.label_audit import LabelAudit
    from ..config.dataset_spec import DatasetSpec

WEIGHT = "label_weight"  # column of the weights
PROBABILITY = "p_{}"  # columns of the soft labels
DONE = {
    WEIGHTS: f"the column {WEIGHT} is the probability that the label is right",
    SOFT_LABELS: f"the columns {PROBABILITY.format('...')} are the probabilities of the classes",
    DROP: "{} left out",
    RELABEL: "{} relabelled",
}


class CleanFile(NamedTuple):
    """A cleaned file: its content, and the number of rows that were left out or relabelled."""

    content: bytes
    n_changed: int


def clean_file(
    found: LabelAudit, frame: pd.DataFrame, spec: DatasetSpec, way: str, precision: float
) -> CleanFile:
    """Clean the audited CSV file.

    Parameters
    ----------
    found : LabelAudit
    frame : DataFrame
        All rows of the file.
    spec : DatasetSpec
    way : {"weights", "soft-labels", "drop", "relabel"}
        The first two add columns, with empty fields in rows without a label.
    precision : float
        Expected share of wrong labels among the suspects.

    Raises
    ------
    ConfigError
        If the file cannot be read again, has a column of the name of a new one, or would lose a class.
    """
    path, csv = (
        str(spec.path),
        CsvOptions(spec.separator, spec.decimal, spec.encoding, spec.missing_values or ()),
    )
    if way in (WEIGHTS, SOFT_LABELS):
        if way == WEIGHTS:
            columns = pd.DataFrame({WEIGHT: found.weights})
        else:
            names = [PROBABILITY.format(label) for label in found.classes.tolist()]
            columns = pd.DataFrame(found.clean_probabilities, columns=names)
        check_new_columns(frame, columns.columns)
        known = columns.set_axis(found.rows).reindex(range(len(frame)))
        fields = {str(name): [_number(p, csv.decimal or ".") for p in known[name]] for name in known}
        return CleanFile(extend_csv(path, csv, fields, len(frame)), 0)
    try:
        suspect = ~found.clean_mask(precision)
    except ValueError as error:
        raise ConfigError(f"--precision: {error}") from None
    target = list(frame.columns).index(spec.target) if isinstance(spec.target, str) else int(spec.target or 0)
    given = frame.iloc[found.rows, target].to_numpy()
    as_spelled = given == found.labels  # the spelling of a class may be that of other rows
    # The last one remains: the first row of each label, preferably with this spelling.
    order = np.lexsort((-np.arange(given.size), as_spelled))
    row_of_label = dict(zip(found.labels[order].tolist(), found.rows[order].tolist(), strict=True))
    labels = found.errors.suggested[suspect].tolist()
    sources = [row_of_label[label] if way == RELABEL else None for label in labels]
    changes = dict(zip(found.rows[suspect].tolist(), sources, strict=True))
    return CleanFile(clean_csv(path, csv, target, changes, len(frame)), len(changes))


def check_new_columns(frame: pd.DataFrame, names: pd.Index[str] | list[str]) -> None:
    """Raise a ConfigError if a column that would be added exists."""
    for name in names:
        if name in frame:
            raise ConfigError(f"--clean: the data has a column {name!r} already, which would be added")


def _number(p: float, decimal: str) -> str:
    """A probability with six decimals at most; empty if it is missing."""
    return "" if np.isnan(p) else np.format_float_positional(p, 6, trim="-").replace(".", decimal)
