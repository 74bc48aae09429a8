"""Calibration and lift curves of models on clean labels, from an audit of noisy ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._numbers import check_fraction, is_integer
from .._wording import joined
from ..clean_labels.measures import Linearised, precision, recall
from ..clean_labels.parts_of_rows import as_prediction, precision_of_part, recall_of_part
from ..clean_labels.prediction_powered import Estimate
from ..errors import ConfigError
from .clean_scores import choose_inference
from .predictions import read_places, read_predictions

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DEPTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ROUNDING = 1e-9  # .07 of 100 rows are 7.000000000000001


def calibration_curve(
    audit: AuditEstimates,
    predictions: Any,
    *,
    pos_label: Any = None,
    rows: Any = None,
    n_bins: int = 5,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Estimate calibration curves on clean labels; see `LabelAudit.calibration_curve`."""
    if not is_integer(n_bins) or n_bins < 1:
        raise ConfigError(f"n_bins must be a whole number of 1 or more, got {n_bins!r}")
    parts = _PartsOfRows(audit, predictions, pos_label, rows, confidence)
    records = []
    for name, p in parts.probabilities():
        edges = np.quantile(p, np.linspace(0, 1, n_bins + 1))
        bins = np.searchsorted(edges[1:-1], p)
        for number in np.unique(bins):
            part = bins == number
            head = {"model": name, "class": parts.pos_label, "mean_predicted": float(p[part].mean())}
            records.append(head | parts.sizes(part) | parts.precision(part))
    return pd.DataFrame(records)


def lift_curve(
    audit: AuditEstimates,
    predictions: Any,
    *,
    pos_label: Any = None,
    rows: Any = None,
    depths: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Estimate lift curves on clean labels; see `LabelAudit.lift_curve`."""
    shares = np.asarray(DEPTHS if depths is None else depths)
    is_valid = shares.ndim == 1 and shares.size > 0 and shares.dtype.kind in "iuf"
    if not is_valid or not ((shares > 0) & (shares <= 1)).all():
        raise ConfigError(f"depths must be a vector of shares above 0 and at most 1, got {depths!r:.60}")
    parts = _PartsOfRows(audit, predictions, pos_label, rows, confidence)
    records = []
    for name, p in parts.probabilities():
        last = np.maximum(np.ceil(shares * p.size - ROUNDING).astype(np.int64), 1) - 1
        for threshold in np.unique(-np.sort(-p)[last])[::-1]:
            part = p >= threshold  # with all rows of one probability, so that their order does not matter
            depth = float(part.mean())
            found = {"recall": parts.recall(part), "precision": parts.precision(part)}
            found["lift"] = {key: value / depth for key, value in found["recall"].items()}
            head = {"model": name, "class": parts.pos_label, "depth": depth} | parts.sizes(part)
            records += [head | {"measure": measure} | values for measure, values in found.items()]
    return pd.DataFrame(records)


class _PartsOfRows:
    """A class in parts of the rows that models have predicted."""

    def __init__(
        self, audit: AuditEstimates, predictions: Any, pos_label: Any, rows: Any, confidence: float
    ) -> None:
        check_fraction("confidence", confidence)
        classes = audit.classes.tolist()
        if pos_label is None and len(classes) == 2:
            pos_label = classes[1]
        if pos_label not in classes:
            raise ConfigError(f"pos_label must be one of {joined(classes)}, got {pos_label!r}")
        self.pos_label, self.of = pos_label, classes.index(pos_label)
        places = read_places(audit, rows)
        self.models = read_predictions(audit, predictions, places)
        for name, predicted in self.models.items():
            if predicted.probabilities is None:
                raise ConfigError(f"predictions: {name} has labels; a curve needs probabilities")
        self.given = np.eye(len(classes))[audit.codes[places]]
        sample = None if audit.checked is None else audit.checked.among(places)
        self.is_checked = np.zeros(places.size, dtype=np.bool_)
        if sample is not None:
            self.is_checked[sample.rows] = True
        self.inference = choose_inference(audit, places, sample, confidence)

    def probabilities(self) -> Iterator[tuple[str, Floats]]:
        """Names of the models, and their probabilities of the class."""
        for name, predicted in self.models.items():
            yield name, predicted.known_probabilities()[:, self.of]

    def sizes(self, part: Flags) -> dict[str, int]:
        return {"rows": int(part.sum()), "checked": int(self.is_checked[part].sum())}

    def precision(self, part: Flags) -> dict[str, float]:
        given = precision(as_prediction(part, self.of, self.given.shape[1]), self.given, self.of)
        return _values(precision_of_part(self.inference, part, self.of), given)

    def recall(self, part: Flags) -> dict[str, float]:
        given = recall(as_prediction(part, self.of, self.given.shape[1]), self.given, self.of)
        return _values(recall_of_part(self.inference, part, self.of), given)


def _values(found: Estimate, given: Linearised) -> dict[str, float]:
    return {"estimate": found.value, "low": found.low, "high": found.high, "on_given_labels": given.value}
