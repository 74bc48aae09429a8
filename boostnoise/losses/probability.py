"""Probabilities as losses need them: with complement and logarithm, each to its last digits.

``1 - p`` and ``ln p`` of a rounded p lose their digits where p is near 1, so each is computed on its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Probabilities(ABC):
    """Probabilities p, of the given labels or of all classes; what is asked for is computed once."""

    @property
    @abstractmethod
    def p(self) -> Floats:
        """The probabilities."""

    @property
    @abstractmethod
    def complement(self) -> Floats:
        """``1 - p``."""

    @property
    @abstractmethod
    def log_p(self) -> Floats:
        """``ln p``."""

    @cached_property
    def _known(self) -> dict[Callable[[Probabilities], Floats], Floats]:
        return {}

    def once(self, function: Callable[[Probabilities], Floats]) -> Floats:
        """What a function makes of them, kept for the next call with the same function; not to be changed."""
        if function not in self._known:
            self._known[function] = function(self)
        return self._known[function]


class LabelProbabilities(Probabilities):
    """Those of the given labels among several classes, from ``ln p`` and ``1 - p``.

    They keep no reference to the `Softmax` that keeps them: arrays in a cycle are not freed at once, and memory
    that is not used again costs more time than what is computed.
    """

    def __init__(self, log_p: Floats, complement: Floats) -> None:
        self._log_p, self._complement = log_p, complement

    @cached_property
    def p(self) -> Floats:
        return np.exp(self._log_p)

    @property
    def complement(self) -> Floats:
        return self._complement

    @property
    def log_p(self) -> Floats:
        return self._log_p


class Logistic(Probabilities):
    """``p = 1 / (1 + exp(u))``, with one exponential for p and its complement.

    Parameters
    ----------
    against : float array
        The log-odds u of the complement; all is computed in their precision.
    """

    def __init__(self, against: Floats) -> None:
        # Odds that would overflow are those of probabilities below the smallest normal number.  `clip` takes a
        # fraction of the time of `minimum`.
        self._against = against
        self._near = np.clip(against, -np.inf, np.floor(np.log(np.finfo(against.dtype).max)))
        self._odds = np.exp(self._near)

    @cached_property
    def p(self) -> Floats:
        p: Floats = 1.0 / (1.0 + self._odds)
        return p

    @cached_property
    def complement(self) -> Floats:
        complement: Floats = self._odds * self.p
        return complement

    @cached_property
    def log_p(self) -> Floats:
        log_p: Floats = (self._near - self._against) - np.log1p(self._odds)
        return log_p
