"""Estimates for a part of the rows: the share of a class in it, and the share of the class that it holds.

A part may have few checked rows, or none.  So it is estimated from its own ones, whose number says how far
the estimate can be trusted: an interval from few rows of the part and many others would be too short.  The
share of the class that a part holds follows from the shares in the part and in the rest, and its interval from
theirs, whose distances to the limits are squared and added [1]_.

References
----------
.. [1] Zou & Donner, "Construction of Confidence Limits About Effect Measures: A General Approach", Statistics
       in Medicine 2008.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from .measures import Predicted, precision, recall
from .prediction_powered import Estimate, PredictionPowered
from .without_checked_rows import Scenarios

Flags = NDArray[np.bool_]
Inference = PredictionPowered | Scenarios


def as_prediction(part: Flags, of: int, n_classes: int) -> Predicted:
    """Predict a class for the part, and another one for the rest."""
    return Predicted(np.where(part, of, (of + 1) % n_classes), None, n_classes)


def precision_of_part(inference: Inference, part: Flags, of: int) -> Estimate:
    """Share of a class in a part of the rows.

    The interval reaches 0 if no row that was drawn to be checked is of the class, and 1 if all of them are.  It
    is from 0 to 1 if fewer than two were drawn.

    Parameters
    ----------
    inference : PredictionPowered or Scenarios
    part : bool array of shape (n,)
    of : int
        Number of the class.
    """
    if isinstance(inference, Scenarios):
        return _precision(inference, part, of)
    rows = np.flatnonzero(part)
    sample, p = inference.sample.among(rows), inference.probabilities[rows]
    hits = sample.codes[sample.is_random] == of
    if hits.size < 2:
        return Estimate(float(p[:, of].mean()), 0.0, 1.0)
    found = _precision(PredictionPowered(p, sample, inference.confidence), part[rows], of)
    return Estimate(found.value, found.low if hits.any() else 0.0, 1.0 if hits.all() else found.high)


def _precision(inference: Inference, part: Flags, of: int) -> Estimate:
    predicted = as_prediction(part, of, inference.labels.shape[1])
    return inference.estimate(functools.partial(precision, predicted, of=of), is_share=True)


def recall_of_part(inference: Inference, part: Flags, of: int) -> Estimate:
    """Share of the rows of a class that are in a part of all rows; see `precision_of_part`."""
    if isinstance(inference, Scenarios) or part.all():
        predicted = as_prediction(part, of, inference.labels.shape[1])
        return inference.estimate(functools.partial(recall, predicted, of=of), is_share=True)
    size = float(part.mean())
    inside, outside = (precision_of_part(inference, each, of) for each in (part, ~part))

    def share(of_part: float, of_rest: float) -> float:
        found, missed = size * of_part, (1 - size) * of_rest
        return found / (found + missed) if found else 0.0

    value = share(inside.value, outside.value)
    below = np.hypot(value - share(inside.low, outside.value), value - share(inside.value, outside.high))
    above = np.hypot(share(inside.high, outside.value) - value, share(inside.value, outside.low) - value)
    return Estimate(value, max(0.0, value - float(below)), min(1.0, value + float(above)))
