"""Criteria corrected for noise, against the criteria on clean counts and brute force over splits."""

import pickle

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_iris

from robust_splits import (
    CorrectedCriterion,
    FunctionCriterion,
    Impurity,
    LossCriterion,
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    RobustForestClassifier,
    export_text,
    get_criterion,
    plot_tree,
)
from robust_splits.criteria import CRITERIA

PAIR = np.array([[0.9, 0.1], [0.4, 0.6]])
THREE = np.array([[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.3, 0.1, 0.6]])


def distance(left, right):
    return np.abs(left / left.sum() - right / right.sum()).sum()


def logistic(y, margin):
    return np.logaddexp(0, np.where(y == 1, -margin, margin))


def clean_counts(noisy, T):
    clean = np.maximum(np.linalg.solve(T.T, noisy), 0)
    return clean * noisy.sum() / clean.sum()


@pytest.mark.parametrize(
    "criterion",
    [*(name for name in CRITERIA), "gce(1.5)", FunctionCriterion(distance), LossCriterion(logistic)],
    ids=lambda c: str(c).partition("(function")[0].partition("(loss")[0],
)
def test_expected_counts_give_the_clean_gain(criterion):
    """Noisy counts equal to their expectation T'c are corrected to c, for any criterion."""
    rng = np.random.default_rng(0)
    for T in (PAIR, THREE):
        try:
            get_criterion(criterion).check_classes(len(T))
        except ValueError:
            continue
        for _ in range(20):
            left, right = rng.integers(1, 50, size=(2, len(T)))
            gain = CorrectedCriterion(criterion, T).gain(T.T @ left, T.T @ right)
            assert gain == pytest.approx(get_criterion(criterion).gain(left, right), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["gini", "entropy", "misclassification", "sqrt_gini", "gce"])
def test_negative_counts_are_set_to_zero(name):
    rng = np.random.default_rng(1)
    impurity, n_negative = get_criterion(name), 0
    assert isinstance(impurity, Impurity)
    for T in (PAIR, THREE):
        for _ in range(30):
            left, right = rng.integers(0, 9, size=(2, len(T))) + np.eye(len(T), dtype=int)[0]
            nodes = [left + right, left, right]
            n_negative += any(np.linalg.solve(T.T, node).min() < 0 for node in nodes)
            of_node, of_left, of_right = (
                node.sum() * impurity.impurity(clean_counts(node, T)) for node in nodes
            )
            expected = (of_node - of_left - of_right) / nodes[0].sum()
            assert CorrectedCriterion(name, T).gain(left, right) == pytest.approx(expected, rel=1e-9, abs=1e-7)
    assert n_negative > 20


def test_rounding_gives_no_gain():
    """Both children have clean proportions of exactly 0, which the inverse of T misses by rounding errors."""
    T = [[0.7, 0.3], [0.1, 0.9]]
    for name in ("sqrt_gini", "entropy", "misclassification"):
        assert CorrectedCriterion(name, T).gain([70, 30], [7, 3]) == 0


def noisy_rows(n, T, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)).round(2)
    y = (X[:, 0] > 0.3).astype(int) + (len(T) == 3) * (X[:, 1] > 0.6)
    noisy = np.array([rng.choice(len(T), p=T[k]) for k in y])
    return X, y, noisy


@pytest.mark.parametrize("T", [PAIR, THREE], ids=["two", "three"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_root_is_the_best_split(T, weighted):
    X, _, y = noisy_rows(150, T, seed=2)
    weights = np.random.default_rng(3).random(150) if weighted else np.ones(150)
    criterion = CorrectedCriterion("entropy", T)
    tree = RobustDecisionTreeClassifier(criterion, max_depth=1).fit(X, y, weights).tree_
    gains = []
    for column in X.T:
        for value in np.unique(column)[:-1]:
            sides = [np.bincount(y[s], weights[s], minlength=len(T)) for s in (column <= value, column > value)]
            gains.append(criterion.gain(*sides))
    assert tree.gain[0] == pytest.approx(max(gains), rel=1e-9)


@pytest.mark.parametrize("name", ["gini", "twoing", "pairwise"])
def test_two_classes_keep_the_order_of_splits(name):
    """Without negative counts, the correction multiplies these gains by a constant."""
    rng = np.random.default_rng(4)
    corrected = CorrectedCriterion(name, PAIR)
    ratios = []
    for _ in range(20):
        left, right = rng.integers(20, 30, size=(2, 2))
        if clean_counts(left, PAIR).all() and clean_counts(right, PAIR).all():
            ratios.append(corrected.gain(left, right) / get_criterion(name).gain(left, right))
    power = 1 if name == "pairwise" else 2
    np.testing.assert_allclose(ratios, np.linalg.det(PAIR) ** -power, rtol=1e-6)


def test_predictions_are_those_of_clean_classes():
    X, y, noisy = noisy_rows(3000, PAIR, seed=5)
    criterion = CorrectedCriterion("entropy", PAIR)
    tree = RobustDecisionTreeClassifier(criterion, min_samples_leaf=50).fit(X, noisy)
    found = tree.tree_.counts[tree.apply(X)]
    expected = np.array([clean_counts(counts, PAIR) / counts.sum() for counts in found])
    np.testing.assert_allclose(tree.predict_proba(X), expected, atol=1e-12)
    plain = RobustDecisionTreeClassifier("entropy", min_samples_leaf=50).fit(X, noisy)
    assert tree.score(X, y) > 0.98 > plain.score(X, y) + 0.02

    settings = {"passes": 1, "random_state": 0, "oob_score": True, "min_samples_split": 2, "shrinkage": 0.0}
    for forest in (RobustForestClassifier, RobustExtraTreesClassifier):
        model = forest(5, criterion=criterion, **settings).fit(X, noisy)
        by_tree = np.mean([e.tree_.proportions[e.tree_.apply(X)] for e in model.estimators_], axis=0)
        expected = np.maximum(by_tree @ np.linalg.inv(PAIR), 0)
        np.testing.assert_allclose(model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True))
        scored = model.oob_decision_function_
        known = ~np.isnan(scored[:, 0])
        assert 0 < known.mean() < 1
        assert model.oob_score_ == np.mean(scored[known].argmax(axis=1) == noisy[known])
    assert RobustForestClassifier(5, criterion=criterion).fit(X, noisy).passes_ == 1


def test_printed_classes_are_those_that_are_predicted():
    """Half of the rows of class 1 have the label 0, so leaves of class 1 have more labels 0."""
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.where(np.arange(200) < 100, np.arange(200) % 20 == 0, np.arange(200) % 5 < 2).astype(int)
    T = [[0.95, 0.05], [0.6, 0.4]]
    tree = RobustDecisionTreeClassifier(CorrectedCriterion("gini", T)).fit(X, y)
    assert tree.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert [line[-1] for line in export_text(tree).splitlines() if "class" in line] == ["0", "1"]
    texts = [text.get_text() for text in plot_tree(tree, ax=Figure().subplots()).texts]
    assert [text[-1] for text in texts if "gain" not in text and "class" in text] == ["0", "1"]


def test_clones_and_pickles():
    X, y = load_iris(return_X_y=True)
    tree = RobustDecisionTreeClassifier(CorrectedCriterion("gini", THREE), random_state=0).fit(X, y)
    again = clone(tree).fit(X, y)
    copy = pickle.loads(pickle.dumps(tree))
    for other in (again, copy):
        assert other.criterion == tree.criterion
        assert hash(other.criterion) == hash(tree.criterion)
        np.testing.assert_array_equal(other.predict_proba(X), tree.predict_proba(X))
    assert vars(pickle.loads(pickle.dumps(tree.criterion))).keys() == {"criterion", "T"}  # no address
    assert CorrectedCriterion(get_criterion("gini"), THREE.tolist()) == tree.criterion


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda X, y: CorrectedCriterion("gini", [[0.5, 0.5], [0.5, 0.5]]), ValueError, "T must be invertible"),
        (lambda X, y: CorrectedCriterion("gin", PAIR), ValueError, "criterion 'gin' is unknown"),
        (
            lambda X, y: RobustDecisionTreeClassifier(CorrectedCriterion("gini", THREE)).fit(X, y),
            ValueError,
            "T is for 3 classes, but there are 2",
        ),
        (
            lambda X, y: RobustDecisionTreeClassifier(CorrectedCriterion("pairwise", THREE)).fit(
                X, y + (X[:, 0] > 0.5)
            ),
            ValueError,
            "criterion 'pairwise' is for two classes, got 3",
        ),
        (
            lambda X, y: RobustDecisionTreeClassifier(
                CorrectedCriterion("gini", PAIR), leaf_value="majority"
            ).fit(X, y),
            ValueError,
            "leaf_value must be 'proportions' with a CorrectedCriterion, .*; got 'majority'",
        ),
        (
            lambda X, y: RobustDecisionTreeClassifier(
                CorrectedCriterion("gini", PAIR), class_weight="balanced"
            ).fit(X, y),
            ValueError,
            "class_weight must be None with a CorrectedCriterion, .*; got 'balanced'",
        ),
        (
            lambda X, y: RobustForestClassifier(criterion=CorrectedCriterion("gini", PAIR), passes=2).fit(X, y),
            ValueError,
            "passes=2 corrects the labels, and so does a CorrectedCriterion",
        ),
        (
            lambda X, y: RobustDecisionTreeClassifier(CorrectedCriterion("gini", PAIR)).fit(X, np.eye(2)[y]),
            ValueError,
            "y must be class labels with a CorrectedCriterion, got soft labels",
        ),
        (
            lambda X, y: CorrectedCriterion(CorrectedCriterion("gini", PAIR), PAIR),
            ValueError,
            "criterion must not be a CorrectedCriterion itself",
        ),
        (
            lambda X, y: CorrectedCriterion("gini", PAIR).clean_proportions([0.5, 0.5]),
            ValueError,
            r"proportions must have shape \(n, 2\), got \(2,\)",
        ),
        (
            lambda X, y: CorrectedCriterion(FunctionCriterion(lambda left, right: np.nan), PAIR).gain(
                [2, 1], [1, 2]
            ),
            ValueError,
            "must return a finite number",
        ),
    ],
)
def test_errors(fit, error, message):
    X, y, _ = noisy_rows(60, PAIR, seed=6)
    with pytest.raises(error, match=message):
        fit(X, y)
