"""Boosters that stop early on a part of the noisy training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .input_form import class_names
from .search import SearchSplitter

BOOSTERS = ("XGBClassifier", "LGBMClassifier", "CatBoostClassifier", "HistGradientBoostingClassifier")


def stops_early(estimator: Any) -> bool:
    """Whether `EarlyStoppingClassifier` can stop an estimator."""
    return _library(estimator) is not None


def _library(estimator: Any) -> str | None:
    return next((name for name in class_names(estimator) if name in BOOSTERS), None)


class EarlyStoppingClassifier(ClassifierMixin, BaseEstimator):
    """Booster that stops when its loss on held-out training rows no longer falls.

    Parameters
    ----------
    estimator : classifier
        A classifier of XGBoost, LightGBM or CatBoost, or scikit-learn's histogram gradient boosting.
    holdout : float, default=0.2
        Share of the training rows that is held out.  They are drawn at random, stratified by label where each
        label has enough rows, and with `groups` whole groups are drawn.
    rounds : int, default=20
        Training stops after so many rounds without a lower loss, and the best round is used.
    random_state : int or None, default=None
        Random seed of the held-out rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    estimator_ : classifier
        The fitted classifier.
    """

    def __init__(
        self, estimator: Any, *, holdout: float = 0.2, rounds: int = 20, random_state: int | None = None
    ) -> None:
        self.estimator = estimator
        self.holdout = holdout
        self.rounds = rounds
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to the rows that are not held out.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of rows, also in the loss on the rows held out.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of rows that stay together.

        Returns
        -------
        EarlyStoppingClassifier

        Raises
        ------
        TypeError
            If the estimator is not one of these boosters, or if there are groups, and scikit-learn's histogram
            boosting is older than 1.7.
        """
        library = _library(self.estimator)
        if library is None:
            raise TypeError(f"estimator must be one of {', '.join(BOOSTERS)}, got {self.estimator!r}")
        X = X if hasattr(X, "shape") else np.asarray(X)
        labels = np.asarray(y)
        self.classes_ = np.unique(labels)
        estimator = clone(self.estimator)
        if library == "HistGradientBoostingClassifier":
            estimator.set_params(
                early_stopping=True, validation_fraction=self.holdout, n_iter_no_change=self.rounds
            )
            if groups is None:  # it holds out rows itself
                self.estimator_ = estimator.fit(X, labels, sample_weight=sample_weight)
                return self
        # Held-out rows of a label without other rows are trained on, as a booster cannot score unknown labels.
        splitter = SearchSplitter(None, self.holdout, self.random_state)
        train, held_out = next(splitter.split(X, labels, groups))
        X_stop, y_stop = _safe_indexing(X, held_out), labels[held_out]
        weight = None if sample_weight is None else np.asarray(sample_weight)
        arguments: dict[str, Any] = {} if weight is None else {"sample_weight": weight[train]}
        stop_weight = None if weight is None else weight[held_out]
        if groups is not None and has_fit_parameter(estimator, "groups"):
            arguments["groups"] = np.asarray(groups)[train]
        match library:
            case "XGBClassifier":
                estimator.set_params(early_stopping_rounds=self.rounds)
                arguments |= {"eval_set": [(X_stop, y_stop)], "verbose": False}
                if stop_weight is not None:
                    arguments["sample_weight_eval_set"] = [stop_weight]
            case "LGBMClassifier":
                import lightgbm

                arguments["eval_set"] = [(X_stop, y_stop)]
                arguments["callbacks"] = [lightgbm.early_stopping(self.rounds, verbose=False)]
                if stop_weight is not None:
                    arguments["eval_sample_weight"] = [stop_weight]
            case "CatBoostClassifier":
                arguments["eval_set"] = (X_stop, y_stop, stop_weight)
                arguments["early_stopping_rounds"] = self.rounds
            case _:
                arguments |= {"X_val": X_stop, "y_val": y_stop, "sample_weight_val": stop_weight}
        self.estimator_ = estimator.fit(_safe_indexing(X, train), labels[train], **arguments)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities, in the order of `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))
