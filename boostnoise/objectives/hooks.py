"""Objectives for XGBoost and LightGBM: losses in the shapes, scale and weights that each library expects.

An objective, or hook, works with both interfaces of a library.  The native interface calls it with margins and
a data set, the scikit-learn interface with class numbers, margins and, optionally, weights.  The type of
the second argument shows which interface is in use.

For K classes, the diagonal of the hessian alone would make Newton steps too long, because the margins of all
classes move at once.  Each library therefore multiplies it by a factor: XGBoost by 2 (``2 p (1-p)`` bounds the
full hessian), LightGBM by K/(K-1).  A hook applies this factor to every strategy except "unit", which is not a
second derivative and stays 1, so that a leaf is the mean gradient in both libraries.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robust_splits.label_noise.weights import read_weights

from ..losses.base import Loss, SoftmaxLoss, check_derivative
from ..losses.checks import check_parameter
from ..losses.curvature import Strategy, check_strategy
from ..losses.label import CrossEntropy, LabelLoss
from ..losses.registry import get_loss
from ..losses.softmax import Classes, Floats, count_classes, softmax_of
from .intercept import lightgbm_intercept, repeat, xgboost_intercept
from .library_inputs import (
    check_probabilities,
    read_data_set,
    read_intercept_inputs,
    reshape_margins,
    to_class_numbers,
    to_host,
)

SMALLEST_HESSIAN = 1e-16  # XGBoost's lower limit; LightGBM's is smaller
# Size of a block of margins in bytes, by number of dimensions.  A block fits in the processor's cache; for two
# classes it is also small enough that the allocator reuses its memory, as new pages cost more than the
# computation.
BLOCK_BYTES = {1: 96 * 1024, 2: 640 * 1024}


@dataclass(frozen=True, repr=False)
class Objective(ABC):
    """Objective of a booster, made from a loss; create one with `xgboost_objective` or `lightgbm_objective`.

    Parameters
    ----------
    loss : Loss
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Hessian strategy, see `boostnoise.losses.curvature`; None uses the default of the loss.
    n_classes : int or None, default=None
        Number of classes.  None infers it from the margins.
    scale_pos_weight : float, default=1.0
        Weight of class 1, for two classes.  As in both libraries, the objective applies it; a sample weight
        would also change XGBoost's bins.
    """

    loss: Loss
    hessian: Strategy | None = None
    n_classes: int | None = None
    scale_pos_weight: float = 1.0

    library: ClassVar[Literal["xgboost", "lightgbm"]]
    order: ClassVar[Literal["C", "F"]]  # memory order of the gradients of several classes

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss, got {self.loss!r}; get_loss creates one from a name")
        if self.hessian is not None:
            check_strategy(self.hessian)
        check_parameter(self, "scale_pos_weight", 0, float("inf"), "()")
        if self.n_classes is not None:
            if not isinstance(self.n_classes, Integral) or self.n_classes < 2:
                raise ValueError(f"n_classes must be an integer of at least 2 or None, got {self.n_classes!r}")
            self._check_classes(int(self.n_classes))

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and curvature of the weighted loss.

        Parameters
        ----------
        y_true : array of shape (n,) or (n, K)
            Class numbers, integers or floats; or soft labels, the probabilities of the classes, whose expected
            loss is meant.  In a native call, the margins.
        y_pred : array of shape (n,) or (n, K)
            Margins.  In a native call, the `xgboost.DMatrix` or `lightgbm.Dataset`.
        sample_weight : array of shape (n,) or None
            In a native call, the data set contains the weights.

        Returns
        -------
        gradient, hessian : float32 arrays in the shape of the margins

        Raises
        ------
        TypeError
            If the data set belongs to the other library.
        ValueError
            If the labels are neither class numbers 0 to K - 1 nor probabilities, if a weight is negative or not
            finite, if the weights sum to more than 1e18, if the shapes do not match, or if the loss does not
            support this number of classes.
        FloatingPointError
            If a derivative of the loss is not finite; the message names the loss.
        """
        if hasattr(y_pred, "get_label"):
            y_pred, (y_true, sample_weight) = y_true, read_data_set(y_pred, self.library, "{}_objective")
        y_true, y_pred, sample_weight = to_host(y_true), np.asarray(to_host(y_pred)), to_host(sample_weight)
        if len(y_true) == 0:  # on a worker without rows
            return np.empty(y_pred.shape, dtype=np.float32), np.empty(y_pred.shape, dtype=np.float32)
        margin = reshape_margins(y_pred, len(y_true), self.order)
        labels, n_classes = np.asarray(y_true), count_classes(margin)
        if labels.shape not in ((len(margin),), (len(margin), n_classes)):
            raise ValueError(
                f"labels must have shape ({len(margin)},), or ({len(margin)}, {n_classes}) for probabilities, "
                f"to match the margins, got {labels.shape}"
            )
        if self.n_classes not in (None, n_classes):
            raise ValueError(
                f"n_classes of the objective is {self.n_classes}, but the margins have {n_classes} classes"
            )
        self._check_classes(n_classes)
        weight = None if sample_weight is None else read_weights(sample_weight, len(margin))
        gradient = np.empty(margin.shape, dtype=np.float32, order=self.order)
        hessian = np.empty_like(gradient)
        step = max(1, BLOCK_BYTES[margin.ndim] // (margin.itemsize * math.prod(margin.shape[1:])))
        for start in range(0, len(margin), step):
            rows = slice(start, start + step)
            read = to_class_numbers if labels.ndim == 1 else check_probabilities
            y = read(labels[rows], n_classes)
            block_weight = None if weight is None else weight[rows]
            self._evaluate(y, margin[rows], block_weight, gradient[rows], hessian[rows])
        if y_pred.shape != margin.shape:
            return gradient.ravel(order=self.order), hessian.ravel(order=self.order)
        return gradient, hessian

    @property
    def is_built_in(self) -> bool:
        """Whether both libraries have this objective: cross entropy with its own second derivative."""
        return type(self.loss) is CrossEntropy and self.hessian in (None, self.loss.default_hessian)

    def __repr__(self) -> str:
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "loss"}
        changed = [f"{name}={value!r}" for name, value in options.items() if value != getattr(Objective, name)]
        return f"{type(self).__name__}({', '.join([repr(self.loss), *changed])})"

    def _check_classes(self, n_classes: int) -> None:
        self.loss.check_classes(n_classes)
        if self.scale_pos_weight != 1 and n_classes > 2:
            raise ValueError(f"scale_pos_weight is for two classes, got n_classes={n_classes}")

    @abstractmethod
    def _softmax_factor(self, n_classes: int) -> float:
        """The library's factor for the diagonal of the hessian."""

    def _evaluate(
        self,
        y: Classes | Floats,
        margin: NDArray[Any],
        weight: Floats | None,
        out_gradient: NDArray[np.float32],
        out_hessian: NDArray[np.float32],
    ) -> None:
        """Write gradient and curvature of a block of rows."""
        loss = self.loss
        strategy = loss.default_hessian if self.hessian is None else self.hessian
        # Labels and shapes are already checked, so a `Softmax` can be passed, which losses do not check again.
        # Like the libraries' own objectives, compute in the precision of the margins.
        precision = np.float32 if margin.dtype == np.float32 else np.float64
        takes_softmax = isinstance(loss, SoftmaxLoss)
        loss_input: Any = softmax_of(margin, precision) if takes_softmax else margin.astype(np.float64)
        if self.scale_pos_weight != 1 and margin.ndim == 1:
            y, weight = self._weigh_positive(y, weight)
        factor = self._softmax_factor(margin.shape[1]) if margin.ndim == 2 and strategy != "unit" else 1.0
        if isinstance(loss, LabelLoss) and loss.has_terms() and strategy == "irls" and y.ndim == 1:
            from .label_derivatives import label_derivatives  # loads Numba

            are_finite = label_derivatives(
                loss, y, loss_input, weight, factor, SMALLEST_HESSIAN, out_gradient, out_hessian
            )
            if are_finite:
                return  # else the error is raised below
        derivatives: Any = loss.gradient_hessian if y.ndim == 1 else loss.expected_gradient_hessian
        gradient, hessian = derivatives(y, loss_input, strategy)
        for name, derivative in (("gradient", gradient), ("hessian", hessian)):
            check_derivative(loss, name, derivative, margin)
            if not np.isfinite(derivative).all():
                raise FloatingPointError(f"the {name} of {loss!r} is not finite")
        hessian = np.clip(hessian * factor, SMALLEST_HESSIAN, np.inf)
        if weight is not None:
            row_weight = weight if margin.ndim == 1 else weight[:, np.newaxis]
            gradient, hessian = gradient * row_weight, hessian * row_weight
        # As in both libraries, results are rounded to single precision only after weighting, because rounding
        # decides between tied gains.
        out_gradient[...], out_hessian[...] = gradient, hessian

    def _weigh_positive(self, y: Any, weight: Floats | None) -> tuple[Any, Floats]:
        """Labels and weights of rows, the latter multiplied by the weights of the classes."""
        class_weight = np.array([1.0, self.scale_pos_weight])
        if y.ndim == 1:
            row_weight = class_weight[y]
        else:
            row_weight = y @ class_weight
            y = y * class_weight / row_weight[:, np.newaxis]
        return y, row_weight if weight is None else row_weight * weight


class XGBoostObjective(Objective):
    """Objective for XGBoost; see `xgboost_objective`."""

    library = "xgboost"
    order = "C"

    def _softmax_factor(self, n_classes: int) -> float:
        return 2.0

    def base_score(self, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float | list[float]:
        """The `base_score` that XGBoost estimates for its own objective; without it, a hook starts from 0.5.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, K)
            Class numbers, or probabilities of the classes.
        sample_weight : array-like of shape (n,) or None, default=None

        Returns
        -------
        float for two classes, else list of K floats
            For two classes the share of class 1; for K classes XGBoost's estimate, in its own scale.

        Raises
        ------
        ValueError
            If labels are neither class numbers nor probabilities, if a class has no rows and the objective has
            no `n_classes`, if there is only one class, or if weights are negative, not finite, or sum to less
            than 1e-6 or more than 1e18.
        """
        y, sample_weight, n_classes = read_intercept_inputs(y, sample_weight, self.n_classes)
        self._check_classes(n_classes)
        return xgboost_intercept(y, sample_weight, n_classes, self.scale_pos_weight)


class LightGBMObjective(Objective):
    """Objective for LightGBM; see `lightgbm_objective`."""

    library = "lightgbm"
    order = "F"

    def _softmax_factor(self, n_classes: int) -> float:
        return n_classes / (n_classes - 1)

    def init_score(self, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """The margins from which LightGBM's own objective starts; without them, a hook starts from 0.

        Validation sets need an `init_score` with the same rows too.  LightGBM does not store it in the model:
        add one row of it to raw predictions.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, K)
            Class numbers, or probabilities of the classes.
        sample_weight : array-like of shape (n,) or None, default=None

        Returns
        -------
        float array of shape (n,) for two classes, else (n, K)
            All rows are equal.

        Raises
        ------
        ValueError
            If labels are neither class numbers nor probabilities, if a class has no rows and the objective has
            no `n_classes`, if there is only one class, or if weights are negative, not finite, or sum to less
            than 1e-6 or more than 1e18.
        """
        y, sample_weight, n_classes = read_intercept_inputs(y, sample_weight, self.n_classes)
        self._check_classes(n_classes)
        # LightGBM's own intercept ignores scale_pos_weight too.
        return repeat(lightgbm_intercept(y, sample_weight, n_classes), len(y))


def xgboost_objective(
    loss: str | Loss,
    hessian: Strategy | None = None,
    n_classes: int | None = None,
    *,
    scale_pos_weight: float = 1.0,
    **loss_params: Any,
) -> XGBoostObjective:
    """Objective for ``xgboost.train(..., obj=...)`` and ``xgboost.XGBClassifier(objective=...)``.

    In ``xgboost.train``, also set the parameter ``objective`` to ``"binary:logistic"`` or ``"multi:softprob"``,
    so that predictions are probabilities.  XGBoost estimates no intercept for a custom objective: set
    ``base_score`` to the result of `XGBoostObjective.base_score`.  With ``loss="ce"`` the model is then that of
    the built-in objective.

    Parameters
    ----------
    loss : str or Loss
        See `get_loss`.
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Hessian strategy, see `boostnoise.losses.curvature`; None uses the default of the loss.
    n_classes : int or None, default=None
        Number of classes.  If given, a loss that does not support it is rejected here, not when training
        starts.
    scale_pos_weight : float, default=1.0
        Weight of class 1, for two classes.  The library's own parameter of that name has no effect on a hook.
    **loss_params
        Parameters of the loss, such as ``q=0.5``.

    Returns
    -------
    XGBoostObjective
        It can be called, pickled and compared for equality.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid.

    Examples
    --------
    >>> import xgboost
    >>> from boostnoise import xgboost_objective
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> objective = xgboost_objective("gce", q=0.5)
    >>> params = {"objective": "binary:logistic", "base_score": objective.base_score(y)}
    >>> booster = xgboost.train(params, xgboost.DMatrix(X, y), num_boost_round=20, obj=objective)
    >>> float(((booster.predict(xgboost.DMatrix(X)) > 0.5) == y).mean()) > 0.98
    True
    """
    return XGBoostObjective(get_loss(loss, **loss_params), hessian, n_classes, scale_pos_weight)


def lightgbm_objective(
    loss: str | Loss,
    hessian: Strategy | None = None,
    n_classes: int | None = None,
    *,
    scale_pos_weight: float = 1.0,
    **loss_params: Any,
) -> LightGBMObjective:
    """Objective for ``lightgbm.train({"objective": ...})`` and ``lightgbm.LGBMClassifier(objective=...)``.

    Set ``metric="None"`` or use metrics of `boostnoise.objectives.metrics`: LightGBM's own metrics, and early
    stopping on them, would read the margins as probabilities.  Predictions are margins;
    `boostnoise.losses.probabilities` converts them to probabilities.  LightGBM estimates no intercept for a
    custom objective: pass the result of `LightGBMObjective.init_score` to the data set as ``init_score``.  With
    ``loss="ce"``, the model plus this intercept is that of the built-in objective.  Without an intercept it is
    that of ``boost_from_average=False``.

    Parameters
    ----------
    loss, hessian, n_classes, scale_pos_weight, **loss_params
        As in `xgboost_objective`.

    Returns
    -------
    LightGBMObjective
        It can be called, pickled and compared for equality.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid.

    Examples
    --------
    >>> import lightgbm
    >>> from boostnoise import lightgbm_objective
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> params = {"objective": lightgbm_objective("gce", q=0.5), "metric": "None", "verbose": -1}
    >>> booster = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=20)
    >>> float(((booster.predict(X) > 0) == y).mean()) > 0.98
    True
    """
    return LightGBMObjective(get_loss(loss, **loss_params), hessian, n_classes, scale_pos_weight)
