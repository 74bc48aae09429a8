"""What of a loss is left to noisy labels: q of ``gce``, and T of ``forward`` and ``backward``.

Both come from cross-fitting.  The rows are divided into five folds with the same shares of the classes, by
``random_state`` (None is 0, as both libraries do the same each time without one), and the rows of each get
their probabilities from an estimator that is fitted to the other four.  So every label judges, and none a model
that has seen it; a single held-out fifth chose so badly on data of a few hundred rows that a fixed q did
better.  The last fit is to all rows.  An ``eval_set`` serves all fits to stop early; it has no say in the
choice, as it may well hold rows that are trained on.

Of the candidates for q that wins whose models are most accurate on the noisy labels, each row counting with its
weight; of equal ones the smallest, which is nearest to cross entropy and gives the most faithful probabilities.
Uniform noise of the rate ``r < 1 - 1/K`` makes of an accuracy a ``r / (K-1) + (1 - r K / (K-1)) a``, which
keeps the order of models.  Under other noise the order may change, but while each class keeps most of its
labels no model is above the one that is always right [1]_.  Log losses could not be compared: the more robust
the loss, the less its probabilities are those of noisy labels.

T is that of `estimate_transition_matrix`, by its method "anchor", from the probabilities of cross entropy.

References
----------
.. [1] Chen, Ye, Chen, Zhao & Heng, "Robustness of Accuracy Metric and its Inspirations in Learning with Noisy
       Labels", AAAI 2021.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from ._classifier import check_keywords, combined_weight
from .hooks import Objective
from .losses.base import Loss
from .losses.label import GeneralizedCrossEntropy
from .losses.registry import get_loss
from .losses.softmax import Floats
from .transition_estimation import estimate_transition_matrix

Q_CANDIDATES = (0.0, 0.3, 0.5, 0.7, 1.0)
FOLDS = 5

# What stands for a choice by the data, by loss and parameter.
LEARNED = {("gce", "q"): "auto", ("forward", "T"): "estimate", ("backward", "T"): "estimate"}
# What `fit` takes to start from, in either library.
STARTS = ("base_margin", "xgb_model", "init_score", "init_model")

AnObjective = TypeVar("AnObjective", bound=Objective)
Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]  # rows to fit and rows to judge


def loss_of(estimator: Any, n_classes: int = 2) -> Loss:
    """The loss that an estimator's parameters name; what is chosen on data has some valid value.

    Raises
    ------
    ValueError, TypeError
        If `loss` or `loss_params` is not valid, or a parameter of the loss was given beside `loss_params`.
    """
    check_keywords(estimator)
    params = estimator.loss_params
    if params is not None and not isinstance(params, dict):
        raise TypeError(f"loss_params must be a dict or None, got {params!r}")
    params = dict(params or {})
    name = learned_parameter(estimator)
    if name is not None:
        params[name] = Q_CANDIDATES[0] if name == "q" else np.eye(n_classes)
    return get_loss(estimator.loss, **params)


def learned_parameter(estimator: Any) -> str | None:
    """Name of the parameter of an estimator's loss that is chosen on data, or None."""
    for (loss, name), word in LEARNED.items():
        value = (estimator.loss_params or {}).get(name)
        if isinstance(value, str) and value == word and estimator.loss == loss:
            return name
    return None


def adapt(
    estimator: Any,
    objective: AnObjective,
    X: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int64],
    fit_params: dict[str, Any],
) -> AnObjective:
    """The objective to train with; the estimator gets `loss_`, and `loss_scores_` where q is chosen.

    Parameters
    ----------
    estimator : RobustXGBClassifier or RobustLGBMClassifier
    objective : XGBoostObjective or LightGBMObjective
        With the loss of `loss_of`.
    X : array-like of n rows
    labels, codes : arrays of shape (n,)
        Labels and class numbers.
    fit_params : dict
        What else is given to `fit`, `sample_weight` in any case.

    Raises
    ------
    ValueError
        If a class has a single row, the training starts from margins or from a model, or the estimated T is
        singular.
    """
    name = learned_parameter(estimator)
    loss, scores = objective.loss, None
    if name is not None:
        _check_start(estimator, name, fit_params)
        if _num_samples(X) != codes.size:
            raise ValueError(f"X and y must have as many rows, got {_num_samples(X)} and {codes.size}")
        weight = combined_weight(labels, fit_params["sample_weight"], estimator.class_weight)
        if objective.scale_pos_weight != 1:
            weight = np.where(codes == 1, objective.scale_pos_weight, 1.0) * (1.0 if weight is None else weight)
        X, sample_weight = indexable(X, fit_params["sample_weight"])
        fit_params = {**fit_params, "sample_weight": sample_weight}
        folds = _folds(estimator, name, labels, codes)
        if name == "q":
            loss, scores = _choose_q(estimator, folds, X, labels, codes, weight, fit_params)
        else:
            # What the library itself would fit.
            model = clone(estimator).set_params(loss="ce", loss_params=None, hessian=None)
            p = out_of_fold(model, folds, X, labels, fit_params)
            T = estimate_transition_matrix(codes, p, sample_weight=weight)
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
    """The loss whose models are most accurate on noisy labels, and the accuracy by q."""
    losses = {q: GeneralizedCrossEntropy(q) for q in Q_CANDIDATES}
    scores = {}
    for q, loss in losses.items():
        model = clone(estimator).set_params(loss=loss, loss_params=None)
        found = out_of_fold(model, folds, X, labels, fit_params).argmax(axis=1)
        scores[q] = float(np.average(found == codes, weights=weight))
    # Of equal ones the first, which is nearest to cross entropy.
    return losses[max(scores, key=scores.__getitem__)], scores


def out_of_fold(
    estimator: Any, folds: Folds, X: Any, labels: NDArray[Any], fit_params: dict[str, Any]
) -> Floats:
    """Probabilities of the classes for each row, from an estimator that is fitted without its fold."""
    p = []
    for seen, unseen in folds:
        given = dict(fit_params)
        if given["sample_weight"] is not None:
            given["sample_weight"] = _safe_indexing(given["sample_weight"], seen)
        if given.get("callbacks") is not None:
            given["callbacks"] = deepcopy(given["callbacks"])  # they may remember where they stopped
        fitted = clone(estimator).fit(_safe_indexing(X, seen), labels[seen], **given)
        p.append(fitted.predict_proba(_safe_indexing(X, unseen)))
    in_order = np.argsort(np.concatenate([unseen for _, unseen in folds]))
    return np.concatenate(p).astype(np.float64)[in_order]


def _check_start(estimator: Any, name: str, fit_params: dict[str, Any]) -> None:
    """Raise where the training starts from what all rows, or rows of a fold, may have made."""
    for start in STARTS:
        if fit_params.get(start) is not None:
            raise ValueError(
                f"{start} cannot be combined with {name}={estimator.loss_params[name]!r}: it may know the "
                "labels that are to judge; pass the loss_ of a model fitted without it as loss"
            )


def _folds(estimator: Any, name: str, labels: NDArray[Any], codes: NDArray[np.int64]) -> Folds:
    """Folds of the same shares of classes, and fits that know every class."""
    rows = np.bincount(codes)
    if rows.min() < 2:
        alone = np.unique(labels)[rows < 2].tolist()
        raise ValueError(
            f"{name}={estimator.loss_params[name]!r} needs at least two rows of each class, "
            f"to fit one and judge by the other; a single one has the label {alone[0]!r}"
        )
    split = StratifiedKFold(
        min(FOLDS, int(rows.max())), shuffle=True, random_state=_seed(estimator.random_state)
    )
    with warnings.catch_warnings():
        # Rare classes are in fewer folds, but never in one alone.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(split.split(codes, codes))


def _seed(random_state: Any) -> int:
    """A number from whatever the libraries take; they too do the same each time where none is given."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    return 0 if random_state is None else int(random_state)
