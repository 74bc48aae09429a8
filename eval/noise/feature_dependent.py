"""Label noise that depends on the features: similar classes or rows are confused more often."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numbers import check_noise_rate
from .base import Floats, Integers, LabelledRows, MatrixNoise, Noise, make_generators

# Sums of distances with a smaller relative difference are equal up to rounding.
TIE_TOLERANCE = 1e-9

# The least separated class has 5/3 of the given rate.
HIGHEST_MAHALANOBIS_RATE = 0.6


@dataclass(frozen=True)
class MahalanobisNoise(MatrixNoise):
    """Class-conditional noise in which nearby classes are confused more often [1]_.

    Let d_ij be the Mahalanobis distance between the means of classes i and j under their pooled covariance.
    The sums ``sum_j d_ij`` are scaled linearly to ``t_i`` in [0, 1], or set to 1/2 if all are equal, as with
    two classes.  Then ``1 - T[i, i] = noise_rate (5 - 4 t_i) / 3``, which is divided among the other classes in
    proportion to ``s_ij = 1 / d_ij``.  (The paper prints ``s_ij / (1 - s_ii)``, for which rows do not sum to
    one.)  For the noise rate 0.3 the diagonal is that of the paper, from 0.5 to 0.9.

    Classes without rows are not corrupted.

    Parameters
    ----------
    noise_rate : float, default=0.3
        Midpoint of the range of the classes' noise rates, in [0, 0.6].

    References
    ----------
    .. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024,
           Appendix J, Algorithm 1.
    """

    kind = "mahalanobis"
    needs_features = True
    noise_rate: float = 0.3

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate, HIGHEST_MAHALANOBIS_RATE)

    def _matrix(self, rows: LabelledRows) -> Floats:
        T = np.eye(rows.n_classes)
        present = np.unique(rows.y)
        if present.size < 2:
            return T
        distance = _distances_between_classes(_features_by_class(rows))
        sums = distance.sum(axis=1)
        spread = np.ptp(sums)
        t = (sums - sums.min()) / spread if spread > TIE_TOLERANCE * sums.max() else np.full(sums.size, 0.5)
        flip_probabilities = self.noise_rate * (5 - 4 * t) / 3
        # Classes with equal means have infinite similarity; a tiny distance gives the same matrix.
        similarity = 1 / np.maximum(distance, np.finfo(float).eps * (distance.max() or 1))
        np.fill_diagonal(similarity, 0)
        inner = flip_probabilities[:, None] * similarity / similarity.sum(axis=1, keepdims=True)
        np.fill_diagonal(inner, 1 - flip_probabilities)
        T[np.ix_(present, present)] = inner
        return T


@dataclass(frozen=True)
class InstanceDependentNoise(Noise):
    """Instance-dependent noise: labels of rows near the class boundary are flipped more often.

    The boundary is that of linear discriminant analysis with equal class priors.  Let d be the Mahalanobis
    distances of a row to the class means under the within-class covariance.  The margin of the row is the
    difference of its two smallest ``d ** 2``: twice the log odds of its two most probable classes, and 0 at the
    boundary.  Let u be the fraction of rows with a smaller margin (ties count half).  The label is flipped with
    probability ``2 noise_rate (1 - u)``, or ``1 - 2 (1 - noise_rate) u`` for rates above 1/2; the mean of these
    is `noise_rate`.  The noisy label is the most probable other class.  More noise near the boundary is the
    assumption of [1]_; flips to the next most probable class are the assumption of [2]_.

    Parameters
    ----------
    noise_rate : float
        Noise rate, the mean over the rows, in [0, 1].

    References
    ----------
    .. [1] Menon, van Rooyen & Natarajan, "Learning from binary labels with instance-dependent noise", Machine
           Learning 107, 2018.
    .. [2] Zhang, Zheng, Wu, Goswami & Chen, "Learning with Feature-Dependent Label Noise: a Progressive
           Approach", ICLR 2021.
    """

    kind = "instance_dependent"
    needs_features = True
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate)

    def flip_probabilities(self, y: ArrayLike, X: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
        """Probability that each label is flipped.

        Parameters
        ----------
        y, X, classes
            As in `corrupt`.

        Returns
        -------
        float array of shape (n_samples,)

        Raises
        ------
        ValueError
            As in `corrupt`.
        """
        rows = self._read_rows(y, X, classes)
        margins, _ = _ClassMeans(rows).margins_and_rivals(rows)
        return self._flip_probabilities(margins, margins)

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: object
    ) -> tuple[Integers, Integers, float]:
        train_rows = rows.take(train)
        means = _ClassMeans(train_rows)
        train_margins, _ = means.margins_and_rivals(train_rows)

        def draw_labels(part: LabelledRows, rng: np.random.Generator) -> Integers:
            margins, rivals = means.margins_and_rivals(part)
            flipped = rng.random(part.y.size) < self._flip_probabilities(margins, train_margins)
            return np.where(flipped, rivals, part.y)

        train_rng, test_rng = make_generators(random_state)
        noisy_train, noisy_test = draw_labels(train_rows, train_rng), draw_labels(rows.take(test), test_rng)
        return noisy_train, noisy_test, float(self.noise_rate)

    def _flip_probabilities(self, margins: Floats, train_margins: Floats) -> Floats:
        """Flip probabilities of rows, from the ranks of their margins among the training rows."""
        ordered = np.sort(train_margins)
        ranks = np.searchsorted(ordered, margins, side="left") + np.searchsorted(ordered, margins, side="right")
        u = ranks / (2 * train_margins.size)
        return 2 * self.noise_rate * (1 - u) if self.noise_rate <= 0.5 else 1 - 2 * (1 - self.noise_rate) * u


@dataclass(frozen=True, eq=False)
class RowNoise(Noise):
    """Noise with a rate for each row: its label is flipped with this probability, to any other class equally.

    If all rates are below 1/2, a leaf with enough rows, all of the same class, keeps it as its majority label
    (Ghosh, Manwani & Sastry 2017, Theorem 3.4 b).

    Parameters
    ----------
    rates : float, array-like of shape (n_samples,), or callable
        Noise rates in [0, 1]: of all rows; of each row of a data set, in the same order; or ``rates(X)``, which
        takes features of shape (n_rows, n_features) and returns a rate for each row.

    Examples
    --------
    >>> from boostnoise.eval import RowNoise
    >>> RowNoise([0, 1, 0]).corrupt(["a", "b", "a"], random_state=0).labels.tolist()
    ['a', 'a', 'a']
    >>> RowNoise(lambda X: X[:, 0] > 2).corrupt([0, 1], [[1], [3]], random_state=0).flipped.tolist()
    [False, True]
    """

    kind = "by_row"
    rates: ArrayLike | Callable[[Floats], ArrayLike]

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs_features", callable(self.rates))
        if not callable(self.rates):
            _check_rates(self.rates)

    @cached_property
    def identity(self) -> list[Any]:
        """Kind of noise and hash of the rates; a function is identified within the process only."""
        if callable(self.rates):
            return [self.kind, repr(self.rates)]
        rates = np.ascontiguousarray(self.rates, dtype="<f8")
        return [self.kind, hashlib.sha256(repr(rates.shape).encode() + rates.tobytes()).hexdigest()]

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: object
    ) -> tuple[Integers, Integers, float]:
        rates = _check_rates(self.rates(np.asarray(rows.X)) if callable(self.rates) else self.rates)
        if rates.shape not in ((), rows.y.shape):
            raise ValueError(
                f"rates of RowNoise must contain one rate per row, got {rates.size} for {rows.y.size} rows"
            )
        rates = np.broadcast_to(rates, rows.y.shape)

        def draw_labels(part: Integers, rng: np.random.Generator) -> Integers:
            # With the same seed, labels flipped at one rate are also flipped at higher ones.
            flipped = rng.random(part.size) < rates[part]
            steps = rng.integers(1, rows.n_classes, size=part.size)
            return np.where(flipped, (rows.y[part] + steps) % rows.n_classes, rows.y[part])

        train_rng, test_rng = make_generators(random_state)
        return draw_labels(train, train_rng), draw_labels(test, test_rng), float(rates[train].mean())


def _check_rates(rates: ArrayLike) -> Floats:
    """Noise rates of rows, or one for all, as floats."""
    try:
        found = np.asarray(rates, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"rates of RowNoise must be numbers or a function, got {rates!r:.80}") from None
    if found.ndim > 1:
        raise ValueError(f"rates of RowNoise must have shape (n_samples,), got {found.shape}")
    wrong = found[~((found >= 0) & (found <= 1))]
    if wrong.size:
        raise ValueError(f"rates of RowNoise must be in [0, 1], got {wrong[0]:g}")
    return found


class _ClassMeans:
    """Class means in coordinates in which the within-class covariance is the identity."""

    def __init__(self, rows: LabelledRows) -> None:
        self.present = np.unique(rows.y)
        if self.present.size < 2:
            raise ValueError("y must contain at least two classes in the training rows, got one")
        groups = _features_by_class(rows)
        self.whitening = _whitening([_scatter(group) for group in groups], rows.y.size)
        self.means = [group.mean(axis=0) @ self.whitening for group in groups]

    def margins_and_rivals(self, rows: LabelledRows) -> tuple[Floats, Integers]:
        """Margin and most probable other class of each row."""
        Z = np.asarray(rows.X) @ self.whitening
        squared = np.stack([((Z - mean) ** 2).sum(axis=1) for mean in self.means], axis=1)
        nearest = np.partition(squared, 1, axis=1)
        squared[rows.y[:, None] == self.present] = np.inf
        return nearest[:, 1] - nearest[:, 0], self.present[squared.argmin(axis=1)]


def _distances_between_classes(groups: list[Floats]) -> Floats:
    """Mahalanobis distances between class means, under the pooled covariance of each pair."""
    scatters = [_scatter(group) for group in groups]
    distance = np.zeros((len(groups), len(groups)))
    for i, one in enumerate(groups):
        for j, other in enumerate(groups[:i]):
            whitening = _whitening([scatters[i], scatters[j]], len(one) + len(other))
            between = (one.mean(axis=0) - other.mean(axis=0)) @ whitening
            distance[i, j] = distance[j, i] = np.sqrt(between @ between)
    return distance


def _features_by_class(rows: LabelledRows) -> list[Floats]:
    """Features of the rows of each class, without classes that have no rows."""
    X = np.asarray(rows.X)
    return [X[rows.y == number] for number in np.unique(rows.y)]


def _scatter(group: Floats) -> Floats:
    """Scatter matrix: the sum of outer products of the centred rows."""
    centred = group - group.mean(axis=0)
    scatter: Floats = centred.T @ centred
    return scatter


def _whitening(scatters: list[Floats], n_rows: int) -> Floats:
    """Square root of the pseudo-inverse of the within-group covariance."""
    degrees_of_freedom = max(n_rows - len(scatters), 1)  # 0 if each group has one row
    values, vectors = np.linalg.eigh(sum(scatters[1:], scatters[0]) / degrees_of_freedom)
    nonzero = values > values.size * np.finfo(float).eps * values.max()
    whitening: Floats = vectors[:, nonzero] / np.sqrt(values[nonzero])
    return whitening
