"""Classifier of the clean labels: any classifiers, fitted to soft labels that a first pass has judged."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from robust_splits.label_noise.clean_posterior import CleanPosterior, IndistinctClassesError
from robust_splits.label_noise.folds import check_folds, integer_seed, make_weighted_folds
from robust_splits.label_noise.labels import check_same_length, encode_labels
from robust_splits.label_noise.soft_labels import are_soft_labels, read_soft_labels
from robust_splits.label_noise.transition_matrix import (
    check_matrix_size,
    check_transition_matrix,
    normalise_rows,
)
from robust_splits.label_noise.weights import read_weights, total_weights

from ..label_noise.costs import cheapest_classes, check_costs
from ..label_noise.judges import judge_labels
from ..losses.softmax import Floats
from .default_candidates import default_candidates
from .mixture import label_likelihoods, mixture_weights
from .soft_fits import SoftFit, SoftRows, check_weights, fit_to_soft_labels, predict_unseen

AUTO = "auto"
Combine = Literal["mixture", "best"]
Decision = Literal["accuracy", "balanced_accuracy"]


class RobustClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier that learns the clean labels from noisy ones, around any classifiers.

    1. A forest and extra-trees judge the labels: their out-of-bag predictions give the transition matrix of the
       noise, and the probability of each clean class given the features and the label of a row; see
       `robust_splits.label_noise.clean_posterior`.
    2. The classifiers are fitted to these probabilities as soft labels.
    3. If there are several, each predicts rows that it has not seen.  The mixture of them is taken that makes
       the given labels most likely under the noise, which needs no clean labels.

    `predict_proba` predicts the probabilities of the clean labels; with ``passes=1``, of the given labels.

    Parameters
    ----------
    estimator : classifier, list of classifiers or None, default=None
        Classifiers with `predict_proba`.  One that does not take soft labels is fitted to copies of each row,
        one for each probable class, with the probabilities as weights.  One that takes no weights either is
        fitted to the rows whose class is more probable than not.  None takes our forest and extra-trees, and
        three sizes of LightGBM, which depend on the number of rows.
    passes : {1, 2, "auto"}, default="auto"
        1 fits the given labels as they are.  ``"auto"`` means 2, unless labels are soft.
    combine : {"mixture", "best"}, default="mixture"
        Whether several classifiers are mixed, or the one that makes the given labels most likely is taken.
    T : "auto" or array-like of shape (K, K), default="auto"
        Transition matrix of the noise: ``T[i, j]`` is the probability of label j for a row of class i.
        ``"auto"`` estimates it.
    decision : {"accuracy", "balanced_accuracy"} or array-like of shape (K, K), default="accuracy"
        Measure on clean labels that `predict` maximises.  For accuracy it returns the most probable class; for
        balanced accuracy the class whose probability is the largest multiple of its share of the rows.  Or
        costs of predictions: ``decision[i, j]`` is the cost of predicting class j for a row whose clean class
        is i, in the order of `classes_`.  Then `predict` returns the class with the least expected cost.
    cv : int, cross-validation splitter or iterable of splits, default=3
        Folds in which several classifiers predict the rows that they have not seen.  Our forests predict out of
        bag instead.
    n_jobs : int or None, default=None
        Threads of the forests and of the default classifiers; -1 for all cores.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, the forests and the default classifiers; None means 0.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Sorted labels.
    candidates_ : DataFrame
        The classifiers: ``estimator``; ``log_likelihood``, the mean over the given labels, NaN if there was
        nothing to choose; and ``weight`` in the mixture.
    estimators_ : list of classifiers
        Those with a positive weight, fitted to all rows, and to class numbers.
    passes_ : int
        Number of passes: 1 also if the first pass could not distinguish the classes.
    transition_matrix_ : ndarray of shape (K, K)
        Transition matrix; the identity with one pass.
    class_shares_ : ndarray of shape (K,)
        Shares of the clean classes, as far as they are known.
    p_wrong_ : ndarray of shape (n,)
        Probability that each given label is wrong; 0 with one pass.
    held_out_probabilities_ : ndarray of shape (n, K) or None
        Predicted probabilities of the training rows, by classifiers that were fitted to
        other rows, in the same mixture; NaN for rows that a classifier has always seen.  None if there is only
        one classifier.
    n_features_in_ : int
        Number of features, if the classifiers have this attribute.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, if the classifiers have this attribute.

    References
    ----------
    Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
    Approach", CVPR 2017 (the likelihood); Menon, van Rooyen, Ong & Williamson, "Learning from Corrupted Binary
    Labels via Class-Probability Estimation", ICML 2015 (the balanced decision); Elkan, "The Foundations of
    Cost-Sensitive Learning", IJCAI 2001 (decisions by costs).

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import RobustClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2_000, 2))
    >>> clean = (X[:, 0] > 0.5).astype(int)
    >>> noisy = np.where(rng.random(2_000) < 0.4, 0, clean)  # four of ten positive rows are missed
    >>> plain = LogisticRegression().fit(X, noisy)
    >>> float((plain.predict(X) == clean).mean()) < 0.95
    True
    >>> model = RobustClassifier(LogisticRegression()).fit(X, noisy)
    >>> float((model.predict(X) == clean).mean()) > 0.97
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        passes: int | str = AUTO,
        combine: Combine = "mixture",
        T: Any = AUTO,
        decision: Decision | Any = "accuracy",
        cv: Any = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.passes = passes
        self.combine = combine
        self.T = T
        self.decision = decision
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: Any = None) -> Self:
        """Judge the labels, and fit the classifiers to them.

        Parameters
        ----------
        X : array-like or DataFrame of n rows
            Features that the classifiers and, with two passes, our forests accept.
        y : array-like of shape (n,) or (n, K)
            Noisy labels of K classes.  Or soft labels: the probability of each class, whose labels are the
            columns of a data frame, or else 0, 1, ...
        sample_weight : array-like of shape (n,) or None, default=None
            Weights of rows, which the classifiers must accept.
        groups : array-like of shape (n,) or None, default=None
            Groups of rows that folds keep together; passed to classifiers that accept it.

        Returns
        -------
        RobustClassifier

        Raises
        ------
        TypeError, ValueError
            If a parameter, the labels or the weights are invalid, if T is for another number of classes, if a
            classifier has no `predict_proba`, or if the rows cannot be divided into folds.
        """
        self.check_parameters()
        seed = integer_seed(self.random_state)
        X, groups = indexable(_read_features(X), groups)
        groups = None if groups is None else np.asarray(groups)
        soft, codes = self._read_labels(X, y)
        if not isinstance(self.decision, str):
            check_costs(self.decision, "decision", self.classes_.size)
        weight = None
        if sample_weight is not None:
            weight = read_weights(sample_weight, codes.size).astype(np.float64)
            total_weights(codes, weight, self.classes_)
        candidates = self._candidates(codes.size, seed)
        check_weights(candidates, sample_weight)
        given, judged = soft, self._judge(X, codes, weight, groups, seed) if self._judges(y) else None
        if judged is not None:
            soft = judged.soft_labels()
        self.passes_ = 1 if judged is None else 2
        self.transition_matrix_ = np.eye(self.classes_.size) if judged is None else judged.transition_matrix
        self.class_shares_ = np.average(soft, axis=0, weights=weight)
        self.p_wrong_ = np.zeros(codes.size)
        if judged is not None:
            self.p_wrong_ = 1 - judged.probabilities[np.arange(codes.size), codes]
        rows = SoftRows(X, soft, weight, groups)
        self._fit_candidates(candidates, rows, given, codes, seed)
        return self

    def _read_labels(self, X: Any, y: Any) -> tuple[Floats, NDArray[np.int64]]:
        """Set `classes_`; return the given labels as probabilities, and the most probable class numbers."""
        if are_soft_labels(y):
            self.classes_, soft = read_soft_labels(y, X.shape[0])
            return soft, soft.argmax(axis=1)
        encoder, codes = encode_labels(y)
        check_same_length(X, codes)
        self.classes_ = encoder.classes_
        return np.eye(self.classes_.size)[codes], codes

    def _judges(self, y: Any) -> bool:
        """Whether a first pass judges the labels."""
        if self.passes == 2 and are_soft_labels(y):
            raise ValueError("passes=2 judges class labels, but y has soft labels; use passes=1 or 'auto'")
        return self.passes != 1 and not are_soft_labels(y)

    def _judge(
        self, X: Any, codes: NDArray[np.int64], weight: Floats | None, groups: Any, seed: int
    ) -> CleanPosterior | None:
        """Posterior of the clean labels; None if the features do not distinguish the classes."""
        T = None
        if not isinstance(self.T, str):
            T = normalise_rows(check_transition_matrix(self.T))
            check_matrix_size(T.tolist(), self.classes_.size)
        try:
            return judge_labels(X, codes, weight, groups, T=T, random_state=seed, n_jobs=self.n_jobs)
        except IndistinctClassesError:
            return None

    def _candidates(self, n_rows: int, seed: int) -> list[Any]:
        if self.estimator is None:
            return default_candidates(n_rows, seed, self.n_jobs)
        return list(self.estimator) if isinstance(self.estimator, list | tuple) else [self.estimator]

    def _fit_candidates(
        self, candidates: list[Any], rows: SoftRows, given: Floats, codes: NDArray[np.int64], seed: int
    ) -> None:
        """Fit the classifiers with positive weight to all rows, and set what `fit` has found."""
        likelihoods, shares = np.full(len(candidates), np.nan), np.ones(len(candidates))
        fitted: list[SoftFit | None] = [None] * len(candidates)
        self.held_out_probabilities_ = None
        if len(candidates) > 1:
            folds = make_weighted_folds(codes, rows.weight, self.cv, rows.groups, seed)
            unseen = [predict_unseen(candidate, rows, folds) for candidate in candidates]
            fitted = [fit for _, fit in unseen]
            of_labels = label_likelihoods([p for p, _ in unseen], self.transition_matrix_, given)
            known = np.isfinite(of_labels).all(axis=1)
            weight = np.ones(codes.size) if rows.weight is None else rows.weight
            likelihoods = np.average(np.log(of_labels[known]), axis=0, weights=weight[known])
            shares = np.eye(len(candidates))[likelihoods.argmax()]
            if self.combine == "mixture":
                shares = mixture_weights(of_labels[known], weight[known])
            self.held_out_probabilities_ = np.tensordot(shares, np.array([p for p, _ in unseen]), axes=1)
        self._fits = [
            fit or fit_to_soft_labels(candidate, rows)
            for fit, candidate, share in zip(fitted, candidates, shares, strict=True)
            if share > 0
        ]
        self._shares = shares[shares > 0]
        self.estimators_ = [fit.estimator for fit in self._fits]
        self._compared = {"estimator": candidates, "log_likelihood": likelihoods, "weight": shares}

    def check_parameters(self) -> None:
        """Raise a TypeError or ValueError for invalid parameters; `fit` calls this."""
        if self.passes not in (1, 2, AUTO) or isinstance(self.passes, bool):
            raise ValueError(f"passes must be 1, 2 or {AUTO!r}, got {self.passes!r}")
        if self.combine not in get_args(Combine):
            raise ValueError(f"combine must be one of {', '.join(get_args(Combine))}, got {self.combine!r}")
        if not isinstance(self.decision, str):
            check_costs(self.decision, "decision")
        elif self.decision not in get_args(Decision):
            allowed = ", ".join(get_args(Decision))
            raise ValueError(f"decision must be one of {allowed}, or a matrix of costs, got {self.decision!r}")
        if isinstance(self.T, str) and self.T != AUTO:
            raise ValueError(f"T must be {AUTO!r} or a matrix, got {self.T!r}")
        if not isinstance(self.T, str):
            check_transition_matrix(self.T)
            if self.passes == 1:
                raise ValueError("T has no effect with passes=1, which fits the given labels as they are")
        candidates = [] if self.estimator is None else self._candidates(0, 0)
        if self.estimator is not None and not candidates:
            raise ValueError("estimator must have at least one classifier, got an empty list")
        for candidate in candidates:
            if not hasattr(candidate, "predict_proba") or isinstance(candidate, type):
                raise TypeError(f"estimator must have predict_proba, got {candidate!r}")
        check_folds(self.cv)

    @property
    def candidates_(self) -> pd.DataFrame:
        """The classifiers, their log likelihoods and their weights, a row for each of them."""
        check_is_fitted(self)
        return pd.DataFrame(self._compared)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimators_[0].n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of features."""
        return np.asarray(self.estimators_[0].feature_names_in_)

    @property
    def feature_importances_(self) -> Floats:
        """Importances of the features: the mean of those of the fitted classifiers, by their weights.

        Those of each classifier are divided by their sum.  What they measure is up to the classifier.

        Raises
        ------
        AttributeError
            If a classifier has none.
        """
        check_is_fitted(self)
        each = [np.asarray(estimator.feature_importances_, dtype=float) for estimator in self.estimators_]
        shares = [importances / (importances.sum() or 1.0) for importances in each]
        mean: Floats = np.average(shares, axis=0, weights=self._shares)
        return mean

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the clean classes.

        Parameters
        ----------
        X : array-like of n rows

        Returns
        -------
        ndarray of shape (n, K)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        X = _read_features(X)
        parts = [share * fit.predict_proba(X) for share, fit in zip(self._shares, self._fits, strict=True)]
        p: Floats = np.sum(parts, axis=0)
        return p

    def predict_log_proba(self, X: Any) -> Floats:
        """Predict logarithms of the probabilities of `predict_proba`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels by the rule `decision`.

        Parameters
        ----------
        X : array-like of n rows

        Returns
        -------
        ndarray of shape (n,)
        """
        p = self.predict_proba(X)  # first, because it raises if the estimator is not fitted
        labels: NDArray[Any] = self.classes_[self._decide(p)]
        return labels

    def _decide(self, p: Floats) -> NDArray[np.intp]:
        """Class numbers by the rule `decision`."""
        if not isinstance(self.decision, str):
            return cheapest_classes(p, check_costs(self.decision, "decision", self.classes_.size))
        if self.decision == "balanced_accuracy":
            p = p / np.maximum(self.class_shares_, np.finfo(np.float64).tiny)
        numbers: NDArray[np.intp] = p.argmax(axis=1)
        return numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        candidates = self._candidates(0, 0)
        tags.input_tags.allow_nan = all(get_tags(each).input_tags.allow_nan for each in candidates)
        tags.input_tags.sparse = all(get_tags(each).input_tags.sparse for each in candidates)
        return tags


def _read_features(X: Any) -> Any:
    """Features with a shape; sparse ones in a form that LightGBM and indexing accept."""
    if issparse(X):
        sparse: Any = X
        return csr_matrix(sparse)
    return X if hasattr(X, "shape") else np.asarray(X)
