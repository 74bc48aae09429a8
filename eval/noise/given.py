"""Noisy labels that are given, such as those of real annotators."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import Codes, Labelled, Noise, encode


@dataclass(frozen=True, eq=False)
class GivenNoise(Noise):
    """Noisy labels that are known; nothing is drawn.

    The rate that is asked for is the one that is there: the share of these labels that are wrong.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The noisy labels of the rows of a data set, in their order.

    Examples
    --------
    >>> from boostnoise.eval import GivenNoise
    >>> GivenNoise(["a", "b", "b"]).corrupt(["a", "a", "b"]).flipped.tolist()
    [False, True, False]
    """

    kind = "given"
    labels: ArrayLike

    @cached_property
    def identity(self) -> list[Any]:
        """Its kind, and a hash of the labels."""
        labels = np.asarray(self.labels)
        return [self.kind, hashlib.sha256(repr((labels.dtype.kind, labels.tolist())).encode()).hexdigest()]

    def _read(self, y: ArrayLike, X: Any, classes: Any) -> Labelled:
        # Annotators may have given a label that is nowhere right.
        return super()._read(y, X, np.union1d(y, self.labels) if classes is None else classes)

    def _draw(
        self, labelled: Labelled, train: Codes, test: Codes, random_state: Any
    ) -> tuple[Codes, Codes, float]:
        labels = np.asarray(self.labels)
        if labels.size != labelled.codes.size:
            raise ValueError(f"there are {labels.size} noisy labels for {labelled.codes.size} rows")
        noisy = encode(labels, labelled.classes)
        changed = noisy[train] != labelled.codes[train]
        return noisy[train], noisy[test], float(changed.mean())
