"""Describe metrics for a config: names, functions and `Metric` objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..config.metric_spec import describe_metric
from ..errors import ConfigError
from ..extensions import own_objects
from ..metrics.own_metric import as_metric, check_function


def describe_metrics(metrics: Any, main: Any) -> tuple[list[Any], Any]:
    """Metrics of a config, and the name of the one that replaces accuracy.

    Parameters
    ----------
    metrics : collection of str, callable or Metric
    main : str, callable or Metric

    Raises
    ------
    ConfigError
        If a metric is invalid or cannot be sent to other processes.
    TypeError
        If `metrics` is no collection.
    """
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise TypeError(f"metrics must be a list of names, functions or Metric objects, got {metrics!r:.60}")
    described = [_describe(metric, f"metrics[{i}]") for i, metric in enumerate(metrics)]
    if isinstance(main, str):
        return described, main
    own = _describe(main, "metric")
    return [*described, *([] if own in described else [own])], own["name"]


def _describe(metric: Any, context: str) -> Any:
    if isinstance(metric, str):
        return metric
    try:
        metric = as_metric(metric)
        check_function(metric.function)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{context}: {error}") from None
    return describe_metric(metric, own_objects.register(metric, context))
