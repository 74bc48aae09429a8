"""Outcome of a cell: its scores, or an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._wording import is_or_are
from .correct_rows import unpack_rows
from .registry import MAX_VALUE, RANGES

if TYPE_CHECKING:
    import pandas as pd

# Error of a cell that is yet to be fitted, for example because its run was stopped.  Such a cell has not
# failed.
NOT_FITTED = "not fitted yet"
ANY = (-MAX_VALUE, MAX_VALUE)  # of users' metrics, whose ranges a store does not know


@dataclass(frozen=True)
class Outcome:
    """Scores of a cell, or an error.

    Attributes
    ----------
    scores : mapping of str to float or None
        Values of the columns of `registry.RANGES`: the measures, and the share of training labels that the
        noise changed; and values of users' metrics.  Absent columns have no value.
    error : str or None
        One line.
    traceback : str or None
    correct_rows : str or None
        The test rows that were predicted correctly, see `pack_rows`, if all repeats have the same ones: the
        spread over repeats then says nothing about other rows.
    """

    scores: Mapping[str, float | None] = field(default_factory=dict)
    error: str | None = None
    traceback: str | None = None
    correct_rows: str | None = None

    @property
    def is_score(self) -> bool:
        """Whether the outcome holds valid scores and no error."""
        return (
            self.error is None
            and self.scores.get("accuracy") is not None
            and all(_is_valid(value, *RANGES.get(name, ANY)) for name, value in self.scores.items())
            and (self.correct_rows is None or self._has_valid_rows())
        )

    @property
    def is_error(self) -> bool:
        """Whether the outcome holds an error and no scores."""
        return (
            isinstance(self.error, str)
            and isinstance(self.traceback, str | None)
            and all(value is None for value in self.scores.values())
            and self.correct_rows is None
        )

    def _has_valid_rows(self) -> bool:
        """Whether the correct rows can be read and have the accuracy of the scores."""
        try:
            correct = unpack_rows(str(self.correct_rows))
        except ValueError:
            return False
        accuracy = float(self.scores["accuracy"] or 0)
        return correct.size > 0 and math.isclose(correct.mean(), accuracy, abs_tol=1e-9)


def _is_valid(value: object, minimum: float, maximum: float) -> bool:
    return value is None or (isinstance(value, float) and math.isfinite(value) and minimum <= value <= maximum)


@dataclass(frozen=True)
class MissingCells:
    """Number of cells without scores.

    Attributes
    ----------
    n_cells, n_failed, n_not_fitted : int
        All cells, failed cells, and cells that are not fitted yet.
    """

    n_cells: int
    n_failed: int
    n_not_fitted: int

    def __bool__(self) -> bool:
        return self.n_failed + self.n_not_fitted > 0

    def describe(self, cells: str = "cells") -> str:
        """Both counts as the beginning of a sentence: 2 of 8 cells failed and 1 is not fitted yet."""
        failed = [f"{self.n_failed} of {self.n_cells} {cells} failed"] if self.n_failed else []
        total = "" if failed else f" of {self.n_cells} {cells}"
        not_fitted = f"{self.n_not_fitted}{total} {is_or_are(self.n_not_fitted)} {NOT_FITTED}"
        return " and ".join([*failed, not_fitted] if self.n_not_fitted > 0 else failed)


def missing_cells(scores: pd.DataFrame) -> MissingCells:
    """Count the cells without scores."""
    if "error" not in scores:
        return MissingCells(len(scores), 0, 0)
    n, not_fitted = int(scores["error"].notna().sum()), int(scores["error"].eq(NOT_FITTED).sum())
    return MissingCells(len(scores), n - not_fitted, not_fitted)


def cells_by_error(scores: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Group the cells without scores by model, data set and error."""
    if "error" in scores:
        missing = scores[scores["error"].notna()]
        for (model, dataset, error), cells in missing.groupby(["model", "dataset", "error"], sort=False):
            yield str(model), str(dataset), str(error), cells
