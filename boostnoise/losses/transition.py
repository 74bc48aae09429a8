"""Losses corrected for label noise of known or estimated rates.

Entry ``T[i, j]`` of the transition matrix is the probability that a row of class i has label j; its rows sum to
1.  In expectation over the noise, a loss corrected by T is minimised by the model that minimises cross entropy
on clean labels.

References
----------
.. [1] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017.
.. [2] Natarajan, Dhillon, Ravikumar & Tewari, "Learning with Noisy Labels", NeurIPS 2013.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ._validation import check_number
from .base import Loss, SoftmaxLoss
from .softmax import Classes, Floats, Margin, Softmax
from .vector import TargetCrossEntropy

LARGEST_CONDITION = 1e12  # largest condition number of a matrix that counts as invertible


def check_transition_matrix(T: ArrayLike) -> Floats:
    """Check a transition matrix and return it as an array.

    Parameters
    ----------
    T : array-like of shape (K, K)
        ``T[i, j]`` is the probability of label j for a row of class i.

    Returns
    -------
    float array of shape (K, K)

    Raises
    ------
    TypeError
        If the entries are not numbers.
    ValueError
        If T is not square or smaller than 2 x 2, if an entry is not in [0, 1], if a row does not sum to 1
        (within 1e-6), or if T is singular, so that labels do not distinguish the classes.
    """
    try:
        matrix = np.array(T, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"T must be a square matrix of numbers, got {reprlib.repr(T)}") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"T must be square and at least 2 x 2, got shape {matrix.shape}")
    probable = (matrix >= 0.0) & (matrix <= 1.0)
    if not probable.all():
        i, j = np.argwhere(~probable)[0]
        raise ValueError(f"T must contain probabilities in [0, 1], got T[{i}, {j}] = {matrix[i, j]:g}")
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 1e-6)
    if wrong.size:
        raise ValueError(f"the rows of T must sum to 1, got {sums[wrong[0]]:g} in row {wrong[0]}")
    if np.linalg.cond(matrix) > LARGEST_CONDITION:
        small = f" {matrix.tolist()}" if len(matrix) <= 3 else f" of {len(matrix)} classes"
        raise ValueError(f"T must be invertible, got a singular matrix{small}")
    return matrix


def to_tuples(T: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """Check a transition matrix and return it as tuples, which can be compared, hashed and pickled."""
    return tuple(map(tuple, check_transition_matrix(T).tolist()))


def check_matrix_size(T: Sequence[Sequence[float]], n_classes: int) -> None:
    """Raise a ValueError if a transition matrix is for another number of classes."""
    if len(T) != n_classes:
        raise ValueError(f"T is for {len(T)} classes, but there are {n_classes}")


def normalise_rows(matrix: Floats) -> Floats:
    """Scale the rows of a matrix so that each sums to 1."""
    normalised: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised


class _TransitionLoss(Loss):
    """A loss with a transition matrix, stored as tuples."""

    T: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "T", to_tuples(self.T))

    @cached_property
    def _matrix(self) -> Floats:
        """T as an array, with rows that sum to 1 up to rounding."""
        return normalise_rows(np.array(self.T))

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if T is for another number of classes."""
        check_matrix_size(self.T, n_classes)


@dataclass(frozen=True)
class ForwardCorrection(_TransitionLoss, SoftmaxLoss):
    """``-ln sum_i p_i T[i, y]``, cross entropy of the noisy label under the noise model [1]_.

    Parameters
    ----------
    T : array-like of shape (K, K)
        ``T[i, j]`` is the probability of label j for a row of class i.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import get_loss
    >>> loss = get_loss("forward", T=[[0.9, 0.1], [0.2, 0.8]])
    >>> loss
    ForwardCorrection(T=((0.9, 0.1), (0.2, 0.8)))
    >>> loss.value(np.array([1, 1]), np.array([0.0, 40.0])).round(3)
    array([0.799, 0.223])
    """

    T: Sequence[Sequence[float]]

    def value(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        value: Floats = -self._posterior(y, softmax).log_total
        return value

    def gradient(self, y: Classes, margin: Margin) -> Floats:
        # p minus the posterior, in a form that stays accurate when both are near 1.
        y, softmax = self._read_inputs(y, margin)
        posterior = self._posterior(y, softmax)
        return softmax.shaped(softmax.p * posterior.complement - posterior.p * softmax.complement)

    def exact_hessian(self, y: Classes, margin: Margin) -> Floats:
        y, softmax = self._read_inputs(y, margin)
        return softmax.variance - softmax.shaped(self._posterior(y, softmax).variance)

    def irls_hessian(self, y: Classes, margin: Margin) -> Floats:
        # Curvature of cross entropy with the posterior as target, as in expectation maximisation.
        return self._read_inputs(y, margin)[1].variance

    def fisher_hessian(self, y: Classes, margin: Margin) -> Floats:
        # The expectation is over noisy labels, drawn from their distribution under the model.
        y, softmax = self._read_inputs(y, margin)
        total = np.zeros_like(softmax.variance)
        for label in range(softmax.n_classes):
            labels = np.full_like(y, label)
            p_noisy = np.exp(self._posterior(labels, softmax).log_total)
            total += softmax.spread(p_noisy) * self.gradient(labels, softmax) ** 2
        return total

    def _posterior(self, y: Classes, softmax: Softmax) -> Softmax:
        """Posterior of the classes given the label, ``p_i T[i, y]`` normalised over i."""
        return Softmax(softmax.log_p + self._log_matrix[:, y].T)

    @cached_property
    def _log_matrix(self) -> Floats:
        log_matrix = np.full_like(self._matrix, -np.inf)
        np.log(self._matrix, out=log_matrix, where=self._matrix > 0.0)
        return log_matrix


@dataclass(frozen=True)
class BackwardCorrection(_TransitionLoss, TargetCrossEntropy):
    """``-sum_k inverse(T)[y, k] ln p_k``, whose expectation over the noise is clean cross entropy [1]_.

    Some targets are negative, so the loss of a row is unbounded below.  Many boosting rounds drive margins
    apart; use early stopping.  The gradient is ``p - inverse(T)[y]`` and the second derivative ``p (1 - p)``.

    Parameters
    ----------
    T : array-like of shape (K, K)
        ``T[i, j]`` is the probability of label j for a row of class i.
    """

    T: Sequence[Sequence[float]]

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self._matrix), dtype=np.float64)

    def _targets(self, n_classes: int) -> Floats:
        return self._inverse


@dataclass(frozen=True)
class UnbiasedCrossEntropy(TargetCrossEntropy):
    """Unbiased cross entropy under class-conditional noise, for two classes [2]_.

    The loss is ``{(1 - rate_(-y)) c(y) - rate_y c(-y)} / (1 - rate_pos - rate_neg)``, with ``c(y)`` the cross
    entropy of label y and -y the other label.  It equals `BackwardCorrection` with the matrix of these rates,
    and is also unbounded below.

    Parameters
    ----------
    rate_pos, rate_neg : float
        Noise rates of class 1 and class 0: how likely a label is to be wrong.  In [0, 1), with a sum below 1.
    """

    binary_only = True
    rate_pos: float
    rate_neg: float

    def __post_init__(self) -> None:
        check_number(self, "rate_pos", 0, 1, "[)")
        check_number(self, "rate_neg", 0, 1, "[)")
        if self.rate_pos + self.rate_neg >= 1:
            raise ValueError(
                f"rate_pos and rate_neg of {type(self).__name__} must sum to less than 1, "
                f"got {self.rate_pos!r} and {self.rate_neg!r}"
            )

    def _targets(self, n_classes: int) -> Floats:
        unscaled = np.array([[1.0 - self.rate_pos, -self.rate_neg], [-self.rate_pos, 1.0 - self.rate_neg]])
        targets: Floats = unscaled / (1.0 - self.rate_pos - self.rate_neg)
        return targets
