"""Evaluation sets and metrics in the forms that LightGBM accepts."""

from __future__ import annotations

import inspect
from typing import Any

import lightgbm
from sklearn.preprocessing import LabelEncoder

from ._classifier import encode_eval_labels
from .hooks import LightGBMObjective
from .metrics import ErrorMetric, LogLossMetric, adapt_metric, default_metric

# LightGBM's names of metrics, by what computes them from margins.
LOG_LOSS = ("logloss", "binary_logloss", "binary", "multi_logloss", "multiclass", "softmax")
ERROR = ("binary_error", "multi_error")
RANKING = ("auc", "average_precision")  # LightGBM itself: only the order of rows matters
NO_METRIC = ("none", "na", "null", "custom")  # in any case


def evaluation_arguments(X: Any, y: Any) -> dict[str, Any]:
    """Arguments of `fit` for one evaluation set; LightGBM 4.7 warns about `eval_set`."""
    if "eval_X" in inspect.signature(lightgbm.LGBMClassifier.fit).parameters:
        return {"eval_X": X, "eval_y": y}
    return {"eval_set": [(X, y)]}


def evaluation_sizes(eval_set: Any, eval_y: Any) -> list[int]:
    """Number of rows of each evaluation set, in either form that LightGBM accepts."""
    if eval_set is not None:
        pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
        return [len(labels) for _, labels in pairs]
    if eval_y is None:
        return []
    return [len(labels) for labels in (eval_y if isinstance(eval_y, tuple) else (eval_y,))]


def encode_eval_y(eval_y: Any, encoder: LabelEncoder) -> Any:
    """Class numbers of labels, or of a tuple of arrays of them; LightGBM encodes those of `eval_set` only."""
    if isinstance(eval_y, tuple):
        return tuple(encode_eval_labels(labels, encoder, f"eval_y[{i}]") for i, labels in enumerate(eval_y))
    return encode_eval_labels(eval_y, encoder, "eval_y")


def adapt_metrics(requested: list[Any], objective: LightGBMObjective, n_classes: int) -> list[Any]:
    """The requested metrics, converted to read what LightGBM passes with this objective.

    Parameters
    ----------
    requested : list
        Values of ``eval_metric`` and of LightGBM's parameter ``metric``: a name, several names that are
        separated by commas, a callable, a list of them, or None.
    objective : LightGBMObjective
    n_classes : int

    Raises
    ------
    ValueError
        If LightGBM would compute a metric from the margins of a robust loss as if they were probabilities.
    """
    kind, ranking = ("binary", RANKING) if n_classes == 2 else ("multi", ())
    metrics: list[Any] = []
    for value in requested:
        for metric in value if isinstance(value, list | tuple) else [value]:
            metrics += [name.strip() for name in metric.split(",")] if isinstance(metric, str) else [metric]
    disabled = any(isinstance(metric, str) and metric.lower() in NO_METRIC for metric in metrics)
    converted: list[Any] = []
    for metric in metrics:
        if callable(metric):
            converted.append(adapt_metric(metric, "lightgbm", n_classes, built_in=objective.is_built_in))
        elif metric is None or metric == "" or metric.lower() in NO_METRIC:
            continue
        elif objective.is_built_in or metric in ranking:
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
    if converted or disabled:
        return list(dict.fromkeys(converted))
    if objective.is_built_in:
        return [f"{kind}_logloss"]
    return [default_metric(objective.loss, "lightgbm", n_classes)]
