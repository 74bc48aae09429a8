"""Evaluation metrics for XGBoost and LightGBM.

With a custom objective both libraries pass margins to a metric, and LightGBM's own metrics would read them as
probabilities.  The parameter ``reads`` of the metrics of this module says which of the two they receive.  They
return the form that their library expects, in its native and in its scikit-learn interface.

References
----------
.. [1] Natarajan, Dhillon, Ravikumar & Tewari, "Learning with Noisy Labels", NeurIPS 2013.
.. [2] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robust_splits.label_noise.transition_matrix import check_matrix_size
from robust_splits.label_noise.weights import read_weights

from ..losses.base import Loss
from ..losses.checks import check_parameter
from ..losses.label import CrossEntropy
from ..losses.softmax import Classes, Floats, count_classes, probabilities, softmax_of
from ..losses.transition import to_tuples
from .library_inputs import read_data_set, reshape_margins, to_class_numbers, to_host


@dataclass(frozen=True)
class Metric(ABC):
    """Base class of evaluation metrics for two or more classes.

    Parameters
    ----------
    library : {"xgboost", "lightgbm"}
        The library that calls the metric, which determines the form of the result.
    reads : {"margins", "probabilities"}, default="margins"
        What the library passes as predictions: margins with a custom objective, probabilities with a built-in
        one.  The estimators of this package accept both.
    """

    library: Literal["xgboost", "lightgbm"]
    reads: Literal["margins", "probabilities"] = "margins"

    def __post_init__(self) -> None:
        for name, allowed in (("library", ("xgboost", "lightgbm")), ("reads", ("margins", "probabilities"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")

    @property
    @abstractmethod
    def __name__(self) -> str:
        """Name under which the libraries report the metric."""

    @abstractmethod
    def _row_scores(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        """Score of each row, shape (n,)."""

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the metric does not support this number of classes."""
        return  # most metrics support any number

    def _predicted_classes(self, predicted: NDArray[Any]) -> Classes:
        """Most probable class of each row."""
        if predicted.ndim == 2:
            found: Classes = predicted.argmax(axis=1)
        else:
            found = (predicted > (0 if self.reads == "margins" else 0.5)).astype(np.int64)
        return found

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Weighted mean of the scores of rows, in the form that the library expects.

        Parameters
        ----------
        y_true : array of shape (n,)
            Class numbers.  In a native call, the predictions.
        y_pred : array of shape (n,) or (n, K)
            Predictions, as given by `reads`.  In a native call, the `xgboost.DMatrix` or `lightgbm.Dataset`.
        sample_weight : array of shape (n,) or None
            In a native call, the data set contains the weights.

        Returns
        -------
        value
            In XGBoost's scikit-learn interface.
        (name, value)
            In XGBoost's native interface.
        (name, value, False)
            In both interfaces of LightGBM; False means that lower is better.

        Raises
        ------
        TypeError
            If the data set belongs to the other library.
        ValueError
            If the labels are not class numbers, if a weight is negative or not finite, or if the weights sum to
            more than 1e18.
        """
        native = hasattr(y_pred, "get_label")
        if native:
            y_pred, (y_true, sample_weight) = y_true, read_data_set(y_pred, self.library, 'library="{}"')
        y_true, y_pred, sample_weight = to_host(y_true), to_host(y_pred), to_host(sample_weight)
        predicted = reshape_margins(np.asarray(y_pred), len(y_true), "C" if self.library == "xgboost" else "F")
        y = to_class_numbers(np.asarray(y_true), count_classes(predicted))
        weight = None if sample_weight is None else read_weights(sample_weight, len(y))
        value = float(np.average(self._row_scores(y, predicted), weights=weight))
        if self.library == "lightgbm":
            return self.__name__, value, False
        return (self.__name__, value) if native else value


@dataclass(frozen=True)
class LogLossMetric(Metric):
    """Mean of ``-ln p_t``, with p_t the probability of the given label.

    Computed from margins, it is accurate for margins of any size.  Probabilities are clipped at the machine
    epsilon of their type, as in scikit-learn.

    Parameters
    ----------
    library, reads : see `Metric`
    name : str, default="log_loss"
        Name under which the library reports the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import LogLossMetric
    >>> LogLossMetric("lightgbm")(np.array([1, 0]), np.array([0.0, 800.0]))
    ('log_loss', 400.34657359027995, False)
    """

    name: str = "log_loss"

    @property
    def __name__(self) -> str:
        return self.name

    def _row_scores(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        if self.reads == "margins":
            return -softmax_of(predicted).of_label(y).log_p
        if predicted.ndim == 1:
            p = np.where(y == 1, predicted, 1 - predicted)
        else:
            p = predicted[np.arange(y.size), y]
        loss: Floats = -np.log(np.maximum(p, np.finfo(p.dtype).eps), dtype=np.float64)
        return loss


@dataclass(frozen=True)
class LossMetric(Metric):
    """Mean of a loss, which the objective of that loss minimises.

    It is what early stopping on noisy labels should watch: the log loss of a model with a robust loss rises
    long before its accuracy falls, because such a model does not estimate the probabilities of noisy labels.

    Parameters
    ----------
    library, reads : see `Metric`
    loss : Loss, default=CrossEntropy()

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import LossMetric, get_loss
    >>> LossMetric("lightgbm", loss=get_loss("mae"))(np.array([1, 0]), np.array([0.0, 0.0]))
    ('mae', 1.0, False)
    """

    loss: Loss = field(default_factory=CrossEntropy)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss, got {self.loss!r}; get_loss creates one from a name")

    @property
    def __name__(self) -> str:
        # The table of losses loads SciPy, which the other metrics do not need.
        from ..losses.registry import name_of

        return name_of(self.loss)

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the loss does not support this number of classes."""
        self.loss.check_classes(n_classes)

    def _row_scores(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        if self.reads == "margins":
            return self.loss.value(y, predicted.astype(np.float64))
        p, smallest = predicted.astype(np.float64), np.finfo(predicted.dtype).eps
        log_p = np.log(np.maximum(p, smallest))
        margin = log_p if p.ndim == 2 else log_p - np.log(np.maximum(1 - p, smallest))
        return self.loss.value(y, margin)


@dataclass(frozen=True)
class ErrorMetric(Metric):
    """Share of the labels that differ from the predicted classes.

    Parameters
    ----------
    library, reads : see `Metric`
    name : str, default="error"
        Name under which the library reports the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import ErrorMetric
    >>> ErrorMetric("lightgbm")(np.array([1, 0]), np.array([2.0, 0.5]))
    ('error', 0.5, False)
    """

    name: str = "error"

    @property
    def __name__(self) -> str:
        return self.name

    def _row_scores(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        wrong: Floats = (self._predicted_classes(predicted) != y).astype(np.float64)
        return wrong


@dataclass(frozen=True)
class CorrectedErrorMetric(Metric):
    """Unbiased estimate of the error on clean labels, from noisy labels.

    A row with noisy label j and predicted class c scores ``1 - inverse(T)[j, c]``.  In expectation over the
    noise, ``1 - sum_j T[y, j] inverse(T)[j, c]``, this is 0 if c is the clean label y and 1 otherwise ([1]_,
    lemma 1; [2]_, theorem 1).  Under uniform noise of rate r, an error e on K classes becomes
    ``(e - r) / (1 - r K / (K-1))``.

    The estimate may lie outside [0, 1]: the better the model, the more often it is negative by chance.  Under
    uniform noise, its standard error is that of the noisy error divided by ``1 - r K / (K-1)``.

    Parameters
    ----------
    library, reads : see `Metric`
    T : array-like of shape (K, K) or None, default=None
        ``T[i, j]`` is the probability of label j for a row of class i.
    noise_rate : float or None, default=None
        Rate r of uniform noise, instead of T: the probability that a label is wrong.  In [0, 1 - 1/K).

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import CorrectedErrorMetric
    >>> y, margin = np.array([0, 0, 0, 1]), np.array([-1.0, -1.0, -1.0, -1.0])
    >>> CorrectedErrorMetric("xgboost", noise_rate=0.25)(y, margin)
    0.0
    """

    T: Sequence[Sequence[float]] | None = None
    noise_rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.T is None) == (self.noise_rate is None):
            raise ValueError(
                "exactly one of T and noise_rate must be set, "
                f"got T={self.T!r} and noise_rate={self.noise_rate!r}"
            )
        if self.noise_rate is not None:
            check_parameter(self, "noise_rate", 0, 1, "[)")
        else:
            object.__setattr__(self, "T", to_tuples(self.T))  # type: ignore[arg-type]

    @property
    def __name__(self) -> str:
        return "corrected_error"

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if T is for another number of classes, or the noise rate is too high for it."""
        if self.T is not None:
            check_matrix_size(self.T, n_classes)
        if self.noise_rate is not None and self.noise_rate >= 1 - 1 / n_classes:
            raise ValueError(
                f"noise_rate must be less than {1 - 1 / n_classes:g} for {n_classes} classes, "
                f"got {self.noise_rate!r}"
            )

    def _row_scores(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        n_classes = count_classes(predicted)
        self.check_classes(n_classes)
        if self.noise_rate is None:
            matrix = np.array(self.T)
        else:
            wrong = self.noise_rate / (n_classes - 1)
            matrix = np.full((n_classes, n_classes), wrong)
            np.fill_diagonal(matrix, 1 - self.noise_rate)
        scores: Floats = 1 - np.linalg.inv(matrix)[y, self._predicted_classes(predicted)]
        return scores


def default_metric(loss: Loss, library: Literal["xgboost", "lightgbm"], n_classes: int) -> Metric:
    """Metric on which the estimators stop early by default: the loss; the log loss under the library's name."""
    if type(loss) is not CrossEntropy:
        return LossMetric(library, loss=loss)
    names = {"xgboost": ("logloss", "mlogloss"), "lightgbm": ("binary_logloss", "multi_logloss")}
    return LogLossMetric(library, name=names[library][n_classes > 2])


def _wrap_probability_metric(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a metric that reads probabilities, as with a built-in objective, into one that reads margins."""

    @wraps(metric)
    def metric_on_margins(y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        p = probabilities(np.asarray(y_pred))
        return metric(y_true, p[:, 1] if np.ndim(y_pred) == 1 else p, *args, **kwargs)

    return metric_on_margins


def adapt_metric(metric: Any, library: str, n_classes: int, *, built_in: bool = False) -> Any:
    """Convert a user's metric into one that reads what the library passes to it.

    Parameters
    ----------
    metric : Metric, callable or other
    library : {"xgboost", "lightgbm"}
    n_classes : int
    built_in : bool, default=False
        Whether the objective is built in.  If so, the library passes probabilities, otherwise margins.

    Raises
    ------
    ValueError
        If it is a `Metric` for the other library or for another number of classes.
    """
    if isinstance(metric, Metric):
        if metric.library != library:
            raise ValueError(f"eval_metric must be for {library}, got one for {metric.library}: {metric!r}")
        metric.check_classes(n_classes)
        return replace(metric, reads="probabilities" if built_in else "margins")
    return metric if built_in or not callable(metric) else _wrap_probability_metric(metric)
