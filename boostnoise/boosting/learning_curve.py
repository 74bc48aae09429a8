"""Learning curves of boosters by total learning rate: schedules of parameters, and losses on unseen rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..losses.softmax import Floats

MIN_TOTAL, MAX_TOTAL = 2.0, 40.0  # of the learning rates of all rounds
MAX_GROWING_RATE = 0.3


@dataclass(frozen=True)
class Schedule:
    """Parameters that change while a booster is trained, each time after a block of rounds.

    Attributes
    ----------
    rotation : dict of str to tuple
        Parameters with alternating values.
    block : int
        Rounds in a block.
    rates : tuple of float
        Learning rate of each block; empty if it is constant.
    """

    rotation: dict[str, tuple[Any, ...]]
    block: int
    rates: tuple[float, ...] = ()

    def changes(self, done: int) -> dict[str, Any]:
        """Parameters to set when so many rounds are done; empty if none changes.

        Training starts with the values of the first block.  Unchanged parameters are left out, because it takes
        a library about as long to set parameters as to train a round on small data.
        """
        block, within = divmod(done, self.block)
        if block == 0 or within:
            return {}
        before = self._values(block - 1)
        return {name: value for name, value in self._values(block).items() if value != before[name]}

    def _values(self, block: int) -> dict[str, Any]:
        values = {name: values[block % len(values)] for name, values in self.rotation.items()}
        return values | ({"learning_rate": self.rates[block]} if self.rates else {})


@dataclass
class LearningCurve:
    """Loss on unseen rows after each round, recorded until its minimum has certainly been passed.

    Attributes
    ----------
    totals : array of shape (rounds,)
        Total learning rate after each round.
    min_total : float
        Smallest total that is compared.
    losses : list of float
    """

    totals: Floats
    min_total: float = MIN_TOTAL
    losses: list[float] = field(default_factory=list)
    _best: int = 0

    def record(self, loss: float) -> bool:
        """Add the loss after one more round, and return whether to stop."""
        self.losses.append(loss)
        if loss < self.losses[self._best]:
            self._best = len(self.losses) - 1
        return bool(self.totals[len(self.losses) - 1] > 2 * max(self.totals[self._best], self.min_total))


def growing_rates(steps: float, block: int) -> tuple[tuple[float, ...], Floats]:
    """Learning rates that grow in proportion to their total so far, up to `MAX_GROWING_RATE`.

    Parameters
    ----------
    steps : float
        The learning rate is the total so far, divided by this number.
    block : int
        Rounds with the same learning rate.

    Returns
    -------
    rates : tuple of float
        Learning rate of each block, at most `MAX_GROWING_RATE`.
    totals : ndarray of shape (rounds,)
        Total after each round; the last is at least `MAX_TOTAL`.
    """
    rates: list[float] = []
    total = 0.0
    while total < MAX_TOTAL:
        rates.append(min(max(total, MIN_TOTAL) / steps, MAX_GROWING_RATE))
        total += block * rates[-1]
    return tuple(rates), np.cumsum(np.repeat(rates, block))


def pool_curves(curves: list[list[float]]) -> Floats:
    """Losses of shape (folds, rounds), after the rounds that all curves have.

    To extend a curve that ended earlier would favour long boosters: it ended because its loss had risen.
    """
    rounds = min(map(len, curves))
    return np.array([curve[:rounds] for curve in curves])


def alternating(params: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Parameters with alternating values, which are given as a tuple."""
    return {name: value for name, value in params.items() if isinstance(value, tuple)}


def first_values(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with the first of alternating values."""
    return {name: value[0] if isinstance(value, tuple) else value for name, value in params.items()}
