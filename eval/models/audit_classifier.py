"""Classifier that is fitted without the rows that an audit finds mislabelled."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from robust_splits.label_noise.clean_posterior import IndistinctClassesError
from robust_splits.label_noise.label_errors import LabelErrors, find_label_errors

from .filtering_classifier import FilteringClassifier
from .held_out import held_out_probabilities


class AuditClassifier(FilteringClassifier):
    """Classifier fitted without the training rows whose labels are most suspect.

    `find_label_errors` ranks them, with the probabilities of a forest and of extra-trees out of bag.  As many
    are left out as are wrong by its noise rate, but never all rows of a class.  None are left out if these
    probabilities do not distinguish the classes.

    Parameters
    ----------
    estimator : classifier
        Classifier of the remaining rows.
    random_state : int or None, default=None
        Random seed of the forests.
    n_jobs : int or None, default=None
        Threads of the forests.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    estimator_ : classifier
        The fitted classifier.
    label_errors_ : LabelErrors or None
        What the audit found; None if the classes could not be distinguished.
    is_issue_ : ndarray of shape (n_samples,)
        Whether each training row was left out.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find wrong labels, and fit the classifier to the other rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of rows for the classifier, which must accept them.
        groups : array-like of shape (n_samples,) or None, default=None
            Groups of rows that folds keep together.

        Returns
        -------
        AuditClassifier
        """
        X = X if hasattr(X, "shape") else np.asarray(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        p = held_out_probabilities(X, codes, groups=groups, random_state=self.random_state, n_jobs=self.n_jobs)
        suspect = np.zeros(codes.size, dtype=np.bool_)
        self.label_errors_: LabelErrors | None = None
        with suppress(IndistinctClassesError):
            found = self.label_errors_ = find_label_errors(codes, p)
            suspect[found.ranking[: round(found.noise_rate * codes.size)]] = True
        lost = np.bincount(codes[~suspect], minlength=self.classes_.size) == 0
        self.is_issue_ = suspect & ~lost[codes]
        rows = np.flatnonzero(~self.is_issue_)
        by_row = {"sample_weight": sample_weight}
        if has_fit_parameter(self.estimator, "groups"):
            by_row["groups"] = groups
        arguments = {name: _safe_indexing(value, rows) for name, value in by_row.items() if value is not None}
        self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, rows), codes[rows], **arguments)
        return self
