"""Label noise: objects that corrupt labels and say what they did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Labels after corruption.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
    flipped : bool array of shape (n_samples,)
        Where the label differs from the true one.
    """

    labels: NDArray[Any]
    flipped: NDArray[np.bool_]

    @property
    def realised_rate(self) -> float:
        """Share of the labels that were changed."""
        return float(self.flipped.mean())


@dataclass(frozen=True)
class Noise(ABC):
    """Base of the noise kinds; use a subclass."""

    rate: float

    def __post_init__(self) -> None:
        if isinstance(self.rate, bool) or not isinstance(self.rate, Real) or not 0 <= self.rate <= 1:
            raise ValueError(f"rate of {type(self).__name__} must be a number in [0, 1], got {self.rate!r}")

    @abstractmethod
    def corrupt_split(
        self,
        y_train: NDArray[Any],
        y_test: NDArray[Any],
        classes: NDArray[Any],
        random_state: Any,
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        """Corrupt the labels of a split.

        Parameters
        ----------
        y_train, y_test : ndarray
            True labels.
        classes : ndarray
            The sorted labels of the whole data set.
        random_state : int, sequence of int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        noisy_train : NoisyLabels
        y_test : ndarray
            What models are tested on: the true labels, but for kinds that say otherwise.
        """


@dataclass(frozen=True)
class UniformNoise(Noise):
    """Symmetric noise: a label is kept with probability 1 - rate, else any other class, all equally likely.

    Parameters
    ----------
    rate : float
        In [0, 1].

    Examples
    --------
    >>> from boostnoise.eval import UniformNoise
    >>> UniformNoise(1.0).corrupt(["a", "b", "a"], random_state=0).labels.tolist()
    ['b', 'a', 'b']
    """

    def corrupt(
        self, y: ArrayLike, X: Any = None, *, classes: Any = None, random_state: Any = None
    ) -> NoisyLabels:
        """Corrupt labels.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        X : ignored
            For kinds of noise that depend on it.
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
            If `y` holds a label that is not in `classes`, or there are fewer than two classes.
        """
        y = np.asarray(y)
        classes = np.unique(y if classes is None else np.asarray(classes))
        if classes.size < 2:
            raise ValueError(f"classes must hold two labels at least, got {classes.tolist()}")
        codes = np.minimum(np.searchsorted(classes, y), classes.size - 1)
        if (classes[codes] != y).any():
            raise ValueError("y holds a label that is not in classes")
        rng = np.random.default_rng(random_state)
        flipped = rng.random(y.size) < self.rate
        # A step of 1 to K-1 around the circle of classes reaches each of the others once.
        steps = rng.integers(1, classes.size, size=y.size)
        noisy = classes[np.where(flipped, (codes + steps) % classes.size, codes)]
        return NoisyLabels(noisy, flipped)

    def corrupt_split(  # noqa: D102
        self, y_train: NDArray[Any], y_test: NDArray[Any], classes: NDArray[Any], random_state: Any
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        return self.corrupt(y_train, classes=classes, random_state=random_state), y_test


@dataclass(frozen=True)
class LabelNoise(Noise):
    """The draws of the study "Boosting with Label Noise" (2020), bit for bit.

    ``int(rate * n)`` rows are drawn with replacement, and each time that a row is drawn its label is replaced
    by another; so fewer than ``rate * n`` labels change.  Training and test labels are both corrupted.

    Parameters
    ----------
    rate : float
        In [0, 1].
    """

    def corrupt_split(  # noqa: D102
        self, y_train: NDArray[Any], y_test: NDArray[Any], classes: NDArray[Any], random_state: Any
    ) -> tuple[NoisyLabels, NDArray[Any]]:
        rng = np.random.RandomState(random_state)
        drawn = [rng.choice(y.size, int(self.rate * y.size)) for y in (y_train, y_test)]
        noisy = [y_train.copy(), y_test.copy()]
        for y, rows in zip(noisy, drawn, strict=True):
            for row in rows:
                y[row] = rng.choice(classes[classes != y[row]])
        return NoisyLabels(noisy[0], noisy[0] != y_train), noisy[1]


KINDS: dict[str, type[Noise]] = {"uniform": UniformNoise, "label": LabelNoise}
