"""Classifier that is fitted without the rows that cleanlab finds mislabelled."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from boostnoise.label_noise.cross_fitting import predict_out_of_fold, predicted_rows
from robust_splits.label_noise.folds import integer_seed, make_folds

from .given_labels import predicting_given_labels


class CleanlabClassifier(ClassifierMixin, BaseEstimator):
    """Classifier fitted without the training rows that cleanlab finds mislabelled.

    As in cleanlab's ``CleanLearning``, which it calls, confident learning is applied to out-of-fold
    probabilities, and the classifier is fitted to the remaining rows.  If its ``fit`` accepts a
    ``sample_weight``, the weights compensate for the rows that each class lost.  Unlike ``CleanLearning``, it
    can be fitted repeatedly, preserves NumPy's global random state, starts no processes, and accepts any labels
    and classifiers without ``predict_proba``.  Those are calibrated for out-of-fold probabilities only.

    It requires cleanlab, which the extra ``cleanlab`` installs.

    Parameters
    ----------
    estimator : classifier
        Classifier, fitted ``folds + 1`` times.
    folds : int, default=5
        Number of cross-validation folds; reduced if no class has as many rows.
    filter_by : str, default="prune_by_noise_rate"
        See ``cleanlab.filter.find_label_issues``.
    random_state : int or None, default=None
        Random seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels of the remaining rows.
    estimator_ : classifier
        The fitted classifier.
    is_issue_ : ndarray of shape (n_samples,)
        Whether each training row was removed.

    References
    ----------
    Northcutt, Jiang & Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR 70, 2021.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        folds: int = 5,
        filter_by: str = "prune_by_noise_rate",
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.filter_by = filter_by
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: Any = None) -> Self:
        """Remove mislabelled rows and fit the classifier to the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of rows, which the estimator must accept.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of rows that folds keep together.

        Returns
        -------
        CleanlabClassifier
        """
        X = X if hasattr(X, "shape") else np.asarray(X)
        classes, y = np.unique(y, return_inverse=True)
        arguments = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        self.is_issue_, correct_rate = self._find_label_issues(X, y, arguments, groups)
        remaining = ~self.is_issue_
        present, remaining_y = np.unique(y[remaining], return_inverse=True)
        self.classes_ = classes[present]
        if sample_weight is not None or has_fit_parameter(self.estimator, "sample_weight"):
            weight = 1.0 / np.maximum(correct_rate, 1e-3)[y]
            arguments["sample_weight"] = (weight * arguments.get("sample_weight", 1.0))[remaining]
        if groups is not None and has_fit_parameter(self.estimator, "groups"):
            arguments["groups"] = np.asarray(groups)[remaining]
        self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, remaining), remaining_y, **arguments)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.classes_[np.asarray(self.estimator_.predict(X)).astype(np.intp)]
        return labels

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities, in the order of `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def _find_label_issues(
        self, X: Any, y: NDArray[np.intp], arguments: dict[str, Any], groups: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Find wrong labels; also return the estimated rate of correct labels in each class."""
        from cleanlab.classification import CleanLearning

        probabilistic = predicting_given_labels(self.estimator)
        if not hasattr(probabilistic, "predict_proba"):
            probabilistic = CalibratedClassifierCV(probabilistic, ensemble=False, cv=3)
        state = np.random.get_state()
        try:
            finder = CleanLearning(
                probabilistic,
                seed=self.random_state,
                cv_n_folds=max(2, min(self.folds, np.bincount(y).max())),
                find_label_issues_kwargs={"filter_by": self.filter_by, "n_jobs": 1},
            )
            if arguments or groups is not None:  # which its own folds do not use
                p = self._predict_out_of_fold(probabilistic, X, y, arguments, groups)
                issues = finder.find_label_issues(labels=y, pred_probs=p)
            else:
                issues = finder.find_label_issues(X, y)
        finally:
            np.random.set_state(state)
        return issues["is_label_issue"].to_numpy(), np.diagonal(finder.noise_matrix)

    def _predict_out_of_fold(
        self, estimator: Any, X: Any, y: NDArray[np.intp], arguments: dict[str, Any], groups: Any
    ) -> NDArray[np.float64]:
        folds = make_folds(y, self.folds, groups, integer_seed(self.random_state))
        p: NDArray[np.float64] = np.eye(y.max() + 1)[y]  # rows in no fold, of a class of one group, are trusted
        p[predicted_rows(folds)] = predict_out_of_fold(estimator, folds, X, y, arguments)
        return p
