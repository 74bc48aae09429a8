"""XGBoost's classifier with a robust loss instead of the built-in one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ._classifier import (
    OWN_PARAMETERS,
    combine_weights,
    encode_eval_set,
    encode_labels,
    format_estimator,
    merge_loss_params,
    pop_loss_keywords,
    positive_weight,
)
from .adaptation import adapt, build_loss
from .hooks import XGBoostObjective
from .losses.base import Loss
from .losses.curvature import Strategy
from .losses.registry import DEFAULT_LOSS
from .metrics import adapt_metric, default_metric

LABELS_ATTRIBUTE = "boostnoise_labels"  # attribute of a saved booster that stores the labels


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` with a robust loss.

    Labels may be of any sortable type.  As with XGBoost's built-in objective, an intercept is estimated.  With
    ``loss="ce"`` the model equals XGBoost's own.  The default ``eval_metric``, on which training stops early,
    is the loss.  A callable ``eval_metric`` receives probabilities, as in the parent class, or margins if it is
    a metric of `boostnoise.metrics` that reads them.

    Parameters
    ----------
    loss : str or Loss, default="gce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.  Two can be chosen on the noisy labels, see
        `boostnoise.adaptation`: ``{"q": "auto"}`` of ``"gce"`` by accuracy in five-fold cross-validation (25
        additional fits), and ``{"T": "estimate"}`` of ``"forward"`` and ``"backward"`` by
        `estimate_transition_matrix` from out-of-fold probabilities of cross entropy (5 additional fits).
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Hessian strategy, see `boostnoise.curvature`; None uses the default of the loss.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights as in scikit-learn.  XGBoost itself has no such
        parameter.
    **kwargs
        All parameters of `xgboost.XGBClassifier` except ``objective``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    loss_ : Loss
        The loss used for training, with all its parameters.
    loss_scores_ : dict of float to float
        Accuracy of each q on noisy labels; only with ``{"q": "auto"}``.

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
        loss: str | Loss = DEFAULT_LOSS,
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        class_weight: dict[Any, float] | str | None = None,
        **kwargs: Any,
    ) -> None:
        loss_keywords = pop_loss_keywords(kwargs)
        super().__init__(**kwargs)
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.class_weight = class_weight
        self.set_params(**loss_keywords)

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
        """Fit the booster; parameters as in `xgboost.XGBClassifier.fit`.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are invalid, if the loss does not support the number of classes, if
            ``objective`` is set, or if `y` has fewer than two classes.  If a loss parameter is chosen on the
            data, also if a class has a single row, if training starts from a model or from margins, or if the
            estimated T is singular.
        """
        build_loss(self)
        if self.objective not in ("binary:logistic", "multi:softprob"):
            raise ValueError(f"objective is set by the loss and must not be given, got {self.objective!r}")
        encoder, codes = encode_labels(y)
        labels, n_classes = encoder.classes_[codes], len(encoder.classes_)
        scale_pos_weight = positive_weight(self.scale_pos_weight, n_classes)
        objective = XGBoostObjective(build_loss(self, n_classes), self.hessian, n_classes, scale_pos_weight)
        self._margin_metrics(objective.loss, n_classes)  # raises errors before a choice that takes many fits
        encoded = None if eval_set is None else encode_eval_set(eval_set, encoder)
        arguments = {"sample_weight": sample_weight, "eval_set": eval_set, "xgb_model": xgb_model, **fit_params}
        arguments["verbose"] = False
        objective = adapt(self, objective, X, labels, codes, arguments)
        metrics = self._margin_metrics(objective.loss, n_classes)
        replaced = {"objective": objective, "eval_metric": metrics}
        sample_weight = combine_weights(labels, sample_weight, self.class_weight)
        # A model from which training continues already has an intercept.
        if self.base_score is None and xgb_model is None:
            replaced["base_score"] = objective.base_score(codes, sample_weight)
        self._labels = None  # the parent's `fit` compares the codes with `classes_`
        with self._temporarily_set(**replaced):
            super().fit(
                X, codes, sample_weight=sample_weight, eval_set=encoded, xgb_model=xgb_model, **fit_params
            )
        self._labels = encoder.classes_
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss_params__q`` sets the parameter q of the loss, for instance in a grid search.

        If `loss` is set and ``loss_params`` is not, those of the earlier ``loss_params`` are kept that the new
        loss has too.
        """
        super().set_params(**merge_loss_params(self, params))
        return self

    def _margin_metrics(self, loss: Loss, n_classes: int) -> Any:
        """``eval_metric``, converted to read margins, which is what XGBoost passes with a hook."""
        if self.eval_metric is None:
            return default_metric(loss, "xgboost", n_classes)
        metrics = self.eval_metric if isinstance(self.eval_metric, list | tuple) else [self.eval_metric]
        converted = [adapt_metric(metric, "xgboost", n_classes) for metric in metrics]
        return converted if isinstance(self.eval_metric, list | tuple) else converted[0]

    @contextmanager
    def _temporarily_set(self, **values: Any) -> Iterator[None]:
        """Set attributes within a ``with`` block."""
        before = {name: getattr(self, name) for name in values}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters of the booster, without those of the loss and `class_weight`."""
        params = super().get_xgb_params()
        return {name: params[name] for name in params if name not in (*OWN_PARAMETERS, "class_weight")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False  # a loss takes one label per row
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return format_estimator(self)

    @property
    def classes_(self) -> NDArray[Any]:
        """The sorted labels, shape (n_classes,)."""
        return np.arange(self.n_classes_) if self._labels is None else self._labels

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> NDArray[Any]:
        """Predict labels, or margins with `output_margin`; other parameters as in the parent class."""
        check_is_fitted(self)
        predicted: NDArray[Any] = super().predict(X, output_margin=output_margin, **kwargs)
        return predicted if output_margin else self.classes_[predicted]

    def save_model(self, fname: Any) -> None:
        """Save the booster and the class labels, for `load_model`; see `xgboost.XGBClassifier.save_model`.

        As in the parent class, parameters are not saved, including the loss.  A loaded model does not need them
        to predict.

        Raises
        ------
        TypeError
            If the labels are neither strings nor numbers.  Use pickle, or save only the booster.
        """
        booster = self.get_booster()
        booster.set_attr(**{LABELS_ATTRIBUTE: _labels_to_json(self.classes_)})
        try:
            super().save_model(fname)
        finally:
            booster.set_attr(**{LABELS_ATTRIBUTE: None})

    def load_model(self, fname: Any) -> None:
        """Load a booster.  Labels are class numbers unless `save_model` of this class wrote the file."""
        super().load_model(fname)
        booster = self.get_booster()
        written = booster.attr(LABELS_ATTRIBUTE)
        booster.set_attr(**{LABELS_ATTRIBUTE: None})
        self._labels = None if written is None else _labels_from_json(written)


def _labels_to_json(labels: NDArray[Any]) -> str:
    """Labels as JSON, with their type."""
    values = labels.tolist()
    if labels.dtype.kind not in "biufU" and not all(isinstance(label, str) for label in values):
        raise TypeError(
            f"labels must be strings or numbers to be saved in XGBoost's format, got dtype {labels.dtype}; "
            "use pickle, or save only the booster with get_booster().save_model"
        )
    return json.dumps({"type": labels.dtype.str, "labels": values})


def _labels_from_json(written: str) -> NDArray[Any]:
    content = json.loads(written)
    return np.array(content["labels"], dtype=content["type"])
