import json

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.eval.metrics.tree_sizes import _sampled_rounds, mean_tree_size
from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier

X, Y = load_iris(return_X_y=True)
TWO = Y > 0
STUMP, TREE = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(random_state=0)


def test_trees_of_known_size():
    assert mean_tree_size(DecisionTreeClassifier().fit([[0], [1]], [0, 0])) == (1, 0)
    assert mean_tree_size(STUMP.fit(X, Y)) == (2, 1)
    # 0 1 0 1 0 1 on a line: a split between all neighbours, one leaf split off at a time.
    line, labels = np.arange(6).reshape(-1, 1), np.arange(6) % 2
    leaves, depth = mean_tree_size(DecisionTreeClassifier().fit(line, labels))
    assert (leaves, 3 <= depth <= 5) == (6, True)
    assert mean_tree_size(RobustDecisionTreeClassifier(max_depth=1).fit(X, Y)) == (2, 1)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(7),
        ExtraTreesClassifier(7),
        BaggingClassifier(TREE, 7),
        RobustForestClassifier(n_estimators=7),
    ],
)
def test_forests(forest):
    forest.fit(X, Y)
    trees = [(tree.get_n_leaves(), tree.get_depth()) for tree in forest.estimators_]
    assert len(trees) == 7
    assert mean_tree_size(forest) == pytest.approx(tuple(np.mean(trees, axis=0)))


def walk(node, children):
    """Leaves and depth of a tree of dicts, by recursion."""
    below = [walk(child, children) for child in children(node)]
    return (sum(n for n, _ in below), 1 + max(depth for _, depth in below)) if below else (1, 0)


def of_xgboost(model):
    trees = [json.loads(text) for text in model.get_booster().get_dump(dump_format="json")]
    return [walk(tree, lambda node: node.get("children", [])) for tree in trees]


def of_lightgbm(model):
    sides = ("left_child", "right_child")
    trees = [tree["tree_structure"] for tree in model.booster_.dump_model()["tree_info"]]
    return [walk(tree, lambda node: [node[side] for side in sides if side in node]) for tree in trees]


XGBOOST = [
    xgboost.XGBClassifier(n_estimators=20, gamma=0.5),
    xgboost.XGBClassifier(n_estimators=9, booster="dart"),
    xgboost.XGBClassifier(n_estimators=9, grow_policy="lossguide", max_leaves=4),
    xgboost.XGBRFClassifier(n_estimators=9),
    xgboost.XGBClassifier(n_estimators=5, multi_strategy="multi_output_tree"),
    RobustXGBClassifier(passes=1, n_estimators=9),
]
LIGHTGBM = [
    lightgbm.LGBMClassifier(n_estimators=20, verbose=-1),
    lightgbm.LGBMClassifier(n_estimators=9, boosting_type="dart", verbose=-1),
    lightgbm.LGBMClassifier(n_estimators=9, linear_tree=True, verbose=-1),
    lightgbm.LGBMClassifier(n_estimators=9, min_child_samples=200, verbose=-1),  # no split at all
    RobustLGBMClassifier(passes=1, n_estimators=9, verbose=-1),
]


@pytest.mark.parametrize("y", [TWO, Y], ids=["two classes", "three"])
@pytest.mark.parametrize("model", [*XGBOOST, *LIGHTGBM], ids=str)
def test_sizes_of_boosters_equal_those_of_their_dumps(model, y):
    model.fit(X, y.astype(int))
    trees = of_xgboost(model) if hasattr(model, "get_booster") else of_lightgbm(model)
    assert mean_tree_size(model) == pytest.approx(tuple(np.mean(trees, axis=0)))


@pytest.mark.parametrize("n_estimators", [100, 101, 150, 1000])
def test_large_boosters_are_sampled_at_evenly_spaced_rounds(n_estimators):
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    for model, read in (
        (xgboost.XGBClassifier(n_estimators=n_estimators, max_depth=3, n_jobs=1), of_xgboost),
        (
            lightgbm.LGBMClassifier(n_estimators=n_estimators, min_child_samples=3, n_jobs=1, verbose=-1),
            of_lightgbm,
        ),
    ):
        trees = np.array(read(model.fit(features, labels)))
        assert len(trees) == 3 * n_estimators
        some = trees.reshape(n_estimators, 3, 2)[_sampled_rounds(n_estimators, 3)]
        assert mean_tree_size(model) == pytest.approx(tuple(some.mean(axis=(0, 1))))
        assert mean_tree_size(model) == pytest.approx(tuple(trees.mean(axis=0)), rel=0.15)


def test_rounds_that_are_asked():
    assert _sampled_rounds(100, 1) == range(100)
    assert list(_sampled_rounds(10, 30)) == [0, 3, 6]
    assert len(_sampled_rounds(1, 1000)) == 1
    for rounds in range(1, 300):
        for per_round in (1, 2, 3, 26, 500):
            some = _sampled_rounds(rounds, per_round)
            assert 0 <= some.start < some.stop <= rounds
            assert (some.stop - some.start) % some.step == 0  # XGBoost's slices must be such
            assert len(some) == rounds or len(some) * per_round <= 100 or len(some) == 1
            assert len(some) * per_round >= min(rounds * per_round, 50)


def test_gradient_boosting():
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2).fit(X, Y)
    trees = [(tree.get_n_leaves(), tree.get_depth()) for tree in model.estimators_.ravel()]
    assert len(trees) == 15
    assert mean_tree_size(model) == pytest.approx(tuple(np.mean(trees, axis=0)))


def test_histogram_gradient_boosting():
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, Y)
    nodes = [tree.nodes for trees in model._predictors for tree in trees]
    trees = [(tree["is_leaf"].sum(), tree["depth"].max()) for tree in nodes]
    assert len(trees) == 15
    assert mean_tree_size(model) == pytest.approx(tuple(np.mean(trees, axis=0)))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), STUMP),
        AdaBoostClassifier(STUMP, n_estimators=4),
        GridSearchCV(TREE, {"max_depth": [1]}),
        CalibratedClassifierCV(STUMP),
        OneVsRestClassifier(STUMP),
        BaggingClassifier(make_pipeline(StandardScaler(), STUMP), 3),
        VotingClassifier([("a", STUMP), ("b", GaussianNB()), ("c", "drop")]),
        StackingClassifier([("a", STUMP), ("b", GaussianNB())], final_estimator=STUMP),
    ],
    ids=str,
)
def test_others_are_looked_through(model):
    assert mean_tree_size(model.fit(X, Y)) == (2, 1)


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        KNeighborsClassifier(algorithm="kd_tree"),
        xgboost.XGBClassifier(booster="gblinear", n_estimators=3),
        VotingClassifier([("a", GaussianNB())]),
    ],
    ids=str,
)
def test_models_without_trees(model):
    assert mean_tree_size(model.fit(X, Y)) is None
