"""XGBoost's classifier with a robust loss in place of the built-in one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ._classifier import OWN_PARAMETERS, combined_weight, encode_eval_set, encode_labels, shown
from .adaptation import adapt, loss_of
from .hooks import XGBoostObjective
from .losses.base import Loss
from .losses.curvature import Strategy
from .metrics import CorrectedAccuracyMetric, for_margins

LABELS = "boostnoise_labels"  # the attribute of a saved booster that holds them


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` with a robust loss.

    Labels may be of any sortable type.  The intercept is estimated as XGBoost's built-in objective does; with
    ``loss="ce"`` the model is XGBoost's own.  A callable as ``eval_metric`` gets what the parent would hand it,
    probabilities, or margins if it is a metric of `boostnoise.metrics` that reads them.

    Parameters
    ----------
    loss : str or Loss, default="gce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.  Two may be left to the noisy labels themselves; see
        `boostnoise.adaptation`.  ``{"q": "auto"}`` of ``"gce"`` is chosen by accuracy in five-fold
        cross-validation, which takes 25 fits more; ``{"T": "estimate"}`` of ``"forward"`` and ``"backward"`` is
        what `estimate_transition_matrix` makes of the probabilities that cross entropy gives rows it has not
        seen, which takes five.
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Which curvature to use, see `boostnoise.curvature`; None stands for the default of the loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows, as in scikit-learn.  XGBoost itself has none.
    **kwargs
        Everything that `xgboost.XGBClassifier` takes, ``objective`` apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    loss_ : Loss
        What was trained with, with all its parameters.
    loss_scores_ : dict of float to float
        With ``{"q": "auto"}``: the accuracy of each q on noisy labels.

    Examples
    --------
    >>> from boostnoise import RobustXGBClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustXGBClassifier(loss="gce", n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _labels: NDArray[Any] | None = None

    def __init__(
        self,
        *,
        loss: str | Loss = "gce",
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        class_weight: dict[Any, float] | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        xgb_model: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the booster; the parameters are those of `xgboost.XGBClassifier.fit`.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are not valid, the loss cannot deal with so many classes,
            ``objective`` was set, or `y` holds fewer than two classes; for what is left to the data also if a
            class has a single row, training starts from a model or from margins, or the estimated T is
            singular.
        """
        loss_of(self)
        if self.objective not in ("binary:logistic", "multi:softprob"):
            raise ValueError(f"objective is set by the loss and cannot be chosen, got {self.objective!r}")
        encoder, codes = encode_labels(y)
        labels, n_classes = encoder.classes_[codes], len(encoder.classes_)
        # Like XGBoost's own objective, which has no use for it with more classes.
        positive = 1.0 if self.scale_pos_weight is None or n_classes > 2 else float(self.scale_pos_weight)
        objective = XGBoostObjective(loss_of(self, n_classes), self.hessian, n_classes, positive)
        metrics = self._margin_metrics(n_classes)
        encoded = None if eval_set is None else encode_eval_set(eval_set, encoder)
        given = {"sample_weight": sample_weight, "eval_set": eval_set, "xgb_model": xgb_model, **fit_params}
        given["verbose"] = False
        objective = adapt(self, objective, X, labels, codes, given)
        replaced = {"objective": objective, "eval_metric": metrics}
        sample_weight = combined_weight(labels, sample_weight, self.class_weight)
        # A model to go on from has an intercept already.
        if self.base_score is None and xgb_model is None:
            replaced["base_score"] = objective.base_score(codes, sample_weight)
        self._labels = None  # the parent's fit compares the codes with `classes_`
        with self._replaced(**replaced):
            super().fit(
                X, codes, sample_weight=sample_weight, eval_set=encoded, xgb_model=xgb_model, **fit_params
            )
        self._labels = encoder.classes_
        return self

    def _margin_metrics(self, n_classes: int) -> Any:
        """``eval_metric`` for the hook, with which XGBoost hands margins to a callable."""
        metrics = self.eval_metric if isinstance(self.eval_metric, list | tuple) else [self.eval_metric]
        corrected = any(isinstance(metric, CorrectedAccuracyMetric) for metric in metrics)
        if self.early_stopping_rounds and corrected:
            raise ValueError(
                "early_stopping_rounds would minimise the corrected accuracy; pass "
                "callbacks=[xgboost.callback.EarlyStopping(rounds=5, maximize=True)] instead"
            )
        made = [for_margins(metric, "xgboost", n_classes) for metric in metrics]
        return made if isinstance(self.eval_metric, list | tuple) else made[0]

    @contextmanager
    def _replaced(self, **values: Any) -> Iterator[None]:
        """Set attributes for a while."""
        before = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters for the booster: all but those of the loss."""
        params = super().get_xgb_params()
        return {name: params[name] for name in params if name not in (*OWN_PARAMETERS, "class_weight")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False  # a loss is for one label
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return shown(self)

    @property
    def classes_(self) -> NDArray[Any]:
        """The sorted labels, shape (n_classes,)."""
        return np.arange(self.n_classes_) if self._labels is None else self._labels

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> NDArray[Any]:
        """Predict labels, or margins with `output_margin`; further parameters as in the parent."""
        check_is_fitted(self)
        predicted: NDArray[Any] = super().predict(X, output_margin=output_margin, **kwargs)
        return predicted if output_margin else self.classes_[predicted]

    def save_model(self, fname: Any) -> None:
        """Save the booster with the labels, for `load_model`; see `xgboost.XGBClassifier.save_model`.

        As with the parent, the parameters are not saved, the loss among them; a loaded model needs none to
        predict.

        Raises
        ------
        TypeError
            If the labels are neither strings nor numbers; save a pickle, or the booster alone.
        """
        booster = self.get_booster()
        booster.set_attr(**{LABELS: _written(self.classes_)})
        try:
            super().save_model(fname)
        finally:
            booster.set_attr(**{LABELS: None})

    def load_model(self, fname: Any) -> None:
        """Load a booster, with the labels if `save_model` of this class wrote it, else with class numbers."""
        super().load_model(fname)
        booster = self.get_booster()
        written = booster.attr(LABELS)
        booster.set_attr(**{LABELS: None})
        self._labels = None if written is None else _read(written)


def _written(labels: NDArray[Any]) -> str:
    """Labels as JSON, with their type."""
    values = labels.tolist()
    if labels.dtype.kind not in "biufU" and not all(isinstance(label, str) for label in values):
        raise TypeError(
            f"XGBoost's format holds labels that are strings or numbers, got the type {labels.dtype}; "
            "save a pickle, or the booster alone with get_booster().save_model"
        )
    return json.dumps({"type": labels.dtype.str, "labels": values})


def _read(written: str) -> NDArray[Any]:
    content = json.loads(written)
    return np.array(content["labels"], dtype=content["type"])
