"""Kinds of label noise that look at the true labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import Codes, Floats, Labelled, MatrixNoise, Noise, check_rate


@dataclass(frozen=True)
class UniformNoise(MatrixNoise):
    """Symmetric noise: a label is kept with probability 1 - rate, else any other class, all equally likely.

    ``T[j, k] = rate / (K - 1)`` for all k but j.

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

    kind = "uniform"
    rate: float

    def __post_init__(self) -> None:
        check_rate(self, self.rate)

    def _matrix(self, labelled: Labelled) -> Floats:
        T = np.full((labelled.n_classes, labelled.n_classes), self.rate / (labelled.n_classes - 1))
        np.fill_diagonal(T, 1 - self.rate)
        return T

    def _draw_labels(self, codes: Codes, T: Floats, rng: np.random.Generator) -> Codes:
        flipped = rng.random(codes.size) < self.rate
        # A step of 1 to K-1 around the circle of classes reaches each of the others once.
        steps = rng.integers(1, len(T), size=codes.size)
        return np.where(flipped, (codes + steps) % len(T), codes)


@dataclass(frozen=True)
class PairFlipNoise(MatrixNoise):
    """A row of the class k gets the label of the class k + 1, the last class that of the first.

    ``T[k, (k + 1) % K] = rate``; see [1]_.

    Parameters
    ----------
    rate : float
        In [0, 1].

    References
    ----------
    .. [1] Han et al., "Co-teaching: Robust Training of Deep Neural Networks with Extremely Noisy Labels",
           NeurIPS 2018.

    Examples
    --------
    >>> from boostnoise.eval import PairFlipNoise
    >>> PairFlipNoise(0.25).transition_matrix(["a", "b", "c"]).tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.75, 0.25], [0.25, 0.0, 0.75]]
    """

    kind = "pair_flip"
    rate: float

    def __post_init__(self) -> None:
        check_rate(self, self.rate)

    def _matrix(self, labelled: Labelled) -> Floats:
        same = np.eye(labelled.n_classes)
        T: Floats = (1 - self.rate) * same + self.rate * np.roll(same, 1, axis=1)
        return T


@dataclass(frozen=True)
class ClassConditionalNoise(MatrixNoise):
    """How likely each label is depends on the true class, in a way that is given.

    Parameters
    ----------
    T : array-like of shape (K, K) or (2,)
        The transition matrix; or, for two classes, how likely the labels of the first and of the second class
        are to be wrong: rate_neg and rate_pos where these are 0 and 1.

    Raises
    ------
    ValueError
        If it is neither of these.

    Examples
    --------
    >>> from boostnoise.eval import ClassConditionalNoise
    >>> ClassConditionalNoise([0.1, 0.3])
    ClassConditionalNoise(T=((0.9, 0.1), (0.3, 0.7)))
    >>> ClassConditionalNoise([0.1, 0.3]).rate
    0.2
    """

    kind = "class_conditional"
    T: Sequence[Sequence[float]] | Sequence[float]

    def __post_init__(self) -> None:
        # Kept as tuples: they compare, hash and pickle.
        object.__setattr__(self, "T", tuple(map(tuple, _as_matrix(self.T).tolist())))

    @property
    def rate(self) -> float:
        """The mean over the classes of how likely their labels are to be wrong."""
        T = np.array(self.T)
        np.fill_diagonal(T, 0)
        return float(T.sum() / len(T))

    def check_classes(self, n_classes: int) -> None:  # noqa: D102
        if n_classes != len(self.T):
            raise ValueError(f"T is for {len(self.T)} classes, but there are {n_classes}")

    def _matrix(self, labelled: Labelled) -> Floats:
        return np.array(self.T)


def _as_matrix(T: Any) -> Floats:
    wanted = "T must be a square matrix of probabilities whose rows sum to 1, or a pair of probabilities"
    try:
        matrix = np.asarray(T)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{wanted}, got {T!r}") from None
    if matrix.dtype.kind not in "iuf":
        raise ValueError(f"{wanted}, got {T!r}")
    if matrix.shape == (2,):
        matrix = np.array([[1 - matrix[0], matrix[0]], [matrix[1], 1 - matrix[1]]])
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"{wanted}, got the shape {matrix.shape}")
    if not ((matrix >= 0) & (matrix <= 1)).all():
        raise ValueError(f"{wanted}, got {matrix.tolist()}")
    sums = matrix.sum(axis=1)
    if not np.allclose(sums, 1, rtol=0, atol=1e-6):
        raise ValueError(f"{wanted}, got the sums {sums.tolist()}")
    return matrix.astype(np.float64)


@dataclass(frozen=True)
class LabelNoise(Noise):
    """The draws of the study "Boosting with Label Noise" (2020), bit for bit.

    ``int(rate * n)`` rows are drawn with replacement, and each time that a row is drawn its label is replaced
    by another; so fewer than ``rate * n`` labels change.  Unless told otherwise it corrupts training and test
    labels.  The draws are those of the study where the random state is its int and the whole split is given;
    `corrupt` takes all rows for training rows, and the test rows for none.

    Parameters
    ----------
    rate : float
        In [0, 1].
    """

    kind = "label"
    noise_on = "train+test"
    rate: float

    def __post_init__(self) -> None:
        check_rate(self, self.rate)

    def _draw(
        self, labelled: Labelled, train: Codes, test: Codes, random_state: Any
    ) -> tuple[Codes, Codes, float]:
        if isinstance(random_state, np.random.Generator):
            raise ValueError(
                "random_state of LabelNoise must be an int or a sequence of int, for the RandomState that the "
                "study drew by, got a Generator"
            )
        rng = np.random.RandomState(random_state)
        noisy = [labelled.codes[train], labelled.codes[test]]
        drawn = [rng.choice(codes.size, int(self.rate * codes.size)) for codes in noisy]
        others = [np.delete(np.arange(labelled.n_classes), true) for true in range(labelled.n_classes)]
        for codes, rows in zip(noisy, drawn, strict=True):
            for row in rows:
                codes[row] = rng.choice(others[codes[row]])
        return noisy[0], noisy[1], self.rate
