"""LightGBM's classifier with trees, total learning rate and loss that suit noisy labels."""

from __future__ import annotations

import copy
from typing import Any, Self

import lightgbm
from sklearn.utils.validation import check_is_fitted

from robust_splits.label_noise.folds import Rows

from ..losses.base import Loss
from ..losses.curvature import Strategy
from ..losses.registry import DEFAULT_LOSS
from ..losses.softmax import Floats
from ..objectives.hooks import LightGBMObjective
from ..objectives.intercept import lightgbm_intercept, repeat
from .auto_parameters import (
    AUTO,
    ROUND_PARAMETERS,
    Choice,
    choose_parameters,
    enlarge_weights,
    is_auto,
    set_fitted_attributes,
)
from .estimator import OWN_PARAMETERS, check_fit, format_estimator, temporarily_set
from .learning_curve import LearningCurve, Schedule
from .lightgbm_booster import (
    CurveRecorder,
    ScheduledParameters,
    TreeCounter,
    add_to_first_trees,
    check_column_names,
    stops_early,
    write_objective,
)
from .lightgbm_parameters import (
    AUTO_PARAMETERS,
    LIGHTGBM_NAMES,
    adapt_metrics,
    check_eval_set,
    encode_eval_y,
    evaluation_arguments,
    evaluation_sizes,
)
from .loss_parameters import build_loss, choose_loss_parameter, merge_loss_params, pop_loss_keywords
from .structure_search import TrainingRows
from .target import Target
from .weights import combine_weights, positive_weight


class RobustLGBMClassifier(lightgbm.LGBMClassifier):
    """`lightgbm.LGBMClassifier` that holds up under label noise.

    `fit` chooses the trees, their number and the learning rate by cross-validation on the noisy labels, where
    they are not given.  The result is one ordinary booster.  With ``loss="ce"`` and all parameters given, or
    with ``budget=0``, it equals LightGBM's own.  If training stops early on an evaluation set, that chooses the
    number of rounds, and no other fits are needed.

    As with LightGBM's built-in objective, an intercept is estimated; that of a robust loss is stored in the
    first trees.  The fitted booster stores how margins become probabilities, so a file written by
    ``booster_.save_model`` gives the same predictions.

    The default ``eval_metric``, on which training stops early, is the loss.  Of LightGBM's metrics, a robust
    loss allows the log loss and the error (``"binary_logloss"``, ``"binary_error"``, ``"multi_logloss"``,
    ``"multi_error"``), and for two classes ``"auc"`` and ``"average_precision"``.  A callable ``eval_metric``
    receives probabilities, as in the parent class, or margins if it is a metric of
    `boostnoise.objectives.metrics` that reads them.

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
    n_estimators, learning_rate, num_leaves, max_depth, min_child_weight, min_child_samples : default="auto"
    min_data_per_group, subsample, subsample_freq, colsample_bynode : default="auto"
        As in `lightgbm.LGBMClassifier`.  What is "auto" is chosen on the noisy labels, see
        `boostnoise.boosting.auto_parameters`, or is LightGBM's default if `budget` is 0, if boosting is not
        "gbdt", or if sampling is not "bagging".  If one of `num_leaves` and `max_depth` is given, the other one
        has its default, and likewise with `min_child_weight` and `min_child_samples`.
    budget : float, default=20
        Cost of `fit`, roughly in fits of `lightgbm.LGBMClassifier` with its defaults.  0 chooses nothing.
    cv : int, cross-validation splitter or iterable of splits, default=5
        Folds in which the parameters are compared; an integer is the number of stratified folds.  Above 100,000
        rows, only the first of these folds is held out.
    verbose : int or None, default=None
        As in LightGBM.  If positive, `fit` also prints a line for each fold.
    **kwargs
        All other parameters of `lightgbm.LGBMClassifier` except ``objective``, ``linear_tree`` and ``sigmoid``.
        For imbalanced classes use ``class_weight`` or ``scale_pos_weight``; ``is_unbalance`` is for LightGBM's
        own objectives only.

    Attributes
    ----------
    loss_ : Loss
        The loss used for training, with all its parameters.
    chosen_params_ : dict
        Values of the parameters that were "auto".  Those of a tuple alternate from tree to tree.
    cv_results_ : dict of str to ndarray
        Score on unseen noisy labels by structure of trees and by total learning rate, the sum over all
        rounds; with the keys of `sklearn.model_selection.GridSearchCV`.  A score is a negative mean loss, and
        NaN where a structure was not tried.  Only if there was something to compare.
    loss_scores_ : dict of float to float
        Accuracy of each q on noisy labels; only with ``{"q": "auto"}``.

    Examples
    --------
    >>> from boostnoise import RobustLGBMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustLGBMClassifier(budget=5, verbose=-1).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.chosen_params_["subsample"]
    0.5
    """

    def __init__(
        self,
        *,
        loss: str | Loss = DEFAULT_LOSS,
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        n_estimators: int | str = AUTO,
        learning_rate: float | str = AUTO,
        num_leaves: int | str = AUTO,
        max_depth: int | str = AUTO,
        min_child_weight: float | str = AUTO,
        min_child_samples: int | str = AUTO,
        subsample: float | str = AUTO,
        subsample_freq: int | str = AUTO,
        colsample_bynode: float | str | None = AUTO,
        min_data_per_group: int | str = AUTO,
        budget: float = 20,
        cv: Any = 5,
        verbose: int | None = None,
        **kwargs: Any,
    ) -> None:
        loss_keywords = pop_loss_keywords(kwargs)
        super().__init__(
            n_estimators=n_estimators,  # type: ignore[arg-type]
            learning_rate=learning_rate,  # type: ignore[arg-type]
            num_leaves=num_leaves,  # type: ignore[arg-type]
            max_depth=max_depth,  # type: ignore[arg-type]
            min_child_weight=min_child_weight,  # type: ignore[arg-type]
            min_child_samples=min_child_samples,  # type: ignore[arg-type]
            subsample=subsample,  # type: ignore[arg-type]
            subsample_freq=subsample_freq,  # type: ignore[arg-type]
            **kwargs,
        )
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.colsample_bynode = colsample_bynode
        self.min_data_per_group = min_data_per_group
        self.budget = budget
        self.cv = cv
        self.verbose = verbose
        self.set_params(**loss_keywords)

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        *,
        eval_metric: Any = None,
        init_model: Any = None,
        callbacks: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the booster; parameters as in `lightgbm.LGBMClassifier.fit`, and `groups` of rows for the folds.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are invalid, if the loss does not support the number of classes, if
            ``objective`` is set, if a metric is named that would read margins as probabilities, or if `y` has
            fewer than two classes.  If a parameter is chosen on the data, also if the rows cannot be divided
            into folds, if training starts from a model or from margins, or if the estimated T is singular.
        """
        check_fit(self, super(), fit_params)
        target = Target.read(X, y)
        objective = self._make_objective(target.n_classes, build_loss(self, target.n_classes))
        check_eval_set(eval_set, target.encoder)
        if fit_params.get("eval_y") is not None:
            fit_params["eval_y"] = encode_eval_y(fit_params["eval_y"], target.encoder)
        evaluated = evaluation_sizes(eval_set, fit_params.get("eval_y"))
        self._adapted_metrics(eval_metric, objective)  # raises errors before a choice that takes many fits
        stops = bool(self._get_library_parameter("early_stopping")) or stops_early(callbacks)
        if stops and not evaluated:
            raise ValueError("early stopping needs rows to evaluate: pass eval_set, or eval_X and eval_y")
        sample_weight = enlarge_weights(self, AUTO_PARAMETERS, target.labels, sample_weight)
        arguments = {"sample_weight": sample_weight, "eval_set": eval_set, "eval_metric": eval_metric}
        arguments |= {"init_score": init_score, "init_model": init_model, "callbacks": callbacks, **fit_params}
        choice, objective = self._choose(objective, X, target, arguments, groups, stops_early=stops)
        weight = combine_weights(target.labels, sample_weight, self.class_weight)
        intercept = self._intercept(objective, target, weight, arguments)
        counter = TreeCounter() if stops else None
        arguments["callbacks"] = [*_scheduled(callbacks, choice), *([counter] if counter else [])] or None
        arguments["eval_metric"] = self._adapted_metrics(eval_metric, objective) if evaluated else None
        if intercept is not None:
            arguments["init_score"] = repeat(intercept, target.codes.size)
            if evaluated:
                arguments.setdefault("eval_init_score", [repeat(intercept, n) for n in evaluated])
        with temporarily_set(self, **choice.constants):
            # A column vector of labels would raise a second warning.
            super().fit(X, y if getattr(y, "ndim", 1) == 1 else target.labels, **arguments)
        self._complete(objective, intercept, counter)
        set_fitted_attributes(self, choice)
        return self

    def _choose(
        self,
        objective: LightGBMObjective,
        X: Any,
        target: Target,
        arguments: dict[str, Any],
        groups: Any,
        *,
        stops_early: bool,
    ) -> tuple[Choice, LightGBMObjective]:
        """Choose the parameters that are "auto", and then that of the loss."""
        known = {**arguments, "groups": groups}
        choice = choose_parameters(self, AUTO_PARAMETERS, objective, X, target, known, stops_early=stops_early)
        callbacks = _scheduled(arguments["callbacks"], choice) or None
        with temporarily_set(self, **choice.fewer_rounds):
            objective = choose_loss_parameter(
                self, objective, X, target, {**arguments, "callbacks": callbacks}, groups
            )
        return choice, objective

    def _intercept(
        self, objective: LightGBMObjective, target: Target, weight: Floats | None, arguments: dict[str, Any]
    ) -> Floats | None:
        """Intercept of a robust loss, or None if LightGBM estimates its own or training starts elsewhere."""
        if objective.is_built_in or self._get_library_parameter("boost_from_average") is False:
            return None
        if arguments["init_score"] is not None or arguments["init_model"] is not None:
            return None
        return lightgbm_intercept(target.codes, weight, target.n_classes)

    def _complete(
        self, objective: LightGBMObjective, intercept: Floats | None, counter: TreeCounter | None
    ) -> None:
        """Make the trained booster one that predicts without this class."""
        if counter is not None:
            counter.drop_trees_after_the_best(self.booster_)
            self._best_iteration = self.booster_.best_iteration
        # With the hook as the objective, the parent's `predict` would return margins.
        self._objective = "binary" if self.n_classes_ == 2 else "multiclass"
        if intercept is not None:
            add_to_first_trees(self.booster_, intercept)
        if not objective.is_built_in:
            write_objective(self.booster_, self.n_classes_)

    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """As in the parent class, but the columns of a data frame must be those seen by `fit`, in order."""
        check_is_fitted(self)
        check_column_names(X, self.booster_)
        return super().predict_proba(X, *args, **kwargs)

    if hasattr(lightgbm.LGBMClassifier, "decision_function"):  # from LightGBM 4.7

        def decision_function(self, X: Any, **kwargs: Any) -> Any:
            """As in the parent class, but the columns of a data frame must be those seen by `fit`, in order."""
            check_is_fitted(self)
            check_column_names(X, self.booster_)
            return super().decision_function(X, **kwargs)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss_params__q`` sets the parameter q of the loss, for instance in a grid search.

        If `loss` is set and ``loss_params`` is not, those of the earlier ``loss_params`` are kept that the new
        loss has too.
        """
        super().set_params(**merge_loss_params(self, params))
        return self

    def _fit_fold(
        self, rows: TrainingRows, seen: Rows, unseen: Rows, schedule: Schedule, curve: LearningCurve
    ) -> None:
        """Train on the rows of a fold, and record the loss on the others; all parameters are set."""
        replaced = (
            *LIGHTGBM_NAMES["metric"],
            *LIGHTGBM_NAMES["early_stopping"],
            "scale_pos_weight",
            "verbosity",
        )
        self._other_params = {name: value for name, value in self._other_params.items() if name not in replaced}
        self.set_params(verbose=-1)
        (X, labels), weight = rows.part(seen)
        evaluated, evaluated_weight = rows.part(unseen)
        arguments = {**evaluation_arguments(*evaluated), **rows.arguments}
        if evaluated_weight is not None:
            arguments["eval_sample_weight"] = [evaluated_weight]
        callbacks = [ScheduledParameters(schedule), CurveRecorder(curve)]
        self.fit(X, labels, sample_weight=weight, callbacks=callbacks, **arguments)

    def _boosts_trees(self) -> bool:
        """Whether the booster is of gradient boosted trees, which can be trained as long as wanted."""
        plain = self.boosting_type in ("gbdt", "gbrt")
        return plain and self.get_params().get("data_sample_strategy", "bagging") == "bagging"

    def _get_library_parameter(self, name: str) -> Any:
        """Value of a LightGBM parameter under any of its aliases, or None if it is not set."""
        parameters = self.get_params()
        values = [parameters[alias] for alias in LIGHTGBM_NAMES[name] if parameters.get(alias) is not None]
        return values[0] if values else None

    def _check_parameters(self) -> None:
        objective = self._get_library_parameter("objective")
        if objective is not None:
            raise ValueError(f"objective is set by the loss and must not be given, got {objective!r}")
        if self.boosting_type == "rf":
            raise ValueError(
                'boosting_type="rf" is not supported: LightGBM offers it for its own objectives only'
            )
        if self._get_library_parameter("is_unbalance"):
            raise ValueError('is_unbalance has no effect on a robust loss; use class_weight="balanced"')
        if self._get_library_parameter("linear_tree"):
            raise ValueError("linear_tree is not supported: an intercept cannot be stored in linear leaves")
        if self._get_library_parameter("sigmoid") not in (None, 1):
            raise ValueError("sigmoid is for LightGBM's own objectives only; a robust loss has slope 1")

    def _adapted_metrics(self, eval_metric: Any, objective: LightGBMObjective) -> list[Any]:
        """The requested metrics, converted to read what LightGBM passes with this objective."""
        return adapt_metrics([eval_metric, self._get_library_parameter("metric")], objective)

    def _make_objective(self, n_classes: int, loss: Loss) -> LightGBMObjective:
        scale_pos_weight = positive_weight(self._get_library_parameter("scale_pos_weight"), n_classes)
        return LightGBMObjective(loss, self.hessian, n_classes, scale_pos_weight)

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Parameters of the booster; the loss is passed as a hook."""
        # Use a plain classifier without the parameters of the loss: LightGBM would read "loss" as an objective.
        plain = copy.copy(self)
        plain.__class__ = lightgbm.LGBMClassifier
        plain._other_params = {
            name: value for name, value in self._other_params.items() if name not in OWN_PARAMETERS
        }
        for name in ("colsample_bynode", "min_data_per_group", "verbose"):
            plain._other_params.setdefault(name, getattr(self, name))
        if stage == "fit":
            objective: Any = self._make_objective(self._n_classes, self.loss_)
            plain._objective = None if objective.is_built_in else objective
        params: dict[str, Any] = plain._process_params(stage)
        params = {name: value for name, value in params.items() if not is_auto(value)}
        for name in ROUND_PARAMETERS:  # LightGBM would prefer some of the other names
            for alias in AUTO_PARAMETERS.aliases[name]:
                params.pop(alias, None)
        params["metric"] = "None"
        # With a hook, LightGBM raises an error if this filter removes all features, as it may on small data.
        params.setdefault("feature_pre_filter", False)
        return params

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return format_estimator(self)


def _scheduled(callbacks: Any, choice: Choice) -> list[Any]:
    """Callbacks, and one that alternates the parameters of trees."""
    schedule = [] if choice.schedule is None else [ScheduledParameters(choice.schedule)]
    return [*(callbacks or ()), *schedule]
