"""LightGBM's classifier with a robust loss in place of the built-in one."""

from __future__ import annotations

import copy
from typing import Any, Self

import lightgbm

from ._classifier import OWN_PARAMETERS, combined_weight, encode_eval_set, encode_labels, shown
from .adaptation import adapt, loss_of
from .hooks import LightGBMObjective
from .intercept import lightgbm_intercept, repeat
from .losses.base import Loss
from .losses.curvature import Strategy
from .losses.softmax import Floats
from .metrics import LogLossMetric, for_margins

# The names under which LightGBM takes those of its parameters that matter to a robust loss.
LIGHTGBM_NAMES = {
    "objective": ("objective", "objective_type", "app", "application"),
    "metric": ("metric", "metrics", "metric_types"),
    "is_unbalance": ("is_unbalance", "unbalance", "unbalanced_sets"),
    "linear_tree": ("linear_tree", "linear_trees"),
    "boost_from_average": ("boost_from_average",),
    "scale_pos_weight": ("scale_pos_weight",),
    "sigmoid": ("sigmoid",),
}
# Its names of the log loss.
LOG_LOSS = ("logloss", "binary_logloss", "binary", "multi_logloss", "multiclass", "softmax")


class RobustLGBMClassifier(lightgbm.LGBMClassifier):
    """`lightgbm.LGBMClassifier` with a robust loss.

    The intercept is estimated as LightGBM's built-in objective does and kept in the first trees, as there; with
    ``loss="ce"`` the model is LightGBM's own, but for ``boosting_type="dart"``, where LightGBM drops its
    intercept along with the first trees.  The fitted booster says how its margins become probabilities, so it
    predicts the same from a file that ``booster_.save_model`` wrote.

    Of LightGBM's own metrics it has the log loss, which is reported on an ``eval_set`` by default.  A callable
    as ``eval_metric`` gets what the parent would hand it, probabilities, or margins if it is a metric of
    `boostnoise.metrics` that reads them.

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
    **kwargs
        Everything that `lightgbm.LGBMClassifier` takes, but ``objective``, ``linear_tree`` and ``sigmoid``.
        For imbalanced classes use ``class_weight`` or ``scale_pos_weight``; ``is_unbalance`` belongs to
        LightGBM's own objectives.

    Attributes
    ----------
    loss_ : Loss
        What was trained with, with all its parameters.
    loss_scores_ : dict of float to float
        With ``{"q": "auto"}``: the accuracy of each q on noisy labels.

    Examples
    --------
    >>> from boostnoise import RobustLGBMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustLGBMClassifier(loss="gce", n_estimators=20, verbose=-1).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "gce",
        loss_params: dict[str, Any] | None = None,
        hessian: Strategy | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.loss = loss
        self.loss_params = loss_params
        self.hessian = hessian

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
        **fit_params: Any,
    ) -> Self:
        """Fit the booster; the parameters are those of `lightgbm.LGBMClassifier.fit`.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are not valid, the loss cannot deal with so many classes,
            ``objective`` was set, a metric other than the log loss is named (LightGBM's own read margins as
            probabilities), or `y` holds fewer than two classes; for what is left to the data also if a class
            has a single row, training starts from a model or from margins, or the estimated T is singular.
        """
        self._check_parameters()
        loss_of(self)
        encoder, codes = encode_labels(y)
        labels, n_classes = encoder.classes_[codes], len(encoder.classes_)
        objective = self._objective_for(n_classes, loss_of(self, n_classes))
        if eval_set is not None:
            encode_eval_set([eval_set] if isinstance(eval_set, tuple) else eval_set, encoder)
        asked_metric, eval_metric = eval_metric, self._margin_metrics(eval_metric, n_classes)
        given = {"sample_weight": sample_weight, "eval_set": eval_set, "eval_metric": asked_metric}
        given |= {"init_score": init_score, "init_model": init_model, **fit_params}
        adapt(self, objective, X, labels, codes, given)
        weight = combined_weight(labels, sample_weight, self.class_weight)
        intercept = None
        starts_at_zero = self._library_parameter("boost_from_average") is False
        if init_score is None and init_model is None and not starts_at_zero:
            intercept = lightgbm_intercept(codes, weight, n_classes)
            init_score = repeat(intercept, codes.size)
        evaluated = _evaluation_sizes(eval_set, fit_params.get("eval_y"))
        if evaluated and intercept is not None:
            fit_params.setdefault("eval_init_score", [repeat(intercept, n) for n in evaluated])
        super().fit(
            X,
            y if getattr(y, "ndim", 1) == 1 else labels,  # it would warn of a column again
            sample_weight=sample_weight,
            init_score=init_score,
            eval_set=eval_set,
            eval_metric=eval_metric if evaluated else None,
            init_model=init_model,
            **fit_params,
        )
        # Not the hook: with it, the parent's predict would hand out margins.
        self._objective = "binary" if n_classes == 2 else "multiclass"
        if intercept is not None:
            _add_to_first_trees(self.booster_, intercept)
        _tell_objective(self.booster_, n_classes)
        return self

    def _library_parameter(self, name: str) -> Any:
        """Value of one of LightGBM's own parameters, under any of its names; None where it is not set."""
        parameters = self.get_params()
        values = [parameters[alias] for alias in LIGHTGBM_NAMES[name] if parameters.get(alias) is not None]
        return values[0] if values else None

    def _check_parameters(self) -> None:
        objective = self._library_parameter("objective")
        if objective is not None:
            raise ValueError(f"objective is set by the loss and cannot be chosen, got {objective!r}")
        if self.boosting_type == "rf":
            raise ValueError('boosting_type="rf" is not supported: LightGBM has it for its own objectives')
        if self._library_parameter("is_unbalance"):
            raise ValueError('is_unbalance has no effect on a robust loss; use class_weight="balanced"')
        if self._library_parameter("linear_tree"):
            raise ValueError("linear_tree is not supported: an intercept cannot be kept in linear leaves")
        if self._library_parameter("sigmoid") not in (None, 1):
            raise ValueError("sigmoid belongs to LightGBM's own objectives; a robust loss has the slope 1")

    def _margin_metrics(self, eval_metric: Any, n_classes: int) -> list[Any]:
        """Metrics that read margins, which is what LightGBM has with a hook, in place of those asked for."""
        log_loss = LogLossMetric("lightgbm", name="binary_logloss" if n_classes == 2 else "multi_logloss")
        asked: list[Any] = []
        for metrics in (eval_metric, self._library_parameter("metric")):
            asked += metrics if isinstance(metrics, list | tuple) else [metrics]
        made = []
        for metric in asked:
            if metric in LOG_LOSS:
                made.append(log_loss)
            elif isinstance(metric, str) and metric != "None":
                raise ValueError(
                    f"metric {metric!r} of LightGBM reads the margins of a robust loss as probabilities; "
                    "pass a callable as eval_metric, or none for the log loss"
                )
            elif callable(metric):
                made.append(for_margins(metric, "lightgbm", n_classes))
        return list(dict.fromkeys(made)) or ([] if "None" in asked else [log_loss])

    def _objective_for(self, n_classes: int, loss: Loss) -> LightGBMObjective:
        # Like LightGBM's own objective, which has no use for it with more classes.
        scale_pos_weight = self._library_parameter("scale_pos_weight")
        positive = 1.0 if scale_pos_weight is None or n_classes > 2 else float(scale_pos_weight)
        return LightGBMObjective(loss, self.hessian, n_classes, positive)

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Parameters for the booster: all but those of the loss, which is handed over as a hook."""
        # A plain classifier with the parameters of this one: LightGBM takes "loss" for an objective of its own.
        plain = copy.copy(self)
        plain.__class__ = lightgbm.LGBMClassifier
        others = self._other_params
        plain._other_params = {name: others[name] for name in others if name not in OWN_PARAMETERS}
        if stage == "fit":
            objective: Any = self._objective_for(self._n_classes, self.loss_)
            plain._objective = objective
        params: dict[str, Any] = plain._process_params(stage)
        params["metric"] = "None"
        # Small data may lose every feature to this filter, and LightGBM takes that for an error with a hook.
        params.setdefault("feature_pre_filter", False)
        return params

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return shown(self)


def _evaluation_sizes(eval_set: Any, eval_y: Any) -> list[int]:
    """Number of rows of each evaluation set, in either of the forms that LightGBM takes them."""
    if eval_set is not None:
        pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
        return [len(labels) for _, labels in pairs]
    if eval_y is None:
        return []
    return [len(labels) for labels in (eval_y if isinstance(eval_y, tuple) else (eval_y,))]


def _add_to_first_trees(booster: lightgbm.Booster, intercept: Floats) -> None:
    """Add the intercept to the leaves of the first tree of each class, where LightGBM keeps its own."""
    trees = booster.dump_model(num_iteration=1)["tree_info"]
    for tree, value in enumerate(intercept):
        for leaf in range(trees[tree]["num_leaves"]):
            booster.set_leaf_output(tree, leaf, booster.get_leaf_output(tree, leaf) + value)


def _tell_objective(booster: lightgbm.Booster, n_classes: int) -> None:
    """Write into the model how margins become probabilities, as LightGBM does for an objective of its own."""
    objective = "binary sigmoid:1" if n_classes == 2 else f"multiclass num_class:{n_classes}"
    text = booster.model_to_string(num_iteration=-1)
    header, rest = text.split("\nfeature_names=", maxsplit=1)
    lines = [line for line in header.split("\n") if not line.startswith("objective=")]
    told = "\n".join([*lines, f"objective={objective}"])
    booster.model_from_string(f"{told}\nfeature_names={rest}")
