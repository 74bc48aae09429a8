"""LightGBM's parameters: which a robust loss replaces, which `fit` chooses, and evaluation metrics."""

from __future__ import annotations

import math
from typing import Any

import joblib
import numpy as np
from sklearn.preprocessing import LabelEncoder

from ..objectives.hooks import LightGBMObjective
from ..objectives.metrics import ErrorMetric, LogLossMetric, adapt_metric, default_metric
from .auto_parameters import ROUND_PARAMETERS, AutoParameters, is_auto
from .target import encode_eval_labels, encode_eval_set

# Aliases of the LightGBM parameters that a robust loss replaces or restricts.
LIGHTGBM_NAMES = {
    "objective": ("objective", "objective_type", "app", "application"),
    "metric": ("metric", "metrics", "metric_types"),
    "is_unbalance": ("is_unbalance", "unbalance", "unbalanced_sets"),
    "linear_tree": ("linear_tree", "linear_trees"),
    "boost_from_average": ("boost_from_average",),
    "num_threads": ("n_jobs", "num_threads", "num_thread", "nthread", "nthreads"),
    "scale_pos_weight": ("scale_pos_weight",),
    "sigmoid": ("sigmoid",),
    "early_stopping": (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    ),
}
# Parameters that all structures share.
SHARED = {
    "subsample": 0.7,
    "subsample_freq": 1,
    "colsample_bynode": 0.7,
    # LightGBM's default would exclude most categories on small samples.
    "min_data_per_group": 10,
    # With LightGBM's default of 0.001, a leaf of rows that are almost certain gets a value of thousands if the
    # label of one of them is wrong.
    "min_child_weight": 0.1,
}

# Parameters that can be "auto".
AUTO_PARAMETERS = AutoParameters(
    structures=(
        (
            {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 8, **SHARED},
            {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 16, **SHARED},
        ),
        (
            {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 16, **SHARED},
            {"n_estimators": 200, "learning_rate": 0.05, "num_leaves": 31, **SHARED},
        ),
        (
            {"n_estimators": 100, "learning_rate": 0.1, "num_leaves": 31, **SHARED},
            {"n_estimators": 150, "learning_rate": 0.05, "num_leaves": 63, **SHARED},
        ),
        (
            {"n_estimators": 100, "learning_rate": 0.1, "num_leaves": 63, **SHARED},
            {"n_estimators": 100, "learning_rate": 0.1, "num_leaves": 127, **SHARED},
        ),
    ),
    defaults={
        "n_estimators": 100,
        "learning_rate": 0.1,
        "num_leaves": 31,
        "min_child_weight": 1e-3,
        "min_data_per_group": 100,
        "subsample": 1.0,
        "subsample_freq": 0,
        "colsample_bynode": None,
    },
    aliases={
        "n_estimators": (
            "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds",
            "nrounds", "num_boost_round", "max_iter",
        ),
        "learning_rate": ("shrinkage_rate", "eta"),
        "min_child_weight": (
            "min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian",
        ),
        "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "subsample": ("bagging_fraction", "sub_row", "bagging"),
        "subsample_freq": ("bagging_freq",),
        "colsample_bynode": ("feature_fraction_bynode", "sub_feature_bynode"),
    },
    limits={"num_leaves": ("max_depth",)},
)  # fmt: skip
# LightGBM's names of metrics, by what computes them from margins.
LOG_LOSS = ("logloss", "binary_logloss", "binary", "multi_logloss", "multiclass", "softmax")
ERROR = ("binary_error", "multi_error")
RANKING = ("auc", "average_precision")  # LightGBM itself: only the order of rows matters
SOFT_OBJECTIVE = "cross_entropy"  # for probabilities of class 1
MIN_VALUES_PER_THREAD = 1 << 16
NO_METRIC = ("none", "na", "null", "custom")  # in any case


def for_training(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters for LightGBM itself: without those that are chosen later, and without its metrics."""
    params = {name: value for name, value in params.items() if not is_auto(value)}
    for name in ROUND_PARAMETERS:  # LightGBM would prefer some of the other names
        for alias in AUTO_PARAMETERS.aliases[name]:
            params.pop(alias, None)
    # With a hook, LightGBM raises an error if this filter removes all features, as it may on small data.
    return {"feature_pre_filter": False, **params, "metric": "None"}


def threads_for(X: Any) -> int:
    """Number of threads: few rows take longer with more, much longer if the cores are busy."""
    n_values = math.prod(X.shape if hasattr(X, "shape") else np.asarray(X).shape)
    n_cores: int = joblib.cpu_count(only_physical_cores=True)
    return min(n_cores, 1 + n_values // MIN_VALUES_PER_THREAD)


def evaluation_sizes(eval_set: Any, eval_y: Any) -> list[int]:
    """Number of rows of each evaluation set, in either form that LightGBM accepts."""
    if eval_set is not None:
        pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
        return [len(labels) for _, labels in pairs]
    if eval_y is None:
        return []
    return [len(labels) for labels in (eval_y if isinstance(eval_y, tuple) else (eval_y,))]


def encode_evaluated(eval_set: Any, eval_y: Any, encoder: LabelEncoder) -> dict[str, Any]:
    """Evaluation sets with class numbers in place of labels, by argument of `fit`; errors as `encode_eval_set`.

    The labels of ``eval_y`` are an array or a tuple of arrays.
    """
    encoded: dict[str, Any] = {}
    if eval_set is not None:
        encoded["eval_set"] = encode_eval_set([eval_set] if isinstance(eval_set, tuple) else eval_set, encoder)
    if isinstance(eval_y, tuple):
        encoded["eval_y"] = tuple(
            encode_eval_labels(labels, encoder, f"eval_y[{i}]") for i, labels in enumerate(eval_y)
        )
    elif eval_y is not None:
        encoded["eval_y"] = encode_eval_labels(eval_y, encoder, "eval_y")
    return encoded


def adapt_metrics(requested: list[Any], objective: LightGBMObjective, *, is_built_in: bool) -> list[Any]:
    """The requested metrics, converted to read what LightGBM passes with this objective.

    Parameters
    ----------
    requested : list of length 2
        Values of ``eval_metric`` and of LightGBM's parameter ``metric``: a name, several names that are
        separated by commas, a callable, a list of them, or None.
    objective : LightGBMObjective
        For a number of classes, which is not None.
    is_built_in : bool
        Whether LightGBM's own objective takes its place.

    Raises
    ------
    ValueError
        If LightGBM would compute a metric from the margins of a robust loss as if they were probabilities.
    """
    n_classes = objective.n_classes
    assert n_classes is not None  # noqa: S101 - for the type checker: the estimator sets it
    kind, ranking = ("binary", RANKING) if n_classes == 2 else ("multi", ())
    metrics: list[Any] = []
    for value in requested:
        for metric in value if isinstance(value, list | tuple) else [value]:
            metrics += [name.strip() for name in metric.split(",")] if isinstance(metric, str) else [metric]
    disabled = any(isinstance(metric, str) and metric.lower() in NO_METRIC for metric in metrics)
    converted: list[Any] = []
    for metric in metrics:
        if callable(metric):
            converted.append(adapt_metric(metric, "lightgbm", n_classes, built_in=is_built_in))
        elif metric is None or metric == "" or metric.lower() in NO_METRIC:
            continue
        elif is_built_in or metric in ranking:
            converted.append(metric)
        elif metric in LOG_LOSS:
            converted.append(LogLossMetric("lightgbm", name=f"{kind}_logloss"))
        elif metric in ERROR:
            converted.append(ErrorMetric("lightgbm", name=f"{kind}_error"))
        else:
            allowed = ", ".join([f"{kind}_logloss", f"{kind}_error", *ranking])
            raise ValueError(
                f"metric {metric!r} of LightGBM would read the margins of a robust loss as probabilities; "
                f"allowed metrics: {allowed}, a callable, or nothing for the loss"
            )
    # As in LightGBM, the parameter `metric` replaces the metric of the objective; `eval_metric` adds to it.
    if not disabled and requested[1] in (None, ""):
        default = default_metric(objective.loss, "lightgbm", n_classes)
        converted.append(f"{kind}_logloss" if is_built_in else default)
    return list(dict.fromkeys(converted))
