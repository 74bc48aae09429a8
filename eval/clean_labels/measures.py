"""Measures of predictions against soft labels, and their derivatives with respect to the labels.

A soft label has a weight for each class.  The weights of estimates may be negative or above 1, and their sums
over rows are what counts.  A measure m of n rows with the labels L is linearised at L: if a row's label
changes from L_i to L_i + d, m changes by about ``slopes[i] @ d / n``.  So the slopes are the influence function
of the measure, and the mean of ``slopes[i, y_i]`` over rows with clean labels y tells how far m is from its
value on these labels.

References
----------
.. [1] Hampel, "The Influence Curve and Its Role in Robust Estimation", JASA 1974.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALLEST = 1e-7  # of the probabilities whose logarithm is taken
SMALLEST_SHARE = 1e-9  # of a class


@dataclass(frozen=True, eq=False)
class Linearised:
    """A measure of n rows, and its slopes.

    Attributes
    ----------
    value : float
    slopes : float array of shape (n, K)
        Their mean over rows and labels is 0 at the labels of the measure.
    """

    value: float
    slopes: Floats


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of a model.

    Attributes
    ----------
    labels : int array of shape (n,)
        Predicted class numbers.
    probabilities : float array of shape (n, K) or None
        Predicted probabilities, None if only labels are known.
    n_classes : int
    """

    labels: Codes
    probabilities: Floats | None
    n_classes: int

    def is_predicted(self) -> Floats:
        """One-hot predictions, shape (n, K)."""
        one_hot: Floats = np.eye(self.n_classes)[self.labels]
        return one_hot

    def known_probabilities(self) -> Floats:
        """The probabilities.  A ValueError is raised if only labels are known."""
        if self.probabilities is None:
            raise ValueError("the measure needs probabilities")
        return self.probabilities


Measure = Callable[[Predicted, Floats], Linearised]


def accuracy(predicted: Predicted, labels: Floats) -> Linearised:
    """Share of right predictions."""
    hits = predicted.is_predicted()
    value = float((labels * hits).sum() / labels.sum())
    return Linearised(value, hits - value)


def recall(predicted: Predicted, labels: Floats, of: int) -> Linearised:
    """Share of the rows of a class that are predicted as such."""
    hits = predicted.labels == of
    share = max(float(labels[:, of].mean()), SMALLEST_SHARE)
    value = float((labels[:, of] * hits).mean()) / share
    slopes = np.zeros_like(labels)
    slopes[:, of] = (hits - value) / share
    return Linearised(value, slopes)


def precision(predicted: Predicted, labels: Floats, of: int) -> Linearised:
    """Share of right predictions among those of a class; NaN if it is never predicted."""
    hits = predicted.labels == of
    if not hits.any():
        return Linearised(np.nan, np.full_like(labels, np.nan))
    total = float(labels[hits].sum())
    value = float(labels[hits, of].sum()) / total
    slopes = np.zeros_like(labels)
    slopes[hits] = -value
    slopes[hits, of] += 1.0
    return Linearised(value, slopes * (len(labels) / total))


def balanced_accuracy(predicted: Predicted, labels: Floats) -> Linearised:
    """Mean recall of the classes."""
    value, slopes = 0.0, np.zeros_like(labels)
    for of in range(predicted.n_classes):
        part = recall(predicted, labels, of)
        value += part.value / predicted.n_classes
        slopes += part.slopes / predicted.n_classes
    return Linearised(value, slopes)


def roc_auc(predicted: Predicted, labels: Floats) -> Linearised:
    """Area under the ROC curve of two classes; of more, the mean of the areas of one class against the rest."""
    columns = [1] if predicted.n_classes == 2 else range(predicted.n_classes)
    value, slopes = 0.0, np.zeros_like(labels)
    for of in columns:
        part = _area(predicted.known_probabilities()[:, of], labels[:, of], labels.sum(axis=1) - labels[:, of])
        value += part.value / len(columns)
        slopes += part.slopes[:, [1]] / len(columns)
        slopes[:, of] += (part.slopes[:, 0] - part.slopes[:, 1]) / len(columns)
    return Linearised(value, slopes)


def _area(scores: Floats, positive: Floats, negative: Floats) -> Linearised:
    """Share of the pairs of a positive and a negative row in the right order; columns positive, negative."""
    _, place = np.unique(scores, return_inverse=True)
    of_negative, of_positive = np.bincount(place, negative), np.bincount(place, positive)
    n_negative = max(float(negative.sum()), SMALLEST_SHARE)
    n_positive = max(float(positive.sum()), SMALLEST_SHARE)
    below = ((of_negative.cumsum() - of_negative / 2) / n_negative)[place]
    above = 1 - ((of_positive.cumsum() - of_positive / 2) / n_positive)[place]
    value = float(positive @ below) / n_positive
    n = scores.size
    slopes = np.column_stack([(below - value) * (n / n_positive), (above - value) * (n / n_negative)])
    return Linearised(value, slopes)


def log_loss(predicted: Predicted, labels: Floats) -> Linearised:
    """Mean negative logarithm of the probability of the label."""
    losses = -np.log(np.maximum(predicted.known_probabilities(), SMALLEST))
    value = float((labels * losses).sum() / labels.sum())
    return Linearised(value, losses - value)


def expected_cost(predicted: Predicted, labels: Floats, costs: Floats) -> Linearised:
    """Mean of ``costs[i, j]`` for rows of class i with the prediction j."""
    of_classes = costs.T[predicted.labels]
    value = float((labels * of_classes).sum() / labels.sum())
    return Linearised(value, of_classes - value)


OF_ALL: dict[str, Measure] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
OF_PROBABILITIES: dict[str, Measure] = {"roc_auc": roc_auc, "log_loss": log_loss}
BY_CLASS = {"recall": recall, "precision": precision}
