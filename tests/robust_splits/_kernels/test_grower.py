"""The grower against brute force: every split of every feature, scored by `Criterion.gain`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_splits import RobustDecisionTreeClassifier, get_criterion

CRITERIA = [
    "gini",
    "entropy",
    "misclassification",
    "sqrt_gini",
    "gce(0.3)",
    "gce",
    "gce(1.5)",
    "negative_exponential(0)",
    "negative_exponential(0.25)",
    "negative_exponential(0.5)",
    "negative_exponential(1)",
    "twoing",
    "pairwise_sum",
    "credal",
    "credal(2.5)",
]


def class_counts(y, weight, n_classes):
    return np.bincount(y, weights=weight, minlength=n_classes)


def best_gain(criterion, X, y, weight, n_classes, min_samples_leaf=1):
    """Largest gain of all splits; -inf if there is no split."""
    best = -np.inf
    for column in X.T:
        values, code = np.unique(column, return_inverse=True)
        counts = np.zeros((values.size, n_classes))
        np.add.at(counts, (code, y), weight)
        # Sums from both ends, so that a class which is not on a side is 0 there.
        left, right = counts.cumsum(axis=0)[:-1], counts[::-1].cumsum(axis=0)[-2::-1]
        n_left = np.bincount(code).cumsum()[:-1]
        allowed = np.minimum(n_left, y.size - n_left) >= min_samples_leaf
        gains = map(criterion.gain, left[allowed], right[allowed])
        best = max(best, max(gains, default=-np.inf))
    return best


def check_every_node(tree, criterion, X, y, weight, n_classes, min_samples_leaf=1):
    """Each node holds the counts of its rows and is split at the largest gain, if that is positive."""
    rows_of = {0: np.arange(len(y))}
    for node in range(tree.n_nodes):
        rows = rows_of[node]
        assert tree.n_rows[node] == len(rows)
        np.testing.assert_allclose(tree.counts[node], class_counts(y[rows], weight[rows], n_classes), atol=1e-9)
        largest = best_gain(criterion, X[rows], y[rows], weight[rows], n_classes, min_samples_leaf)
        if tree.feature[node] < 0:
            assert largest < 1e-11
            continue
        left = X[rows, tree.feature[node]] <= tree.threshold[node]
        counts = [class_counts(y[rows[side]], weight[rows[side]], n_classes) for side in (left, ~left)]
        assert criterion.gain(*counts) == pytest.approx(largest, abs=1e-12, rel=1e-9)
        assert largest > 0
        rows_of[tree.children[node, 0]] = rows[left]
        rows_of[tree.children[node, 1]] = rows[~left]


@st.composite
def problems(draw):
    """Small data full of ties, zeros and constant columns; continuous columns for the sorting search."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 60))
    n_values = draw(st.sampled_from([1, 2, 3, 8, 10_000]))
    n_classes = min(draw(st.sampled_from([2, 3, 7, 26])), 1 + n // 3)
    X = rng.integers(0, n_values, (n, draw(st.integers(1, 4)))).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.4, 0.8]))] = 0
    y = rng.integers(0, n_classes, n)
    weighted = draw(st.booleans())
    weight = rng.choice([0.3, 1.0, 2.7], n) if weighted else np.ones(n)
    return X, y, weight


@pytest.mark.parametrize("name", CRITERIA)
@settings(max_examples=20)
@given(problem=problems(), min_samples_leaf=st.sampled_from([1, 1, 4]))
def test_every_split_is_the_best_one(name, problem, min_samples_leaf):
    X, y, weight = problem
    model = RobustDecisionTreeClassifier(name, min_samples_leaf=min_samples_leaf, random_state=0)
    model.fit(X, y, sample_weight=weight)
    codes = np.searchsorted(model.classes_, y)
    check_every_node(model.tree_, get_criterion(name), X, codes, weight, len(model.classes_), min_samples_leaf)


@pytest.mark.parametrize("name", ["gini", "negative_exponential(0.5)"])
@pytest.mark.parametrize("n_values", [3, 200, 5_000])
def test_every_search_method_finds_the_best_split(name, n_values):
    # Enough rows for the histogram and the radix sort with one and two digits; smaller nodes are sorted by ranking.
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, (1_000, 2)).astype(float)
    y = (X[:, 0] + rng.normal(0, n_values / 2, 1_000) > n_values / 2).astype(int)
    model = RobustDecisionTreeClassifier(name, min_samples_leaf=20).fit(X, y)
    assert model.tree_.n_nodes > 5
    check_every_node(model.tree_, get_criterion(name), X, y, np.ones(1_000), 2, min_samples_leaf=20)


def test_columns_constant_at_a_node_are_not_confused_with_others():
    # In each node, many of the columns are constant: a bit for each, in three words.
    rng = np.random.default_rng(0)
    X = (rng.random((200, 150)) < 0.03).astype(float)
    y = rng.integers(0, 2, 200)
    model = RobustDecisionTreeClassifier("gini", random_state=0).fit(X, y)
    check_every_node(model.tree_, get_criterion("gini"), X, y, np.ones(200), 2)


@pytest.mark.parametrize("q", [0.5, 0.9, 0.97, 0.99, 0.999])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 0.37])
def test_powers_of_any_size(q, unit):
    # (sum n_k^r)^(1/r) with r = 1 / (1 - q): the sums range from below 1e-250 to above 1e300.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 2))
    y = (X[:, 0] + rng.normal(size=250) > 1).astype(int) + (X[:, 1] > 1.5)
    weight = np.full(250, unit)
    model = RobustDecisionTreeClassifier(f"gce({q})", min_samples_leaf=20, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert model.tree_.n_nodes >= 3
    check_every_node(model.tree_, get_criterion(f"gce({q})"), X, y, weight, 3, min_samples_leaf=20)


def test_no_split_without_gain():
    # A single feature carries no information about the exclusive or.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    assert RobustDecisionTreeClassifier("gini").fit(X, y).tree_.n_nodes == 1


@settings(max_examples=60)
@given(problem=problems())
def test_conservative_trees_stop_exactly_as_the_theorem_says(problem):
    """Wilton & Ye, Theorem 5 a: a leaf if and only if no split changes the majority of a child."""
    X, y, _ = problem
    model = RobustDecisionTreeClassifier("misclassification", max_depth=1).fit(X, y)
    y = np.searchsorted(model.classes_, y)
    n_classes = len(model.classes_)
    parent = class_counts(y, None, n_classes)
    majority = parent == parent.max()

    def kept(rows):
        counts = class_counts(y[rows], None, n_classes)
        return (counts[majority] == counts.max()).all()

    splits = [column <= value for column in X.T for value in np.unique(column)[:-1]]
    theorem = all(kept(left) and kept(~left) for left in splits)
    # If only some of the parent's tied majority classes are kept, the gain is still positive.
    assert (model.tree_.n_nodes == 1) == theorem


@pytest.mark.parametrize("name", ["misclassification", "negative_exponential(1)", "gce(1)"])
@pytest.mark.parametrize("weights", ["none", "equal", "any"])
def test_rounding_is_no_gain(name, weights):
    """A rare class that is a majority nowhere gives a single leaf, however small the impurity."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1_000, 20_000))
        X = rng.random((n, 3))
        y = np.zeros(n, dtype=int)
        y[rng.choice(n, 5, replace=False)] = 1
        weight = {"none": None, "equal": np.full(n, 0.1), "any": rng.uniform(0.5, 1.0, n)}[weights]
        model = RobustDecisionTreeClassifier(name, min_samples_leaf=30, random_state=0).fit(X, y, weight)
        assert model.tree_.n_nodes == 1


def test_small_gains_are_found_among_many_rows():
    X = np.zeros((200_000, 1))
    X[:3] = 1
    y = np.zeros(200_000, dtype=int)
    y[[0, 1, 5]] = 1
    for name in ("gini", "entropy", "negative_exponential(0.5)", "misclassification"):
        assert RobustDecisionTreeClassifier(name).fit(X, y).tree_.n_nodes == 3


def test_limits_on_growth():
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 3)), rng.integers(0, 2, 300)
    assert RobustDecisionTreeClassifier("gini", max_depth=3).fit(X, y).tree_.depth == 3
    tree = RobustDecisionTreeClassifier("gini", min_samples_split=50).fit(X, y).tree_
    assert tree.n_rows[tree.feature >= 0].min() >= 50
    tree = RobustDecisionTreeClassifier("gini", min_samples_leaf=25).fit(X, y).tree_
    assert tree.n_rows.min() >= 25


def test_thresholds_separate_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2)
    X, y = np.array([[low], [high]]), [0, 1]
    assert RobustDecisionTreeClassifier("gini").fit(X, y).predict(X).tolist() == [0, 1]
    X = np.array([[-1.7e308], [1.7e308]])
    assert RobustDecisionTreeClassifier("gini").fit(X, y).predict(X).tolist() == [0, 1]


def test_tiny_weights_do_not_break_the_search():
    X = np.arange(4.0).reshape(-1, 1)
    model = RobustDecisionTreeClassifier("entropy").fit(X, [0, 1, 0, 1], sample_weight=[1, 1e-300, 1, 1e-300])
    assert np.isfinite(model.predict_proba(X)).all()


def test_all_features_are_tried_until_one_varies():
    rng = np.random.default_rng(0)
    X = np.zeros((50, 20))
    X[:, 7] = rng.random(50)
    y = (X[:, 7] > 0.5).astype(int)
    for seed in range(10):
        model = RobustDecisionTreeClassifier("gini", max_features=1, random_state=seed).fit(X, y)
        assert model.tree_.feature[0] == 7
