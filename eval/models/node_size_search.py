"""Search for the node size of trees and forests that are grown once and pruned to each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.criteria import ADAPTIVE

NODE_SIZE = "min_samples_split"
PRUNABLE = RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier


def can_prune(estimator: Any, candidates: Mapping[str, Sequence[Any]]) -> bool:
    """Whether pruning a fitted estimator gives those of all candidates.

    This needs trees or forests of this project, numbers of rows as the only candidates, and no other choice
    that depends on the node size: lam of ``"ane"``, a limited number of leaves, a second pass or a shrinkage.
    """
    if list(candidates) != [NODE_SIZE] or not isinstance(estimator, PRUNABLE):
        return False
    if not all(isinstance(n, int | np.integer) and n >= 2 for n in candidates[NODE_SIZE]):
        return False
    params = estimator.get_params(deep=False)
    one_pass = params.get("passes", 1) == 1 or not params["bootstrap"]
    return (
        one_pass
        and params["criterion"] != ADAPTIVE
        and params["max_leaf_nodes"] is None
        and params["shrinkage"] != "auto"
    )


class NodeSizeSearch(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Search for `min_samples_split` that grows the trees only once in each split of the rows.

    The results are those of `sklearn.model_selection.GridSearchCV`, since pruning gives the trees of each
    candidate; see `RobustForestClassifier.pruned`.

    Parameters
    ----------
    estimator : RobustDecisionTreeClassifier, RobustForestClassifier or RobustExtraTreesClassifier
    node_sizes : list of int
        Candidates for `min_samples_split`.
    scoring : str or callable
        As in scikit-learn's searches.
    cv : cross-validation splitter

    Attributes
    ----------
    best_params_ : dict
        The candidate with the highest mean score; the first of several.
    best_estimator_ : classifier
        Fitted to all rows with these parameters.
    mean_scores_ : float array of shape (n_candidates,)
        Mean scores over the splits.
    classes_ : ndarray of shape (n_classes,)
    """

    def __init__(self, estimator: Any, node_sizes: list[int], scoring: Any, cv: Any) -> None:
        self.estimator = estimator
        self.node_sizes = node_sizes
        self.scoring = scoring
        self.cv = cv

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose the node size, and fit the estimator to all rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        groups : array-like of shape (n_samples,) or None
            Groups of rows that `cv` keeps together.
        """
        y = np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        smallest = clone(self.estimator).set_params(**{NODE_SIZE: min(self.node_sizes)})
        score = check_scoring(smallest, scoring=self.scoring)
        scores: list[list[float]] = []
        for fit, validation in self.cv.split(X, y, groups):
            of_fit, of_validation = (
                {} if weights is None else {"sample_weight": weights[rows]} for rows in (fit, validation)
            )
            grown = clone(smallest).fit(X[fit], y[fit], **of_fit)
            scored = X[validation], y[validation]
            scores.append([score(grown.pruned(n), *scored, **of_validation) for n in self.node_sizes])
        self.mean_scores_: NDArray[np.float64] = np.mean(scores, axis=0)
        self.best_params_ = {NODE_SIZE: self.node_sizes[int(self.mean_scores_.argmax())]}
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y, weights)
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes with the best estimator."""
        labels: NDArray[Any] = self.best_estimator_.predict(X)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities with the best estimator."""
        p: NDArray[np.float64] = self.best_estimator_.predict_proba(X)
        return p
