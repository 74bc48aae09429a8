"""Intercepts.  XGBoost and LightGBM estimate one for their built-in objectives only."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..losses.softmax import Classes, Floats

Labels = Classes | Floats

SMALLEST_SHARE = 1e-15  # lower limit of the share of a class, as in LightGBM


def xgboost_intercept(
    y: Labels, sample_weight: ArrayLike | None, n_classes: int, scale_pos_weight: float = 1.0
) -> float | list[float]:
    """Intercept of XGBoost's built-in objective, in the form and scale of the parameter `base_score`.

    Parameters
    ----------
    y : integer array of shape (n,), or float array of shape (n, K)
        Class numbers, or probabilities of the classes.
    sample_weight : array-like of shape (n,) or None
    n_classes : int
    scale_pos_weight : float, default=1.0
        Weight of class 1, for two classes.

    Returns
    -------
    float for two classes, else list of K floats
    """
    import xgboost

    if y.ndim == 2:  # as if each class were one row
        total = _class_weights(y, sample_weight, n_classes)
        y, sample_weight = np.arange(n_classes), np.maximum(total, SMALLEST_SHARE * total.sum())
    parameters: dict[str, Any] = {"objective": "binary:logistic", "scale_pos_weight": scale_pos_weight}
    if n_classes > 2:
        parameters = {"objective": "multi:softprob", "num_class": n_classes}
    # XGBoost itself computes the estimate, because the last digit decides where gains tie.  A column of zeros
    # gives no splits.
    rows = xgboost.DMatrix(np.zeros((y.size, 1)), label=y, weight=sample_weight)
    booster = xgboost.train(parameters, rows, num_boost_round=1)
    estimated = json.loads(json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"])
    if n_classes > 2:
        return [float(score) for score in estimated]
    return float(np.squeeze(estimated))


def lightgbm_intercept(y: Labels, sample_weight: ArrayLike | None, n_classes: int) -> Floats:
    """Intercept of LightGBM's built-in objective, as margins of shape (1,) for two classes, else (K,).

    The parameters are those of `xgboost_intercept`.
    """
    total = _class_weights(y, sample_weight, n_classes)
    share: Floats = np.clip(total / total.sum(), SMALLEST_SHARE, 1.0)
    return np.log(share[1:] / share[:1]) if n_classes == 2 else np.log(share)


def _class_weights(y: Labels, sample_weight: ArrayLike | None, n_classes: int) -> Floats:
    """Sum of the weights of each class, shape (n_classes,)."""
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float32)
    if y.ndim == 2:
        total: Floats = y.sum(axis=0, dtype=np.float64) if weight is None else weight.astype(np.float64) @ y
        return total
    return np.bincount(y, weights=weight, minlength=n_classes).astype(np.float64)


def repeat(intercept: Floats, n_rows: int) -> Floats:
    """Repeat the result of `lightgbm_intercept` for each row: shape (n,) for two classes, else (n, K)."""
    return np.full(n_rows, intercept[0]) if intercept.size == 1 else np.tile(intercept, (n_rows, 1))
