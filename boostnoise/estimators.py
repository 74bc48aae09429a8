"""XGBoost's and LightGBM's classifiers with a robust loss in place of the built-in one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .hooks import Objective, log_loss_metric
from .losses import Floats, Loss, get_loss, probabilities

# The names under which LightGBM takes those of its parameters that matter to a robust loss.
LIGHTGBM_NAMES = {
    "objective": ("objective", "objective_type", "app", "application"),
    "metric": ("metric", "metrics", "metric_types"),
    "is_unbalance": ("is_unbalance", "unbalance", "unbalanced_sets"),
    "linear_tree": ("linear_tree", "linear_trees"),
    "boost_from_average": ("boost_from_average",),
    "scale_pos_weight": ("scale_pos_weight",),
}


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` with a robust loss.

    Labels may be of any sortable type.  The intercept is estimated as XGBoost's built-in objective does; with
    ``loss="ce"`` the model is XGBoost's own.  `save_model` keeps the booster: what it loads into predicts class
    numbers; a pickle keeps the labels as well.

    Parameters
    ----------
    loss : str or Loss, default="gce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.
    **kwargs
        Everything that `xgboost.XGBClassifier` takes, `objective` apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted labels.

    Examples
    --------
    >>> from boostnoise import RobustXGBClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustXGBClassifier(loss="gce", n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self, *, loss: str | Loss = "gce", loss_params: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.loss = loss
        self.loss_params = loss_params

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the booster; the parameters are those of `xgboost.XGBClassifier.fit`.

        Raises
        ------
        ValueError, TypeError
            If the loss or its parameters are not valid, `objective` was set, or `y` holds fewer than two
            classes.
        """
        loss = get_loss(self.loss, **_as_dict(self.loss_params))
        if self.objective not in ("binary:logistic", "multi:softprob"):
            raise ValueError(f"objective is set by the loss and cannot be chosen, got {self.objective!r}")
        encoder, codes = _encode_labels(y)
        if eval_set is not None:
            eval_set = [(features, encoder.transform(labels)) for features, labels in eval_set]
        scale_pos_weight = 1.0 if self.scale_pos_weight is None else float(self.scale_pos_weight)
        base_score = self.base_score
        if base_score is None:
            base_score = _xgboost_intercept(codes, sample_weight, len(encoder.classes_), scale_pos_weight)
        self._labels = None  # the parent's fit compares the codes with `classes_`
        with self._replaced(objective=Objective(loss, "xgboost", scale_pos_weight), base_score=base_score):
            super().fit(X, codes, sample_weight=sample_weight, eval_set=eval_set, **fit_params)
        self._labels = encoder.classes_
        return self

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
        del params["loss"], params["loss_params"]
        return params

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return _shown(self)

    @property
    def classes_(self) -> NDArray[Any]:
        """The sorted labels, shape (n_classes,)."""
        labels = getattr(self, "_labels", None)
        return np.arange(self.n_classes_) if labels is None else labels

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> NDArray[Any]:
        """Predict labels, or margins with `output_margin`; further parameters as in the parent."""
        check_is_fitted(self)
        predicted: NDArray[Any] = super().predict(X, output_margin=output_margin, **kwargs)
        return predicted if output_margin else self.classes_[predicted]


class RobustLGBMClassifier(lightgbm.LGBMClassifier):
    """`lightgbm.LGBMClassifier` with a robust loss.

    The intercept is estimated as LightGBM's built-in objective does and kept in the first trees, as there; with
    ``loss="ce"`` the model is LightGBM's own, but for ``boosting_type="dart"``, where LightGBM drops its
    intercept along with the first trees.  Metrics on an `eval_set` are the log loss of the margins, unless a
    callable is given.

    Parameters
    ----------
    loss : str or Loss, default="gce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.
    **kwargs
        Everything that `lightgbm.LGBMClassifier` takes, but `objective`, `metric` and `linear_tree`.  For
        imbalanced classes use `class_weight` or `scale_pos_weight`; `is_unbalance` belongs to LightGBM's own
        objectives.

    Examples
    --------
    >>> from boostnoise import RobustLGBMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RobustLGBMClassifier(loss="gce", n_estimators=20, verbose=-1).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self, *, loss: str | Loss = "gce", loss_params: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.loss = loss
        self.loss_params = loss_params

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
            If the loss or its parameters are not valid, `objective` was set, a metric is named (LightGBM's own
            read margins as probabilities), or `y` holds fewer than two classes.
        """
        self._check_parameters(eval_metric)
        get_loss(self.loss, **_as_dict(self.loss_params))
        encoder, codes = _encode_labels(y)
        n_classes = len(encoder.classes_)
        intercept = None
        starts_at_zero = self._library_parameter("boost_from_average") is False
        if init_score is None and init_model is None and not starts_at_zero:
            weight = np.ones(codes.size) if sample_weight is None else np.asarray(sample_weight, dtype=float)
            if self.class_weight is not None:
                weight = weight * compute_sample_weight(self.class_weight, np.asarray(y))
            intercept = _lightgbm_intercept(codes, weight, n_classes)
            init_score = _repeat(intercept, codes.size)
        if eval_set is not None or fit_params.get("eval_y") is not None:
            eval_metric = log_loss_metric if eval_metric is None else eval_metric
            if intercept is not None:
                scores = [_repeat(intercept, n) for n in _evaluation_sizes(eval_set, fit_params.get("eval_y"))]
                fit_params.setdefault("eval_init_score", scores)
        super().fit(
            X,
            y,
            sample_weight=sample_weight,
            init_score=init_score,
            eval_set=eval_set,
            eval_metric=eval_metric,
            init_model=init_model,
            **fit_params,
        )
        # Not the hook: with it, the parent's predict would hand out margins.
        self._objective = "binary" if n_classes == 2 else "multiclass"
        if intercept is not None:
            _add_to_first_trees(self.booster_, intercept)
        return self

    def _library_parameter(self, name: str) -> Any:
        """Value of one of LightGBM's own parameters, under any of its names; None where it is not set."""
        parameters = self.get_params()
        values = [parameters[alias] for alias in LIGHTGBM_NAMES[name] if parameters.get(alias) is not None]
        return values[0] if values else None

    def _check_parameters(self, eval_metric: Any) -> None:
        objective = self._library_parameter("objective")
        if objective is not None:
            raise ValueError(f"objective is set by the loss and cannot be chosen, got {objective!r}")
        if self._library_parameter("is_unbalance"):
            raise ValueError('is_unbalance has no effect on a robust loss; use class_weight="balanced"')
        if self._library_parameter("linear_tree"):
            raise ValueError("linear_tree is not supported: an intercept cannot be kept in linear leaves")
        metrics = eval_metric if isinstance(eval_metric, list) else [eval_metric]
        for metric in [*metrics, self._library_parameter("metric")]:
            if isinstance(metric, str | list) and metric != "None":
                raise ValueError(
                    f"metric {metric!r} of LightGBM reads the margins of a robust loss as probabilities; "
                    "pass a callable as eval_metric, or none for the log loss"
                )

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Parameters for the booster: all but those of the loss, which is handed over as a hook."""
        # A plain classifier with the parameters of this one: LightGBM takes "loss" for an objective of its own.
        plain = copy.copy(self)
        plain.__class__ = lightgbm.LGBMClassifier
        own = ("loss", "loss_params")
        plain._other_params = {name: value for name, value in self._other_params.items() if name not in own}
        if stage == "fit":
            loss = get_loss(self.loss, **_as_dict(self.loss_params))
            scale_pos_weight = float(self._library_parameter("scale_pos_weight") or 1.0)
            objective: Any = Objective(loss, "lightgbm", scale_pos_weight)
            plain._objective = objective
        params: dict[str, Any] = plain._process_params(stage)
        params["metric"] = "None"
        # Small data may lose every feature to this filter, and LightGBM takes that for an error with a hook.
        params.setdefault("feature_pre_filter", False)
        return params

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return _shown(self)

    def predict_proba(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> NDArray[Any]:
        """Predict class probabilities; the parameters are those of the parent.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; margins, leaves or contributions where these are asked for.
        """
        as_asked = raw_score or pred_leaf or pred_contrib
        predicted: Any = super().predict_proba(
            X,
            raw_score=not (pred_leaf or pred_contrib),
            start_iteration=start_iteration,
            num_iteration=num_iteration,
            pred_leaf=pred_leaf,
            pred_contrib=pred_contrib,
            validate_features=validate_features,
            **kwargs,
        )
        return predicted if as_asked else probabilities(predicted)


def _as_dict(loss_params: Any) -> dict[str, Any]:
    if loss_params is None:
        return {}
    if not isinstance(loss_params, dict):
        raise TypeError(f"loss_params must be a dict or None, got {loss_params!r}")
    return loss_params


def _shown(estimator: Any) -> str:
    """The loss and what differs from the parent's defaults; scikit-learn would leave out a loss by default."""
    parameters = estimator.get_params(deep=False)
    defaults = type(estimator)().get_params(deep=False)
    told = {"loss": parameters.pop("loss")}
    for name, value in sorted(parameters.items()):
        default = defaults.get(name)
        if value is not default and repr(value) != repr(default):
            told[name] = value
    return f"{type(estimator).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def _encode_labels(y: ArrayLike) -> tuple[LabelEncoder, NDArray[np.int64]]:
    y = column_or_1d(y, warn=True)
    missing = pd.Series(y).isna().sum()
    if missing:
        raise ValueError(f"y holds {missing} missing labels")
    check_classification_targets(y)
    encoder = LabelEncoder()
    codes: NDArray[np.int64] = encoder.fit_transform(y)
    if len(encoder.classes_) < 2:
        raise ValueError(f"y must hold at least two classes, got only {encoder.classes_.tolist()[0]!r}")
    return encoder, codes


def _xgboost_intercept(
    codes: NDArray[np.int64], sample_weight: Any, n_classes: int, scale_pos_weight: float
) -> float | list[float]:
    """The intercept that XGBoost's own objective would start from, as it estimates it itself."""
    parameters: dict[str, Any] = {"objective": "binary:logistic", "scale_pos_weight": scale_pos_weight}
    if n_classes > 2:
        parameters = {"objective": "multi:softprob", "num_class": n_classes}
    labels_alone = xgboost.DMatrix(np.zeros((codes.size, 1)), label=codes, weight=sample_weight)
    booster = xgboost.train(parameters, labels_alone, num_boost_round=1)
    estimated = json.loads(json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"])
    if n_classes > 2:
        return [float(score) for score in estimated]
    return float(np.squeeze(estimated))


def _lightgbm_intercept(codes: NDArray[np.int64], weight: Floats, n_classes: int) -> Floats:
    """The margins that LightGBM's own objective would start from: shape (1,) for two classes, else (K,)."""
    total = np.bincount(codes, weights=weight.astype(np.float32), minlength=n_classes)
    share: Floats = np.clip(total / total.sum(), 1e-15, 1.0)  # LightGBM's kEpsilon
    return np.log(share[1:] / share[:1]) if n_classes == 2 else np.log(share)


def _evaluation_sizes(eval_set: Any, eval_y: Any) -> list[int]:
    """Number of rows of each evaluation set, in either of the forms that LightGBM takes them."""
    if eval_set is not None:
        pairs = [eval_set] if isinstance(eval_set, tuple) else eval_set
        return [len(labels) for _, labels in pairs]
    return [len(labels) for labels in (eval_y if isinstance(eval_y, tuple) else (eval_y,))]


def _repeat(intercept: Floats, n_rows: int) -> Floats:
    """The intercept for each row: shape (n,) for two classes, else (n, K)."""
    return np.full(n_rows, intercept[0]) if intercept.size == 1 else np.tile(intercept, (n_rows, 1))


def _add_to_first_trees(booster: lightgbm.Booster, intercept: Floats) -> None:
    """Add the intercept to the leaves of the first tree of each class, where LightGBM keeps its own."""
    trees = booster.dump_model(num_iteration=1)["tree_info"]
    for tree, value in enumerate(intercept):
        for leaf in range(trees[tree]["num_leaves"]):
            booster.set_leaf_output(tree, leaf, booster.get_leaf_output(tree, leaf) + value)
