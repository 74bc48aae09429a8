"""`NewtonGain` against XGBoost's own first trees, and against gradient boosting's."""

import json

import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import GradientBoostingClassifier

from robust_splits import Gini, NewtonGain, RobustDecisionTreeClassifier, get_criterion

SPLITS = arrays(float, (2, 2), elements=st.integers(0, 50)).filter(lambda counts: counts.sum(axis=1).all())
STRENGTHS = st.sampled_from([0.0, 0.1, 1.0, 10.0])
SCORES = st.sampled_from([0.02, 0.5, 0.7])
SETS = [
    "breast-w", "diabetes", "iris", "MiceProtein", "mushroom", "nursery", "optdigits", "PhishingWebsites", "semeion",
    "spambase", "splice", "steel-plates-fault", "vertebra-column", "wdbc", "yeast",
]  # fmt: skip


def interacting_columns(rows=2_000):
    """Continuous columns, so that with large leaves no two splits have the same gain, and two uneven classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=rows) > 0.4).astype(int)
    return X, y


def first_trees(X, y, depth, tree_method="exact", **params):
    """XGBoost's first tree, or the first tree of each of several classes, as nested dictionaries."""
    model = xgboost.XGBClassifier(
        n_estimators=1, max_depth=depth, learning_rate=1.0, tree_method=tree_method, n_jobs=1, **params
    )
    dump = model.fit(X, y).get_booster().get_dump(with_stats=True, dump_format="json")
    return [json.loads(tree) for tree in dump]


def preorder(node):
    """All nodes of a nested tree, each before its children, from left to right."""
    return [node, *(below for child in node.get("children", []) for below in preorder(child))]


def preorder_of(tree):
    """The nodes of one of our trees in the same order."""
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        if tree.left[order[-1]] >= 0:
            stack += [tree.left[order[-1]] + 1, tree.left[order[-1]]]
    return np.array(order)


@given(SPLITS, STRENGTHS, STRENGTHS, SCORES)
def test_the_gain_by_its_formula(counts, reg_lambda, gamma, base_score):
    def score(node):
        gradient, hessian = node.sum() * base_score - node[1], node.sum() * base_score * (1 - base_score)
        return gradient**2 / (hessian + reg_lambda)

    expected = score(counts[0]) + score(counts[1]) - score(counts.sum(axis=0)) - gamma
    gain = NewtonGain(reg_lambda, gamma, base_score).gain(*counts)
    assert gain == pytest.approx(expected, rel=1e-9, abs=1e-12 * counts.sum() / base_score)


@given(SPLITS, SCORES)
def test_without_lambda_it_is_a_multiple_of_gini(counts, base_score):
    expected = counts.sum() * Gini().gain(*counts) / (2 * base_score * (1 - base_score))
    assert NewtonGain(0.0, 0.0, base_score).gain(*counts) == pytest.approx(expected, abs=1e-11)


@given(SPLITS, STRENGTHS, st.floats(0, 1))
def test_uniform_noise_scales_the_gain(counts, reg_lambda, rate):
    criterion = NewtonGain(reg_lambda)
    noisy = counts @ np.array([[1 - rate, rate], [rate, 1 - rate]])
    expected = (1 - 2 * rate) ** 2 * criterion.gain(*counts)
    assert criterion.gain(*noisy) == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(
    ("criterion", "tree_method"),
    [
        (NewtonGain(), "exact"),
        (NewtonGain(reg_lambda=0.0), "exact"),
        (NewtonGain(reg_lambda=30.0, base_score=0.3), "exact"),
        (NewtonGain(reg_lambda=0.1, gamma=2.0), "hist"),
    ],
)
def test_the_tree_is_the_first_one_of_xgboost(criterion, tree_method):
    X, y = interacting_columns()
    p, min_samples_leaf = criterion.base_score, 40
    (theirs,) = first_trees(
        X,
        y,
        5,
        tree_method,
        max_bin=len(X),
        reg_lambda=criterion.reg_lambda,
        gamma=criterion.gamma,
        base_score=p,
        min_child_weight=(min_samples_leaf - 0.5) * p * (1 - p),
    )
    ours = (
        RobustDecisionTreeClassifier(criterion, max_depth=5, min_samples_leaf=min_samples_leaf).fit(X, y).tree_
    )
    theirs, order = preorder(theirs), preorder_of(ours)
    assert len(order) == len(theirs) > 10
    features = [int(node["split"][1:]) if "split" in node else -1 for node in theirs]
    np.testing.assert_array_equal(ours.feature[order], features)
    inner = ours.left[order] >= 0
    thresholds, gains = (
        [node[key] for node in theirs if "split" in node] for key in ("split_condition", "gain")
    )
    # With exact splits both take the middle of two values; "hist" takes the upper value.
    np.testing.assert_allclose(
        ours.threshold[order][inner], thresholds, atol=1e-6 if tree_method == "exact" else 0.1
    )
    np.testing.assert_allclose((ours.gain * ours.weight)[order][inner] + criterion.gamma, gains, rtol=1e-4)
    weights = [node["leaf"] for node in theirs if "leaf" in node]
    np.testing.assert_allclose(criterion.leaf_weights(ours.counts)[order][~inner], weights, rtol=1e-5)


def check_below(node, X, y, criterion, min_samples_leaf, depth):
    """Every split of XGBoost has the largest gain, every other node has no split with a gain, and leaf weights agree.

    Of several splits with the largest gain, XGBoost may take another one than we do.
    """
    best = (
        RobustDecisionTreeClassifier(criterion, max_depth=1, min_samples_leaf=min_samples_leaf).fit(X, y).tree_
    )
    if "leaf" in node:
        counts = np.bincount(y, minlength=2)
        assert depth == 0 or best.n_nodes == 1
        np.testing.assert_allclose(criterion.leaf_weights([counts]), node["leaf"], rtol=1e-5, atol=1e-7)
        return 1
    assert best.gain[0] * best.weight[0] == pytest.approx(node["gain"], rel=1e-4, abs=1e-4)
    left = X[:, int(node["split"][1:])] < np.float32(node["split_condition"])
    gain = criterion.gain(*(np.bincount(y[side], minlength=2) for side in (left, ~left)))
    assert gain == pytest.approx(best.gain[0] * best.weight[0], rel=1e-9)
    n_leaves = 0
    for child, side in zip(node["children"], (left, ~left), strict=True):
        n_leaves += check_below(child, X[side], y[side], criterion, min_samples_leaf, depth - 1)
    return n_leaves


@pytest.mark.parametrize("name", SETS)
def test_first_trees_on_the_sets_of_the_2020_study(data_root, name):
    table = pd.read_csv(data_root / "data" / "boosting_with_label_noise" / f"{name}.csv")
    X = table.iloc[:, :-1].to_numpy(dtype=np.float32)
    classes, y = np.unique(table.iloc[:, -1], return_inverse=True)
    depth, n_classes = 3, classes.size
    trees = first_trees(X, y, depth, base_score=0.5)
    if n_classes == 2:
        assert check_below(trees[0], X, y, get_criterion("xgboost"), 4, depth) > 1
        return
    # With softmax, the hessian is 2 p (1 - p), twice that of log loss.  XGBoost's leaves have a hessian of at least 1.
    p = 1 / n_classes
    criterion, min_samples_leaf = NewtonGain(reg_lambda=0.5, base_score=p), int(np.ceil(1 / (2 * p * (1 - p))))
    assert len(trees) == n_classes
    for k, tree in enumerate(trees[:2]):
        for node in preorder(tree):
            node.update({key: 2 * node[key] for key in ("gain", "leaf") if key in node})
        assert check_below(tree, X, (y == k).astype(int), criterion, min_samples_leaf, depth) > 1


def test_gradient_boosting_starts_with_the_tree_of_gini():
    X, y = interacting_columns()
    boosting = GradientBoostingClassifier(n_estimators=1, max_depth=4, min_samples_leaf=40).fit(X, y)
    theirs = boosting.estimators_[0, 0].tree_
    ours = RobustDecisionTreeClassifier("gini", max_depth=4, min_samples_leaf=40).fit(X, y).tree_
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        if theirs.children_left[order[-1]] >= 0:
            stack += [theirs.children_right[order[-1]], theirs.children_left[order[-1]]]
    assert len(order) > 20
    ours_order = preorder_of(ours)
    np.testing.assert_array_equal(ours.feature[ours_order], np.maximum(theirs.feature[order], -1))
    inner = ours.left[ours_order] >= 0
    np.testing.assert_allclose(ours.threshold[ours_order][inner], theirs.threshold[order][inner], rtol=1e-6)


def test_a_gain_of_zero_is_no_split():
    X, y = np.tile([[0.0], [1.0]], (30, 1)), np.repeat([0, 1, 1], 20)
    for base_score in (0.001, 0.3, 0.999):
        tree = RobustDecisionTreeClassifier(NewtonGain(0.0, 0.0, base_score)).fit(X, y).tree_
        assert tree.n_nodes == 1


def test_names_and_errors():
    assert get_criterion("xgboost") == get_criterion("newton") == NewtonGain(1.0, 0.0, 0.5)
    assert get_criterion("newton(2, 0.5)") == NewtonGain(reg_lambda=2.0, gamma=0.5)
    with pytest.raises(
        ValueError, match=r"'newton' takes reg_lambda, gamma, base_score, got 'newton\(1,2,3,4\)'"
    ):
        get_criterion("newton(1,2,3,4)")
    with pytest.raises(ValueError, match=r"gamma of NewtonGain must be a finite number of at least 0, got -1"):
        NewtonGain(gamma=-1)
    with pytest.raises(ValueError, match=r"base_score of NewtonGain must be a number in \(0, 1\), got 1"):
        NewtonGain(base_score=1)
    with pytest.raises(ValueError, match="criterion 'newton' is for two classes, got 3"):
        NewtonGain().gain([1, 2, 3], [3, 2, 1])
    with pytest.raises(ValueError, match=r"counts must have shape \(n_nodes, 2\), got \(1, 3\)"):
        NewtonGain().leaf_weights([[1, 2, 3]])
    assert NewtonGain().gain([1], [2]) < 0
