"""Fit any classifier to soft labels, and predict the rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from robust_splits.label_noise.folds import Folds

from ..losses.softmax import Floats


@dataclass(frozen=True, eq=False)
class SoftRows:
    """Training rows with soft labels.

    Attributes
    ----------
    X : array-like or DataFrame of n rows
    soft_labels : array of shape (n, K)
        Probabilities of the classes.
    weight : array of shape (n,) or None
    groups : array of shape (n,) or None
    """

    X: Any
    soft_labels: Floats
    weight: Floats | None = None
    groups: NDArray[Any] | None = None

    def part(self, rows: NDArray[np.intp]) -> SoftRows:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        return SoftRows(_safe_indexing(self.X, rows), self.soft_labels[rows], weight, groups)


class SoftFit:
    """A classifier that was fitted to soft labels, and the classes that it knows.

    Attributes
    ----------
    estimator : classifier
        Fitted to class numbers from 0, without gaps.
    classes : int array
        Class numbers of these.
    """

    def __init__(self, estimator: Any, classes: NDArray[np.intp], n_classes: int) -> None:
        self.estimator, self.classes, self.n_classes = estimator, classes, n_classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of all classes, shape (n, K); 0 for classes that the training rows lacked."""
        found = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        p = np.zeros((len(found), self.n_classes))
        p[:, self.classes[np.asarray(self.estimator.classes_, dtype=np.intp)]] = found
        return p


def takes_soft_labels(estimator: Any) -> bool:
    """Whether `fit` takes soft labels itself, as that of this project's forests and boosters does."""
    return "passes" in estimator.get_params(deep=False)


def weight_argument(estimator: Any) -> str | None:
    """Name of the argument of `fit` for weights of rows, or None if it has none."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        argument = weight_argument(last)
        return None if argument is None else f"{name}__{argument}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def check_weights(estimators: Sequence[Any], sample_weight: Any) -> None:
    """Raise a TypeError if there are weights of rows that a classifier does not take."""
    for estimator in estimators:
        if (
            sample_weight is not None
            and not takes_soft_labels(estimator)
            and weight_argument(estimator) is None
        ):
            raise TypeError(f"sample_weight must be None, since {estimator!r} takes no weights")


def fit_to_soft_labels(estimator: Any, rows: SoftRows) -> SoftFit:
    """Fit a clone of a classifier to soft labels.

    A classifier that does not take soft labels is fitted to a copy of each row for each of its classes, with
    the probability as weight.  One that takes no weights either is fitted to the most probable class of rows
    for which it has a probability of at least one half.
    """
    n_classes = rows.soft_labels.shape[1]
    model = clone(estimator)
    arguments: dict[str, Any] = {}
    if takes_soft_labels(model):
        if rows.weight is not None:
            arguments["sample_weight"] = rows.weight
        if rows.groups is not None:
            arguments["groups"] = rows.groups
        model.set_params(passes=1).fit(rows.X, rows.soft_labels, **arguments)
        return SoftFit(model, np.arange(n_classes), n_classes)
    weights = weight_argument(model)
    if weights is None:
        at, codes = _most_probable(rows.soft_labels)
    else:
        at, codes = np.nonzero(rows.soft_labels)
        share = rows.soft_labels[at, codes]
        arguments[weights] = share if rows.weight is None else share * rows.weight[at]
    if rows.groups is not None and has_fit_parameter(model, "groups"):
        arguments["groups"] = rows.groups[at]
    classes, numbers = np.unique(codes, return_inverse=True)
    model.fit(_safe_indexing(rows.X, at), numbers, **arguments)
    return SoftFit(model, classes, n_classes)


def _most_probable(soft_labels: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows with a class of probability one half or more, and this class; all rows of classes without any."""
    codes = soft_labels.argmax(axis=1)
    sure = soft_labels.max(axis=1) >= 0.5
    lost = ~np.isin(codes, codes[sure])
    at = np.flatnonzero(sure | lost)
    return at, codes[at]


def predicts_out_of_bag(estimator: Any) -> bool:
    """Whether a classifier of soft labels predicts its training rows out of bag."""
    params = estimator.get_params(deep=False)
    return takes_soft_labels(estimator) and bool(params.get("bootstrap")) and "oob_score" in params


def predict_unseen(estimator: Any, rows: SoftRows, folds: Folds) -> tuple[Floats, SoftFit | None]:
    """Predict each row with a fit that has not seen it.

    Returns
    -------
    p : array of shape (n, K)
        NaN for rows that all fits have seen.
    fitted : SoftFit or None
        The classifier, fitted to all rows, if it predicts out of bag.
    """
    if predicts_out_of_bag(estimator):
        fitted = fit_to_soft_labels(clone(estimator).set_params(oob_score=True), rows)
        return np.asarray(fitted.estimator.oob_decision_function_), fitted
    p = np.full(rows.soft_labels.shape, np.nan)
    for seen, unseen in folds:
        p[unseen] = fit_to_soft_labels(estimator, rows.part(seen)).predict_proba(_safe_indexing(rows.X, unseen))
    return p, None
