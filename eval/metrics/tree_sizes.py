"""Sizes of the trees of a fitted model.

The depth of a tree is the number of splits on the longest path from its root to a leaf: a root without splits
has one leaf and depth 0.  Sizes of several trees are averaged.  Multiclass boosters have one tree per class and
round, and each counts as one tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

# XGBoost and LightGBM export their trees as text, which is slow.  Larger models are sampled.
MAX_EXPORTED_TREES = 100

Size = tuple[int, int]


def mean_tree_size(model: Any) -> tuple[float, float] | None:
    """Mean number of leaves and mean depth of the fitted trees of a model.

    Supports trees and ensembles of scikit-learn and `robust_splits`, histogram gradient boosting, XGBoost and
    LightGBM, also inside pipelines and meta-estimators.  XGBoost and LightGBM models with more than 100 trees
    are sampled: about 100 trees, from evenly spaced rounds.

    Parameters
    ----------
    model : object
        A fitted estimator.

    Returns
    -------
    leaves, depth : float
        None in place of both if the model has no trees, or none of these libraries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from boostnoise.eval.metrics.tree_sizes import mean_tree_size
    >>> mean_tree_size(DecisionTreeClassifier(max_depth=1).fit(*load_iris(return_X_y=True)))
    (2.0, 1.0)
    """
    sizes = list(_sizes(model))
    if not sizes:
        return None
    leaves, depth = np.mean(sizes, axis=0)
    return float(leaves), float(depth)


def _sizes(model: Any) -> Iterator[Size]:
    """Leaves and depth of each tree."""
    if hasattr(model, "get_n_leaves") and hasattr(model, "get_depth"):
        yield model.get_n_leaves(), model.get_depth()
    elif hasattr(model, "get_booster"):
        yield from _sizes_in_xgboost(model)
    elif hasattr(model, "booster_"):
        yield from _sizes_in_lightgbm(model.booster_)
    elif hasattr(model, "_predictors"):  # histogram gradient boosting: a list of trees per round
        for tree in [tree for trees in model._predictors for tree in trees]:
            yield tree.get_n_leaf_nodes(), tree.get_max_depth()
    else:
        for part in _parts(model):
            yield from _sizes(part)


def _parts(model: Any) -> list[Any]:
    """Fitted estimators that a pipeline, an ensemble or a meta-estimator predicts with."""
    if hasattr(model, "steps"):
        return [model.steps[-1][1]]
    if hasattr(model, "calibrated_classifiers_"):
        return [calibrated.estimator for calibrated in model.calibrated_classifiers_]
    # Checked before estimator_, which in ensembles is the unfitted template.
    parts = getattr(model, "estimators_", None)
    if isinstance(parts, list | np.ndarray):  # gradient boosting: one column per class
        parts = list(parts.flat) if isinstance(parts, np.ndarray) else parts
        return [*parts, model.final_estimator_] if hasattr(model, "final_estimator_") else parts
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return [getattr(model, name)]
    return []


def _sizes_in_xgboost(model: Any) -> Iterator[Size]:
    """The text has a line per node, indented by one tab per split above it."""
    if model.booster == "gblinear":
        return
    booster = model.get_booster()
    rounds = booster.num_boosted_rounds()
    if rounds > 1:
        sample = _sampled_rounds(rounds, len(booster[:1].get_dump()))
        booster = booster[sample.start : sample.stop : sample.step]
    for text in booster.get_dump():
        yield text.count("leaf="), max(map(len, re.findall(r"^\t*", text, re.MULTILINE)))


def _sizes_in_lightgbm(booster: Any) -> Iterator[Size]:
    """The text lists the left and right children of all splits; negative numbers are leaves."""
    per_round = booster.num_model_per_iteration()
    rounds = booster.num_trees() // per_round
    sample = _sampled_rounds(rounds, per_round)
    if sample.step == 1:
        texts = [booster.model_to_string(num_iteration=-1)]
    else:
        texts = [booster.model_to_string(num_iteration=1, start_iteration=i) for i in sample]
    for text in texts:
        for tree in re.split(r"^Tree=", text, flags=re.MULTILINE)[1:]:
            children = re.findall(r"^(?:left|right)_child=(.*)$", tree, re.MULTILINE)
            left, right = ([int(child) for child in row.split()] for row in children or ("", ""))
            depths = [0] * len(left)  # a split has a higher number than its parent
            for i, below in enumerate(zip(left, right, strict=True)):
                for child in below:
                    if child >= 0:
                        depths[child] = depths[i] + 1
            yield len(left) + 1, max(depths, default=-1) + 1


def _sampled_rounds(rounds: int, trees_per_round: int) -> range:
    """Evenly spaced rounds with about `MAX_EXPORTED_TREES` trees; the range is a whole number of steps long."""
    step = max(1, -(-rounds * trees_per_round // MAX_EXPORTED_TREES))
    step = min(step, rounds)
    start = (rounds % step) // 2
    return range(start, start + rounds // step * step, step)
