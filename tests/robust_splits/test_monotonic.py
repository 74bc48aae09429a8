"""Monotonic constraints."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier


def wavy_sample(n=2000, seed=0):
    """Labels that rise with the first feature, fall with the third and wave with the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + np.sin(3 * X[:, 1]) - 0.5 * X[:, 2] + 0.5 * rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("signs", [[1, 0, 0, 0], [-1, 0, 0, 0], [1, -1, 0, 1]])
@pytest.mark.parametrize("limits", [{"max_depth": 6}, {"max_leaf_nodes": 20}])
def test_trees_are_those_of_scikit_learn(signs, limits):
    X, y = wavy_sample()
    theirs = DecisionTreeClassifier(monotonic_cst=signs, random_state=0, **limits).fit(X, y)
    ours = RobustDecisionTreeClassifier("gini", monotonic_cst=signs, random_state=0, **limits).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    distances = np.abs(ours.predict_proba(X) - theirs.predict_proba(X))[:, 1]
    assert (distances < 1e-12).mean() > 0.98  # of splits with equal gain, any may be taken


@pytest.mark.parametrize(
    "model",
    [
        RobustDecisionTreeClassifier("gini", shrinkage=10.0),
        RobustDecisionTreeClassifier("credal", leaf_value="gce(0.5)"),
        RobustForestClassifier(20),
        RobustForestClassifier(10, criterion="ane", passes=1),
        pytest.param(RobustExtraTreesClassifier(10), marks=pytest.mark.release),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.criterion}",
)
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_monotonic(model, weighted):
    X, y = wavy_sample()
    X[::11, 1] = X[::13, 0] = np.nan
    rng = np.random.default_rng(1)
    weights = rng.uniform(size=y.size) if weighted else None
    signs = [1, 0, -1, 0]
    fitted = clone(model).set_params(monotonic_cst=signs, random_state=0).fit(X, y, sample_weight=weights)
    free = clone(model).set_params(random_state=0).fit(X, y, sample_weight=weights)
    for j, sign in enumerate(signs):
        rows = rng.normal(size=(100, 1, 4)).repeat(40, axis=1)
        rows[:, :, j] = np.linspace(-3, 3, 40)
        steps = [
            np.diff(each.predict_proba(rows.reshape(-1, 4))[:, 1].reshape(100, 40)) for each in (fitted, free)
        ]
        if sign:
            assert (steps[0] * sign).min() >= -1e-12
            assert (steps[1] * sign).min() < -1e-3
            assert np.abs(steps[0]).max() > 1e-3


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    X, y = wavy_sample(300)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = RobustDecisionTreeClassifier("gini", random_state=0)
    expected = clone(model).set_params(monotonic_cst=[0, 1, 0, 0]).fit(X, y)
    np.testing.assert_array_equal(
        clone(model).set_params(monotonic_cst={"b": 1}).fit(frame, y).predict_proba(frame),
        expected.predict_proba(X),
    )


def test_invalid_constraints():
    X, y = wavy_sample(60)
    tree = RobustDecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0])
    with pytest.raises(ValueError, match="monotonic_cst is for two classes, got 3"):
        tree.fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="leaf_value must not be 'majority' with monotonic_cst"):
        clone(tree).set_params(leaf_value="majority").fit(X, y)
    with pytest.raises(
        ValueError, match="monotonic_cst must be 0 for categories, which have no order; got 1 for 0"
    ):
        clone(tree).set_params(categorical_features=[0]).fit(X.round(), y)
    with pytest.raises(ValueError, match="shape"):
        clone(tree).set_params(monotonic_cst=[1, 0]).fit(X, y)
    one_class = clone(tree).fit(X, np.zeros(60))
    assert one_class.get_n_leaves() == 1
