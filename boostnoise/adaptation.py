"""Choose loss parameters on noisy labels: q of ``gce``, and T of ``forward`` and ``backward``.

Both choices use cross-fitting.  The rows are split into stratified folds by ``cv`` and ``random_state`` (None
means 0, because without a seed both libraries give the same result each time).  The probabilities of each fold
come from an estimator fitted to the other folds.  So every label counts, and no model is judged on labels that
it was trained on.  A single held-out fifth is not enough: on data sets of a few hundred rows its choices were
worse than a fixed q.  The final model is fitted to all rows.  An ``eval_set`` is used for early stopping in all
fits, but not for the choice, because it may contain training rows.

The chosen q is the candidate whose models have the highest accuracy on noisy labels, with rows weighted by
their sample weights.  Of tied candidates the smallest is chosen: it is closest to cross entropy and gives the
most faithful probabilities.  Uniform noise of rate ``r < 1 - 1/K`` turns an accuracy a into
``r / (K-1) + (1 - r K / (K-1)) a``, which preserves the order of models.  Other noise may change the order, but
while each class keeps most of its labels, no model scores higher than one that is always right [1]_.  The log
loss cannot be used instead: the more robust a loss, the less its probabilities describe the noisy labels.

T is estimated by `estimate_transition_matrix` with method "best_bin", from the probabilities of cross entropy.

References
----------
.. [1] Chen, Ye, Chen, Zhao & Heng, "Robustness of Accuracy Metric and its Inspirations in Learning with Noisy
       Labels", AAAI 2021.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import indexable

from ._classifier import (
    check_loss_params,
    check_same_length,
    combine_all_weights,
    reject_loss_keywords,
    reject_start,
)
from ._folds import Folds, integer_seed, make_folds
from .cross_fitting import cross_fit_transition_matrix, predict_out_of_fold, predicted_rows
from .hooks import Objective
from .losses.base import Loss
from .losses.label import GeneralizedCrossEntropy
from .losses.registry import get_loss
from .losses.softmax import Floats

Q_CANDIDATES = (0.0, 0.3, 0.5, 0.7, 1.0)

# Values that request a choice on data, by loss and parameter.
ADAPTIVE = {("gce", "q"): "auto", ("forward", "T"): "estimate", ("backward", "T"): "estimate"}

ObjectiveT = TypeVar("ObjectiveT", bound=Objective)


def build_loss(estimator: Any, n_classes: int = 2) -> Loss:
    """Build the loss of an estimator; a parameter that is chosen on data gets a placeholder value.

    Raises
    ------
    ValueError, TypeError
        If `loss` or `loss_params` is invalid, or if a parameter of the loss was passed outside `loss_params`.
    """
    reject_loss_keywords(estimator)
    params = check_loss_params(estimator.loss_params)
    name = adaptive_parameter(estimator)
    if name is not None:
        params[name] = Q_CANDIDATES[0] if name == "q" else np.eye(n_classes)
    return get_loss(estimator.loss, **params)


def adaptive_parameter(estimator: Any) -> str | None:
    """Name of the loss parameter that is chosen on data, or None."""
    for (loss, name), word in ADAPTIVE.items():
        value = (estimator.loss_params or {}).get(name)
        if isinstance(value, str) and value == word and estimator.loss == loss:
            return name
    return None


def adapt(
    estimator: Any,
    objective: ObjectiveT,
    X: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    fit_params: dict[str, Any],
    groups: Any = None,
) -> ObjectiveT:
    """Choose a loss parameter on data if requested, and return the objective to train with.

    Sets the attribute `loss_` of the estimator, and `loss_scores_` if q is chosen.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    objective : XGBoostObjective or LightGBMObjective
        Its loss is that of `build_loss`.
    X : array-like of n rows
    labels, codes : arrays of shape (n,)
        Labels and class numbers.
    fit_params : dict
        The other arguments of `fit`, always including `sample_weight`.
    groups : array-like of shape (n,) or None
        Groups of rows that folds keep together.

    Raises
    ------
    ValueError
        If the rows cannot be divided into folds, if training starts from margins or from a model, or if the
        estimated T is singular.
    """
    name = adaptive_parameter(estimator)
    loss, scores = objective.loss, None
    if name is not None:
        choice = f"{name}={estimator.loss_params[name]!r}"
        reject_start(fit_params, choice, "pass the loss_ of a model fitted without it as loss")
        check_same_length(X, codes)
        weight = combine_all_weights(
            labels, codes, fit_params["sample_weight"], estimator.class_weight, objective.scale_pos_weight
        )
        X, sample_weight = indexable(X, fit_params["sample_weight"])
        fit_params = {**fit_params, "sample_weight": sample_weight}
        folds = make_folds(codes, estimator.cv, groups, integer_seed(estimator.random_state))
        if name == "q":
            loss, scores = _choose_q(estimator, folds, X, labels, codes, weight, fit_params)
        else:
            # With cross entropy, the model is that of the library itself.
            model = clone(estimator).set_params(loss="ce", loss_params=None, hessian=None)
            T = cross_fit_transition_matrix("best_bin", model, folds, X, labels, codes, weight, fit_params)
            loss = get_loss(estimator.loss, T=T)
    estimator.loss_ = loss
    vars(estimator).pop("loss_scores_", None)  # of an earlier fit
    if scores is not None:
        estimator.loss_scores_ = scores
    return replace(objective, loss=loss)


def _choose_q(
    estimator: Any,
    folds: Folds,
    X: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    weight: Floats | None,
    fit_params: dict[str, Any],
) -> tuple[Loss, dict[float, float]]:
    """Loss with the highest cross-fitted accuracy on noisy labels, and the accuracy of each q."""
    losses = {q: GeneralizedCrossEntropy(q) for q in Q_CANDIDATES}
    scores = {}
    rows = predicted_rows(folds)
    for q, loss in losses.items():
        model = clone(estimator).set_params(loss=loss, loss_params=None)
        found = predict_out_of_fold(model, folds, X, labels, fit_params).argmax(axis=1)
        scores[q] = float(np.average(found == codes[rows], weights=None if weight is None else weight[rows]))
    # Of tied candidates, `max` returns the first, which is closest to cross entropy.
    return losses[max(scores, key=scores.__getitem__)], scores
