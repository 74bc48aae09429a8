"""What XGBoost and LightGBM call: a loss in the shapes, scale and weights that each expects.

A hook is one object for all the ways in which a library takes an objective of one's own.  Called natively it
gets margins and a data set, from the scikit-learn interface class numbers, margins and perhaps weights; it
tells the two apart by what comes second.

For K classes the diagonal of the hessian alone would make Newton steps too long, as every class moves at once,
and each library has its own factor for that: 2 p (1-p) in XGBoost, which bounds the whole hessian,
K/(K-1) p (1-p) in LightGBM.  The same factor goes on every curvature that comes from second derivatives; "unit"
is no such curvature and stays 1, so that a leaf is the mean gradient in both.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._library_inputs import by_class, class_numbers, count_classes, read_data, read_start, read_weights
from .intercept import lightgbm_intercept, repeat, xgboost_intercept
from .losses._validation import check_number
from .losses.base import Loss, SoftmaxLoss, check_derivative
from .losses.curvature import Strategy, check_strategy
from .losses.registry import get_loss
from .losses.softmax import Classes, Floats, softmax_of

SMALLEST_HESSIAN = 1e-16  # XGBoost's own floor; LightGBM's lies below it
# Bytes of the margins of a block, by their dimensions: few enough to stay in the processor's cache, and for two
# classes also in memory that the allocator hands out again, as fresh pages cost more than the computation.
BLOCK = {1: 96 * 1024, 2: 640 * 1024}


@dataclass(frozen=True, repr=False)
class Objective(ABC):
    """A loss as the objective of a booster; use `xgboost_objective` or `lightgbm_objective` to make one.

    Parameters
    ----------
    loss : Loss
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Which curvature to use, see `boostnoise.curvature`; None stands for the default of the loss.
    n_classes : int or None, default=None
        How many classes there are.  None finds out from the margins.
    scale_pos_weight : float, default=1.0
        Weight of class 1 of two.  Both libraries leave it to the objective; as a sample weight it would also
        move XGBoost's bins.
    """

    loss: Loss
    hessian: Strategy | None = None
    n_classes: int | None = None
    scale_pos_weight: float = 1.0

    library: ClassVar[Literal["xgboost", "lightgbm"]]
    order: ClassVar[Literal["C", "F"]]  # in which the library keeps gradients of several classes

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss, got {self.loss!r}; get_loss makes one of a name")
        if self.hessian is not None:
            check_strategy(self.hessian)
        check_number(self, "scale_pos_weight", 0, float("inf"), "()")
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
        y_true : array of shape (n,)
            Class numbers, as the library stores them (it makes floats of them); called natively, the margins.
        y_pred : array of shape (n,) or (n, K)
            Margins; called natively, the `xgboost.DMatrix` or `lightgbm.Dataset`.
        sample_weight : array of shape (n,) or None
            Called natively, the data set has them.

        Returns
        -------
        gradient, hessian : float32 arrays in the shape of the margins

        Raises
        ------
        TypeError
            If the data set is of the other library.
        ValueError
            If the labels are not class numbers 0 to K - 1, if a weight is negative or not finite, if weights
            sum to more than 1e18, if the shapes do not fit, or if the loss cannot deal with so many classes.
        FloatingPointError
            If the loss yields a value that is not finite; the message names the loss.
        """
        if hasattr(y_pred, "get_label"):
            y_pred, (y_true, sample_weight) = y_true, read_data(y_pred, self.library, "{}_objective")
        y_pred = np.asarray(y_pred)
        margin = by_class(y_pred, len(y_true), self.order)
        labels, n_classes = np.asarray(y_true), count_classes(margin)
        if labels.shape != (len(margin),):
            raise ValueError(
                f"labels must have shape ({len(margin)},), as margins have rows, got {labels.shape}"
            )
        if self.n_classes not in (None, n_classes):
            raise ValueError(f"the objective has n_classes={self.n_classes}, but margins are of {n_classes}")
        self._check_classes(n_classes)
        weight = None if sample_weight is None else read_weights(sample_weight, len(margin))
        gradient = np.empty(margin.shape, dtype=np.float32, order=self.order)
        hessian = np.empty_like(gradient)
        step = max(1, BLOCK[margin.ndim] // (margin.itemsize * math.prod(margin.shape[1:])))
        for start in range(0, len(margin), step):
            rows = slice(start, start + step)
            y = class_numbers(labels[rows], n_classes)
            by_row = None if weight is None else weight[rows]
            gradient[rows], hessian[rows] = self._evaluate(y, margin[rows], by_row)
        if y_pred.shape != margin.shape:
            return gradient.ravel(order=self.order), hessian.ravel(order=self.order)
        return gradient, hessian

    def __repr__(self) -> str:
        told = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "loss"}
        changed = [f"{name}={value!r}" for name, value in told.items() if value != getattr(Objective, name)]
        return f"{type(self).__name__}({', '.join([repr(self.loss), *changed])})"

    def _check_classes(self, n_classes: int) -> None:
        self.loss.check_classes(n_classes)
        if self.scale_pos_weight != 1 and n_classes > 2:
            raise ValueError(f"scale_pos_weight is for two classes, got n_classes={n_classes}")

    @abstractmethod
    def _softmax_factor(self, n_classes: int) -> float:
        """What the library multiplies the diagonal of the hessian by."""

    def _evaluate(self, y: Classes, margin: NDArray[Any], weight: Floats | None) -> tuple[Floats, Floats]:
        """Gradient and curvature of a block of rows."""
        loss = self.loss
        strategy = loss.default_hessian if self.hessian is None else self.hessian
        # Labels and shapes are checked, which is what a loss of this package takes a `Softmax` to mean.  The
        # precision is that of the margins, in which XGBoost's own objectives compute, and LightGBM's too.
        precision = np.float32 if margin.dtype == np.float32 else np.float64
        shared = isinstance(loss, SoftmaxLoss)
        read: Any = softmax_of(margin, precision) if shared else margin.astype(np.float64)
        gradient, hessian = loss.gradient_hessian(y, read, strategy)
        for name, found in (("gradient", gradient), ("hessian", hessian)):
            check_derivative(loss, name, found, margin)
            if not np.isfinite(found).all():
                raise FloatingPointError(f"the {name} of {loss!r} is not finite")
        if margin.ndim == 2 and strategy != "unit":
            hessian = hessian * self._softmax_factor(margin.shape[1])
        hessian = np.clip(hessian, SMALLEST_HESSIAN, np.inf)
        if self.scale_pos_weight != 1 and margin.ndim == 1:
            of_class = np.where(y == 1, self.scale_pos_weight, 1.0)
            weight = of_class if weight is None else of_class * weight
        if weight is not None:
            by_row = weight if margin.ndim == 1 else weight[:, np.newaxis]
            gradient, hessian = gradient * by_row, hessian * by_row
        # Rounded to single precision after weighting, as both libraries do: where gains tie, it decides.
        return gradient, hessian


class XGBoostObjective(Objective):
    """A loss as the objective of XGBoost; see `xgboost_objective`."""

    library = "xgboost"
    order = "C"

    def _softmax_factor(self, n_classes: int) -> float:
        return 2.0

    def base_score(self, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float | list[float]:
        """The `base_score` that XGBoost's own objective starts from; with a hook it would be 0.5.

        Parameters
        ----------
        y : array-like of shape (n,)
            Class numbers.
        sample_weight : array-like of shape (n,) or None, default=None

        Returns
        -------
        float, or a list of one for each class
            The share of class 1 of two; of K classes, what XGBoost estimates in its own scale.

        Raises
        ------
        ValueError
            If labels are not class numbers 0 to K - 1, a class has no rows though the objective was not given
            `n_classes`, there is one class alone, weights are negative or not finite, or their sum is less than
            1e-6 or more than 1e18.
        """
        y, sample_weight, n_classes = read_start(y, sample_weight, self.n_classes)
        self._check_classes(n_classes)
        return xgboost_intercept(y, sample_weight, n_classes, self.scale_pos_weight)


class LightGBMObjective(Objective):
    """A loss as the objective of LightGBM; see `lightgbm_objective`."""

    library = "lightgbm"
    order = "F"

    def _softmax_factor(self, n_classes: int) -> float:
        return n_classes / (n_classes - 1)

    def init_score(self, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """The margins that LightGBM's own objective starts from; with a hook they would be 0.

        LightGBM does not keep an `init_score` with the model: add one row of it to raw predictions.

        Parameters
        ----------
        y : array-like of shape (n,)
            Class numbers.
        sample_weight : array-like of shape (n,) or None, default=None

        Returns
        -------
        float array of shape (n,) for two classes, else (n, K)
            The same in every row.

        Raises
        ------
        ValueError
            If labels are not class numbers 0 to K - 1, a class has no rows though the objective was not given
            `n_classes`, there is one class alone, weights are negative or not finite, or their sum is less than
            1e-6 or more than 1e18.
        """
        y, sample_weight, n_classes = read_start(y, sample_weight, self.n_classes)
        self._check_classes(n_classes)
        # LightGBM has no use for scale_pos_weight here.
        return repeat(lightgbm_intercept(y, sample_weight, n_classes), y.size)


def xgboost_objective(
    loss: str | Loss,
    hessian: Strategy | None = None,
    n_classes: int | None = None,
    *,
    scale_pos_weight: float = 1.0,
    **loss_params: Any,
) -> XGBoostObjective:
    """Objective for ``xgboost.train(..., obj=...)`` and ``xgboost.XGBClassifier(objective=...)``.

    Natively, set the parameter ``objective`` as well, to ``"binary:logistic"`` or ``"multi:softprob"``:
    predictions are then probabilities.  XGBoost estimates no intercept for an objective of one's own: set
    ``base_score`` to what the hook's `XGBoostObjective.base_score` returns, and with ``loss="ce"`` the model is
    that of the built-in objective.

    Parameters
    ----------
    loss : str or Loss
        See `get_loss`.
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Which curvature to use, see `boostnoise.curvature`; None stands for the default of the loss.
    n_classes : int or None, default=None
        If given, a loss that cannot deal with so many classes is refused here, not when training starts.
    scale_pos_weight : float, default=1.0
        Weight of class 1 of two.  The library's own parameter of that name has no effect on a hook.
    **loss_params
        Parameters of the loss, such as ``q=0.5``.

    Returns
    -------
    XGBoostObjective
        It can be called, pickled and compared.

    Raises
    ------
    ValueError, TypeError
        If a parameter is not valid.

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

    Set ``metric="None"`` or metrics of `boostnoise.metrics`: LightGBM's own read margins as probabilities, and
    so does early stopping on them.  Predictions are margins; `probabilities` of `boostnoise.losses` makes
    probabilities of them.  LightGBM estimates no intercept for an objective of one's own: give the data set
    the ``init_score`` that the hook's `LightGBMObjective.init_score` returns, and with ``loss="ce"`` the model
    plus that intercept is that of the built-in objective; without one, it is that of
    ``boost_from_average=False``.

    Parameters
    ----------
    loss, hessian, n_classes, scale_pos_weight, **loss_params
        As in `xgboost_objective`.

    Returns
    -------
    LightGBMObjective
        It can be called, pickled and compared.

    Raises
    ------
    ValueError, TypeError
        If a parameter is not valid.

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
