"""Prediction-powered inference: measures on clean labels, from probabilities of all rows and a checked sample.

The probabilities of the clean classes are known for all rows, but may be wrong.  The checked rows say how wrong
they are on average.  So a measure is computed from both: each row has the label ``c r_i``, where r_i are its
probabilities, and a checked row has ``w_i (e_i - c r_i)`` in addition, where e_i is its right label, one-hot,
and w_i its weight, the inverse of the probability that it was drawn.  Whatever the probabilities are, this is
unbiased for totals; the better they are, the less it varies.  c is chosen for the least variance [2]_.

The variance is that of the linearised measure: of its slopes at the right labels of the checked rows, less c
times their expectation.  This is a difference estimator of survey sampling [3]_.

References
----------
.. [1] Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, "Prediction-Powered Inference", Science 2023.
.. [2] Angelopoulos, Duchi & Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023.
.. [3] Särndal, Swensson & Wretman, "Model Assisted Survey Sampling", 1992, chapters 5 and 6.
.. [4] Korn & Graubard, "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
       Estimated from Survey Data", Survey Methodology 1998 (effective sample size).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from .checked_sample import CheckedSample
from .measures import Linearised

Floats = NDArray[np.float64]

MIN_DRAWN = 20  # checked rows
MORE_ROWS = 100  # to check, for an outlook
LEAST_SHARE = 1 / 3  # of the expected share of a class that checked rows may leave of it
PRIOR_ROWS = 10  # weight of c = 1 in the choice of c
MODEL_ROWS = 2  # weight of the variance under the probabilities, as few rows may have no error by chance
SURE = 0.98  # greatest weight of the probabilities in that variance

Score = Callable[[Floats], Linearised]


@dataclass(frozen=True)
class Estimate:
    """An estimate with an interval.

    Attributes
    ----------
    value, low, high : float
    sampling_variance : float
        Variance that more checked rows would reduce; NaN without a checked sample.
    other_variance : float
        Variance due to the number of all rows.
    """

    value: float
    low: float
    high: float
    sampling_variance: float = np.nan
    other_variance: float = np.nan


class PredictionPowered:
    """Estimates of measures on clean labels from probabilities of all rows and a checked sample.

    Parameters
    ----------
    probabilities : float array of shape (n, K)
        Probabilities of the clean classes, from no more of the sample than the rows of round 0.
    sample : CheckedSample
        With at least two rows that were drawn at random.
    confidence : float
    """

    def __init__(self, probabilities: Floats, sample: CheckedSample, confidence: float) -> None:
        n, n_classes = probabilities.shape
        self.confidence, self.n, self.sample = confidence, n, sample
        self.drawn = np.flatnonzero(sample.rounds > 0)
        self.chosen = sample.rows[sample.rounds == 0]
        self.rows, self.codes = sample.rows[self.drawn], sample.codes[self.drawn]
        self.is_random = sample.is_random[self.drawn]
        self.inclusion = sample.probabilities[self.drawn]
        self.probabilities = probabilities.copy()
        self.probabilities[self.chosen] = np.eye(n_classes)[sample.codes[sample.rounds == 0]]
        self.weights = sample.weights(n)[self.drawn]
        self.labels = self._corrected_labels()

    def _corrected_labels(self) -> Floats:
        """Labels at which measures are linearised, shape (n, K).

        With few checked rows, corrections may exceed what is there of a class.  Then a part of them is taken.
        """
        n_classes = self.probabilities.shape[1]
        corrections = np.eye(n_classes)[self.codes] - self.probabilities[self.rows]
        corrections *= self.weights[:, np.newaxis]
        expected, change = self.probabilities.sum(axis=0), corrections.sum(axis=0)
        falls = change < 0
        allowed = (1 - LEAST_SHARE) * expected[falls] / -change[falls]
        labels = self.probabilities.copy()
        labels[self.rows] += min(1.0, float(allowed.min(initial=1.0))) * corrections
        return labels

    def estimate(self, score: Score, *, is_share: bool = False, is_positive: bool = False) -> Estimate:
        """Estimate a measure.

        Parameters
        ----------
        score : callable
            Computes the measure from labels of shape (n, K).
        is_share : bool, default=False
            Whether its values are from 0 to 1, for an interval within this range, by Wilson's formula with the
            effective number of rows [4]_.
        is_positive : bool, default=False
            Whether its values are 0 or more.
        """
        measure = score(self.labels)
        if np.isnan(measure.value):
            return Estimate(np.nan, np.nan, np.nan)
        slopes = measure.slopes[self.rows]
        of_label = slopes[np.arange(self.rows.size), self.codes]
        expected = np.einsum("ik,ik->i", self.probabilities, measure.slopes)
        c = self._least_variance(of_label, expected[self.rows])
        error = of_label - c * expected[self.rows]
        known = float(expected[self.chosen].sum())
        total = c * (float(expected.sum()) - known) + known + float(self.weights @ error)
        value = measure.value + total / self.n
        of_sample = self._variance(error, slopes - c * expected[self.rows, np.newaxis])
        squares = np.einsum("ik,ik->i", self.probabilities, measure.slopes**2)
        of_rows = float(squares.sum()) / self.n**2
        if is_share and not 0 <= value <= 1:  # few checked rows of a rare class
            value = min(max(measure.value, 0.0), 1.0)
        low, high = _interval(value, of_sample + of_rows, self._quantile(), is_share)
        return Estimate(value, max(0.0, low) if is_positive else low, high, of_sample, of_rows)

    def half_width(self, estimate: Estimate, n_more: int) -> float:
        """Expected half of the width of the interval with more checked rows, drawn alike."""
        n = int(self.is_random.sum())
        variance = estimate.sampling_variance * n / (n + n_more) + estimate.other_variance
        return float(self._quantile() * np.sqrt(variance))

    def _quantile(self) -> float:
        return float(student.ppf((1 + self.confidence) / 2, max(1, int(self.is_random.sum()) - 2)))

    def _least_variance(self, of_label: Floats, expected: Floats) -> float:
        """Find the c with the least variance by regression, with a ridge towards 1."""
        random = self.is_random
        weights = self.weights[random] / self.weights[random].sum()
        x = expected[random] - weights @ expected[random]
        y = of_label[random] - weights @ of_label[random]
        of_x = float(weights**2 @ x**2)
        ridge = of_x * PRIOR_ROWS / weights.size
        covariance = float(weights**2 @ (x * y))
        return (covariance + ridge) / (of_x + ridge) if of_x > 0 else 1.0

    def _variance(self, error: Floats, error_of_class: Floats) -> float:
        """Variance of the weighted mean of the errors of the rows that were drawn at random.

        A weighted mean of the variance of the errors and of that expected under the probabilities.
        """
        random = self.is_random
        n = int(random.sum())
        weights = self.weights[random] / self.n * np.sqrt(1 - self.inclusion[random])
        centred = error[random] - np.average(error[random], weights=self.weights[random])
        empirical = float(weights**2 @ centred**2) * n / (n - 1)
        n_classes = self.probabilities.shape[1]
        p = SURE * self.probabilities[self.rows[random]] + (1 - SURE) / n_classes
        expected = float(weights**2 @ (p * error_of_class[random] ** 2).sum(axis=1))
        return (n * empirical + MODEL_ROWS * expected) / (n + MODEL_ROWS)


def _interval(value: float, variance: float, quantile: float, is_share: bool) -> tuple[float, float]:
    """Interval around an estimate; by Wilson's formula if it is a share."""
    if not is_share:
        half = quantile * float(np.sqrt(variance))
        return value - half, value + half
    if variance == 0:
        return value, value
    std = min(float(np.sqrt(variance)), 0.5)
    nearby = min(max(value, std), 1 - std)  # at the ends of the range, a share varies less than its estimate
    z2 = quantile**2 * variance / (nearby * (1 - nearby))  # over the effective number of rows
    centre = (value + z2 / 2) / (1 + z2)
    half = float(np.sqrt(z2 * value * (1 - value) + z2**2 / 4)) / (1 + z2)
    return centre - half, centre + half
