"""XGBoost's parameters that `fit` chooses."""

from __future__ import annotations

from .auto_parameters import AutoParameters

# Parameters that can be "auto".  XGBoost has its default wherever a value is None.
AUTO_PARAMETERS = AutoParameters(
    structures=(
        {
            "max_depth": (2, 4, 6),
            "min_child_weight": (1.0, 4.0, 16.0),
            "subsample": 0.5,
            "colsample_bynode": 0.3,
        },
        {"max_depth": (2, 4, 6), "min_child_weight": 1.0, "subsample": 0.5, "colsample_bynode": 0.5},
        {"max_depth": 6, "min_child_weight": 1.0, "subsample": 0.8, "colsample_bynode": 1.0},
    ),
    defaults=dict.fromkeys(
        (
            "n_estimators",
            "learning_rate",
            "max_depth",
            "min_child_weight",
            "subsample",
            "colsample_bynode",
        )
    ),
    aliases={"learning_rate": ("eta",)},
    default_rate=0.3,
)
