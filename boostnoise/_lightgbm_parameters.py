"""LightGBM's parameters that a robust loss replaces, and those that are chosen if left open."""

from __future__ import annotations

from .auto_parameters import AutoParameters

# Aliases of the LightGBM parameters that a robust loss replaces or restricts.
LIGHTGBM_NAMES = {
    "objective": ("objective", "objective_type", "app", "application"),
    "metric": ("metric", "metrics", "metric_types"),
    "is_unbalance": ("is_unbalance", "unbalance", "unbalanced_sets"),
    "linear_tree": ("linear_tree", "linear_trees"),
    "boost_from_average": ("boost_from_average",),
    "scale_pos_weight": ("scale_pos_weight",),
    "sigmoid": ("sigmoid",),
    "early_stopping": (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    ),
}
# On small samples, LightGBM's default of 100 rows for each group of categories would exclude most categories.
TREES = {
    "num_leaves": (4, 16, 64),
    "max_depth": (2, 4, 6),
    "min_child_samples": 1,
    "min_data_per_group": 10,
    "subsample_freq": 1,
}
# Parameters that are chosen if left open.
AUTO_PARAMETERS = AutoParameters(
    structures=(
        {**TREES, "min_child_weight": (1.0, 4.0, 16.0), "subsample": 0.5, "colsample_bynode": 0.3},
        {**TREES, "min_child_weight": 1.0, "subsample": 0.5, "colsample_bynode": 0.5},
        {
            **TREES,
            "num_leaves": 64,
            "max_depth": 6,
            "min_child_weight": 1.0,
            "subsample": 0.8,
            "colsample_bynode": 1.0,
        },
    ),
    defaults={
        "n_estimators": 100,
        "learning_rate": 0.1,
        "num_leaves": 31,
        "max_depth": -1,
        "min_child_weight": 1e-3,
        "min_child_samples": 20,
        "min_data_per_group": 100,
        "subsample": 1.0,
        "subsample_freq": 0,
        "colsample_bynode": None,
    },
    aliases={
        "n_estimators": (
            "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds",
            "nrounds", "num_boost_round", "max_iter",
        ),
        "learning_rate": ("shrinkage_rate", "eta"),
        "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "min_child_weight": (
            "min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian",
        ),
        "min_child_samples": ("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_samples_leaf"),
        "subsample": ("bagging_fraction", "sub_row", "bagging"),
        "subsample_freq": ("bagging_freq",),
        "colsample_bynode": ("feature_fraction_bynode", "sub_feature_bynode"),
    },
    linked=(frozenset({"num_leaves", "max_depth"}), frozenset({"min_child_weight", "min_child_samples"})),
)  # fmt: skip
