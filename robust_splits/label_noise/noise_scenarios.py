"""Clean labels under as little noise as is proven, and as much as is possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .clean_posterior import calibrate, posterior
from .label_errors import LabelErrors

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoiseScenarios:
    """Probabilities of the clean classes given a row's features and label, each of shape (n, K).

    Attributes
    ----------
    least : float array
        With the noise that is proven; overlapping classes explain all other doubt.
    without_overlap : float array
        With the noise that there is if each class has rows that are certain to be of it.
    most : float array
        0 or 1: each row is of the class that is most probable given its features, whatever its label is.
    """

    least: Floats
    without_overlap: Floats
    most: Floats

    def all(self) -> tuple[Floats, Floats, Floats]:
        """From the least to the most noise."""
        return self.least, self.without_overlap, self.most


def noise_scenarios(errors: LabelErrors, labels: ArrayLike) -> NoiseScenarios:
    """Probabilities of the clean classes under the noise that is proven and possible.

    Checked labels are not used.

    Parameters
    ----------
    errors : LabelErrors
        Estimates from `find_label_errors`.
    labels : array-like of shape (n,)
        Given labels.
    """
    codes, q = np.searchsorted(errors.classes, np.asarray(labels)), errors.label_probabilities
    weight = np.ones(codes.size)

    def given_features(T: Floats) -> Floats:
        return calibrate(codes, q, T, weight)

    proven, largest = errors.transition_matrix_proven, errors.transition_matrix_without_overlap
    p = given_features(largest)
    return NoiseScenarios(
        posterior(given_features(proven), proven, codes),
        posterior(p, largest, codes),
        np.eye(errors.classes.size)[p.argmax(axis=1)],
    )
