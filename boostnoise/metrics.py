"""Metrics on an evaluation set, for XGBoost and LightGBM.

With an objective of one's own both libraries hand margins to a metric, and LightGBM reads them as probabilities
in its own metrics.  A metric from here is told which of the two it reads, and answers in the form that its
library wants, natively or from the scikit-learn interface.

References
----------
.. [1] Natarajan, Dhillon, Ravikumar & Tewari, "Learning with Noisy Labels", NeurIPS 2013.
.. [2] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ._library_inputs import by_class, class_numbers, count_classes, read_data, read_weights
from .losses._validation import check_number
from .losses.softmax import Classes, Floats, probabilities, softmax_of
from .losses.transition import check_transition_matrix


@dataclass(frozen=True)
class Metric(ABC):
    """A metric of two or more classes; use a subclass.

    Parameters
    ----------
    library : {"xgboost", "lightgbm"}
        Whose form the answer has: a number from XGBoost's scikit-learn interface, with the name natively; in
        LightGBM both, and whether higher is better.
    reads : {"margins", "probabilities"}, default="margins"
        What the library hands over: margins with an objective of one's own, probabilities with one of its own.
        The estimators of this package see to it themselves.
    """

    library: Literal["xgboost", "lightgbm"]
    reads: Literal["margins", "probabilities"] = "margins"

    higher_is_better: ClassVar[bool]

    def __post_init__(self) -> None:
        for name, allowed in (("library", ("xgboost", "lightgbm")), ("reads", ("margins", "probabilities"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")

    @property
    @abstractmethod
    def __name__(self) -> str:
        """Under which the libraries report it."""

    @abstractmethod
    def _of_rows(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        """What each row contributes, shape (n,)."""

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the metric cannot deal with this number of classes."""
        return  # most can with any

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Mean over the rows, in the form that the library wants.

        Parameters
        ----------
        y_true : array of shape (n,)
            Class numbers; called natively, the predictions.
        y_pred : array of shape (n,) or (n, K)
            What `reads` says; called natively, the `xgboost.DMatrix` or `lightgbm.Dataset`.
        sample_weight : array of shape (n,) or None
            Called natively, the data set has them.

        Returns
        -------
        value, (name, value) or (name, value, higher_is_better)

        Raises
        ------
        TypeError
            If the data set is of the other library.
        ValueError
            If the labels are not class numbers, a weight is negative or not finite, or they sum to more than
            1e18.
        """
        native = hasattr(y_pred, "get_label")
        if native:
            y_pred, (y_true, sample_weight) = y_true, read_data(y_pred, self.library, 'library="{}"')
        predicted = by_class(np.asarray(y_pred), len(y_true), "C" if self.library == "xgboost" else "F")
        y = class_numbers(np.asarray(y_true), count_classes(predicted))
        weight = None if sample_weight is None else read_weights(sample_weight, len(y))
        value = float(np.average(self._of_rows(y, predicted), weights=weight))
        if self.library == "lightgbm":
            return self.__name__, value, self.higher_is_better
        return (self.__name__, value) if native else value


@dataclass(frozen=True)
class LogLossMetric(Metric):
    """Mean of ``-ln p_t``, with p_t the probability of the given label; from margins accurate at any of them.

    Probabilities are kept from 0 by the precision of their type, as in scikit-learn.

    Parameters
    ----------
    library, reads : see `Metric`
    name : str, default="log_loss"
        Under which the library reports it.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import LogLossMetric
    >>> LogLossMetric("lightgbm")(np.array([1, 0]), np.array([0.0, 800.0]))
    ('log_loss', 400.34657359027995, False)
    """

    name: str = "log_loss"
    higher_is_better = False

    @property
    def __name__(self) -> str:
        return self.name

    def _of_rows(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        if self.reads == "margins":
            return -softmax_of(predicted).of_label(y).log_p
        if predicted.ndim == 1:
            p = np.where(y == 1, predicted, 1 - predicted)
        else:
            p = predicted[np.arange(y.size), y]
        loss: Floats = -np.log(np.maximum(p, np.finfo(p.dtype).eps), dtype=np.float64)
        return loss


@dataclass(frozen=True)
class CorrectedAccuracyMetric(Metric):
    """Accuracy on clean labels, estimated without bias from noisy ones.

    A row with the noisy label j that the model puts in the class c counts ``inverse(T)[j, c]``.  In expectation
    over the noise, ``sum_j T[y, j] inverse(T)[j, c]``, this is 1 where c is the clean label y and 0 elsewhere
    ([1]_, lemma 1; [2]_, theorem 1).  With uniform noise, accuracy a on K classes becomes
    ``(a - rate / (K-1)) / (1 - rate K / (K-1))``.

    It may leave [0, 1]: the better the model, the more often chance puts the estimate above 1.  Its standard
    error is that of the noisy accuracy, about ``1 / (1 - rate K / (K-1))`` times that on clean labels.

    XGBoost takes any metric of one's own for a loss: to stop early on this one, pass
    ``xgboost.callback.EarlyStopping(rounds=5, maximize=True)`` in place of ``early_stopping_rounds``.

    Parameters
    ----------
    library, reads : see `Metric`
    T : array-like of shape (K, K) or None, default=None
        ``T[i, j]`` is the probability of the label j for a row of the class i.  For two classes with the rates
        of `UnbiasedCrossEntropy` it is ``[[1 - rate_neg, rate_neg], [rate_pos, 1 - rate_pos]]``.
    rate : float or None, default=None
        In place of T, of uniform noise: how probable it is that a label is wrong.  In [0, 1 - 1/K).

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import CorrectedAccuracyMetric
    >>> y, margin = np.array([0, 0, 0, 1]), np.array([-1.0, -1.0, -1.0, -1.0])
    >>> CorrectedAccuracyMetric("xgboost", rate=0.25)(y, margin)
    1.0
    """

    T: Sequence[Sequence[float]] | None = None
    rate: float | None = None
    higher_is_better = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.T is None) == (self.rate is None):
            raise ValueError(f"give either T or rate, got T={self.T!r} and rate={self.rate!r}")
        if self.rate is not None:
            check_number(self, "rate", 0, 1, "[)")
        else:
            object.__setattr__(self, "T", tuple(map(tuple, check_transition_matrix(self.T).tolist())))  # type: ignore[arg-type]

    @property
    def __name__(self) -> str:
        return "corrected_accuracy"

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if T is of another size, or the rate too high for this number of classes."""
        if self.T is not None and len(self.T) != n_classes:
            raise ValueError(f"T is for {len(self.T)} classes, but there are {n_classes}")
        if self.rate is not None and self.rate >= 1 - 1 / n_classes:
            raise ValueError(
                f"rate must be less than {1 - 1 / n_classes:g} for {n_classes} classes, got {self.rate!r}"
            )

    def _of_rows(self, y: Classes, predicted: NDArray[Any]) -> Floats:
        n_classes = 2 if predicted.ndim == 1 else predicted.shape[1]
        self.check_classes(n_classes)
        if self.rate is None:
            matrix = np.array(self.T)
        else:
            wrong = self.rate / (n_classes - 1)
            matrix = np.full((n_classes, n_classes), wrong)
            np.fill_diagonal(matrix, 1 - self.rate)
        if predicted.ndim == 2:
            found = predicted.argmax(axis=1)
        else:
            found = (predicted > (0 if self.reads == "margins" else 0.5)).astype(np.int64)
        scores: Floats = np.linalg.inv(matrix)[y, found]
        return scores


def on_probabilities(metric: Callable[..., Any]) -> Callable[..., Any]:
    """A metric of probabilities as one of margins: what a user wrote for a library's own objective."""

    @wraps(metric)
    def of_margins(y_true: Any, y_pred: Any, *rest: Any, **named: Any) -> Any:
        p = probabilities(np.asarray(y_pred))
        return metric(y_true, p[:, 1] if np.ndim(y_pred) == 1 else p, *rest, **named)

    return of_margins


def for_margins(metric: Any, library: str, n_classes: int) -> Any:
    """What an estimator gives its library, which will hand over margins, in place of a metric of the user.

    Raises
    ------
    ValueError
        If it is one of ours for the other library or for another number of classes.
    """
    if isinstance(metric, Metric):
        if metric.library != library:
            raise ValueError(f"eval_metric is for {metric.library}, not for {library}: {metric!r}")
        metric.check_classes(n_classes)
        if metric.reads == "margins":
            return metric
    return on_probabilities(metric) if callable(metric) else metric
