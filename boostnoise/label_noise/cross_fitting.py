"""Predict the class probabilities of each row by a model that was fitted without it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from robust_splits.label_noise.folds import Folds, Rows
from robust_splits.label_noise.transition_estimation import Method, estimate_transition_matrix

from ..losses.softmax import Floats


def predict_out_of_fold(
    estimator: Any, folds: Folds, X: Any, labels: NDArray[Any], fit_params: dict[str, Any]
) -> Floats:
    """Class probabilities of each row, from an estimator fitted without the fold of the row; fold by fold."""
    p = []
    for seen, unseen in folds:
        arguments = dict(fit_params)
        for name in ("sample_weight", "groups"):
            if arguments.get(name) is not None:
                arguments[name] = _safe_indexing(arguments[name], seen)
        if arguments.get("callbacks") is not None:
            arguments["callbacks"] = deepcopy(arguments["callbacks"])  # they may keep state of a fit
        fitted = clone(estimator).fit(_safe_indexing(X, seen), labels[seen], **arguments)
        p.append(fitted.predict_proba(_safe_indexing(X, unseen)))
    return np.concatenate(p).astype(np.float64)


def predicted_rows(folds: Folds) -> Rows:
    """Rows in the order in which `predict_out_of_fold` predicts them."""
    return np.concatenate([unseen for _, unseen in folds])


def cross_fit_transition_matrix(
    method: Method,
    estimator: Any,
    folds: Folds,
    X: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    weight: Floats | None,
    fit_params: dict[str, Any],
) -> Floats:
    """Transition matrix that `estimate_transition_matrix` finds with out-of-fold probabilities.

    Parameters
    ----------
    method : {"best_bin", "anchor", "confident_joint"}
    estimator : classifier
        Classifier with `predict_proba`, fitted once for each fold.
    folds : list of (rows to fit on, rows to predict)
        See `make_folds`.
    X : array-like of n rows
    labels, codes : ndarray of shape (n,)
        Labels and class numbers.
    weight : ndarray of shape (n,) or None
        Number of times that each row counts in the estimate.
    fit_params : dict
        Other arguments of `fit`.

    Raises
    ------
    ValueError
        If a class has no row to predict, or if the matrix is singular.
    """
    rows = predicted_rows(folds)
    never = np.setdiff1d(codes, codes[rows])
    if never.size:
        label = labels[codes == never[0]].tolist()[0]
        raise ValueError(
            f"T='auto' needs rows of each class to predict; no row with the label {label!r} is in a "
            "fold whose training rows have this label"
        )
    p = predict_out_of_fold(estimator, folds, X, labels, fit_params)
    weight = None if weight is None else weight[rows]
    return estimate_transition_matrix(codes[rows], p, method, weight)
