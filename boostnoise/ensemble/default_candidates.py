"""The classifiers that `RobustClassifier` fits by default."""

from __future__ import annotations

from typing import Any

from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier

from ..boosting.lightgbm_classifier import RobustLGBMClassifier

# Parameters of LightGBM, from the smallest booster to the largest one.
SAMPLED = {"subsample": 0.7, "subsample_freq": 1, "colsample_bytree": 0.7, "min_child_weight": 0.1}
BOOSTERS: tuple[dict[str, Any], ...] = (
    {"num_leaves": 8, "learning_rate": 0.05, "n_estimators": 100},
    {"num_leaves": 16, "learning_rate": 0.05, "n_estimators": 200},
    {"num_leaves": 31, "learning_rate": 0.1, "n_estimators": 100},
    {"num_leaves": 63, "learning_rate": 0.1, "n_estimators": 200, **SAMPLED},
    {"num_leaves": 127, "learning_rate": 0.1, "n_estimators": 300, **SAMPLED},
)
MEDIUM, LARGE = 2_000, 20_000  # numbers of rows from which larger boosters are tried
N_BOOSTERS = 3


def default_candidates(n_rows: int, random_state: int, n_jobs: int | None) -> list[Any]:
    """A forest, extra-trees, and three boosters whose size grows with the number of rows."""
    smallest = int(n_rows >= MEDIUM) + int(n_rows >= LARGE)
    forests = [
        forest(random_state=random_state, n_jobs=n_jobs)
        for forest in (RobustForestClassifier, RobustExtraTreesClassifier)
    ]
    boosters = [
        RobustLGBMClassifier(random_state=random_state, n_jobs=n_jobs, verbose=-1, **params)
        for params in BOOSTERS[smallest : smallest + N_BOOSTERS]
    ]
    return [*forests, *boosters]
