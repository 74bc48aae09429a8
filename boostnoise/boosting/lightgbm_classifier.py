"""LightGBM's classifier, trained on the probabilities of the clean labels."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from robust_splits.frames import check_columns

from ..label_noise.dask_rows import is_dask_collection, map_rows
from ..losses.base import Loss
from ..losses.curvature import Strategy
from ..losses.registry import DEFAULT_LOSS
from ..losses.softmax import Floats
from ..objectives.hooks import LightGBMObjective
from ..objectives.intercept import lightgbm_intercept, repeat
from ..objectives.soft_labels import SoftLabelObjective
from .auto_parameters import AUTO
from .estimator import OWN_PARAMETERS, check_fit, format_estimator, temporarily_set
from .frames import (
    check_column_names,
    column_names,
    refuse_for_lightgbm,
    with_numpy_columns,
    with_numpy_columns_evaluated,
)
from .lightgbm_booster import TreeCounter, add_to_first_trees, set_classes, stops_early, write_objective
from .lightgbm_parameters import (
    AUTO_PARAMETERS,
    LIGHTGBM_NAMES,
    SOFT_OBJECTIVE,
    adapt_metrics,
    encode_evaluated,
    evaluation_sizes,
    for_training,
    threads_for,
)
from .loss_parameters import build_loss, choose_loss_parameter, merge_loss_params, pop_loss_keywords
from .passes import Training, prepare_training
from .target import Target
from .weights import positive_weight


class RobustLGBMClassifier(lightgbm.LGBMClassifier):
    """`lightgbm.LGBMClassifier` that holds up under label noise.

    `fit` has two passes.  In the first one, forests judge the labels: they estimate the probability of each
    class for each row, given its features and its label.  The second pass trains one ordinary booster on these
    soft labels; its structure is the better one of two.  So `predict_proba` returns probabilities of the clean
    label.  With ``passes=1`` it returns those of the given label, and the model is `lightgbm.LGBMClassifier`
    with the chosen loss.

    Labels may be of any sortable type, or probabilities of the classes.  As with LightGBM's built-in objective,
    an intercept is estimated; that of a robust loss is stored in the first trees.  The fitted booster stores
    how margins become probabilities, so a file written by ``booster_.save_model`` gives the same predictions.

    The metric on which training stops early is the loss; ``eval_metric`` of `fit` adds others, and the
    parameter ``metric`` replaces it, as in LightGBM.  Of LightGBM's metrics, a robust
    loss allows the log loss and the error (``"binary_logloss"``, ``"binary_error"``, ``"multi_logloss"``,
    ``"multi_error"``), and for two classes ``"auc"`` and ``"average_precision"``; so do soft labels of several
    classes, as those of two passes.  A callable ``eval_metric`` receives probabilities, as in the parent class,
    or margins if it is a metric of `boostnoise.objectives.metrics` that reads them.

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
    n_estimators, learning_rate, num_leaves, min_child_weight : int or float, default="auto"
    subsample, subsample_freq, colsample_bynode, min_data_per_group : int or float, default="auto"
        As in `lightgbm.LGBMClassifier`.  With two passes, what is "auto" is chosen on the noisy labels, see
        `boostnoise.boosting.structures`.  With one pass, or if boosting is not "gbdt" or sampling not
        "bagging", it is LightGBM's default; so is `num_leaves` if ``max_depth`` is given.
    passes : {1, 2, "auto"}, default="auto"
        2 judges the labels before the booster is trained, 1 takes them as they are.  "auto" means 2 for cross
        entropy and 1 for other losses, which are robust themselves; for soft labels; where training starts from
        a model or from margins; and where the features do not distinguish the classes.
    cv : "auto", int, cross-validation splitter or iterable of splits, default="auto"
        Folds in which structures are compared and q is chosen; an integer is the number of stratified folds.
        "auto" means three; structures are compared in the first only, and not below 1,000 rows.
    verbose : int or None, default=None
        As in LightGBM.  If positive, `fit` also prints a line for each structure.
    **kwargs
        All other parameters of `lightgbm.LGBMClassifier` except ``objective``, ``linear_tree`` and ``sigmoid``.
        For imbalanced classes use ``class_weight`` or ``scale_pos_weight``; ``is_unbalance`` is for LightGBM's
        own objectives only.

    Attributes
    ----------
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
    loss_scores_ : dict of float to float
        Accuracy of each q on noisy labels; only with ``{"q": "auto"}``.

    Examples
    --------
    >>> from boostnoise import RobustLGBMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustLGBMClassifier(verbose=-1).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.passes_
    2
    """

    # Objective during training: a hook, a name, or None for the library's own.
    _trained_objective: Any = None
    _columns: list[str] | None = None

    def __init__(
        self,
        *,
        loss: str | Loss = DEFAULT_LOSS,
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        n_estimators: int | str = AUTO,
        learning_rate: float | str = AUTO,
        num_leaves: int | str = AUTO,
        min_child_weight: float | str = AUTO,
        subsample: float | str = AUTO,
        subsample_freq: int | str = AUTO,
        colsample_bynode: float | str | None = AUTO,
        min_data_per_group: int | str = AUTO,
        passes: int | str = AUTO,
        cv: Any = "auto",
        verbose: int | None = None,
        **kwargs: Any,
    ) -> None:
        loss_keywords = pop_loss_keywords(kwargs)
        super().__init__(
            n_estimators=n_estimators,  # type: ignore[arg-type]
            learning_rate=learning_rate,  # type: ignore[arg-type]
            num_leaves=num_leaves,  # type: ignore[arg-type]
            min_child_weight=min_child_weight,  # type: ignore[arg-type]
            subsample=subsample,  # type: ignore[arg-type]
            subsample_freq=subsample_freq,  # type: ignore[arg-type]
            **kwargs,
        )
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian
        self.colsample_bynode = colsample_bynode
        self.min_data_per_group = min_data_per_group
        self.passes = passes
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
        """Fit the booster; parameters as in `lightgbm.LGBMClassifier.fit`, but for two.

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
            ``objective`` is set, if a metric is named that would read margins as probabilities, if `y` has
            fewer than two classes, or if soft labels are no probabilities.  If something is chosen on the data,
            also if the rows cannot be divided into folds.
        """
        check_fit(self, super(), fit_params)
        if is_dask_collection(X):
            from .dask_lightgbm import fit_on_dask  # needs the extra "dask"

            others = {"init_score": init_score, "eval_set": eval_set, "eval_metric": eval_metric}
            others |= {"init_model": init_model, "callbacks": callbacks, "groups": groups, **fit_params}
            return fit_on_dask(self, X, y, sample_weight, others)
        check_columns(X, refuse=refuse_for_lightgbm)
        target = Target.read(X, y)
        if (readable := with_numpy_columns(X)) is not X:
            X, eval_set = readable, with_numpy_columns_evaluated(eval_set)
        objective = self._make_objective(target.n_classes, build_loss(self, target.n_classes))
        encoded = encode_evaluated(eval_set, fit_params.get("eval_y"), target.encoder)
        evaluated = evaluation_sizes(eval_set, fit_params.get("eval_y"))
        # Raises errors before a choice that takes many fits.
        self._adapted_metrics(eval_metric, objective, is_built_in=objective.is_built_in)
        stops = bool(self._get_library_parameter("early_stopping")) or stops_early(callbacks)
        if stops and not evaluated:
            raise ValueError("early stopping needs rows to evaluate: pass eval_set, or eval_X and eval_y")
        arguments = {"sample_weight": sample_weight, "eval_set": eval_set, "eval_metric": eval_metric}
        arguments |= {"init_score": init_score, "init_model": init_model, "callbacks": callbacks, **fit_params}
        is_chosen = self._get_library_parameter("num_threads") is not None
        with temporarily_set(self, n_jobs=self.n_jobs if is_chosen else threads_for(X)):
            training = prepare_training(
                self, AUTO_PARAMETERS, objective, X, target, {**arguments, "groups": groups}, stops_early=stops
            )
            with temporarily_set(self, **training.params):
                objective = choose_loss_parameter(self, objective, X, target, arguments, groups)
            counter = TreeCounter() if stops else None
            arguments["callbacks"] = [*(callbacks or ()), *([counter] if counter else [])] or None
            if training.target.probabilities is None:
                # LightGBM encodes the labels of `eval_set`.  A column of labels would raise a second warning.
                arguments |= {name: labels for name, labels in encoded.items() if name == "eval_y"}
                y = y if getattr(y, "ndim", 1) == 1 else target.labels
            else:
                arguments |= encoded
            self._train(X, y, training, objective, arguments, evaluated)
        if counter is not None:
            counter.drop_trees_after_the_best(self.booster_)
            self._best_iteration = self.booster_.best_iteration
        training.set_attributes(self)
        self._columns = column_names(X)
        return self

    def _train(
        self,
        X: Any,
        y: Any,
        training: Training,
        objective: LightGBMObjective,
        arguments: dict[str, Any],
        evaluated: list[int],
    ) -> None:
        """Train the booster of all rows; y is ignored if there are soft labels."""
        target, soft = training.target, training.target.probabilities
        if soft is not None:  # their weights include that of class 1
            objective = replace(objective, scale_pos_weight=1.0)
        is_built_in = training.uses_built_in(objective)
        metrics = self._adapted_metrics(arguments["eval_metric"], objective, is_built_in=is_built_in)
        arguments |= {"sample_weight": training.weight, "eval_metric": metrics if evaluated else None}
        intercept = None if is_built_in else self._intercept(training, arguments)
        if intercept is not None:
            arguments["init_score"] = repeat(intercept, target.codes.size)
            if evaluated:
                arguments.setdefault("eval_init_score", [repeat(intercept, n) for n in evaluated])
        self._class_weight = None  # weights of classes are part of those of rows
        with temporarily_set(self, **training.params, class_weight=None):
            if soft is None:
                self._trained_objective = None if is_built_in else objective
                super().fit(X, y, **arguments)
            elif is_built_in:  # the parent's `fit` allows class labels only
                self._trained_objective = SOFT_OBJECTIVE
                set_classes(self, target.encoder)
                lightgbm.LGBMModel.fit(self, X, np.ascontiguousarray(soft[:, 1]), **arguments)
            else:
                self._trained_objective = SoftLabelObjective(objective, soft)
                if arguments["eval_set"] is not None:
                    pairs = arguments["eval_set"]
                    arguments["eval_set"] = [(X_, target.classes[codes]) for X_, codes in pairs]
                super().fit(X, target.classes[target.placeholders], **arguments)
        # With a hook as the objective, the parent's `predict` would return margins.
        self._objective = "binary" if self.n_classes_ == 2 else "multiclass"
        if intercept is not None:
            add_to_first_trees(self.booster_, intercept)
        if self._trained_objective is not None:
            write_objective(self.booster_, self.n_classes_)
        del self._trained_objective

    def _intercept(self, training: Training, arguments: dict[str, Any]) -> Floats | None:
        """Intercept of a hook, or None if training starts elsewhere."""
        if self._get_library_parameter("boost_from_average") is False:
            return None
        if arguments["init_score"] is not None or arguments["init_model"] is not None:
            return None
        return lightgbm_intercept(training.target.given, training.weight, training.target.n_classes)

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """As in the parent class, but the columns of a data frame must be those seen by `fit`, in order.

        ``validate_features=False`` takes columns by position.
        """
        if is_dask_collection(X):
            return map_rows(partial(self.predict, **kwargs), X, self.classes_.dtype)
        X = self._checked(X, kwargs)
        return super().predict(X, *args, **{"validate_features": False, **kwargs})

    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """As in the parent class, for the columns that `predict` takes."""
        if is_dask_collection(X):
            return map_rows(partial(self.predict_proba, **kwargs), X, np.float64, self.n_classes_)
        return super().predict_proba(self._checked(X, kwargs), *args, **kwargs)

    def predict_log_proba(self, X: Any, **kwargs: Any) -> Any:
        """Predict logarithms of the probabilities of `predict_proba`; minus infinity for a probability of 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **kwargs))

    if hasattr(lightgbm.LGBMClassifier, "decision_function"):  # from LightGBM 4.7

        def decision_function(self, X: Any, **kwargs: Any) -> Any:
            """As in the parent class, but the columns of a data frame must be those seen by `fit`, in order."""
            return super().decision_function(self._checked(X, kwargs), **kwargs)

    def _checked(self, X: Any, kwargs: dict[str, Any]) -> Any:
        """Rows to predict, in a form that LightGBM reads, after a check of their columns."""
        check_is_fitted(self)
        if kwargs.get("validate_features", True):
            check_column_names(X, self._columns)
        return with_numpy_columns(X)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``loss_params__q`` sets the parameter q of the loss, for instance in a grid search.

        If `loss` is set and ``loss_params`` is not, those of the earlier ``loss_params`` are kept that the new
        loss has too.
        """
        super().set_params(**merge_loss_params(self, params))
        return self

    def _fold_parameters(self) -> dict[str, Any]:
        """Parameters of the boosters in which structures are compared."""
        return {"class_weight": None, "scale_pos_weight": 1.0, "verbose": -1}

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

    def _adapted_metrics(
        self, eval_metric: Any, objective: LightGBMObjective, *, is_built_in: bool
    ) -> list[Any]:
        """The requested metrics, converted to read what LightGBM passes with this objective."""
        requested = [eval_metric, self._get_library_parameter("metric")]
        return adapt_metrics(requested, objective, is_built_in=is_built_in)

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
            plain._objective = self._trained_objective
        return for_training(plain._process_params(stage))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return format_estimator(self)
