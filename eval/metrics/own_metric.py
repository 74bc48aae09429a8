"""Metrics of users: functions of scikit-learn's form."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .measures import Predictions

ResponseMethod = Literal["predict", "predict_proba"]

# Names are columns, and labels are shown in pictures and in HTML.
NAME, LABEL = "[A-Za-z][A-Za-z0-9_]{0,59}", r"[\w ()%,./@-]{1,60}"


@dataclass(frozen=True)
class Metric:
    """A metric of your own, computed in every cell from the labels of the test rows and the predictions.

    Labels are class numbers, 0 to K - 1, in the order of the sorted labels of the data set.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns a number, as the functions of `sklearn.metrics` do.
    name : str or None, default=None
        Column of the scores; the name of the function by default.
    label : str or None, default=None
        Axis label; the name by default.
    minimum, maximum : float, default=0.0, 1.0
        Range of valid values.  Only a metric from 0 to 1, where higher values are better, can replace accuracy
        in ELA and RLA.
    higher_is_better : bool, default=True
    response_method : {"predict", "predict_proba"}, default="predict"
        ``"predict_proba"`` to pass probabilities in place of predicted labels: those of class 1 for two
        classes, else an array of shape (n_rows, n_classes).  Models without probabilities have no value.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from sklearn.metrics import matthews_corrcoef
    >>> from boostnoise.eval import Metric
    >>> Metric(matthews_corrcoef, minimum=-1).name
    'matthews_corrcoef'
    """

    function: Callable[..., Any]
    name: str = ""
    label: str = ""
    minimum: float = 0.0
    maximum: float = 1.0
    higher_is_better: bool = True
    response_method: ResponseMethod = "predict"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function of Metric must be callable, got {self.function!r:.60}")
        name = self.name or getattr(self.function, "__name__", "")
        label = self.label or name.replace("_", " ")
        if not re.fullmatch(NAME, name):
            raise ValueError(
                f"name of Metric must be an identifier of ASCII letters, such as 'lift', got {name!r}"
            )
        if not re.fullmatch(LABEL, label):
            raise ValueError(
                f"label of Metric must have letters, digits, blanks and ( ) % , . / @ - only, got {label!r}"
            )
        if not self.minimum < self.maximum:
            raise ValueError(f"minimum of Metric must be below maximum, got {self.minimum} and {self.maximum}")
        if self.response_method not in ("predict", "predict_proba"):
            raise ValueError(
                f"response_method of Metric must be 'predict' or 'predict_proba', got {self.response_method!r}"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "label", label)


def as_metric(found: Any) -> Metric:
    """A `Metric` as it is, and a function as a metric with the default range."""
    return found if isinstance(found, Metric) else Metric(found)


def score(metric: Metric, predictions: Predictions) -> float | None:
    """Compute a metric.

    Returns
    -------
    float or None
        None if the metric needs probabilities, and the model has none.

    Raises
    ------
    ValueError
        If the function returns no number of the metric's range.
    """
    predicted: Any = predictions.labels
    if metric.response_method == "predict_proba":
        predicted = predictions.probabilities
        if predicted is None:
            return None
        predicted = predicted[:, 1] if predicted.shape[1] == 2 else predicted
    found = metric.function(predictions.y, predicted)
    try:
        value = float(found)
    except (TypeError, ValueError):
        value = math.nan
    if not metric.minimum <= value <= metric.maximum or not math.isfinite(value):
        raise ValueError(
            f"metric {metric.name!r} must be a number from {metric.minimum:g} to {metric.maximum:g}, "
            f"got {np.asarray(found)!r:.60}"
        )
    return value


def check_function(function: Callable[..., Any]) -> None:
    """Raise a ValueError if a function cannot be called with two arguments."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        raise ValueError(
            f"a metric must be a function of (y_true, y_pred), but {getattr(function, '__name__', function)} "
            f"has the arguments {inspect.signature(function)}"
        ) from None
    except ValueError:  # a function without a signature
        return
