"""Label noise that depends on the true labels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numbers import check_noise_rate
from .base import Floats, Integers, LabelledRows, MatrixNoise, Noise

HIGHEST_BY_CLASS_RATE = 0.5  # three classes then have the rates .3, .9 and .3


@dataclass(frozen=True)
class UniformNoise(MatrixNoise):
    """Symmetric noise: a label is flipped with probability `noise_rate`, to any other class equally often.

    ``T[j, k] = noise_rate / (K - 1)`` for k != j.

    Parameters
    ----------
    noise_rate : float
        Noise rate, in [0, 1].

    Examples
    --------
    >>> from boostnoise.eval import UniformNoise
    >>> UniformNoise(1.0).corrupt(["a", "b", "a"], random_state=0).labels.tolist()
    ['b', 'a', 'b']
    """

    kind = "uniform"
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate)

    def _matrix(self, rows: LabelledRows) -> Floats:
        T = np.full((rows.n_classes, rows.n_classes), self.noise_rate / (rows.n_classes - 1))
        np.fill_diagonal(T, 1 - self.noise_rate)
        return T

    def _draw_labels(self, y: Integers, T: Floats, rng: np.random.Generator) -> Integers:
        flipped = rng.random(y.size) < self.noise_rate
        # Modulo K, steps of 1 to K-1 reach each other class exactly once.
        steps = rng.integers(1, len(T), size=y.size)
        return np.where(flipped, (y + steps) % len(T), y)


@dataclass(frozen=True)
class PairFlipNoise(MatrixNoise):
    """Pair-flip noise: a label of class k is flipped to class k + 1, and of the last class to the first [1]_.

    ``T[k, (k + 1) % K] = noise_rate``.

    Parameters
    ----------
    noise_rate : float
        Noise rate, in [0, 1].

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
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate)

    def _matrix(self, rows: LabelledRows) -> Floats:
        identity = np.eye(rows.n_classes)
        T: Floats = (1 - self.noise_rate) * identity + self.noise_rate * np.roll(identity, 1, axis=1)
        return T


@dataclass(frozen=True)
class ByClassNoise(MatrixNoise):
    """Noise that some classes have more of: labels of every second class are wrong three times as often.

    With K classes, the first, third, ... have the noise rate ``r = noise_rate * K / (K + 2 * (K // 2))``, the
    others ``3 r``.  A wrong label is any other class equally often.

    Parameters
    ----------
    noise_rate : float
        Mean of the noise rates of the classes, in [0, 0.5].

    Examples
    --------
    >>> from boostnoise.eval import ByClassNoise
    >>> ByClassNoise(0.2).transition_matrix(["no", "yes"]).round(2).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """

    kind = "by_class"
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate, HIGHEST_BY_CLASS_RATE)

    def _matrix(self, rows: LabelledRows) -> Floats:
        odds = np.where(np.arange(rows.n_classes) % 2, 3.0, 1.0)
        rates = self.noise_rate * odds / odds.mean()
        T = np.repeat(rates[:, np.newaxis] / (rows.n_classes - 1), rows.n_classes, axis=1)
        np.fill_diagonal(T, 1 - rates)
        return T


@dataclass(frozen=True)
class ClassConditionalNoise(MatrixNoise):
    """Class-conditional noise with a given transition matrix.

    Parameters
    ----------
    T : array-like of shape (K, K) or (2,)
        Transition matrix; or, for two classes, the noise rates of the first and the second class (rate_neg and
        rate_pos for the classes 0 and 1).

    Raises
    ------
    ValueError
        If `T` is neither a transition matrix nor a pair of probabilities.

    Examples
    --------
    >>> from boostnoise.eval import ClassConditionalNoise
    >>> ClassConditionalNoise([0.1, 0.3])
    ClassConditionalNoise(T=((0.9, 0.1), (0.3, 0.7)))
    >>> ClassConditionalNoise([0.1, 0.3]).noise_rate
    0.2
    """

    kind = "class_conditional"
    T: Sequence[Sequence[float]] | Sequence[float]

    def __post_init__(self) -> None:
        # Tuples, unlike arrays, can be compared and hashed.
        object.__setattr__(self, "T", tuple(map(tuple, read_transition_matrix(self.T).tolist())))

    @property
    def noise_rate(self) -> float:
        """Unweighted mean of the noise rates of the classes."""
        T = np.array(self.T)
        np.fill_diagonal(T, 0)
        return float(T.sum() / len(T))

    def check_classes(self, n_classes: int) -> None:  # noqa: D102
        if n_classes != len(self.T):
            raise ValueError(f"the rates are for {len(self.T)} classes, but there are {n_classes}")

    def _matrix(self, rows: LabelledRows) -> Floats:
        return np.array(self.T)


def read_transition_matrix(T: Any) -> Floats:
    """Transition matrix from a matrix or a pair of noise rates.

    Unlike `boostnoise.check_transition_matrix`, which corrected losses use, it accepts pairs and singular
    matrices: labels can be corrupted without the inverse.

    Parameters
    ----------
    T : array-like of shape (K, K) or (2,)
        See `ClassConditionalNoise`.

    Returns
    -------
    float array of shape (K, K)

    Raises
    ------
    ValueError
        If `T` does not contain numbers, is neither square nor a pair, is smaller than 2 x 2, has an entry
        outside [0, 1] or a row that does not sum to 1 (within 1e-6).
    """
    expected = "T must be a square matrix of probabilities whose rows sum to 1, or a pair of probabilities"
    try:
        matrix = np.asarray(T)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{expected}, got {T!r}") from None
    if matrix.dtype.kind not in "iuf":
        raise ValueError(f"{expected}, got {T!r}")
    if matrix.shape == (2,):
        matrix = np.array([[1 - matrix[0], matrix[0]], [matrix[1], 1 - matrix[1]]])
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"{expected}, got shape {matrix.shape}")
    if not ((matrix >= 0) & (matrix <= 1)).all():
        raise ValueError(f"{expected}, got {matrix.tolist()}")
    sums = matrix.sum(axis=1)
    if not np.allclose(sums, 1, rtol=0, atol=1e-6):
        raise ValueError(f"{expected}, got row sums {sums.tolist()}")
    return matrix.astype(np.float64)


@dataclass(frozen=True)
class LabelNoise(Noise):
    """Label noise of the study "Boosting with Label Noise" (2020), with the same random draws.

    ``int(noise_rate * n)`` rows are drawn with replacement, and the label of each drawn row is replaced by
    another one.  Rows may be drawn more than once, so at most ``noise_rate * n`` labels change.  By default,
    both training and test labels are corrupted.  `corrupt_split` reproduces the study if the random state is
    the integer seed of the study; `corrupt` treats all rows as training rows.

    Parameters
    ----------
    noise_rate : float
        Number of draws divided by the number of rows, in [0, 1].
    """

    kind = "label"
    noise_on = "train+test"
    noise_rate: float

    def __post_init__(self) -> None:
        check_noise_rate(self, self.noise_rate)

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        if isinstance(random_state, np.random.Generator):
            raise ValueError(
                "random_state of LabelNoise must be an int or a sequence of int, as it seeds a RandomState, "
                "got a Generator"
            )
        rng = np.random.RandomState(random_state)
        noisy = [rows.y[train], rows.y[test]]
        drawn = [rng.choice(y.size, int(self.noise_rate * y.size)) for y in noisy]
        others = [np.delete(np.arange(rows.n_classes), true) for true in range(rows.n_classes)]
        for y, positions in zip(noisy, drawn, strict=True):
            for i in positions:
                y[i] = rng.choice(others[y[i]])
        return noisy[0], noisy[1], self.noise_rate
