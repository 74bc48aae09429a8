"""Probabilities of labels from models that were fitted to other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostnoise.label_noise.cross_fitting import predict_out_of_fold, predicted_rows
from boostnoise.label_noise.judges import JUDGES
from robust_splits.label_noise.folds import integer_seed, make_folds

from .given_labels import predicting_given_labels

FOLDS = 5


def held_out_probabilities(
    X: Any,
    codes: NDArray[np.int64],
    model: Any = None,
    *,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Predict the label probabilities of each row with models that were fitted to other rows.

    Parameters
    ----------
    X : array-like or DataFrame of n rows
    codes : int array of shape (n,)
        Class numbers; each from 0 to K - 1 must occur.
    model : classifier or None, default=None
        A classifier with `predict_proba`.  Forests predict out of bag, and this project's grow in one pass;
        other models are fitted for each of five stratified folds.  None for the mean of
        `RobustForestClassifier` and `RobustExtraTreesClassifier`.
    groups : array-like of shape (n,) or None, default=None
        Groups of rows that folds keep together.  With groups, all models predict by folds.
    random_state : int, RandomState or None, default=None
        Seed of the default models and of the folds.
    n_jobs : int or None, default=None
        Threads of the default models.

    Returns
    -------
    float array of shape (n, K)
    """
    seed = integer_seed(random_state)
    own = [forest(random_state=seed, n_jobs=n_jobs) for forest in JUDGES]
    parts = [_predict(one, X, codes, groups, seed) for one in (own if model is None else [model])]
    p: NDArray[np.float64] = np.mean(parts, axis=0)
    p /= p.sum(axis=1, keepdims=True)
    return p


def _predict(model: Any, X: Any, codes: NDArray[np.int64], groups: Any, seed: int) -> NDArray[np.float64]:
    model = predicting_given_labels(model)
    # Rows that no fit leaves out are trusted: those of a class in one group, or drawn by all trees.
    p: NDArray[np.float64] = np.eye(codes.max() + 1)[codes]
    if groups is None and predicts_out_of_bag(model):
        fitted = model.set_params(oob_score=True).fit(X, codes)
        out_of_bag = np.asarray(fitted.oob_decision_function_, dtype=np.float64)
        known = np.isfinite(out_of_bag).all(axis=1) & (out_of_bag.sum(axis=1) > 0)
        p[known] = out_of_bag[known]
    else:
        folds = make_folds(codes, FOLDS, groups, seed)
        p[predicted_rows(folds)] = predict_out_of_fold(model, folds, X, codes, {})
    return p


def predicts_out_of_bag(model: Any) -> bool:
    """Whether a model can predict out of bag, which most forests can if they draw bootstrap samples."""
    params = model.get_params(deep=False)
    return bool(params.get("bootstrap")) and "oob_score" in params
