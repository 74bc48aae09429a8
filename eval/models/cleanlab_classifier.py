"""cleanlab's filter of wrong labels before any classifier."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


class CleanlabClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is fitted without the rows whose labels cleanlab finds wrong.

    It does what cleanlab's ``CleanLearning`` does, by means of it: out-of-fold probabilities by
    cross-validation, confident learning with them, and a last fit to the rows that are left, weighted for what
    the classes lost where the classifier's ``fit`` takes a ``sample_weight``.  It adds what an evaluation
    needs: it can be fitted again, leaves NumPy's global random state as it was, starts no processes, takes any
    labels, and classifiers without ``predict_proba``, whose probabilities are then calibrated ones (the last
    fit is to the classifier itself).

    The package cleanlab is needed; the extra ``cleanlab`` installs it.

    Parameters
    ----------
    estimator : classifier
        Fitted ``folds + 1`` times.
    folds : int, default=5
        Of the cross-validation; fewer where all classes have fewer rows.
    filter_by : str, default="prune_by_noise_rate"
        See ``cleanlab.filter.find_label_issues``.
    random_state : int or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels of the rows that were kept.
    estimator_ : classifier
        The fitted one.
    is_issue_ : ndarray of shape (n_samples,)
        Which training rows were left out.

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

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Filter the rows and fit the classifier to what is left.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        CleanlabClassifier
        """
        X, (classes, codes) = np.asarray(X), np.unique(y, return_inverse=True)
        self.is_issue_, own_rate = self._find(X, codes)
        kept = ~self.is_issue_
        present, kept_codes = np.unique(codes[kept], return_inverse=True)
        self.classes_ = classes[present]
        weights = {}
        if "sample_weight" in inspect.signature(self.estimator.fit).parameters:
            weights = {"sample_weight": 1.0 / np.maximum(own_rate, 1e-3)[codes[kept]]}
        self.estimator_ = clone(self.estimator).fit(X[kept], kept_codes, **weights)
        return self

    def _find(self, X: NDArray[Any], codes: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Which labels are wrong, and for each class the share of its rows that is labelled so."""
        from cleanlab.classification import CleanLearning

        probabilistic = clone(self.estimator)
        if not hasattr(probabilistic, "predict_proba"):
            probabilistic = CalibratedClassifierCV(probabilistic, ensemble=False, cv=3)
        state = np.random.get_state()
        try:
            finder = CleanLearning(
                probabilistic,
                seed=self.random_state,
                cv_n_folds=max(2, min(self.folds, np.bincount(codes).max())),
                find_label_issues_kwargs={"filter_by": self.filter_by, "n_jobs": 1},
            )
            issues = finder.find_label_issues(X, codes)
        finally:
            np.random.set_state(state)
        return issues["is_label_issue"].to_numpy(), np.diagonal(finder.noise_matrix)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of rows."""
        check_is_fitted(self)
        return self.classes_[np.asarray(self.estimator_.predict(X)).astype(np.intp)]

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, in the order of `classes_`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))
