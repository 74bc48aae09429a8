"""Training of `RobustLGBMClassifier` on Dask collections, by `lightgbm.dask`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, TypeVar

import lightgbm
import numpy as np
from numpy.typing import NDArray

from ..label_noise.dask_rows import DaskRows, find_client
from ..losses.softmax import Floats
from ..objectives.hooks import LightGBMObjective
from ..objectives.intercept import lightgbm_intercept
from .dask_passes import DaskTraining, prepare_dask_training
from .estimator import OWN_PARAMETERS, refuse_arguments, temporarily_set
from .frames import column_names
from .lightgbm_booster import add_to_first_trees, set_classes, write_objective
from .lightgbm_parameters import AUTO_PARAMETERS, LIGHTGBM_NAMES, SOFT_OBJECTIVE, for_training
from .loss_parameters import build_loss, choose_loss_parameter

E = TypeVar("E", bound=Any)


class InitialScoreObjective:
    """Objective with soft labels, which are added to the initial scores of the training rows.

    LightGBM's data sets have one label per row, and workers do not know which rows they are given.  In the
    first round the margins are the initial scores: soft labels plus intercept.

    Parameters
    ----------
    objective : LightGBMObjective
    intercept : float array of shape (1,) for two classes, else (K,)
        The margins from which training starts.
    """

    def __init__(self, objective: LightGBMObjective, intercept: Floats) -> None:
        self.objective, self.intercept = objective, intercept
        self._soft: Floats | None = None

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and curvature of the expected loss, in the scikit-learn interface; `y_true` is ignored."""
        if self._soft is None:
            self._soft = np.clip(y_pred - self.intercept, 0.0, 1.0)
        p = self._soft
        soft = np.column_stack([1 - p, p]) if p.ndim == 1 else p
        return self.objective(soft, y_pred - p, sample_weight)


def fit_on_dask(estimator: E, X: Any, y: Any, sample_weight: Any, others: dict[str, Any]) -> E:
    """Fit a `RobustLGBMClassifier` to Dask collections; `others` are arguments of `fit` that are refused."""
    refuse_arguments(others)
    if estimator._get_library_parameter("early_stopping"):
        raise ValueError("early stopping is not supported with Dask collections")
    client = find_client()
    rows = DaskRows.read(client, X, y, sample_weight)
    n_classes = len(rows.encoder.classes_)
    objective = estimator._make_objective(n_classes, build_loss(estimator, n_classes))
    estimator._adapted_metrics(None, objective, is_built_in=objective.is_built_in)  # raises errors
    training = prepare_dask_training(estimator, AUTO_PARAMETERS, objective, rows, stops_early=False)
    drawn, sample = training.drawn, training.sample
    with temporarily_set(estimator, **sample.params):
        given = {"sample_weight": drawn.counted_weight, "eval_set": None}
        objective = choose_loss_parameter(estimator, objective, drawn.X, sample.target, given, None)
        _train(estimator, rows, training, objective)
    sample.set_attributes(estimator)
    estimator._columns = column_names(rows.X)
    return estimator


def _train(estimator: Any, rows: DaskRows, training: DaskTraining, objective: LightGBMObjective) -> None:
    """Train the booster of all rows, as `RobustLGBMClassifier` does on one machine."""
    n_classes = len(rows.encoder.classes_)
    params = for_training(estimator.get_params())
    # Each worker uses its own threads.
    for name in (*OWN_PARAMETERS, "class_weight", *LIGHTGBM_NAMES["num_threads"]):
        params.pop(name, None)
    if training.is_soft:  # their weights include that of class 1
        objective = replace(objective, scale_pos_weight=1.0)
        params["scale_pos_weight"] = 1.0
    labels, init_score, intercept = rows.codes, None, None
    if training.sample.uses_built_in(objective):
        params["objective"] = "binary" if n_classes == 2 else "multiclass"
        if training.is_soft:
            params["objective"] = SOFT_OBJECTIVE
            labels = training.positive_shares(rows)
    else:
        intercept = _intercept(estimator, rows, training)
        starts = rows.client.map(_start, training.labels, intercept=intercept, pure=False)
        init_score = rows.to_array(starts, *([n_classes] if n_classes > 2 else []), dtype=np.float64)
        params["objective"] = InitialScoreObjective(objective, intercept) if training.is_soft else objective
    if n_classes > 2:
        params["num_class"] = n_classes
    weights = None if training.weights is None else rows.to_array(training.weights)

    # A regressor takes labels as they are; a classifier would encode those of each worker.
    model: Any = lightgbm.DaskLGBMRegressor(client=rows.client, **params)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")  # even by its default
        model.fit(rows.X, rows.to_array(labels), sample_weight=weights, init_score=init_score)
    for name in set(vars(model)) - set(model.get_params()) - {"_other_params"}:
        setattr(estimator, name, getattr(model, name))
    set_classes(estimator, rows.encoder)
    if intercept is not None:
        add_to_first_trees(estimator.booster_, intercept)
    write_objective(estimator.booster_, n_classes)


def _intercept(estimator: Any, rows: DaskRows, training: DaskTraining) -> Floats:
    """Intercept of a hook; see `lightgbm_intercept`."""
    n_classes = len(rows.encoder.classes_)
    if estimator._get_library_parameter("boost_from_average") is False:
        return np.zeros(1 if n_classes == 2 else n_classes)
    return lightgbm_intercept(np.arange(n_classes), training.class_totals(rows), n_classes)


def _start(labels: NDArray[Any], intercept: Floats) -> Floats:
    """Initial scores of a part, to which soft labels are added."""
    if labels.ndim == 2:
        start: Floats = (labels[:, 1] if intercept.size == 1 else labels) + intercept
        return start
    return np.tile(intercept, (labels.size, 1)) if intercept.size > 1 else np.full(labels.size, intercept[0])
