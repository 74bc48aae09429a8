"""XGBoost's classifier, trained on the probabilities of the clean labels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from robust_splits.frames import check_columns

from ..label_noise.dask_rows import is_dask_collection, map_rows
from ..losses.base import Loss
from ..losses.curvature import Strategy
from ..losses.label import CrossEntropy
from ..losses.registry import DEFAULT_LOSS
from ..objectives.hooks import XGBoostObjective
from ..objectives.metrics import adapt_metric, default_metric
from ..objectives.soft_labels import SoftLabelObjective
from .auto_parameters import AUTO, is_auto
from .estimator import OWN_PARAMETERS, check_fit, format_estimator, temporarily_set
from .frames import check_column_names
from .loss_parameters import build_loss, choose_loss_parameter, merge_loss_params, pop_loss_keywords
from .passes import Training, prepare_training
from .target import Target, encode_eval_set
from .weights import positive_weight
from .xgboost_booster import labels_from_json, labels_to_json, stops_early
from .xgboost_parameters import AUTO_PARAMETERS

LABELS_ATTRIBUTE = "boostnoise_labels"  # attribute of a saved booster that stores the labels


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` that holds up under label noise.

    `fit` has two passes.  In the first one, forests judge the labels: they estimate the probability of each
    class for each row, given its features and its label.  The second pass trains one ordinary booster on these
    soft labels; its structure is the better one of two.  So `predict_proba` returns probabilities of the clean
    label.  With ``passes=1`` it returns those of the given label, and the model is `xgboost.XGBClassifier` with
    the chosen loss.

    Labels may be of any sortable type, or probabilities of the classes.  As with XGBoost's built-in objective,
    an intercept is estimated.  The default ``eval_metric``, on which training stops early, is the loss.  A
    callable ``eval_metric`` receives probabilities, as in the parent class, or margins if it is a metric of
    `boostnoise.objectives.metrics` that reads them.

    Parameters
    ----------
    loss : str or Loss, default="ce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.  Two can be chosen on the noisy labels, see
        `boostnoise.boosting.loss_parameters`: ``{"q": "auto"}`` of ``"gce"`` by accuracy in cross-validation
        (five additional fits for each fold), and ``{"T": "auto"}`` of ``"forward"`` and ``"backward"`` from
        out-of-bag probabilities of forests.
    hessian : {"irls", "logistic", "fisher", "exact_clipped", "abs", "unit"} or None, default=None
        Hessian strategy, see `boostnoise.losses.curvature`; None uses the default of the loss.
    class_weight : dict, "balanced" or None, default=None
        Class weights, multiplied with the sample weights as in scikit-learn.  XGBoost itself has no such
        parameter.
    n_estimators, learning_rate, max_depth, subsample, colsample_bynode : default="auto"
        As in `xgboost.XGBClassifier`.  With two passes, what is "auto" is chosen on the noisy labels, see
        `boostnoise.boosting.structures`.  With one pass, or if ``booster`` is not "gbtree", it is XGBoost's
        default.
    passes : {1, 2, "auto"}, default="auto"
        2 judges the labels before the booster is trained, 1 takes them as they are.  "auto" means 2 for cross
        entropy and 1 for other losses, which are robust themselves; for soft labels; where training starts from
        a model or from margins; and where the features do not distinguish the classes.
    cv : "auto", int, cross-validation splitter or iterable of splits, default="auto"
        Folds in which structures are compared and q is chosen; an integer is the number of stratified folds.
        "auto" means three; structures are compared in the first only, and not below 1,000 rows.
    verbose : int, default=0
        If positive, `fit` prints a line for each structure.
    **kwargs
        All other parameters of `xgboost.XGBClassifier`.  ``objective`` must keep its default.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.
    passes_ : int
        Number of passes.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        Estimated noise: ``T[i, j]`` is the probability of label j in class i.  Only with two passes.
    loss_ : Loss
        The loss used for training, with all its parameters.
    chosen_params_ : dict
        Values of the parameters that were "auto".
    cv_results_ : dict of str to ndarray
        Mean log likelihood of unseen given labels by structure, with the keys of
        `sklearn.model_selection.GridSearchCV`.  Only if structures were compared.
    n_estimators_ : int
        Number of rounds of the booster.
    loss_scores_ : dict of float to float
        Accuracy of each q on noisy labels; only with ``{"q": "auto"}``.

    Examples
    --------
    >>> from boostnoise import RobustXGBClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustXGBClassifier().fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.passes_
    2
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
        subsample: float | str | None = AUTO,
        colsample_bynode: float | str | None = AUTO,
        passes: int | str = AUTO,
        cv: Any = "auto",
        verbose: int = 0,
        **kwargs: Any,
    ) -> None:
        loss_keywords = pop_loss_keywords(kwargs)
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            subsample=subsample,
            colsample_bynode=colsample_bynode,
            **kwargs,
        )
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.class_weight = class_weight
        self.passes = passes
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
        """Fit the booster; parameters as in `xgboost.XGBClassifier.fit`, but for two.

        With Dask collections, the booster is trained on the cluster of the current client.

        Parameters
        ----------
        y : array-like of shape (n,), or array-like or DataFrame of shape (n, n_classes)
            Labels; or soft labels, the probabilities of the classes, which name the columns of a data frame and
            else are 0, 1, ...
        groups : array-like of shape (n,) or None, default=None
            Groups of rows that folds keep together, and that the trees of the first pass draw as a whole.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are invalid, if the loss does not support the number of classes, if
            ``objective`` is set, if `y` has fewer than two classes, or if soft labels are no probabilities.  If
            something is chosen on the data, also if the rows cannot be divided into folds.
        """
        check_fit(self, super(), fit_params)
        if is_dask_collection(X):
            from .dask_xgboost import fit_on_dask  # needs the extra "dask"

            others = {"xgb_model": xgb_model, "groups": groups, **fit_params}
            return fit_on_dask(self, X, y, sample_weight, eval_set, others)
        check_columns(X)
        target = Target.read(X, y)
        objective = self._make_objective(target.n_classes)
        self._adapted_metrics(objective, target.n_classes)  # raises errors before a choice that takes many fits
        encoded = None if eval_set is None else encode_eval_set(eval_set, target.encoder)
        if encoded is not None:  # XGBoost reads the training rows once if it is given the same objects
            pairs = zip(eval_set, encoded, strict=True)
            encoded = [(X_, target.codes if given[1] is y else codes) for given, (X_, codes) in pairs]
        stops = bool(self.early_stopping_rounds) or stops_early(self.callbacks)
        if stops and eval_set is None:
            raise ValueError("early stopping needs rows to evaluate: pass eval_set to fit")
        arguments = {"sample_weight": sample_weight, "eval_set": eval_set, "xgb_model": xgb_model, **fit_params}
        training = prepare_training(
            self, AUTO_PARAMETERS, objective, X, target, {**arguments, "groups": groups}, stops_early=stops
        )
        with temporarily_set(self, **training.params):
            objective = choose_loss_parameter(
                self, objective, X, target, {**arguments, "verbose": False}, groups
            )
        self._labels = None  # the parent's `fit` compares the codes with `classes_`
        arguments |= {"sample_weight": training.weight, "eval_set": encoded}
        self._train(X, training, objective, arguments)
        self._labels = target.classes
        training.set_attributes(self)
        return self

    def _train(
        self, X: Any, training: Training, objective: XGBoostObjective, arguments: dict[str, Any]
    ) -> None:
        """Train the booster of all rows."""
        target, n_classes = training.target, training.target.n_classes
        params = {**training.params, "objective": self.objective}
        soft = target.probabilities
        if soft is not None:  # their weights include that of class 1
            params["scale_pos_weight"] = None
            objective = replace(objective, scale_pos_weight=1.0)
        is_built_in = training.uses_built_in(objective)
        params["eval_metric"] = self._adapted_metrics(objective, n_classes, is_built_in=is_built_in)
        if not is_built_in:
            params["objective"] = objective if soft is None else SoftLabelObjective(objective, soft)
            # A model from which training continues already has an intercept.
            if self.base_score is None and arguments["xgb_model"] is None:
                params["base_score"] = objective.base_score(target.given, training.weight)
        elif n_classes == 2:
            params["objective"] = "binary:logistic"
        else:  # XGBoost sets the objective for several classes, and warns of this weight
            params["scale_pos_weight"] = None
        with temporarily_set(self, **params):
            if soft is None:
                super().fit(X, target.codes, **arguments)
            elif is_built_in:  # the parent's `fit` allows class numbers only
                self.n_classes_ = n_classes
                xgboost.XGBModel.fit(self, X, soft[:, 1], **arguments)
            else:
                super().fit(X, target.placeholders, **arguments)

    def _check_parameters(self) -> None:
        if self.objective not in ("binary:logistic", "multi:softprob"):
            raise ValueError(f"objective is set by the loss and must not be given, got {self.objective!r}")

    def _make_objective(self, n_classes: int) -> XGBoostObjective:
        scale_pos_weight = positive_weight(self.scale_pos_weight, n_classes)
        return XGBoostObjective(build_loss(self, n_classes), self.hessian, n_classes, scale_pos_weight)

    def _fold_parameters(self) -> dict[str, Any]:
        """Parameters of the boosters in which structures are compared."""
        names = ("callbacks", "early_stopping_rounds", "eval_metric", "class_weight", "scale_pos_weight")
        return {**dict.fromkeys(names), "verbose": 0}

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

    def _adapted_metrics(
        self, objective: XGBoostObjective, n_classes: int, *, is_built_in: bool | None = None
    ) -> Any:
        """``eval_metric``, converted to read what XGBoost passes with this objective."""
        is_built_in = objective.is_built_in if is_built_in is None else is_built_in
        if self.eval_metric is None:
            if type(objective.loss) is CrossEntropy:
                return None  # XGBoost has its own
            return default_metric(objective.loss, "xgboost", n_classes)
        metrics = self.eval_metric if isinstance(self.eval_metric, list | tuple) else [self.eval_metric]
        converted = [adapt_metric(metric, "xgboost", n_classes, built_in=is_built_in) for metric in metrics]
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
        if is_dask_collection(X):
            columns = (self.n_classes_,) if output_margin and self.n_classes_ > 2 else ()
            dtype = np.float32 if output_margin else self.classes_.dtype
            function = partial(self.predict, output_margin=output_margin, **kwargs)
            margins_or_labels: NDArray[Any] = map_rows(function, X, dtype, *columns)
            return margins_or_labels
        if kwargs.get("validate_features", True):
            check_column_names(X, self.get_booster().feature_names)
        predicted: NDArray[Any] = super().predict(X, output_margin=output_margin, **kwargs)
        return predicted if output_margin else self.classes_[predicted]

    def predict_proba(
        self, X: Any, validate_features: bool = True, *args: Any, **kwargs: Any
    ) -> NDArray[np.floating]:
        """As in the parent class, but the columns of any data frame must be those seen by `fit`, in order."""
        check_is_fitted(self)
        if is_dask_collection(X):
            function = partial(self.predict_proba, validate_features=validate_features, **kwargs)
            in_parts: NDArray[np.floating] = map_rows(function, X, np.float32, self.n_classes_)
            return in_parts
        if validate_features:
            check_column_names(X, self.get_booster().feature_names)
        p: NDArray[np.floating] = super().predict_proba(X, validate_features, *args, **kwargs)
        return p

    def predict_log_proba(self, X: Any, **kwargs: Any) -> NDArray[np.floating]:
        """Predict logarithms of the probabilities of `predict_proba`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.floating] = np.log(self.predict_proba(X, **kwargs))
        return logarithms

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
        """Load a booster.  Labels are class numbers unless `save_model` of this class wrote the file.

        Raises
        ------
        ValueError
            If the labels in the file are not one string or number for each class.
        """
        super().load_model(fname)
        booster = self.get_booster()
        written = booster.attr(LABELS_ATTRIBUTE)
        booster.set_attr(**{LABELS_ATTRIBUTE: None})
        self._labels = None if written is None else labels_from_json(written, self.n_classes_)
