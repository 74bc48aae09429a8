"""Config of a user's metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from robust_splits.plugins import plugin_names

from ..errors import suggest
from ..extensions.references import Reference, identity_of, load
from ..metrics.measures import Predictions
from ..metrics.own_metric import LABEL, NAME, Metric, as_metric, score
from ..metrics.registry import BUILT_IN, MAX_VALUE, Measure, register
from .base import Strict
from .figures import BY_DATASET

GROUP = "metrics"
MEAN = "mean_"  # prefix of tables

Bound = Annotated[float, Field(ge=-MAX_VALUE, le=MAX_VALUE)]


class MetricSpec(Strict):
    """A metric of an installed package.

    In a config, its name can replace the object.

    Attributes
    ----------
    name : str
        Column of the scores.
    label : str
        Axis label.
    minimum : float
        Lowest valid value.
    maximum : float
        Highest valid value.
    higher_is_better : bool
        Whether the highest value is the best.
    function : str
        Name of the metric in the package.
    """

    name: Annotated[str, Field(pattern=f"^{NAME}$")]
    label: Annotated[str, Field(pattern=f"^{LABEL}$")]
    minimum: Bound = 0.0
    maximum: Bound = 1.0
    higher_is_better: bool = True
    function: Reference

    @classmethod
    def short_form(cls) -> dict[str, Any]:
        """JSON Schema of the names of metrics."""
        return {"type": "string", "pattern": f"^{NAME}$"}

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        known = plugin_names(GROUP, BUILT_IN)
        if value not in known:
            of_project = "; measures of this project need not be listed" if value in BUILT_IN else ""
            raise ValueError(f"no installed package has such a metric{suggest(value, known)}{of_project}")
        return describe_metric(as_metric(load(value, GROUP)), value) | {"name": value}

    @property
    def is_accuracy(self) -> bool:
        """Whether the metric can replace accuracy; see `Measure.is_accuracy`."""
        return self._measure.is_accuracy

    @property
    def _measure(self) -> Measure:
        return Measure(self.name, self.label, self.minimum, self.maximum, self.higher_is_better)

    @property
    def identity(self) -> list[str]:
        """Name and version, for keys of cells."""
        return [self.name, *identity_of(self.function, GROUP)]

    def score(self, predictions: Predictions) -> float | None:
        """Compute the metric; see `own_metric.score`."""
        return score(as_metric(load(self.function, GROUP)), predictions)

    @model_validator(mode="after")
    def _register(self) -> Self:
        if not self.minimum < self.maximum:
            raise ValueError(f"minimum must be below maximum, got {self.minimum:g} and {self.maximum:g}")
        register(self._measure)
        return self


def describe_metric(metric: Metric, function: Any) -> dict[str, Any]:
    """Object for a config from a metric, and the reference to it."""
    return {
        "name": metric.name,
        "label": metric.label,
        "minimum": float(metric.minimum),
        "maximum": float(metric.maximum),
        "higher_is_better": bool(metric.higher_is_better),
        "function": function,
    }


def add_named_metrics(config: Mapping[str, Any]) -> Any:
    """Metrics of a config, and those of installed packages that its other keys name."""
    metrics = config.get("metrics", [])
    if not isinstance(metrics, list):
        return metrics
    listed = {metric.get("name") if isinstance(metric, dict) else metric for metric in metrics}
    named = [config.get("metric"), *_texts(config.get("tables")), *_texts(config.get("figures"))]
    bare = (str(name).removeprefix(MEAN).removesuffix(BY_DATASET) for name in named)
    known = plugin_names(GROUP, BUILT_IN)
    return [*metrics, *dict.fromkeys(name for name in bare if name in known and name not in listed)]


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
