"""CatBoost's classifier as one of scikit-learn's, that writes no files."""

from __future__ import annotations

from typing import Any, Self

import catboost
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

# CatBoost has others for file names, devices and callbacks.
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


class CatBoostClassifier(catboost.CatBoostClassifier, BaseEstimator):
    """`catboost.CatBoostClassifier` that neither prints nor writes, and predicts vectors of labels.

    Parameters
    ----------
    **params
        Those of `PARAMETERS`.
    """

    def __init__(self, **params: Any) -> None:
        _check(params)
        super().__init__(verbose=False, allow_writing_files=False, **params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters that were set, and those of which an evaluation must know."""
        given = {name: value for name, value in self._init_params.items() if name in PARAMETERS}
        return {"random_state": None, "thread_count": None, **given}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, of `PARAMETERS` alone."""
        _check(params)
        super().set_params(**params)
        return self

    def predict(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        """Labels as a vector; CatBoost gives a column where there are more than two classes."""
        return np.ravel(super().predict(*args, **kwargs))


def _check(params: dict[str, Any]) -> None:
    for name in params:
        if name not in PARAMETERS:
            raise TypeError(f"there is no parameter {name!r}, or none that may be set here")
