"""Probabilities with their complements and logarithms, each accurate to the last digits.

Computed from a rounded p, ``1 - p`` and ``ln p`` lose digits where p is near 1, so each is computed separately.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The largest log-odds with finite odds.
LARGEST_LOGIT = {np.dtype(kind): np.floor(np.log(np.finfo(kind).max)) for kind in (np.float32, np.float64)}


class Probabilities(ABC):
    """Probabilities p of the given labels or of all classes; each property is computed once, on first use."""

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
    def _cache(self) -> dict[Callable[[Probabilities], Floats], Floats]:
        return {}

    def cached(self, function: Callable[[Probabilities], Floats]) -> Floats:
        """Result of a function of the probabilities, cached; the caller must not modify it."""
        if function not in self._cache:
            self._cache[function] = function(self)
        return self._cache[function]


class LabelProbabilities(Probabilities):
    """Probabilities of the given labels among several classes, from ``ln p`` and ``1 - p``.

    They have no reference to the `Softmax` that refers to them: arrays in a reference cycle are not freed at
    once, and allocating new memory instead of reusing it takes longer than the computation.
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
    complement_logit : float array
        Log-odds u of the complement ``1 - p``.  All results have their precision.

    Attributes
    ----------
    odds : float array
        ``exp(u)``, finite.
    """

    def __init__(self, complement_logit: Floats) -> None:
        # Clipping only affects probabilities below the smallest normal number, whose odds would overflow.
        # `clip` is several times faster than `minimum`.
        self._logit = complement_logit
        self._clipped = np.clip(complement_logit, -np.inf, LARGEST_LOGIT[complement_logit.dtype])
        self.odds: Floats = np.exp(self._clipped)

    @cached_property
    def p(self) -> Floats:
        p: Floats = 1.0 / (1.0 + self.odds)
        return p

    @cached_property
    def complement(self) -> Floats:
        complement: Floats = self.odds * self.p
        return complement

    @cached_property
    def log_p(self) -> Floats:
        log_p: Floats = (self._clipped - self._logit) - np.log1p(self.odds)
        return log_p
