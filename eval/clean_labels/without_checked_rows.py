"""Measures on clean labels without checked rows: between the least and the most noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from .prediction_powered import Estimate, Score

Floats = NDArray[np.float64]


class Scenarios:
    """Estimates of measures on clean labels from probabilities under little and much noise.

    Noise and overlapping classes cannot be told apart without checked labels.  So an interval is from the
    lowest to the highest value under the probabilities, widened on both sides by what is due to chance.

    Parameters
    ----------
    scenarios : sequence of float arrays of shape (n, K)
        Probabilities of the clean classes.
    likely : int
        Number of those for the estimate.
    confidence : float
        Of the part that is due to chance.
    """

    def __init__(self, scenarios: Sequence[Floats], likely: int, confidence: float) -> None:
        self.scenarios, self.likely = scenarios, likely
        self.labels = scenarios[likely]
        self.quantile = float(norm.ppf((1 + confidence) / 2))

    def estimate(self, score: Score, *, is_share: bool = False, is_positive: bool = False) -> Estimate:
        """Estimate a measure; see `PredictionPowered.estimate`."""
        measures = [score(labels) for labels in self.scenarios]
        likely, values = measures[self.likely], [measure.value for measure in measures]
        squares = np.einsum("ik,ik->i", self.scenarios[self.likely], likely.slopes**2)
        variance = float(squares.sum()) / squares.size**2
        half = self.quantile * float(np.sqrt(variance))
        low, high = min(values) - half, max(values) + half
        if is_share or is_positive:
            low = max(0.0, low)
        return Estimate(likely.value, low, min(1.0, high) if is_share else high, other_variance=variance)
