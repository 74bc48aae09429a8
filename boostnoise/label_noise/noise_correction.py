"""Correct the probabilities and decisions of a classifier for class-conditional label noise.

If a row of class i gets label j with probability ``T[i, j]``, whatever its features, then noisy labels have
the probabilities ``sum_i p_i T[i, j]``, where ``p_i`` are those of the clean classes.  A classifier trained on
noisy labels estimates the probabilities of noisy labels.  Multiplied by the inverse of T, they become those of
the clean classes; [1]_ corrects a loss in this way.

For two classes, the balanced accuracy is highest if a row is assigned to the class whose probability exceeds
its share of the rows.  Class-conditional noise with ``T[0, 0] + T[1, 1] > 1`` changes probability and share
alike: the same rows are above the share of noisy labels as above the share of clean ones.  So this decision
needs no T [2]_.

References
----------
.. [1] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017.
.. [2] Menon, van Rooyen, Ong & Williamson, "Learning from Corrupted Binary Labels via Class-Probability
       Estimation", ICML 2015.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from robust_splits.label_noise.folds import check_folds, integer_seed, make_weighted_folds
from robust_splits.label_noise.labels import check_same_length, encode_labels
from robust_splits.label_noise.transition_matrix import (
    check_matrix_size,
    check_transition_matrix,
    normalise_rows,
)
from robust_splits.label_noise.weights import read_weights, total_weights

from ..losses.softmax import Floats
from .cross_fitting import cross_fit_transition_matrix

LARGEST_CONDITION = 20.0  # of an estimated T without a warning
AUTO = "auto"  # value of T that requests an estimate
Decision = Literal["accuracy", "balanced_accuracy"]


class NoiseCorrectedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier whose probabilities and decisions are corrected for class-conditional label noise.

    Use it if the labels of one class are wrong far more often than those of others, for instance if most
    defects have been overlooked.  Then hardly any probability of the rare class exceeds one half, although the
    classifier ranks the rows well.

    Parameters
    ----------
    estimator : classifier
        Classifier with `predict_proba`, such as `RobustXGBClassifier` or
        `robust_splits.RobustForestClassifier`.
    T : "auto", array-like of shape (K, K) or None, default="auto"
        Transition matrix of the noise: ``T[i, j]`` is the probability of label j for a row of class i.
        ``"auto"`` calls `estimate_transition_matrix` with the probabilities of estimators that were fitted
        without the row in question.  Its method is "anchor", which takes some overlap of the classes for noise,
        and so leads to more predictions of rare classes than "best_bin".  None leaves the probabilities as they
        are.
    decision : {"accuracy", "balanced_accuracy"}, default="accuracy"
        Measure on clean labels that `predict` maximises.  For accuracy it returns the most probable class; for
        balanced accuracy the class whose probability is the largest multiple of its share of the rows.  With
        two classes and ``T[0, 0] + T[1, 1] > 1``, the latter does not depend on T, so ``T=None`` saves the fits
        of the folds.  With more classes, ``T=None`` ignores the noise.
    cv : int, cross-validation splitter or iterable of splits, default=5
        Folds for the estimate of T.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds; None means 0.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Sorted labels.
    estimator_ : classifier
        The estimator, fitted to all rows.
    T_ : ndarray of shape (K, K)
        Transition matrix; the identity if `T` is None.
    label_shares_ : ndarray of shape (K,)
        Shares of the noisy labels.
    n_samples_ : int
        Number of training rows whose weight is not zero.
    n_features_in_ : int
        Number of features, if the estimator has this attribute.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, if the estimator has this attribute.

    Notes
    -----
    Corrected probabilities below 0 are set to 0, and the others of the row are scaled to sum to 1.  Then they
    are averaged with the uncorrected probabilities, which have the weight of one row among the n training rows.
    So no positive probability becomes 0, and with two classes and ``T[0, 0] + T[1, 1] > 1`` the rows keep their
    order.

    An estimated T takes some overlap of the classes for noise, so corrected probabilities are closer to 0 and 1
    than they should be.  If the features tell little about the labels, most of the correction is chance; then
    `fit` warns.

    References
    ----------
    Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
    Approach", CVPR 2017 (the correction, there of a loss); Menon, van Rooyen, Ong & Williamson, "Learning from
    Corrupted Binary Labels via Class-Probability Estimation", ICML 2015 (the balanced decision).

    Examples
    --------
    Seven of ten positive rows are labelled negative:

    >>> import numpy as np
    >>> from boostnoise import NoiseCorrectedClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2_000, 2))
    >>> clean = (X[:, 0] > 0.5).astype(int)
    >>> noisy = np.where(rng.random(2_000) < 0.7, 0, clean)
    >>> model = LogisticRegression()
    >>> float((model.fit(X, noisy).predict(X) == clean).mean())
    0.7135
    >>> model = NoiseCorrectedClassifier(model, T=None, decision="balanced_accuracy")
    >>> float((model.fit(X, noisy).predict(X) == clean).mean())
    0.9895
    """

    def __init__(
        self,
        estimator: Any,
        *,
        T: Any = AUTO,
        decision: Decision = "accuracy",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.T = T
        self.decision = decision
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the estimator to noisy labels, and estimate the correction.

        Parameters
        ----------
        X : array-like of n rows
        y : array-like of shape (n,)
            Noisy labels of K classes.
        sample_weight : array-like of shape (n,) or None, default=None
            Weights of rows, which the estimator must accept.
        groups : array-like of shape (n,) or None, default=None
            Groups of rows that folds keep together; passed to estimators that accept it.

        Returns
        -------
        NoiseCorrectedClassifier

        Raises
        ------
        TypeError, ValueError
            If `T` or `decision` is invalid, if T is for another number of classes, if the estimator has no
            `predict_proba` or does not accept weights, if labels or weights are invalid, or if T cannot be
            estimated.
        """
        self.check_parameters()
        encoder, codes = encode_labels(y)
        labels = encoder.classes_[codes]
        check_same_length(X, codes)
        X, groups = indexable(X, groups)
        arguments: dict[str, Any] = {}
        weight = None
        if sample_weight is not None:
            weight = read_weights(sample_weight, codes.size).astype(np.float64)
            arguments["sample_weight"] = weight
        if groups is not None and has_fit_parameter(self.estimator, "groups"):
            arguments["groups"] = groups
        totals = total_weights(codes, weight, encoder.classes_)
        T = np.eye(totals.size)
        if isinstance(self.T, str):
            folds = make_weighted_folds(codes, weight, self.cv, groups, integer_seed(self.random_state))
            T = cross_fit_transition_matrix(
                "anchor", self.estimator, folds, X, labels, codes, weight, arguments
            )
            _warn_of_chance(T)
        elif self.T is not None:
            T = normalise_rows(check_transition_matrix(self.T))
            check_matrix_size(T.tolist(), totals.size)
        self.estimator_ = clone(self.estimator).fit(X, labels, **arguments)
        self.classes_ = encoder.classes_
        self.T_ = T
        self.n_samples_ = codes.size if weight is None else np.count_nonzero(weight)
        self.label_shares_ = totals / totals.sum()
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of features."""
        return np.asarray(self.estimator_.feature_names_in_)

    def check_parameters(self) -> None:
        """Raise a TypeError or ValueError for invalid parameters; `fit` calls this."""
        if self.decision not in get_args(Decision):
            raise ValueError(f"decision must be one of {', '.join(get_args(Decision))}, got {self.decision!r}")
        if isinstance(self.T, str) and self.T != AUTO:
            raise ValueError(f"T must be {AUTO!r}, a matrix or None, got {self.T!r}")
        if self.T is not None and not isinstance(self.T, str):
            check_transition_matrix(self.T)
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(f"estimator must have predict_proba, got {self.estimator!r}")
        check_folds(self.cv)

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
        p = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        if np.array_equal(self.T_, np.eye(len(self.T_))):
            return p
        corrected = normalise_rows(np.maximum(p @ np.linalg.inv(self.T_), 0.0))
        averaged: Floats = (self.n_samples_ * corrected + p) / (self.n_samples_ + 1)
        return averaged

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels by the rule `decision`.

        Parameters
        ----------
        X : array-like of n rows

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        self.check_parameters()
        if self.decision == "accuracy":
            p = self.predict_proba(X)
        else:
            inverse = np.linalg.inv(self.T_)
            shares = self.label_shares_ @ inverse
            # A class that T leaves no rows counts as one row.
            p = self.estimator_.predict_proba(X) @ inverse / np.where(shares > 0, shares, 1 / self.n_samples_)
        found: NDArray[Any] = self.classes_[p.argmax(axis=1)]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.input_tags.pairwise = False
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def _warn_of_chance(T: Floats) -> None:
    """Warn if the inverse of an estimated T amplifies errors too much."""
    condition = np.linalg.cond(T)
    if condition > LARGEST_CONDITION:
        warnings.warn(
            f"the estimated T hardly distinguishes the classes (condition number {condition:.0f}), so the "
            "corrected probabilities are mostly chance; use a better estimator, or give T",
            stacklevel=3,
        )
