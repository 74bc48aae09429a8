"""XGBoost's parameters that `fit` chooses."""

from __future__ import annotations

from .auto_parameters import AutoParameters

SAMPLED = {"subsample": 0.7, "colsample_bynode": 0.7}

# Parameters that can be "auto".  XGBoost has its default wherever a value is None.
AUTO_PARAMETERS = AutoParameters(
    structures=(
        (
            {"n_estimators": 200, "learning_rate": 0.05, "max_depth": 3, **SAMPLED},
            {"n_estimators": 200, "learning_rate": 0.05, "max_depth": 4, **SAMPLED},
        ),
        (
            {"n_estimators": 200, "learning_rate": 0.05, "max_depth": 4, **SAMPLED},
            {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 6, **SAMPLED},
        ),
        (
            {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 6, **SAMPLED},
            {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 8, **SAMPLED},
        ),
        (
            {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 8, **SAMPLED},
            {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 10, **SAMPLED},
        ),
    ),
    defaults=dict.fromkeys(("n_estimators", "learning_rate", "max_depth", "subsample", "colsample_bynode")),
    aliases={"learning_rate": ("eta",)},
    limits={"max_depth": ("max_leaves",)},
    default_rate=0.3,
)
