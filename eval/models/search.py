"""Parameter search by scores on noisy labels, with scikit-learn's search estimators, or by pruning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from robust_splits.label_noise.folds import (
    Folds,
    Rows,
    hold_out,
    keep_classes_in_training,
    limit_folds,
    shuffled_folds,
)

from .node_size_search import NODE_SIZE, NodeSizeSearch, can_prune


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
        return max(2, limit_folds(self.folds, *_numbered(y, groups)))

    def split(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield pairs of fitting rows and validation rows."""
        codes, numbers = _numbered(y, groups)
        for fit, validation in self._splits(codes, numbers):
            fit, validation = keep_classes_in_training(codes, fit, validation, numbers)
            yield np.sort(fit), validation

    def _splits(self, codes: NDArray[np.int64], groups: NDArray[np.int64] | None) -> Folds:
        if self.holdout is None:
            return shuffled_folds(codes, self.get_n_splits(None, codes, groups), groups, seed=self.seed)
        # Stratification needs space for one row of each class in both parts.
        rows_per_class = np.bincount(codes)
        smaller_part = np.floor(codes.size * min(self.holdout, 1.0 - self.holdout))
        stratify = groups is not None or (rows_per_class.min() >= 2 and smaller_part >= rows_per_class.size)
        return [hold_out(codes, self.holdout, groups, stratify=bool(stratify), seed=self.seed)]


def _numbered(y: ArrayLike, groups: ArrayLike | None) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Class numbers, and numbers of groups."""
    codes = np.unique(y, return_inverse=True)[1]
    return codes, None if groups is None else np.unique(groups, return_inverse=True)[1]


def negative_log_loss(model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """scikit-learn's negative log loss, for validation rows that may lack a class."""
    return -float(log_loss(y, model.predict_proba(X), labels=model.classes_, sample_weight=sample_weight))


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
    GridSearchCV, RandomizedSearchCV or NodeSizeSearch
    """
    scoring = negative_log_loss if metric == "neg_log_loss" else metric
    if draws is None and can_prune(estimator, candidates):
        return NodeSizeSearch(estimator, candidates[NODE_SIZE], scoring, splitter)
    settings: dict[str, Any] = {
        "scoring": scoring,
        "cv": splitter,
        "n_jobs": 1,  # the model uses the threads
        "error_score": "raise",  # scikit-learn would skip candidates that fail
    }
    if draws is None:
        return GridSearchCV(estimator, candidates, **settings)
    return RandomizedSearchCV(estimator, candidates, n_iter=draws, random_state=splitter.seed, **settings)
