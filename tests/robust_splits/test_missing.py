"""Missing values against brute force: every threshold, with missing values left, right, or alone on a side."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from robust_splits import (
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    RobustForestClassifier,
    get_criterion,
)

CRITERIA = [
    "gini", "entropy", "misclassification", "sqrt_gini", "gce(0.3)", "negative_exponential(0.5)", "twoing",
    "pairwise", "pairwise_sum", "credal", "newton(0.5)",
]  # fmt: skip


def goes_left(column, threshold, missing_left):
    return np.where(np.isnan(column), missing_left, column <= threshold)


def counts_of(left, y, weight, n_classes):
    return [np.bincount(y[side], weights=weight[side], minlength=n_classes) for side in (left, ~left)]


def best_gain(criterion, X, y, weight, n_classes, min_samples_leaf):
    """Largest gain of all splits; -inf if there is no split."""
    best = -np.inf
    for column in X.T:
        missing = np.isnan(column)
        values, code = np.unique(column[~missing], return_inverse=True)
        counts = np.zeros((values.size, n_classes))
        np.add.at(counts, (code, y[~missing]), weight[~missing])
        alone = np.bincount(y[missing], weights=weight[missing], minlength=n_classes)
        # Sums from both ends, so that a class which is not on a side is 0 there. The largest value as threshold
        # separates all values from the missing ones.
        left = counts.cumsum(axis=0)
        right = np.vstack([counts[1:], np.zeros(n_classes)])[::-1].cumsum(axis=0)[::-1][: values.size]
        n_left = np.bincount(code, minlength=values.size).cumsum()
        for missing_left in (False, True):
            n = n_left + missing.sum() * missing_left
            allowed = np.minimum(n, y.size - n) >= min_samples_leaf
            sides = left + alone * missing_left, right + alone * (not missing_left)
            gains = map(criterion.gain, *(side[allowed] for side in sides))
            best = max(best, max(gains, default=-np.inf))
    return best


def check_every_node(model, X, y, weight, min_samples_leaf=1):
    """Each node holds the counts of its rows and is split at the largest gain, if that is positive."""
    tree, criterion, n_classes = model.tree_, get_criterion(model.criterion), len(model.classes_)
    y = np.searchsorted(model.classes_, y)
    rows_of = {0: np.arange(len(y))}
    for node in range(tree.n_nodes):
        rows = rows_of[node]
        assert tree.n_rows[node] == len(rows)
        largest = best_gain(criterion, X[rows], y[rows], weight[rows], n_classes, min_samples_leaf)
        if tree.feature[node] < 0:
            assert largest < 1e-11
            assert (model.apply(X[rows]) == node).all()
            continue
        column = X[rows, tree.feature[node]]
        left = goes_left(column, tree.threshold[node], tree.missing_left[node])
        counts = counts_of(left, y[rows], weight[rows], n_classes)
        assert criterion.gain(*counts) == pytest.approx(largest, abs=1e-12, rel=1e-9)
        assert largest > 0
        rows_of[tree.left[node]], rows_of[tree.left[node] + 1] = rows[left], rows[~left]
        np.testing.assert_allclose(tree.counts[[tree.left[node], tree.left[node] + 1]], counts, atol=1e-9)
        if not np.isnan(column).any() and counts[0].sum() != pytest.approx(counts[1].sum()):
            assert tree.missing_left[node] == (counts[0].sum() > counts[1].sum())


@st.composite
def problems(draw):
    """Small data full of ties, duplicates, constant columns and missing values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 60))
    n_classes = min(draw(st.sampled_from([2, 3, 7, 26])), 1 + n // 3)
    X = rng.integers(0, draw(st.sampled_from([1, 2, 3, 8, 10_000])), (n, draw(st.integers(1, 3)))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.5]))] = 0
    X[rng.random(X.shape) < draw(st.sampled_from([0.1, 0.5, 0.95]))] = np.nan
    weight = rng.choice([0.3, 1.0, 2.7], n) if draw(st.booleans()) else np.ones(n)
    return X, rng.integers(0, n_classes, n), weight


@pytest.mark.parametrize("name", CRITERIA)
@settings(max_examples=25)
@given(problem=problems(), min_samples_leaf=st.sampled_from([1, 1, 4]))
def test_every_split_is_the_best_one(name, problem, min_samples_leaf):
    X, y, weight = problem
    if name in ("pairwise", "newton(0.5)"):
        y = y % 2
    model = RobustDecisionTreeClassifier(name, min_samples_leaf=min_samples_leaf, random_state=0)
    check_every_node(model.fit(X, y, weight), X, y, weight, min_samples_leaf)


@pytest.mark.parametrize(
    ("name", "weighted"),
    [("gini", False), ("gini", True), ("gce", True), ("negative_exponential(0.5)", False)],
)
@pytest.mark.parametrize("n_values", [3, 200, 5_000])
def test_every_search_method_finds_the_best_split(name, n_values, weighted):
    # Enough rows for the histogram and the radix sort with one and two digits; smaller nodes are sorted by ranking.
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, (800, 2)).astype(float)
    y = (X[:, 0] + rng.normal(0, n_values / 2, 800) > n_values / 2).astype(int)
    # Missing values are informative: of a high value in one column, of class 0 in the other.
    X[(rng.random(800) < 0.3) & (X[:, 0] > n_values / 3), 0] = np.nan
    X[rng.random(800) < 0.5 - 0.3 * y, 1] = np.nan
    weight = rng.choice([0.3, 1.0, 2.7], 800) if weighted else np.ones(800)
    model = RobustDecisionTreeClassifier(name, min_samples_leaf=20).fit(X, y, weight)
    assert model.tree_.n_nodes > 5
    check_every_node(model, X, y, weight, min_samples_leaf=20)


def test_the_three_ways_to_split_by_hand():
    def root(X, y):
        tree = RobustDecisionTreeClassifier("gini").fit(np.array(X)[:, None], y).tree_
        assert tree.n_nodes == 3
        return tree.threshold[0], tree.missing_left[0]

    nan = np.nan
    assert root([1, 2, nan, 3, 4], [0, 0, 0, 1, 1]) == (2.5, True)
    assert root([1, 2, 3, 4, nan], [0, 0, 1, 1, 1]) == (2.5, False)
    assert root([1, nan, 2, nan, 3], [0, 1, 0, 1, 0]) == (np.inf, False)
    assert root([5, nan, nan], [0, 1, 1]) == (np.inf, False)


@pytest.mark.parametrize(
    "model",
    [RobustDecisionTreeClassifier(), RobustForestClassifier(10), RobustExtraTreesClassifier(10)],
    ids=["tree", "forest", "extra trees"],
)
def test_a_column_without_values_is_never_chosen(model):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 2, 200)
    X[:, 1] = np.nan
    grown = {"criterion": "gini", "max_features": 1, "min_samples_split": 2, "random_state": 0}
    fitted = clone(model).set_params(**grown).fit(X, y)
    trees = [e.tree_ for e in getattr(fitted, "estimators_", [fitted])]
    assert all(set(tree.feature) == {-1, 0, 2} for tree in trees)
    assert clone(model).fit(np.full((20, 2), np.nan), y[:20]).feature_importances_.tolist() == [0, 0]


def test_rows_missing_only_at_predict_go_where_most_weight_went():
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((300, 3)), rng.integers(0, 2, 300), rng.uniform(0.1, 3, 300)
    model = RobustDecisionTreeClassifier("gini", max_depth=5).fit(X, y, weight)
    tree, node = model.tree_, 0
    while tree.left[node] >= 0:
        node = max(tree.children[node], key=tree.weight.__getitem__)
    assert model.apply(np.full((1, 3), np.nan)).tolist() == [node]


@pytest.mark.parametrize(("n_classes", "missing"), [(2, 0.2), (3, 0.05), (3, 0.4)])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_same_tree_as_scikit_learn(criterion, n_classes, missing):
    # Continuous columns and large leaves, so that no two splits have the same gain.
    rng = np.random.default_rng(0)
    X, y = make_classification(3_000, 8, n_informative=5, n_classes=n_classes, flip_y=0.3, random_state=0)
    X = X.astype(np.float32)
    X[:, :5][rng.random((3_000, 5)) < missing] = np.nan
    X[rng.random(3_000) < 0.2 * y, 0] = np.nan
    limits = {"criterion": criterion, "min_samples_leaf": 40, "max_depth": 6, "random_state": 0}
    ours = RobustDecisionTreeClassifier(**limits).fit(X, y)
    theirs = DecisionTreeClassifier(**limits).fit(X, y)
    assert ours.tree_.n_nodes == theirs.tree_.node_count
    grid = rng.normal(size=(5_000, 8)).astype(np.float32)
    grid[rng.random(grid.shape) < 0.3] = np.nan
    np.testing.assert_allclose(ours.predict_proba(grid), theirs.predict_proba(grid), atol=1e-12)
