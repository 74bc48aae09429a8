"""Label noise: what its kinds share.  Objects corrupt labels and say what they did.

The transition matrix T of a kind holds ``T[j, k]``, the probability that a row of the class j carries the label
k; its rows sum to 1.  Classes are numbered in the order of their sorted labels.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int64]  # numbers of classes, or of rows
Floats = NDArray[np.float64]
NoiseOn = Literal["train", "train+test"]


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Labels after corruption.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    flipped : bool array of shape (n_samples,)
        Where the label differs from the true one.
    asked_rate : float
        The rate that was asked for; but for `LabelNoise` it is the expectation of the realised rate.
    """

    labels: NDArray[Any]
    flipped: NDArray[np.bool_]
    asked_rate: float

    @property
    def realised_rate(self) -> float:
        """Share of the labels that were changed."""
        return float(self.flipped.mean())


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with the numbers of their true classes, and with features for kinds that look at them."""

    codes: Codes
    classes: NDArray[Any]
    X: Floats | None

    @property
    def n_classes(self) -> int:
        """How many classes there are, these rows' or not."""
        return self.classes.size

    def take(self, rows: Codes) -> Labelled:
        """Some of the rows."""
        return Labelled(self.codes[rows], self.classes, None if self.X is None else self.X[rows])


@dataclass(frozen=True)
class Noise(ABC):
    """Base of the noise kinds; use a subclass.

    Attributes
    ----------
    kind : str
        Its name in configs.
    noise_on : {"train", "train+test"}
        Which labels of a split are corrupted where nothing else is said.
    needs_features : bool
        Whether it looks at the features.
    """

    kind: ClassVar[str]
    noise_on: ClassVar[NoiseOn] = "train"
    needs_features: ClassVar[bool] = False

    def check_classes(self, n_classes: int) -> None:  # noqa: B027 - few kinds have anything to say
        """Raise a ValueError if the noise is not for this number of classes."""

    @cached_property
    def identity(self) -> list[Any]:
        """All that tells it from other noise, fit for JSON."""
        return [self.kind, *dataclasses.astuple(self)]

    def corrupt(
        self, y: ArrayLike, X: Any = None, *, classes: Any = None, random_state: Any = None
    ) -> NoisyLabels:
        """Corrupt labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        X : array-like of shape (n_samples, n_features) or None, default=None
            Features, for the kinds of noise that depend on them; others ignore it.
        classes : array-like or None, default=None
            The possible labels; None for those found in `y`.
        random_state : int, sequence of int, numpy.random.Generator or None, default=None
            Seed of the draws.

        Returns
        -------
        NoisyLabels

        Raises
        ------
        ValueError
            If `y` is empty or holds a label that is not in `classes`, there are fewer than two classes or
            another number of them than the noise is for, or `X` is needed and missing, not finite or not as
            long as `y`.
        """
        y = np.asarray(y)
        everything, nothing = np.arange(y.size), np.arange(0)
        return self.corrupt_split(y, everything, nothing, X, classes=classes, random_state=random_state)[0]

    def corrupt_split(
        self,
        y: ArrayLike,
        train: Codes,
        test: Codes,
        X: Any = None,
        *,
        classes: Any = None,
        noise_on: NoiseOn | None = None,
        random_state: Any = None,
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        """Corrupt the labels of a split.

        What the noise depends on is estimated from the training rows.  The noise of these is the same whether
        the test labels are corrupted or not.

        Parameters
        ----------
        y, X, classes, random_state
            As for `corrupt`; of the whole data set.
        train, test : int array
            Positions of the training and the test rows.
        noise_on : {"train", "train+test"} or None, default=None
            Which labels are corrupted; None for the kind's own rule.

        Returns
        -------
        noisy_train : NoisyLabels
        y_test : ndarray
            What models are tested on.

        Raises
        ------
        ValueError
            As `corrupt` does, and if `noise_on` is neither of these.
        """
        where = self.noise_on if noise_on is None else noise_on
        if where not in get_args(NoiseOn):
            raise ValueError(f"noise_on must be one of {', '.join(get_args(NoiseOn))}, got {noise_on!r}")
        labelled = self._read(y, X, classes)
        noisy_train, noisy_test, asked_rate = self._draw(labelled, train, test, random_state)
        noisy = NoisyLabels(labelled.classes[noisy_train], noisy_train != labelled.codes[train], asked_rate)
        return noisy, labelled.classes[noisy_test if where == "train+test" else labelled.codes[test]]

    @abstractmethod
    def _draw(
        self, labelled: Labelled, train: Codes, test: Codes, random_state: Any
    ) -> tuple[Codes, Codes, float]:
        """Noisy class numbers of the training and the test rows, and the rate asked for on the former."""

    def _read(self, y: ArrayLike, X: Any, classes: Any) -> Labelled:
        y = np.asarray(y)
        classes = np.unique(y if classes is None else np.asarray(classes))
        self.check_classes(classes.size)
        return Labelled(encode(y, classes), classes, self._check_features(X, y.size))

    def _check_features(self, features: Any, n_rows: int) -> Floats | None:
        if not self.needs_features:
            return None
        if features is None:
            raise ValueError(f"{type(self).__name__} depends on the features: X must be given")
        X: Floats = np.asarray(features, dtype=np.float64)
        if X.ndim != 2 or X.shape[0] != n_rows:
            raise ValueError(f"X must have the shape ({n_rows}, n_features), got {X.shape}")
        if not np.isfinite(X).all():
            raise ValueError(f"{type(self).__name__} depends on the features: X must be finite everywhere")
        return X


def encode(y: NDArray[Any], classes: NDArray[Any]) -> Codes:
    """Numbers of the classes; a ValueError if `y` is empty or holds others, or there are fewer than two."""
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be one-dimensional and not empty, got the shape {y.shape}")
    if classes.size < 2:
        raise ValueError(f"classes must hold two labels at least, got {classes.tolist()}")
    codes = np.minimum(np.searchsorted(classes, y), classes.size - 1)
    if (classes[codes] != y).any():
        raise ValueError("y holds a label that is not in classes")
    return codes.astype(np.int64)


def check_rate(noise: Noise, rate: float, highest: float = 1) -> None:
    """Raise a ValueError if a rate is no number in [0, highest]."""
    if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 <= rate <= highest:
        raise ValueError(f"rate of {type(noise).__name__} must be a number in [0, {highest}], got {rate!r}")


def generators(random_state: Any) -> tuple[np.random.Generator, np.random.Generator]:
    """Chance for the training rows, and for the test rows."""
    rng = np.random.default_rng(random_state)
    return rng, rng.spawn(1)[0]


@dataclass(frozen=True)
class MatrixNoise(Noise):
    """Base of the kinds with a transition matrix: how likely a label is depends on the true class alone."""

    def transition_matrix(self, y: ArrayLike, X: Any = None, *, classes: Any = None) -> Floats:
        """The probabilities ``T[j, k]`` of the label k for a row of the class j.

        Parameters
        ----------
        y, X, classes
            As for `corrupt`.

        Returns
        -------
        float array of shape (n_classes, n_classes)

        Raises
        ------
        ValueError
            As `corrupt` does.
        """
        return self._matrix(self._read(y, X, classes))

    @abstractmethod
    def _matrix(self, labelled: Labelled) -> Floats:
        """The transition matrix."""

    def _draw(
        self, labelled: Labelled, train: Codes, test: Codes, random_state: Any
    ) -> tuple[Codes, Codes, float]:
        seen = labelled.take(train)
        T = self._matrix(seen)
        noisy_train, noisy_test = (
            self._draw_labels(codes, T, rng)
            for codes, rng in zip((seen.codes, labelled.codes[test]), generators(random_state), strict=True)
        )
        changed = np.where(np.eye(labelled.n_classes, dtype=bool), 0.0, T).sum(axis=1)
        return noisy_train, noisy_test, float(changed[seen.codes].mean())

    def _draw_labels(self, codes: Codes, T: Floats, rng: np.random.Generator) -> Codes:
        """By the inverse of the distribution function; true labels come first, so those kept are shared."""
        chance = rng.random(codes.size)
        noisy = codes.copy()
        for true, probabilities in enumerate(T):
            rows = np.flatnonzero(codes == true)
            others = np.delete(np.arange(len(T)), true)
            flipped = rows[chance[rows] < probabilities[others].sum()]
            # A number below the sum; the last of the other labels takes what rounding leaves above it.
            edges = np.cumsum(probabilities[others])[:-1]
            noisy[flipped] = others[np.searchsorted(edges, chance[flipped], side="right")]
        return noisy
