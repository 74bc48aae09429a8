"""Rows whose labels somebody has checked, and how they were drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CheckedSample:
    """Checked rows of a data set.

    In each round, rows are drawn from those that no earlier round has checked, each with a known probability.
    Rows that were chosen, and not drawn, are of round 0: they are known, and tell nothing about others.

    Attributes
    ----------
    rows : int array of shape (m,)
        Numbers of the rows, each once.
    codes : int array of shape (m,)
        Class numbers of their right labels.
    probabilities : float array of shape (m,)
        Probability of each row of being drawn in its round; 1 in round 0.
    rounds : int array of shape (m,)
    """

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    probabilities: Floats
    rounds: NDArray[np.int64]

    @property
    def is_random(self) -> NDArray[np.bool_]:
        """Whether each row was drawn with a probability below 1, bool array of shape (m,)."""
        return (self.rounds > 0) & (self.probabilities < 1)

    def with_right_labels(self, probabilities: Floats) -> Floats:
        """A copy of the probabilities of the classes of all rows, with 0 and 1 for the checked rows."""
        known = probabilities.copy()
        known[self.rows] = np.eye(probabilities.shape[1])[self.codes]
        return known

    def among(self, rows: NDArray[np.int64]) -> CheckedSample:
        """Select the checked rows among some rows, and number them by their places there."""
        place = {row: i for i, row in enumerate(rows.tolist())}
        kept = np.array([row in place for row in self.rows.tolist()], dtype=np.bool_)
        return CheckedSample(
            np.array([place[row] for row in self.rows[kept].tolist()], dtype=np.int64),
            self.codes[kept],
            self.probabilities[kept],
            self.rounds[kept],
        )

    def weights(self, n_rows: int) -> Floats:
        """Weights of the checked rows in an estimate of a total over all rows, shape (m,).

        A round estimates the total as the sum over the rows known before it, plus the sum over its rows divided
        by their probabilities, which are scaled so that these weights sum to the number of rows that were not
        known.  The estimates of the rounds are averaged, in proportion to their rows.  So each may draw by
        what earlier ones have found.

        Parameters
        ----------
        n_rows : int
            Number of all rows.
        """
        total = np.zeros(self.rows.size)
        numbers = np.unique(self.rounds[self.is_random])
        n_drawn = [int((self.is_random & (self.rounds == number)).sum()) for number in numbers]
        for number, share in zip(numbers, np.divide(n_drawn, max(1, sum(n_drawn))), strict=True):
            known, drawn = self.rounds < number, self.rounds == number
            certain, random = drawn & ~self.is_random, drawn & self.is_random
            weights = (known | certain).astype(np.float64)
            unknown = n_rows - weights.sum()
            inverse = 1 / self.probabilities[random]
            weights[random] = inverse * (unknown / inverse.sum())
            total += share * weights
        return total
