"""Given noisy labels, for example from annotators."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import Integers, LabelledRows, Noise, to_class_numbers


@dataclass(frozen=True, eq=False)
class GivenNoise(Noise):
    """Given noisy labels, without random draws.

    The requested noise rate is the fraction of these labels that are wrong.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Noisy labels of all rows of a data set, in the same order.
    name : str, default=""
        Name of the labels, for tables.

    Examples
    --------
    >>> from boostnoise.eval import GivenNoise
    >>> GivenNoise(["a", "b", "b"]).corrupt(["a", "a", "b"]).flipped.tolist()
    [False, True, False]
    """

    kind = "given"
    labels: ArrayLike
    name: str = ""

    @cached_property
    def identity(self) -> list[Any]:
        """Kind of noise and hash of the labels."""
        labels = np.asarray(self.labels)
        return [self.kind, hashlib.sha256(repr((labels.dtype.kind, labels.tolist())).encode()).hexdigest()]

    def _read_rows(self, y: ArrayLike, X: Any, classes: Any) -> LabelledRows:
        # Annotators may use a label that is not among the true labels.
        return super()._read_rows(y, X, np.union1d(y, self.labels) if classes is None else classes)

    def _draw(
        self, rows: LabelledRows, train: Integers, test: Integers, random_state: Any
    ) -> tuple[Integers, Integers, float]:
        labels = np.asarray(self.labels)
        if labels.size != rows.y.size:
            raise ValueError(f"labels must contain one label per row, got {labels.size} for {rows.y.size} rows")
        noisy = to_class_numbers(labels, rows.classes)
        flipped = noisy[train] != rows.y[train]
        return noisy[train], noisy[test], float(flipped.mean())
