"""Soft labels in the form that trees are grown on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ._kernels.random import draw_labels


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """The labels of positive probability, row by row.

    A tree that is grown on all rows counts each of them with its probability, as if the row had been copied.  A
    tree that draws its rows draws a label for each of them, so that it has as many labels as rows, and weights
    that are integers.

    Attributes
    ----------
    classes : int32 array of shape (n_labels,)
        Class numbers.
    rows : int64 array of shape (n_labels,)
        Row of each label.
    shares : float64 array of shape (n_labels,)
        Their probabilities, which sum to 1 in each row.
    first : int64 array of shape (n_samples + 1,)
        Number of the first label of each row.
    """

    classes: NDArray[np.int32]
    rows: NDArray[np.int64]
    shares: NDArray[np.float64]
    first: NDArray[np.int64]

    @classmethod
    def from_probabilities(cls, p: NDArray[np.float64]) -> Self:
        """Soft labels from probabilities of shape (n_samples, n_classes); those of a row must not all be 0."""
        p = np.ascontiguousarray(p)
        first = np.concatenate([[0], np.cumsum(np.count_nonzero(p, axis=1))])
        labels = np.flatnonzero(p)
        shares = p.ravel()[labels]
        classes = (labels % p.shape[1]).astype(np.int32)
        rows = np.floor_divide(labels, p.shape[1], out=labels)
        shares /= np.add.reduceat(shares, first[:-1])[rows]
        return cls(classes, rows, shares, first)

    def draw(self, state: NDArray[np.uint64], n_draws: NDArray[np.float64]) -> NDArray[np.float64]:
        """Draw a label for each draw of a row; return the number of draws of each label."""
        counts = np.zeros(self.rows.size)
        draw_labels(state, n_draws, self.first, self.shares, counts)
        return counts

    def sum_by_row(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of the values of the labels of each row, shape (n_samples,)."""
        return np.add.reduceat(values, self.first[:-1])

    def most_probable(self) -> NDArray[np.int32]:
        """Most probable class of each row; the first one of equally probable classes."""
        order = np.lexsort((self.classes, -self.shares, self.rows))
        classes: NDArray[np.int32] = self.classes[order[self.first[:-1]]]
        return classes

    def weighted(
        self, class_weights: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[Self, NDArray[np.float64]]:
        """The labels and weights of rows that multiply the weight of each label by that of its class."""
        shares = self.shares * class_weights[self.classes]
        sums = self.sum_by_row(shares)
        shares /= np.where(sums > 0, sums, 1.0)[self.rows]
        return type(self)(self.classes, self.rows, shares, self.first), weights * sums
