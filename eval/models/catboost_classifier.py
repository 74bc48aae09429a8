"""CatBoost's classifier as a scikit-learn estimator that writes no files."""

from __future__ import annotations

from typing import Any, Self

import catboost
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

# CatBoost's other parameters are for files, devices and callbacks.
PARAMETERS = frozenset(
    """
    auto_class_weights bagging_temperature best_model_min_trees boost_from_average boosting_type bootstrap_type
    border_count class_weights colsample_bylevel depth diffusion_temperature eta feature_border_type
    fold_len_multiplier grow_policy iterations l2_leaf_reg langevin leaf_estimation_backtracking
    leaf_estimation_iterations leaf_estimation_method learning_rate loss_function max_bin max_depth max_leaves
    min_child_samples min_data_in_leaf model_shrink_mode model_shrink_rate monotone_constraints mvs_reg
    n_estimators nan_mode num_leaves num_trees objective posterior_sampling random_score_type random_state
    random_strength reg_lambda rsm sampling_frequency sampling_unit scale_pos_weight score_function subsample
    thread_count
    """.split()  # noqa: SIM905 - a list of words
)

MISSING = "missing"  # category of missing values


class CatBoostClassifier(catboost.CatBoostClassifier, BaseEstimator):
    """`catboost.CatBoostClassifier` without output and files, and with one-dimensional predictions.

    Columns of a frame that hold categories or text are categorical features.

    Parameters
    ----------
    **params
        CatBoost's parameters, limited to `PARAMETERS`.
    """

    def __init__(self, **params: Any) -> None:
        _check_names(params)
        super().__init__(verbose=False, allow_writing_files=False, **params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters that were set, and `random_state` and `thread_count` in any case."""
        params = {name: value for name, value in self._init_params.items() if name in PARAMETERS}
        return {"random_state": None, "thread_count": None, **params}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, limited to `PARAMETERS`."""
        _check_names(params)
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None, **kwargs: Any) -> Self:
        """Fit to features and labels.

        An `eval_set` holds features, labels, and weights or None.
        """
        X, categories = _as_text(X)
        if kwargs.get("eval_set") is not None:
            X_stop, y_stop, weight = kwargs["eval_set"]
            kwargs["eval_set"] = catboost.Pool(_as_text(X_stop)[0], y_stop, categories, weight=weight)
        super().fit(X, y, cat_features=categories, **kwargs)
        return self

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Predict labels as a vector; CatBoost returns a column for more than two classes."""
        return np.ravel(super().predict(_as_text(X)[0], *args, **kwargs))

    def predict_proba(self, X: Any, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Predict class probabilities."""
        return np.asarray(super().predict_proba(_as_text(X)[0], *args, **kwargs))


def _as_text(X: Any) -> tuple[Any, list[Any] | None]:
    """Text in place of categories, as CatBoost takes no missing category; also return their columns."""
    if not isinstance(X, pd.DataFrame):
        return X, None
    names = [name for name, dtype in X.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    X = X.copy(deep=False)
    for name in names:
        X[name] = X[name].astype(object).where(X[name].notna(), MISSING).astype(str)
    return X, names


def _check_names(params: dict[str, Any]) -> None:
    for name in params:
        if name not in PARAMETERS:
            raise TypeError(f"unknown or forbidden parameter {name!r}")
