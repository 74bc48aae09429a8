import numpy as np
import pytest
from sklearn.datasets import make_classification

from robust_splits import RobustDecisionTreeClassifier, to_sklearn


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=400) > 0).astype(int)
    return RobustDecisionTreeClassifier("gini", random_state=0).fit(X, y), X


def walk(tree, x):
    """The leaf of a row."""
    node = 0
    while tree.feature[node] >= 0:
        node = tree.children[node, 0 if x[tree.feature[node]] <= tree.threshold[node] else 1]
    return node


def test_apply_is_the_walk_from_the_root(fitted):
    model, X = fitted
    leaves = model.tree_.apply(X)
    assert leaves.tolist() == [walk(model.tree_, x) for x in X]


def test_leaves_have_no_children_and_no_threshold(fitted):
    tree = fitted[0].tree_
    leaf = tree.feature < 0
    assert (tree.children[leaf] == -1).all()
    assert np.isnan(tree.threshold[leaf]).all()
    assert (tree.children[~leaf] > np.flatnonzero(~leaf)[:, None]).all()


def test_names_of_scikit_learn():
    X, y = make_classification(200, n_classes=3, n_informative=4, random_state=0)
    X[::7, 0] = np.nan
    model = RobustDecisionTreeClassifier("gini", max_depth=5, random_state=0).fit(X, y)
    tree, expected = model.tree_, to_sklearn(model).tree_
    names = [
        "node_count",
        "max_depth",
        "n_leaves",
        "children_left",
        "children_right",
        "n_node_samples",
        "n_classes",
    ]
    names += ["weighted_n_node_samples", "missing_go_to_left", "value", "n_outputs"]
    for name in names:
        np.testing.assert_array_equal(getattr(tree, name), getattr(expected, name), err_msg=name)
