"""Scoring a fitted model with all measures of the registry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .measures import Predictions
from .registry import SCORED


def measure(
    model: Any, X: Any, y: NDArray[np.int64], predicted: ArrayLike, classes: NDArray[np.int64]
) -> dict[str, float | None]:
    """Measure a fitted classifier on test rows.

    Parameters
    ----------
    model, X, y, predicted, classes
        See `Predictions`.

    Returns
    -------
    dict of str to float or None
        Each measure of `registry.SCORED`; None if the model has no such value.

    Raises
    ------
    ValueError
        If the model returns labels that are not in the training labels, scores of the wrong shape, NaN or
        infinity.
    """
    predictions = Predictions(model, X, y, predicted, classes)
    return {entry.name: entry.score(predictions) for entry in SCORED if entry.score is not None}
