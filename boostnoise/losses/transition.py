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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robust_splits.label_noise.transition_matrix import (
    check_matrix_size,
    check_transition_matrix,
    normalise_rows,
)

from .base import Loss, SoftmaxLoss
from .softmax import Classes, Floats, Margin, Softmax
from .vector import TargetCrossEntropy


def to_tuples(T: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """Check a transition matrix and return it as tuples, which can be compared, hashed and pickled."""
    return tuple(map(tuple, check_transition_matrix(T).tolist()))


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
