"""Kinds of label noise that depend on the features: classes or rows that look alike are confused more often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .base import Codes, Floats, Labelled, MatrixNoise, Noise, check_rate, generators

# Sums of distances that differ by less, relatively, are equal but for rounding.
TIE = 1e-9

# Of the least separate class the rate is 5/3 of that in the middle.
HIGHEST_MAHALANOBIS_RATE = 0.6


@dataclass(frozen=True)
class MahalanobisNoise(MatrixNoise):
    """Classes that are near one another are confused more often [1]_.

    With d_ij the Mahalanobis distance between the means of the classes i and j under their pooled covariance,
    the sums ``sum_j d_ij`` are scaled linearly to ``t_i`` in [0, 1], or to 1/2 if they are all the same, as
    with two classes.  Then ``1 - T[i, i] = rate (5 - 4 t_i) / 3``, and the other classes share this in
    proportion to ``s_ij = 1 / d_ij``.  (The paper prints ``s_ij / (1 - s_ii)``, which does not give rows that
    sum to one.)  With the rate 0.3 the diagonal is the paper's, from 0.5 to 0.9.

    Classes of which there is no row are left alone.

    Parameters
    ----------
    rate : float, default=0.3
        The middle of the range of the classes' rates, in [0, 0.6].

    References
    ----------
    .. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024,
           Algorithm 1.
    """

    kind = "mahalanobis"
    needs_features = True
    rate: float = 0.3

    def __post_init__(self) -> None:
        check_rate(self, self.rate, HIGHEST_MAHALANOBIS_RATE)

    def _matrix(self, labelled: Labelled) -> Floats:
        T = np.eye(labelled.n_classes)
        present = np.unique(labelled.codes)
        if present.size < 2:
            return T
        distance = _distances_between_classes(_rows_by_class(labelled))
        sums = distance.sum(axis=1)
        spread = np.ptp(sums)
        t = (sums - sums.min()) / spread if spread > TIE * sums.max() else np.full(sums.size, 0.5)
        changed = self.rate * (5 - 4 * t) / 3
        # Classes with the same mean have an endless similarity, which takes all; a tiny distance does the same.
        similarity = 1 / np.maximum(distance, np.finfo(float).eps * (distance.max() or 1))
        np.fill_diagonal(similarity, 0)
        inner = changed[:, None] * similarity / similarity.sum(axis=1, keepdims=True)
        np.fill_diagonal(inner, 1 - changed)
        T[np.ix_(present, present)] = inner
        return T


@dataclass(frozen=True)
class InstanceDependentNoise(Noise):
    """The nearer a row is to the boundary between classes, the more likely is its label wrong.

    The boundary is that of linear discriminant analysis with equal shares of the classes: with d the
    Mahalanobis distances to the class means under the covariance within classes, the margin of a row is the
    difference of its two smallest ``d ** 2``, twice the log odds of its two likeliest classes; it is 0 at the
    boundary.  With u the share of the rows of smaller margin (ties count half), the label changes with the
    probability ``2 rate (1 - u)``, or ``1 - 2 (1 - rate) u`` for rates above 1/2; the mean of these is the
    rate.  It becomes the likeliest other class.  That rows near the boundary are the hard ones is assumed in
    [1]_, that their labels become the next likely ones in [2]_.

    Parameters
    ----------
    rate : float
        The mean over the rows, in [0, 1].

    References
    ----------
    .. [1] Menon, van Rooyen & Natarajan, "Learning from binary labels with instance-dependent noise", Machine
           Learning 107, 2018.
    .. [2] Zhang, Zheng, Wu, Goswami & Chen, "Learning with Feature-Dependent Label Noise: a Progressive
           Approach", ICLR 2021.
    """

    kind = "instance_dependent"
    needs_features = True
    rate: float

    def __post_init__(self) -> None:
        check_rate(self, self.rate)

    def flip_probabilities(self, y: ArrayLike, X: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
        """How likely each label is to change.

        Parameters
        ----------
        y, X, classes
            As for `corrupt`.

        Returns
        -------
        float array of shape (n_samples,)

        Raises
        ------
        ValueError
            As `corrupt` does.
        """
        labelled = self._read(y, X, classes)
        margin = _ClassMeans(labelled).margin_and_rival(labelled)[0]
        return self._probabilities(margin, margin)

    def _draw(
        self, labelled: Labelled, train: Codes, test: Codes, random_state: object
    ) -> tuple[Codes, Codes, float]:
        seen = labelled.take(train)
        means = _ClassMeans(seen)
        margins = means.margin_and_rival(seen)[0]

        def corrupted(rows: Labelled, rng: np.random.Generator) -> Codes:
            margin, rival = means.margin_and_rival(rows)
            flipped = rng.random(rows.codes.size) < self._probabilities(margin, margins)
            return np.where(flipped, rival, rows.codes)

        train_rng, test_rng = generators(random_state)
        return corrupted(seen, train_rng), corrupted(labelled.take(test), test_rng), float(self.rate)

    def _probabilities(self, margin: Floats, margins: Floats) -> Floats:
        """How likely rows of these margins are to change, where those of the training rows are given."""
        ordered = np.sort(margins)
        ranks = np.searchsorted(ordered, margin, side="left") + np.searchsorted(ordered, margin, side="right")
        u = ranks / (2 * margins.size)
        return 2 * self.rate * (1 - u) if self.rate <= 0.5 else 1 - 2 * (1 - self.rate) * u


class _ClassMeans:
    """The class means of some rows, in coordinates where the covariance within classes is the identity."""

    def __init__(self, labelled: Labelled) -> None:
        self.present = np.unique(labelled.codes)
        if self.present.size < 2:
            raise ValueError("noise that depends on the boundary between classes needs rows of two classes")
        groups = _rows_by_class(labelled)
        self.whitening = _whitening([_scatter(group) for group in groups], labelled.codes.size)
        self.means = [group.mean(axis=0) @ self.whitening for group in groups]

    def margin_and_rival(self, rows: Labelled) -> tuple[Floats, Codes]:
        """The margin of each row, and the likeliest class that is not its own."""
        Z = np.asarray(rows.X) @ self.whitening
        squared = np.stack([((Z - mean) ** 2).sum(axis=1) for mean in self.means], axis=1)
        nearest = np.partition(squared, 1, axis=1)
        squared[rows.codes[:, None] == self.present] = np.inf
        return nearest[:, 1] - nearest[:, 0], self.present[squared.argmin(axis=1)]


def _distances_between_classes(groups: list[Floats]) -> Floats:
    """Mahalanobis distances between the means of groups, under the pooled covariance of each pair."""
    scatters = [_scatter(group) for group in groups]
    distance = np.zeros((len(groups), len(groups)))
    for i, one in enumerate(groups):
        for j, other in enumerate(groups[:i]):
            whitening = _whitening([scatters[i], scatters[j]], len(one) + len(other))
            between = (one.mean(axis=0) - other.mean(axis=0)) @ whitening
            distance[i, j] = distance[j, i] = np.sqrt(between @ between)
    return distance


def _rows_by_class(labelled: Labelled) -> list[Floats]:
    """Features of the rows of each class that there is."""
    X = np.asarray(labelled.X)
    return [X[labelled.codes == code] for code in np.unique(labelled.codes)]


def _scatter(group: Floats) -> Floats:
    centred = group - group.mean(axis=0)
    scatter: Floats = centred.T @ centred
    return scatter


def _whitening(scatters: list[Floats], n_rows: int) -> Floats:
    """A square root of the pseudo-inverse of the covariance within groups."""
    freedom = max(n_rows - len(scatters), 1)  # rows that are alone in their groups have no variance
    values, vectors = np.linalg.eigh(sum(scatters[1:], scatters[0]) / freedom)
    kept = values > values.size * np.finfo(float).eps * values.max()
    whitening: Floats = vectors[:, kept] / np.sqrt(values[kept])
    return whitening
