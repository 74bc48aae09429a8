"""Parameter search by scores on noisy labels, with scikit-learn's search estimators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from .._group_holdout import hold_out_groups

Rows = NDArray[np.intp]


@dataclass
class SearchSplitter:
    """Cross-validation or holdout splitter, stratified if the classes have enough rows.

    Validation rows of a class that has no fitting row become fitting rows.  Models fitted to different classes
    could not be compared, and XGBoost rejects class numbers with gaps.  Rows of a group stay together.

    Parameters
    ----------
    folds : int or None
        Number of folds; reduced if no class has as many rows, or if there are fewer groups.
    holdout : float or None
        Fraction of validation rows, instead of folds.
    seed : int or None
        Random seed.
    """

    folds: int | None
    holdout: float | None
    seed: int | None

    def get_n_splits(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> int:
        """Return the number of splits."""
        if self.folds is None:
            return 1
        rows_per_class = np.unique(y, return_counts=True)[1]
        n_groups = self.folds if groups is None else np.unique(groups).size
        return max(2, min(self.folds, int(rows_per_class.max()), n_groups))

    def split(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield pairs of fitting rows and validation rows."""
        y = np.unique(y, return_inverse=True)[1]
        groups = None if groups is None else np.unique(groups, return_inverse=True)[1]
        for fit, validation in self._splits(y, groups):
            moved = ~np.isin(y[validation], y[fit])
            if groups is not None:
                moved = np.isin(groups[validation], groups[validation[moved]])
            yield np.sort(np.append(fit, validation[moved])), validation[~moved]

    def _splits(self, y: NDArray[np.intp], groups: NDArray[np.intp] | None) -> Iterator[tuple[Rows, Rows]]:
        if groups is None:
            yield from self._make_splitter(y).split(y, y)
        elif self.holdout is None:
            folds = self.get_n_splits(None, y, groups)
            yield from StratifiedGroupKFold(folds, shuffle=True, random_state=self.seed).split(y, y, groups)
        else:
            validation = hold_out_groups(y, groups, self.holdout, stratify=True, seed=self.seed)
            yield np.setdiff1d(np.arange(y.size), validation), validation

    def _make_splitter(self, y: NDArray[np.intp]) -> Any:
        rows_per_class = np.bincount(y)
        if self.holdout is None:
            return StratifiedKFold(self.get_n_splits(None, y), shuffle=True, random_state=self.seed)
        # Stratification needs space for one row of each class in both parts.
        smaller_part = np.floor(y.size * min(self.holdout, 1.0 - self.holdout))
        stratify = rows_per_class.min() >= 2 and smaller_part >= rows_per_class.size
        return (StratifiedShuffleSplit if stratify else ShuffleSplit)(
            1, test_size=self.holdout, random_state=self.seed
        )


def negative_log_loss(model: Any, X: Any, y: ArrayLike) -> float:
    """scikit-learn's negative log loss, for validation rows that may lack a class."""
    return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def make_search(
    estimator: Any,
    candidates: dict[str, list[Any]],
    splitter: SearchSplitter,
    *,
    draws: int | None,
    metric: str,
) -> Any:
    """Create an estimator that searches for the best parameters and is refitted with them.

    Parameters
    ----------
    estimator : classifier
    candidates : dict of list
        Values of each parameter.
    splitter : SearchSplitter
        Its seed is also used to draw candidates.
    draws : int or None
        Number of candidates to draw, at most all; None to try all.
    metric : str
        Name of a scorer.

    Returns
    -------
    GridSearchCV or RandomizedSearchCV
    """
    settings: dict[str, Any] = {
        "scoring": negative_log_loss if metric == "neg_log_loss" else metric,
        "cv": splitter,
        "n_jobs": 1,  # the model uses the threads
        "error_score": "raise",  # scikit-learn would skip candidates that fail
    }
    if draws is None:
        return GridSearchCV(estimator, candidates, **settings)
    return RandomizedSearchCV(estimator, candidates, n_iter=draws, random_state=splitter.seed, **settings)
