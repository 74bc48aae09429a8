"""Choose loss parameters on noisy labels: q of ``gce``, and T of ``forward`` and ``backward``.

q is chosen by cross-fitting.  The rows are split into stratified folds by ``cv`` and ``random_state`` (None
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

T is that of `judge_labels`, which estimates it from out-of-bag probabilities of forests.

References
----------
.. [1] Chen, Ye, Chen, Zhao & Heng, "Robustness of Accuracy Metric and its Inspirations in Learning with Noisy
       Labels", AAAI 2021.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import indexable

from robust_splits.label_noise.folds import Folds, integer_seed, make_folds

from ..label_noise.cross_fitting import predict_out_of_fold, predicted_rows
from ..label_noise.judges import judge_labels
from ..losses.base import Loss
from ..losses.label import GeneralizedCrossEntropy
from ..losses.registry import get_loss, is_known, loss_parameters
from ..losses.softmax import Floats
from ..objectives.hooks import Objective
from .auto_parameters import is_auto, resolve_folds
from .target import Target
from .weights import combine_all_weights

Q_CANDIDATES = (0.0, 0.3, 0.5, 0.7, 1.0)

# Parameters that can be chosen on data, by loss.
ADAPTIVE = {"gce": "q", "forward": "T", "backward": "T"}

# Arguments of `fit` that start training from margins or a model, in either library.
START_ARGUMENTS = ("base_margin", "xgb_model", "init_score", "init_model")

LOSS_PARAMETER = "loss_params__"  # prefix of a parameter of the loss in `set_params`

ObjectiveT = TypeVar("ObjectiveT", bound=Objective)


def check_loss_params(params: Any) -> dict[str, Any]:
    """``loss_params`` as a new dict; a TypeError if it is neither a dict nor None."""
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"loss_params must be a dict or None, got {params!r}")
    return dict(params or {})


def pop_loss_keywords(keywords: dict[str, Any]) -> dict[str, Any]:
    """Remove from keywords those named ``loss_params__x``, and return them."""
    return {name: keywords.pop(name) for name in list(keywords) if name.startswith(LOSS_PARAMETER)}


def merge_loss_params(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `set_params`, with those named ``loss_params__x`` merged into ``loss_params``.

    A new `loss` keeps, of the earlier ``loss_params``, those that it has too.
    """
    merged = {name: value for name, value in params.items() if not name.startswith(LOSS_PARAMETER)}
    changed = {name.removeprefix(LOSS_PARAMETER): params[name] for name in params if name not in merged}
    if not changed and ("loss" not in params or "loss_params" in params):
        return merged
    loss_params = check_loss_params(merged.get("loss_params", estimator.loss_params))
    if "loss" in params and "loss_params" not in params:
        known = _loss_fields(params["loss"]) if isinstance(params["loss"], str) else set()
        loss_params = {name: value for name, value in loss_params.items() if name in known}
    merged["loss_params"] = {**loss_params, **changed} or None
    return merged


def _loss_fields(loss: Any) -> set[str]:
    """Names of the parameters of a loss, by its name or of an object."""
    if isinstance(loss, str):
        return set(loss_parameters(loss)) if is_known(loss) else set()
    return {field.name for field in fields(loss)} if is_dataclass(loss) else set()


def reject_loss_keywords(estimator: Any) -> None:
    """Raise a TypeError if a parameter of the loss was passed as a keyword of the estimator.

    The estimator accepts any keyword for its library, where this one would have no effect.
    """
    known = set(type(estimator)().get_params(deep=False)) | {"alpha"}  # also a parameter of both libraries
    loss_fields = _loss_fields(estimator.loss)
    for name, value in estimator.get_params(deep=False).items():
        if name in loss_fields and name not in known:
            raise TypeError(
                f"{name}={value!r} has no effect; pass parameters of the loss as loss_params={ {name: value}!r}"
            )


def build_loss(estimator: Any, n_classes: int = 2) -> Loss:
    """Build the loss of an estimator; a parameter that is chosen on data gets a placeholder value.

    Raises
    ------
    ValueError, TypeError
        If `loss` or `loss_params` is invalid, or if a parameter of the loss was passed outside `loss_params`.
    """
    reject_loss_keywords(estimator)
    params = check_loss_params(estimator.loss_params)
    name = auto_loss_parameter(estimator)
    if name is not None:
        params[name] = Q_CANDIDATES[0] if name == "q" else np.eye(n_classes)
    return get_loss(estimator.loss, **params)


def auto_loss_parameter(estimator: Any) -> str | None:
    """Name of the loss parameter that is "auto", or None."""
    if not isinstance(estimator.loss, str):
        return None
    name = ADAPTIVE.get(estimator.loss)
    return name if is_auto((estimator.loss_params or {}).get(name)) else None


def choose_loss_parameter(
    estimator: Any, objective: ObjectiveT, X: Any, target: Target, fit_params: dict[str, Any], groups: Any
) -> ObjectiveT:
    """Choose the loss parameter that is "auto", if there is one, and return the objective to train with.

    Sets the attribute `loss_` of the estimator, and `loss_scores_` if q is chosen.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    objective : XGBoostObjective or LightGBMObjective
        Its loss is that of `build_loss`.
    X : array-like of n rows
    target : Target
        Labels of the rows.
    fit_params : dict
        The other arguments of `fit`, always including `sample_weight`.
    groups : array-like of shape (n,) or None
        Groups of rows that folds keep together.

    Raises
    ------
    ValueError
        If q is chosen, and the rows cannot be divided into folds, or training starts from margins or from a
        model; if T is estimated, and the features do not distinguish the classes; or if labels are soft.
    """
    name = auto_loss_parameter(estimator)
    loss, scores = objective.loss, None
    if name is not None:
        choice = f"{name}={estimator.loss_params[name]!r}"
        if target.probabilities is not None:
            raise ValueError(f"{choice} is chosen for given labels, but y contains soft labels")
        seed = integer_seed(estimator.random_state)
        weight = combine_all_weights(
            target, fit_params["sample_weight"], estimator.class_weight, objective.scale_pos_weight
        )
        if name == "q":
            start = find_start(fit_params)
            if start is not None:
                raise ValueError(
                    f"{start} cannot be combined with {choice}: it may depend on the labels used for the "
                    "choice; pass the loss_ of a model fitted without it as loss"
                )
            X, sample_weight = indexable(X, fit_params["sample_weight"])
            fit_params = {**fit_params, "sample_weight": sample_weight}
            folds = make_folds(target.codes, resolve_folds(estimator.cv), groups, seed)
            loss, scores = _choose_q(estimator, folds, X, target, weight, fit_params)
        else:
            n_jobs = effective_n_jobs(estimator.n_jobs or -1)
            judged = judge_labels(X, target.codes, weight, groups, random_state=seed, n_jobs=n_jobs)
            loss = get_loss(estimator.loss, T=judged.transition_matrix)
    estimator.loss_ = loss
    vars(estimator).pop("loss_scores_", None)  # of an earlier fit
    if scores is not None:
        estimator.loss_scores_ = scores
    return replace(objective, loss=loss)


def find_start(arguments: dict[str, Any]) -> str | None:
    """Name of an argument of `fit` that starts training from margins or a model, if there is one."""
    return next((name for name in START_ARGUMENTS if arguments.get(name) is not None), None)


def _choose_q(
    estimator: Any,
    folds: Folds,
    X: Any,
    target: Target,
    weight: Floats | None,
    fit_params: dict[str, Any],
) -> tuple[Loss, dict[float, float]]:
    """Loss with the highest cross-fitted accuracy on noisy labels, and the accuracy of each q."""
    losses = {q: GeneralizedCrossEntropy(q) for q in Q_CANDIDATES}
    scores = {}
    rows = predicted_rows(folds)
    for q, loss in losses.items():
        model = clone(estimator).set_params(loss=loss, loss_params=None)
        found = predict_out_of_fold(model, folds, X, target.labels, fit_params).argmax(axis=1)
        scores[q] = float(
            np.average(found == target.codes[rows], weights=None if weight is None else weight[rows])
        )
    # Of tied candidates, `max` returns the first, which is closest to cross entropy.
    return losses[max(scores, key=scores.__getitem__)], scores
