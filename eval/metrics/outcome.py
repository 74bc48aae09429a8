"""What comes of a cell: all that was measured, or an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._wording import is_or_are
from .registry import RANGES

if TYPE_CHECKING:
    import pandas as pd

# The error of a cell that no one has fitted so far, such as in a run that was stopped; it has not failed.
NOT_FITTED = "not fitted yet"


@dataclass(frozen=True)
class Outcome:
    """Scores of a cell, or an error.

    Attributes
    ----------
    scores : mapping of str to float or None
        Values of the columns of `registry.RANGES`: the measures, and the share of the training labels that the
        noise changed.  What is missing has no value.
    error : str or None
        One line.
    traceback : str or None
    """

    scores: Mapping[str, float | None] = field(default_factory=dict)
    error: str | None = None
    traceback: str | None = None

    @property
    def is_score(self) -> bool:
        """Whether it holds possible scores and no error."""
        return (
            self.error is None
            and self.scores.get("accuracy") is not None
            and all(_can_be(value, *RANGES[name]) for name, value in self.scores.items())
        )

    @property
    def is_error(self) -> bool:
        """Whether it holds an error and nothing else."""
        return (
            isinstance(self.error, str)
            and isinstance(self.traceback, str | None)
            and all(value is None for value in self.scores.values())
        )


def _can_be(value: object, least: float, largest: float) -> bool:
    return value is None or (isinstance(value, float) and math.isfinite(value) and least <= value <= largest)


@dataclass(frozen=True)
class Lacking:
    """How many cells of some scores have none.

    Attributes
    ----------
    n_cells, n_failed, n_not_fitted : int
    """

    n_cells: int
    n_failed: int
    n_not_fitted: int

    def __bool__(self) -> bool:
        return self.n_failed + self.n_not_fitted > 0

    def describe(self, cells: str = "cells") -> str:
        """Both numbers as the beginning of a sentence; cells that are not fitted yet have not failed."""
        failed = [f"{self.n_failed} of {self.n_cells} {cells} failed"] if self.n_failed else []
        of = "" if failed else f" of {self.n_cells} {cells}"
        return " and ".join(
            failed
            + [f"{self.n_not_fitted}{of} {is_or_are(self.n_not_fitted)} {NOT_FITTED}"] * (self.n_not_fitted > 0)
        )


def lacking(scores: pd.DataFrame) -> Lacking:
    """Count the cells without scores."""
    if "error" not in scores:
        return Lacking(len(scores), 0, 0)
    n, not_fitted = int(scores["error"].notna().sum()), int(scores["error"].eq(NOT_FITTED).sum())
    return Lacking(len(scores), n - not_fitted, not_fitted)


def cells_by_error(scores: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Cells without scores, grouped: model, data set, error and the cells that share them."""
    if "error" in scores:
        without = scores[scores["error"].notna()]
        for (model, dataset, error), cells in without.groupby(["model", "dataset", "error"], sort=False):
            yield str(model), str(dataset), str(error), cells
