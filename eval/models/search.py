"""Search for the best parameters of a model by noisy labels, as an estimator of scikit-learn's."""

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
    StratifiedKFold,
    StratifiedShuffleSplit,
)

Rows = NDArray[np.intp]


@dataclass
class Splits:
    """Rows to fit and rows to judge, with the classes in the same shares as far as there are enough rows.

    A class with so few rows that none would be left to fit is not judged by: models that learn the other
    classes alone could not be compared, and XGBoost refuses class numbers with gaps.

    Parameters
    ----------
    folds : int or None
        Fewer are made where all classes have fewer rows.
    holdout : float or None
        In place of folds, the share of the rows that judges.
    seed : int
    """

    folds: int | None
    holdout: float | None
    seed: int

    def get_n_splits(self, X: Any, y: ArrayLike, groups: None = None) -> int:
        """How many there are."""
        if self.folds is None:
            return 1
        rows = np.unique(y, return_counts=True)[1]
        return max(2, min(self.folds, int(rows.max())))

    def split(self, X: Any, y: ArrayLike, groups: None = None) -> Iterator[tuple[Rows, Rows]]:
        """Pairs of rows to fit and rows to judge."""
        codes = np.unique(y, return_inverse=True)[1]
        for fit, judge in self._splitter(codes).split(codes, codes):
            lost = ~np.isin(codes[judge], codes[fit])
            yield np.sort(np.append(fit, judge[lost])), judge[~lost]

    def _splitter(self, codes: NDArray[np.intp]) -> Any:
        rows = np.bincount(codes)
        if self.holdout is None:
            return StratifiedKFold(self.get_n_splits(None, codes), shuffle=True, random_state=self.seed)
        # Each part must be able to hold a row of each class.
        smaller_part = np.floor(codes.size * min(self.holdout, 1.0 - self.holdout))
        stratify = rows.min() >= 2 and smaller_part >= rows.size
        return (StratifiedShuffleSplit if stratify else ShuffleSplit)(
            1, test_size=self.holdout, random_state=self.seed
        )


def negative_log_loss(model: Any, X: Any, y: ArrayLike) -> float:
    """As scikit-learn's, also where the rows that judge lack a class."""
    return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def searching(
    estimator: Any,
    candidates: dict[str, list[Any]],
    splits: Splits,
    *,
    draws: int | None,
    metric: str,
) -> Any:
    """Estimator that finds the best of all candidates, or of some that are drawn, and is then fitted with it.

    Parameters
    ----------
    estimator : classifier
    candidates : dict of list
    splits : Splits
        Its seed is that of the draws too.
    draws : int or None
        No more than there are candidates.
    metric : str

    Returns
    -------
    GridSearchCV or RandomizedSearchCV
    """
    settings: dict[str, Any] = {
        "scoring": negative_log_loss if metric == "neg_log_loss" else metric,
        "cv": splits,
        "n_jobs": 1,  # the model itself has the threads
        "error_score": "raise",  # a search over what happens to work would be another one
    }
    if draws is None:
        return GridSearchCV(estimator, candidates, **settings)
    return RandomizedSearchCV(estimator, candidates, n_iter=draws, random_state=splits.seed, **settings)
