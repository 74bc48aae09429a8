"""XGBoost's classifier with trees, total learning rate and loss that suit noisy labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from robust_splits.label_noise.folds import Rows

from ..losses.base import Loss
from ..losses.curvature import Strategy
from ..losses.registry import DEFAULT_LOSS
from ..objectives.hooks import XGBoostObjective
from ..objectives.metrics import adapt_metric, default_metric
from .auto_parameters import (
    AUTO,
    Choice,
    choose_parameters,
    enlarge_weights,
    is_auto,
    set_fitted_attributes,
)
from .estimator import OWN_PARAMETERS, check_fit, format_estimator, temporarily_set
from .learning_curve import LearningCurve, Schedule
from .loss_parameters import build_loss, choose_loss_parameter, merge_loss_params, pop_loss_keywords
from .structure_search import TrainingRows
from .target import Target, encode_eval_set
from .weights import combine_weights, positive_weight
from .xgboost_booster import CurveRecorder, ScheduledParameters, labels_from_json, labels_to_json, stops_early
from .xgboost_parameters import AUTO_PARAMETERS

LABELS_ATTRIBUTE = "boostnoise_labels"  # attribute of a saved booster that stores the labels


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` that holds up under label noise.

    `fit` chooses the trees, their number and the learning rate by cross-validation on the noisy labels, where
    they are not given.  The result is one ordinary booster.  With ``loss="ce"`` and all parameters given, or
    with ``budget=0``, it equals XGBoost's own.  If training stops early on an ``eval_set``, that chooses the
    number of rounds, and no other fits are needed.

    Labels may be of any sortable type.  As with XGBoost's built-in objective, an intercept is estimated.  The
    default ``eval_metric``, on which training stops early, is the loss.  A callable ``eval_metric`` receives
    probabilities, as in the parent class, or margins if it is a metric of `boostnoise.objectives.metrics` that
    reads them.

    Parameters
    ----------
    loss : str or Loss, default="ce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.  Two can be chosen on the noisy labels, see
        `boostnoise.boosting.loss_parameters`: ``{"q": "auto"}`` of ``"gce"`` by accuracy in cross-validation
        (five additional fits for each fold), and ``{"T": "auto"}`` of ``"forward"`` and ``"backward"`` by
        `estimate_transition_matrix` from out-of-fold probabilities of cross entropy (one additional fit for
        each fold).
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Hessian strategy, see `boostnoise.losses.curvature`; None uses the default of the loss.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights as in scikit-learn.  XGBoost itself has no such
        parameter.
    n_estimators, learning_rate, max_depth, min_child_weight, subsample, colsample_bynode : default="auto"
        As in `xgboost.XGBClassifier`.  What is "auto" is chosen on the noisy labels, see
        `boostnoise.boosting.auto_parameters`, or is XGBoost's default if `budget` is 0 or ``booster`` is not
        "gbtree".
    budget : float, default=20
        Cost of `fit`, roughly in fits of `xgboost.XGBClassifier` with its defaults.  0 chooses nothing.
    cv : int, cross-validation splitter or iterable of splits, default=5
        Folds in which the parameters are compared; an integer is the number of stratified folds.  Above 100,000
        rows, only the first of these folds is held out.
    verbose : int, default=0
        If positive, `fit` prints a line for each fold.
    **kwargs
        All other parameters of `xgboost.XGBClassifier`.  ``objective`` must keep its default.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    loss_ : Loss
        The loss used for training, with all its parameters.
    chosen_params_ : dict
        Values of the parameters that were "auto".  Those of a tuple alternate from tree to tree.
    cv_results_ : dict of str to ndarray
        Score on unseen noisy labels by structure of trees and by total learning rate, the sum over all
        rounds; with the keys of `sklearn.model_selection.GridSearchCV`.  A score is a negative mean loss, and
        NaN where a structure was not tried.  Only if there was something to compare.
    n_estimators_ : int
        Number of rounds of the booster.
    loss_scores_ : dict of float to float
        Accuracy of each q on noisy labels; only with ``{"q": "auto"}``.

    Examples
    --------
    >>> from boostnoise import RobustXGBClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustXGBClassifier(budget=5).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.chosen_params_["subsample"]
    0.5
    """

    _labels: NDArray[Any] | None = None

    def __init__(
        self,
        *,
        loss: str | Loss = DEFAULT_LOSS,
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_estimators: int | str | None = AUTO,
        learning_rate: float | str | None = AUTO,
        max_depth: int | str | None = AUTO,
        min_child_weight: float | str | None = AUTO,
        subsample: float | str | None = AUTO,
        colsample_bynode: float | str | None = AUTO,
        budget: float = 20,
        cv: Any = 5,
        verbose: int = 0,
        **kwargs: Any,
    ) -> None:
        loss_keywords = pop_loss_keywords(kwargs)
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            min_child_weight=min_child_weight,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            **kwargs,
        )
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.class_weight = class_weight
        self.budget = budget
        self.cv = cv
        self.verbose = verbose
        self.set_params(**loss_keywords)

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        xgb_model: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the booster; parameters as in `xgboost.XGBClassifier.fit`, and `groups` of rows for the folds.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are invalid, if the loss does not support the number of classes, if
            ``objective`` is set, or if `y` has fewer than two classes.  If a parameter is chosen on the data,
            also if the rows cannot be divided into folds, if training starts from a model or from margins, or
            if the estimated T is singular.
        """
        check_fit(self, super(), fit_params)
        target = Target.read(X, y)
        objective = self._make_objective(target.n_classes)
        self._adapted_metrics(objective, target.n_classes)  # raises errors before a choice that takes many fits
        encoded = None if eval_set is None else encode_eval_set(eval_set, target.encoder)
        sample_weight = enlarge_weights(self, AUTO_PARAMETERS, target.labels, sample_weight)
        arguments = {"sample_weight": sample_weight, "eval_set": eval_set, "xgb_model": xgb_model, **fit_params}
        choice, objective = self._choose(objective, X, target, arguments, groups)
        weight = combine_weights(target.labels, sample_weight, self.class_weight)
        params = self._final_params(choice, objective, target.n_classes)
        # A model from which training continues already has an intercept.
        if not objective.is_built_in and self.base_score is None and xgb_model is None:
            params["base_score"] = objective.base_score(target.codes, weight)
        self._labels = None  # the parent's `fit` compares the codes with `classes_`
        arguments |= {"sample_weight": weight, "eval_set": encoded}
        with temporarily_set(self, **params):
            super().fit(X, target.codes, **arguments)
        self._labels = target.encoder.classes_
        set_fitted_attributes(self, choice)
        return self

    def _check_parameters(self) -> None:
        if self.objective not in ("binary:logistic", "multi:softprob"):
            raise ValueError(f"objective is set by the loss and must not be given, got {self.objective!r}")

    def _make_objective(self, n_classes: int) -> XGBoostObjective:
        scale_pos_weight = positive_weight(self.scale_pos_weight, n_classes)
        return XGBoostObjective(build_loss(self, n_classes), self.hessian, n_classes, scale_pos_weight)

    def _choose(
        self, objective: XGBoostObjective, X: Any, target: Target, arguments: dict[str, Any], groups: Any
    ) -> tuple[Choice, XGBoostObjective]:
        """Choose the parameters that are "auto", and then that of the loss."""
        stops = bool(self.early_stopping_rounds) or stops_early(self.callbacks)
        if stops and arguments["eval_set"] is None:
            raise ValueError("early stopping needs rows to evaluate: pass eval_set to fit")
        choice = choose_parameters(
            self, AUTO_PARAMETERS, objective, X, target, {**arguments, "groups": groups}, stops_early=stops
        )
        with temporarily_set(self, **choice.fewer_rounds, callbacks=self._scheduled_callbacks(choice)):
            objective = choose_loss_parameter(
                self, objective, X, target, {**arguments, "verbose": False}, groups
            )
        return choice, objective

    def _scheduled_callbacks(self, choice: Choice) -> list[Any] | None:
        """``callbacks``, and one that alternates the parameters of trees."""
        if choice.schedule is None:
            return self.callbacks
        return [*(self.callbacks or ()), ScheduledParameters(choice.schedule)]

    def _final_params(self, choice: Choice, objective: XGBoostObjective, n_classes: int) -> dict[str, Any]:
        """Parameters of this estimator that are replaced while it is fitted to all rows."""
        replaced = {**choice.constants, "callbacks": self._scheduled_callbacks(choice)}
        replaced["eval_metric"] = self._adapted_metrics(objective, n_classes)
        if not objective.is_built_in:
            return {**replaced, "objective": objective}
        if n_classes == 2:
            return {**replaced, "objective": "binary:logistic"}
        # XGBoost sets the objective for several classes, and warns of this weight.
        return {**replaced, "objective": self.objective, "scale_pos_weight": None}

    def _fit_fold(
        self, rows: TrainingRows, seen: Rows, unseen: Rows, schedule: Schedule, curve: LearningCurve
    ) -> None:
        """Train on the rows of a fold, and record the loss on the others; all parameters are set."""
        self.set_params(
            callbacks=[ScheduledParameters(schedule), CurveRecorder(curve)],
            early_stopping_rounds=None,
            eval_metric=None,
            scale_pos_weight=None,
        )
        (X, labels), weight = rows.part(seen)
        evaluated, evaluated_weight = rows.part(unseen)
        arguments = {"eval_set": [evaluated], "verbose": False, **rows.arguments}
        if evaluated_weight is not None:
            arguments["sample_weight_eval_set"] = [evaluated_weight]
        self.fit(X, labels, sample_weight=weight, **arguments)

    def _boosts_trees(self) -> bool:
        """Whether the booster is of gradient boosted trees, which can be trained as long as wanted."""
        return self.booster in (None, "gbtree")

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss_params__q`` sets the parameter q of the loss, for instance in a grid search.

        If `loss` is set and ``loss_params`` is not, those of the earlier ``loss_params`` are kept that the new
        loss has too.
        """
        super().set_params(**merge_loss_params(self, params))
        return self

    def _adapted_metrics(self, objective: XGBoostObjective, n_classes: int) -> Any:
        """``eval_metric``, converted to read what XGBoost passes with this objective."""
        if self.eval_metric is None:
            return None if objective.is_built_in else default_metric(objective.loss, "xgboost", n_classes)
        metrics = self.eval_metric if isinstance(self.eval_metric, list | tuple) else [self.eval_metric]
        converted = [
            adapt_metric(metric, "xgboost", n_classes, built_in=objective.is_built_in) for metric in metrics
        ]
        return converted if isinstance(self.eval_metric, list | tuple) else converted[0]

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters of the booster, without those of this class and without those that are chosen later."""
        own = (*OWN_PARAMETERS, "class_weight", "verbose")
        params = {
            name: value
            for name, value in super().get_xgb_params().items()
            if name not in own and not is_auto(value)
        }
        if params.get("learning_rate") is not None:
            params.pop("eta", None)  # its other name
        return params

    @property
    def n_estimators_(self) -> int:
        """Number of rounds of the fitted booster."""
        check_is_fitted(self)
        return self.get_booster().num_boosted_rounds()

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
        booster.set_attr(**{LABELS_ATTRIBUTE: labels_to_json(self.classes_)})
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
        self._labels = None if written is None else labels_from_json(written)
