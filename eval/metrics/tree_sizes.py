"""How large the trees of a fitted model are.

The depth of a tree is the number of splits on the longest way from its root to a leaf: a tree that is its root
alone has one leaf and the depth 0.  Of several trees these are means over the trees; boosters of several
classes have a tree for each class in each round, and each counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

# XGBoost and LightGBM tell of their trees as text, a slow way: of models with more, some rounds are asked.
MAX_TREES_OF_TEXT = 100

Size = tuple[int, int]


def mean_tree_size(model: Any) -> tuple[float, float] | None:
    """Leaves and depth of the fitted trees of a model, means over the trees.

    Known are trees and ensembles of scikit-learn and `robust_splits`, histogram gradient boosting, XGBoost and
    LightGBM.  Pipelines and meta-estimators are looked through, to all the trees that they have fitted.  Of an
    XGBoost or LightGBM model of more than 100 trees about so many are counted, in rounds spread evenly.

    Parameters
    ----------
    model : object
        A fitted estimator.

    Returns
    -------
    leaves, depth : float
        None in place of both where the model has no trees, or none that are known here.

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
    elif hasattr(model, "_predictors"):  # of histogram gradient boosting: a list of trees for each round
        for tree in [tree for trees in model._predictors for tree in trees]:
            yield tree.get_n_leaf_nodes(), tree.get_max_depth()
    else:
        for part in _parts(model):
            yield from _sizes(part)


def _parts(model: Any) -> list[Any]:
    """The fitted estimators that a pipeline, an ensemble or another estimator around them predicts with."""
    if hasattr(model, "steps"):
        return [model.steps[-1][1]]
    if hasattr(model, "calibrated_classifiers_"):
        return [calibrated.estimator for calibrated in model.calibrated_classifiers_]
    # Ensembles keep their template in estimator_, which is not fitted, so that name comes later.
    parts = getattr(model, "estimators_", None)
    if isinstance(parts, list | np.ndarray):  # gradient boosting: a column for each class
        parts = list(parts.flat) if isinstance(parts, np.ndarray) else parts
        return [*parts, model.final_estimator_] if hasattr(model, "final_estimator_") else parts
    for name in ("best_estimator_", "estimator_"):
        if hasattr(model, name):
            return [getattr(model, name)]
    return []


def _sizes_in_xgboost(model: Any) -> Iterator[Size]:
    """Trees as text have a line for each node, with a tab for each split above it."""
    if model.booster == "gblinear":
        return
    booster = model.get_booster()
    rounds = booster.num_boosted_rounds()
    if rounds > 1:
        some = _spread(rounds, len(booster[:1].get_dump()))
        booster = booster[some.start : some.stop : some.step]
    for text in booster.get_dump():
        yield text.count("leaf="), max(map(len, re.findall(r"^\t*", text, re.MULTILINE)))


def _sizes_in_lightgbm(booster: Any) -> Iterator[Size]:
    """Trees as text have the children of each split in rows; a negative number is a leaf."""
    per_round = booster.num_model_per_iteration()
    rounds = booster.num_trees() // per_round
    some = _spread(rounds, per_round)
    if some.step == 1:
        texts = [booster.model_to_string(num_iteration=-1)]
    else:
        texts = [booster.model_to_string(num_iteration=1, start_iteration=i) for i in some]
    for text in texts:
        for tree in re.split(r"^Tree=", text, flags=re.MULTILINE)[1:]:
            children = re.findall(r"^(?:left|right)_child=(.*)$", tree, re.MULTILINE)
            left, right = ([int(child) for child in row.split()] for row in children or ("", ""))
            depths = [0] * len(left)  # a split has a higher number than the one above it
            for i, below in enumerate(zip(left, right, strict=True)):
                for child in below:
                    if child >= 0:
                        depths[child] = depths[i] + 1
            yield len(left) + 1, max(depths, default=-1) + 1


def _spread(rounds: int, trees_per_round: int) -> range:
    """Rounds, spread evenly, of about so many trees as may be asked for; they span so many whole steps."""
    step = max(1, -(-rounds * trees_per_round // MAX_TREES_OF_TEXT))
    step = min(step, rounds)
    start = (rounds % step) // 2
    return range(start, start + rounds // step * step, step)
