"""XGBoost's and LightGBM's classifiers with a robust loss in place of the built-in one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import lightgbm
import numpy as np
import xgboost
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .hooks import Objective, log_loss_metric
from .losses import Floats, Loss, get_loss, probabilities


class RobustXGBClassifier(xgboost.XGBClassifier):
    """`xgboost.XGBClassifier` with a robust loss.

    Labels may be of any sortable type.  The intercept is estimated as XGBoost's built-in objective does; with
    ``loss="ce"`` the model is XGBoost's own.

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
        loss = get_loss(self.loss, **(self.loss_params or {}))
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
    ``loss="ce"`` the model is LightGBM's own.  Metrics on an `eval_set` are the log loss of the margins, unless
    a callable is given.

    Parameters
    ----------
    loss : str or Loss, default="gce"
        See `get_loss`.
    loss_params : dict or None, default=None
        Parameters of the loss, such as ``{"q": 0.5}``.
    **kwargs
        Everything that `lightgbm.LGBMClassifier` takes, `objective` apart.  For imbalanced classes use
        `class_weight` or `scale_pos_weight`; `is_unbalance` belongs to LightGBM's own objectives.

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
        encoder, codes = _encode_labels(y)
        n_classes = len(encoder.classes_)
        intercept = None
        if init_score is None and init_model is None:
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

    def _check_parameters(self, eval_metric: Any) -> None:
        if self.objective is not None:
            raise ValueError(f"objective is set by the loss and cannot be chosen, got {self.objective!r}")
        parameters = self.get_params()
        if parameters.get("is_unbalance"):
            raise ValueError('is_unbalance has no effect on a robust loss; use class_weight="balanced"')
        metrics = eval_metric if isinstance(eval_metric, list) else [eval_metric]
        for metric in [*metrics, parameters.get("metric")]:
            if isinstance(metric, str) and metric != "None":
                raise ValueError(
                    f"metric {metric!r} of LightGBM reads the margins of a robust loss as probabilities; "
                    "pass a callable as eval_metric, or none for the log loss"
                )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator."""
        parameters: dict[str, Any] = super().get_params(deep)
        if getattr(self, "_hide_loss", False):
            del parameters["loss"], parameters["loss_params"]
        return parameters

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Parameters for the booster: all but those of the loss, which is handed over as a hook."""
        if stage == "fit":
            loss = get_loss(self.loss, **(self.loss_params or {}))
            scale_pos_weight = float(self.get_params().get("scale_pos_weight") or 1.0)
            self._objective: Any = Objective(loss, "lightgbm", scale_pos_weight)
        # LightGBM takes "loss" for the name of an objective of its own.
        self._hide_loss = True
        try:
            params: dict[str, Any] = super()._process_params(stage)
        finally:
            del self._hide_loss
        params["metric"] = "None"
        return params

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


def _encode_labels(y: ArrayLike) -> tuple[LabelEncoder, NDArray[np.int64]]:
    y = column_or_1d(y, warn=True)
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
