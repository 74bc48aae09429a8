"""Base classes of label noise.

The entry ``T[j, k]`` of a transition matrix is the probability that a row of class j gets the label k; the rows
of T sum to 1.  Class numbers follow the order of the sorted labels.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._numbers import is_integer

Integers = NDArray[np.int64]  # class numbers or row numbers
Floats = NDArray[np.float64]
SALT = int.from_bytes(b"label noise")  # of integer seeds
NoiseOn = Literal["train", "train+test"]


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Labels after corruption.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The noisy labels.
    flipped : bool array of shape (n_samples,)
        Whether each label differs from the true label.
    noise_rate : float
        The requested noise rate: the expectation of the realised rate, except for `LabelNoise`.
    """

    labels: NDArray[Any]
    flipped: NDArray[np.bool_]
    noise_rate: float

    @property
    def realised_rate(self) -> float:
        """Fraction of labels that were changed."""
        return float(self.flipped.mean())


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with their true class numbers y, and with features X if the noise depends on them."""

    y: Integers
    classes: NDArray[Any]
    X: Floats | None

    @property
    def n_classes(self) -> int:
        """Number of classes, including classes without rows."""
        return self.classes.size

    def take(self, rows: Integers) -> LabelledRows:
        """Select rows by position."""
        return LabelledRows(self.y[rows], self.classes, None if self.X is None else self.X[rows])


@dataclass(frozen=True)
class Noise(ABC):
    """Abstract base class of all kinds of noise.

    Attributes
    ----------
    kind : str
        Name of the kind in configs.
    noise_on : {"train", "train+test"}
        Which labels of a split are corrupted by default.
    allowed_noise_on : tuple of str
        Which labels of a split can be corrupted.
    needs_features : bool
        Whether the noise depends on the features.
    accepts_missing : bool
        Whether features may be missing.
    """

    kind: ClassVar[str]
    noise_on: ClassVar[NoiseOn] = "train"
    allowed_noise_on: ClassVar[tuple[NoiseOn, ...]] = get_args(NoiseOn)
    needs_features: ClassVar[bool] = False
    accepts_missing: ClassVar[bool] = False

    def check_classes(self, n_classes: int) -> None:  # noqa: B027 - most kinds accept any number
        """Raise a ValueError if the noise is for another number of classes."""

    @cached_property
    def identity(self) -> list[Any]:
        """JSON-compatible values that distinguish this noise from any other."""
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
            Features, required by kinds of noise that depend on them and ignored by the others.
        classes : array-like or None, default=None
            All possible labels; None for those found in `y`.
        random_state : int, sequence of int, numpy.random.Generator or None, default=None
            Random seed or generator.

        Returns
        -------
        NoisyLabels

        Raises
        ------
        ValueError
            If `y` is empty or contains a label that is not in `classes`, if there are fewer than two classes
            or the noise is for another number of classes, or if `X` is required and is missing, not finite or
            of another length than `y`.
        """
        y = np.asarray(y)
        train, test = np.arange(y.size), np.arange(0)
        return self.corrupt_split(y, train, test, X, classes=classes, random_state=random_state)[0]

    def corrupt_split(
        self,
        y: ArrayLike,
        train: Integers,
        test: Integers,
        X: Any = None,
        *,
        classes: Any = None,
        noise_on: NoiseOn | None = None,
        random_state: Any = None,
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        """Corrupt the labels of a train/test split.

        Parameters of the noise are estimated from the training rows only.  The noisy training labels do not
        depend on whether the test labels are corrupted.

        Parameters
        ----------
        y, X, classes, random_state
            As in `corrupt`, for the whole data set.
        train, test : int array
            Positions of the training and test rows.
        noise_on : {"train", "train+test"} or None, default=None
            Which labels are corrupted; None for the default of this kind.  `AuditedNoise` takes no other.

        Returns
        -------
        noisy_train : NoisyLabels
        y_test : ndarray
            Labels of the test rows, noisy or true.

        Raises
        ------
        ValueError
            As in `corrupt`, and if this kind does not allow `noise_on`.
        """
        corrupted = self.noise_on if noise_on is None else noise_on
        if corrupted not in self.allowed_noise_on:
            raise ValueError(f"noise_on must be one of {', '.join(self.allowed_noise_on)}, got {noise_on!r}")
        rows = self._read_rows(y, X, classes)
        noisy_train, noisy_test, noise_rate = self._draw(rows, train, test, random_state)
        noisy = NoisyLabels(rows.classes[noisy_train], noisy_train != rows.y[train], noise_rate)
        return noisy, rows.classes[noisy_test if corrupted == "train+test" else rows.y[test]]

    @abstractmethod
    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        """Draw noisy class numbers of the training and test rows; also return the requested training rate."""

    def _read_rows(self, y: ArrayLike, X: Any, classes: Any) -> LabelledRows:
        y = np.asarray(y)
        classes = np.unique(y if classes is None else np.asarray(classes))
        self.check_classes(classes.size)
        return LabelledRows(to_class_numbers(y, classes), classes, self._check_features(X, y.size))

    def _check_features(self, features: Any, n_rows: int) -> Floats | None:
        if not self.needs_features:
            return None
        if features is None:
            raise ValueError(f"X must be given: {type(self).__name__} depends on the features")
        X: Floats = np.asarray(features, dtype=np.float64)
        if X.ndim != 2 or X.shape[0] != n_rows:
            raise ValueError(f"X must have shape ({n_rows}, n_features), got {X.shape}")
        if np.isinf(X).any() or (np.isnan(X).any() and not self.accepts_missing):
            raise ValueError(f"X must be finite: {type(self).__name__} depends on the features")
        return X


def to_class_numbers(y: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Convert labels to class numbers.

    Raises
    ------
    ValueError
        If `y` is empty, not one-dimensional or contains a label that is not in `classes`, or if there are fewer
        than two classes.
    """
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"y must be one-dimensional and non-empty, got shape {y.shape}")
    if classes.size < 2:
        raise ValueError(f"classes must contain at least two labels, got {classes.tolist()}")
    numbers = np.minimum(np.searchsorted(classes, y), classes.size - 1)
    unknown = classes[numbers] != y
    if unknown.any():
        raise ValueError(f"y contains the label {y[unknown].tolist()[0]!r}, which is not in classes")
    return numbers.astype(np.int64)


def make_generators(random_state: Any) -> tuple[np.random.Generator, np.random.Generator]:
    """Create two independent random generators, for the training and the test rows.

    They are also independent of ``default_rng(random_state)``, from which the labels may have been drawn.
    """
    if is_integer(random_state):
        random_state = [random_state, SALT]
    rng = np.random.default_rng(random_state)
    return rng, rng.spawn(1)[0]


@dataclass(frozen=True)
class MatrixNoise(Noise):
    """Base class of class-conditional noise: the noisy label depends on the true class only."""

    def transition_matrix(self, y: ArrayLike, X: Any = None, *, classes: Any = None) -> Floats:
        """Transition matrix; ``T[j, k]`` is the probability of label k for a row of class j.

        Parameters
        ----------
        y, X, classes
            As in `corrupt`.

        Returns
        -------
        float array of shape (n_classes, n_classes)

        Raises
        ------
        ValueError
            As in `corrupt`.
        """
        return self._matrix(self._read_rows(y, X, classes))

    @abstractmethod
    def _matrix(self, rows: LabelledRows) -> Floats:
        """Compute the transition matrix."""

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        train_rows = rows.take(train)
        T = self._matrix(train_rows)
        train_rng, test_rng = make_generators(random_state)
        noisy_train = self._draw_labels(train_rows.y, T, train_rng)
        noisy_test = self._draw_labels(rows.y[test], T, test_rng)
        flip_probabilities = np.where(np.eye(rows.n_classes, dtype=bool), 0.0, T).sum(axis=1)
        return noisy_train, noisy_test, float(flip_probabilities[train_rows.y].mean())

    def _draw_labels(self, y: Integers, T: Floats, rng: np.random.Generator) -> Integers:
        """Draw noisy class numbers by inverse transform sampling.

        With the same seed, labels flipped at one noise rate are also flipped at higher rates.
        """
        uniform = rng.random(y.size)
        noisy = y.copy()
        for true, probabilities in enumerate(T):
            rows = np.flatnonzero(y == true)
            others = np.delete(np.arange(len(T)), true)
            flipped = rows[uniform[rows] < probabilities[others].sum()]
            # Without the last edge, the last label also gets numbers that rounding puts above the sum.
            edges = np.cumsum(probabilities[others])[:-1]
            noisy[flipped] = others[np.searchsorted(edges, uniform[flipped], side="right")]
        return noisy
