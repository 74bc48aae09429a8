"""Training of `RobustXGBClassifier` on Dask collections, by `xgboost.dask`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import xgboost.dask
from numpy.typing import NDArray

from ..label_noise.dask_rows import DaskRows, again_if_workers_are_lost, find_client
from ..losses.softmax import Floats
from ..objectives.hooks import XGBoostObjective
from .dask_passes import DaskTraining, prepare_dask_training
from .estimator import refuse_arguments, temporarily_set
from .loss_parameters import choose_loss_parameter
from .xgboost_booster import stops_early
from .xgboost_parameters import AUTO_PARAMETERS

E = TypeVar("E", bound=Any)


@dataclass(frozen=True, eq=False)
class BaseMarginObjective:
    """Objective with soft labels, which are stored in the base margins of the training rows.

    XGBoost's data sets have one label per row, and workers do not know which rows they are given.  Base margins
    are added to all margins, and subtracted here.

    Parameters
    ----------
    objective : XGBoostObjective
    intercept : float array of shape (K,)
        The margins from which training starts.
    """

    objective: XGBoostObjective
    intercept: Floats

    def __call__(self, margin: NDArray[Any], rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and curvature of the expected loss, in the native interface."""
        soft = rows.get_base_margin().reshape(margin.shape)
        weight = rows.get_weight()
        margin = margin - soft + self.intercept.astype(margin.dtype)
        return self.objective(soft, margin, weight if np.size(weight) else None)


@dataclass(frozen=True, eq=False)
class TwoSharesObjective:
    """Objective whose labels are the probabilities of class 1.

    Parameters
    ----------
    objective : XGBoostObjective
    """

    objective: XGBoostObjective

    def __call__(self, margin: NDArray[Any], rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient and curvature of the expected loss, in the native interface."""
        share, weight = rows.get_label(), rows.get_weight()
        soft = np.column_stack([1 - share, share])
        return self.objective(soft, margin, weight if np.size(weight) else None)


def fit_on_dask(estimator: E, X: Any, y: Any, sample_weight: Any, eval_set: Any, others: dict[str, Any]) -> E:
    """Fit a `RobustXGBClassifier` to Dask collections.

    `others` are other arguments of its `fit`, which are refused except for ``verbose``.
    """
    verbose = others.pop("verbose", None)
    refuse_arguments(others)
    client = find_client()
    stops = bool(estimator.early_stopping_rounds) or stops_early(estimator.callbacks)
    if stops and eval_set is None:
        raise ValueError("early stopping needs rows to evaluate: pass eval_set to fit")
    rows = DaskRows.read(client, X, y, sample_weight)
    evaluated = [DaskRows.read(client, X_, y_, encoder=rows.encoder) for X_, y_ in eval_set or ()]
    n_classes = len(rows.encoder.classes_)
    objective = estimator._make_objective(n_classes)
    if evaluated:
        _metric_names(estimator, objective, n_classes)  # raises errors before anything is fitted
    training = prepare_dask_training(estimator, AUTO_PARAMETERS, objective, rows, stops_early=stops)
    drawn, sample = training.drawn, training.sample
    with temporarily_set(estimator, **sample.params):
        given = {"sample_weight": drawn.counted_weight, "eval_set": None, "verbose": False}
        objective = choose_loss_parameter(estimator, objective, drawn.X, sample.target, given, None)
    _train(estimator, rows, evaluated, training, objective, verbose)
    estimator.n_classes_, estimator._labels = n_classes, rows.encoder.classes_
    sample.set_attributes(estimator)
    return estimator


def _train(
    estimator: Any,
    rows: DaskRows,
    evaluated: list[DaskRows],
    training: DaskTraining,
    objective: XGBoostObjective,
    verbose: Any,
) -> None:
    """Train the booster of all rows, as `RobustXGBClassifier` does on one machine."""
    sample, n_classes = training.sample, len(rows.encoder.classes_)
    params = {**sample.params, "objective": "binary:logistic" if n_classes == 2 else "multi:softprob"}
    if training.is_soft:  # their weights include that of class 1
        objective = replace(objective, scale_pos_weight=1.0)
    is_built_in = sample.uses_built_in(objective)
    if training.is_soft or n_classes > 2:
        params["scale_pos_weight"] = None
    labels, margins = training.labels, None
    called: Any = None
    if not is_built_in and estimator.base_score is None:
        params["base_score"] = objective.base_score(np.arange(n_classes), training.class_totals(rows))
    if training.is_soft and n_classes == 2:
        labels = training.positive_shares(rows)
        called = None if is_built_in else TwoSharesObjective(objective)
    elif training.is_soft:
        margins = rows.to_array(labels, n_classes)
        labels = rows.codes
        start = params.get("base_score", estimator.base_score)
        called = BaseMarginObjective(objective, np.full(n_classes, start, dtype=np.float64))
    elif not is_built_in:
        called = objective
    params["eval_metric"] = _metric_names(estimator, objective, n_classes) if evaluated else None
    with temporarily_set(estimator, **params):

        def train() -> dict[str, Any]:
            matrix = _matrix(estimator, rows, labels, training.weights, margins)
            found: dict[str, Any] = xgboost.dask.train(
                rows.client,
                {**estimator.get_xgb_params(), **({} if n_classes == 2 else {"num_class": n_classes})},
                matrix,
                num_boost_round=estimator.get_num_boosting_rounds(),
                evals=[
                    (_matrix(estimator, some, some.codes, ref=matrix), f"validation_{i}")
                    for i, some in enumerate(evaluated)
                ],
                obj=called,
                early_stopping_rounds=estimator.early_stopping_rounds,
                callbacks=estimator.callbacks,
                verbose_eval=bool(verbose),
            )
            return found

        found = again_if_workers_are_lost(rows.client, train)
    estimator._Booster = found["booster"]
    estimator._set_evaluation_result(found["history"] if evaluated else {})


def _matrix(
    estimator: Any,
    rows: DaskRows,
    labels: list[Any],
    weights: list[Any] | None = None,
    margins: Any = None,
    *,
    ref: Any = None,
) -> Any:
    """XGBoost's data set of Dask; rows to evaluate are binned as those to train on, `ref`."""
    return xgboost.dask.DaskQuantileDMatrix(
        rows.client,
        rows.X,
        rows.to_array(labels),
        weight=None if weights is None else rows.to_array(weights),
        base_margin=margins,
        missing=estimator.missing,
        feature_types=estimator.feature_types,
        max_bin=estimator.max_bin,
        ref=ref,
        enable_categorical=estimator.enable_categorical,
    )


def _metric_names(estimator: Any, objective: XGBoostObjective, n_classes: int) -> Any:
    """XGBoost's own metrics, which it computes of the rows of all workers.

    Raises
    ------
    ValueError
        If there is another one, such as the loss, whose values XGBoost would average over the workers.
    """
    metrics = estimator._adapted_metrics(objective, n_classes)
    for metric in metrics if isinstance(metrics, list | tuple) else [metrics]:
        if callable(metric):
            raise ValueError(
                "eval_metric must be a metric of XGBoost's own for Dask collections, such as 'logloss', "
                f"got {metric!r}"
            )
    return metrics
