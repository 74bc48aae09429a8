"""What comes of a cell: all that was measured, or an error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# The error of a cell that no one has fitted so far, such as in a run that was stopped; it has not failed.
NOT_FITTED = "not fitted yet"

LARGEST = 1e100  # sums and quotients of such numbers are finite

# What can be measured, and the least and the largest value of it.
RANGES = {
    "accuracy": (0.0, 1.0),
    "balanced_accuracy": (0.0, 1.0),
    "macro_f1": (0.0, 1.0),
    "roc_auc": (0.0, 1.0),
    "log_loss": (0.0, LARGEST),
    "leaves": (1.0, LARGEST),
    "depth": (0.0, LARGEST),
    "realised_rate": (0.0, 1.0),
    "fit_seconds": (0.0, LARGEST),
    "predict_seconds": (0.0, LARGEST),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a job: scores, or an error.

    Attributes
    ----------
    accuracy, balanced_accuracy, macro_f1, roc_auc, log_loss, leaves, depth : float or None
        See `measures.measure`; None for what a model does not have.
    realised_rate : float or None
        Share of the training labels that the noise changed.
    fit_seconds, predict_seconds : float or None
        Wall time.
    error : str or None
        One line.
    traceback : str or None
    """

    accuracy: float | None = None
    balanced_accuracy: float | None = None
    macro_f1: float | None = None
    roc_auc: float | None = None
    log_loss: float | None = None
    leaves: float | None = None
    depth: float | None = None
    realised_rate: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    error: str | None = None
    traceback: str | None = None

    @property
    def is_score(self) -> bool:
        """Whether these are scores, and such that can be."""
        return (
            self.error is None
            and self.accuracy is not None
            and all(_can_be(getattr(self, name), *limits) for name, limits in RANGES.items())
        )

    @property
    def is_error(self) -> bool:
        """Whether this is an error and nothing else."""
        return (
            isinstance(self.error, str)
            and isinstance(self.traceback, str | None)
            and all(getattr(self, name) is None for name in RANGES)
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

    def told(self, cells: str = "cells") -> str:
        """Both numbers as the beginning of a sentence; cells that are not fitted yet have not failed."""
        failed = [f"{self.n_failed} of {self.n_cells} {cells} failed"] if self.n_failed else []
        of = "" if failed else f" of {self.n_cells} {cells}"
        are = "is" if self.n_not_fitted == 1 else "are"
        return " and ".join(failed + [f"{self.n_not_fitted}{of} {are} {NOT_FITTED}"] * (self.n_not_fitted > 0))


def lacking(scores: pd.DataFrame) -> Lacking:
    """Count the cells without scores."""
    if "error" not in scores:
        return Lacking(len(scores), 0, 0)
    n, not_fitted = int(scores["error"].notna().sum()), int(scores["error"].eq(NOT_FITTED).sum())
    return Lacking(len(scores), n - not_fitted, not_fitted)
