"""Predictions of models for the rows of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robust_splits.label_noise.transition_estimation import check_probabilities

from .._wording import joined
from ..clean_labels.measures import Predicted
from ..errors import ConfigError, one_line
from .spelling import spelled_as

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Codes = NDArray[np.int64]


def read_places(audit: AuditEstimates, rows: Any) -> Codes:
    """Places of some rows; of all for None.

    Raises
    ------
    ConfigError
        If a row does not exist or occurs twice.
    """
    n = audit.labels.size
    places = np.arange(n) if rows is None else np.asarray(rows)
    if places.ndim != 1 or places.dtype.kind not in "iu" or places.size == 0:
        raise ConfigError(f"rows must be a vector of whole numbers, got {rows!r:.60}")
    if places.min() < 0 or places.max() >= n or np.unique(places).size < places.size:
        raise ConfigError(f"rows must be different whole numbers from 0 to {n - 1}")
    return places.astype(np.int64)


def read_predictions(audit: AuditEstimates, predictions: Any, places: Codes) -> dict[str, Predicted]:
    """Predictions by the names of the models.

    Parameters
    ----------
    audit : LabelAudit
    predictions : array-like or dict of str to array-like
    places : int array of shape (n,)
        Places of their rows.

    Raises
    ------
    ConfigError
        If a label or probabilities are not valid.
    """
    named = dict(predictions) if isinstance(predictions, Mapping) else {"model": predictions}
    if not named:
        raise ConfigError("predictions must have those of one model or more, got an empty dict")
    return {str(name): _read_one(audit, str(name), values, places) for name, values in named.items()}


def _read_one(audit: AuditEstimates, name: str, values: Any, places: Codes) -> Predicted:
    classes = audit.classes
    if hasattr(values, "predict"):
        raise ConfigError(
            f"predictions: {name} is a model; give its predictions for rows that it has not seen, or use "
            "boostnoise.clean_scores"
        )
    values = np.asarray(values)
    if values.ndim not in (1, 2):
        raise ConfigError(f"predictions: {name} must be a vector or a matrix, got shape {values.shape}")
    if len(values) != places.size:
        raise ConfigError(f"predictions: {name} has {len(values)} rows, expected {places.size}")
    known = {label: code for code, label in enumerate(classes.tolist())}
    if (
        values.ndim == 1
        and classes.size == 2
        and _are_shares(values)
        and not {*values.tolist()} <= known.keys()
    ):
        values = np.column_stack([1 - values, values])
    if values.ndim == 2:
        try:
            p = check_probabilities(values, places.size, classes.size)
        except (ValueError, TypeError) as error:
            raise ConfigError(f"predictions: {name}: {one_line(error)}") from None
        return Predicted(p.argmax(axis=1), p, classes.size)
    labels = spelled_as(classes, values.tolist())
    unknown = next((label for label in labels if label not in known), None)
    if unknown is not None:
        raise ConfigError(
            f"predictions: {name} has {unknown!r}, which is no label of the data ({joined(classes.tolist())})"
            + (" and no probability of the second one" if classes.size == 2 else "")
        )
    return Predicted(np.array([known[label] for label in labels]), None, classes.size)


def _are_shares(values: NDArray[Any]) -> bool:
    """Whether all values are numbers from 0 to 1."""
    return values.dtype.kind == "f" and bool(((values >= 0) & (values <= 1)).all())
