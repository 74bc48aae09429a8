import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier
from robust_splits import _stored_tree as stored_tree
from robust_splits._packed_trees import pack, pack_leaf_values
from robust_splits._stored_tree import StoredTree, expand
from robust_splits.tree import Tree


@pytest.fixture
def store_all(monkeypatch):
    monkeypatch.setattr(stored_tree, "MIN_STORED_NODES", 1)


def noisy_rows(n_rows=500, n_classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(n_classes, size=n_rows)


@pytest.fixture(scope="module")
def fitted_trees():
    """Trees with all kinds of leaves, weights and splits."""
    X, y = noisy_rows()
    weights = np.random.default_rng(1).random(y.size)
    soft = np.column_stack([weights, 1 - weights])  # whose sums are whole numbers in leaves of one row
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        kind=pd.Categorical.from_codes(y * 7 % 11, list("abcdefghijk"))
    )
    model = RobustDecisionTreeClassifier("gini", random_state=0)
    return {
        "one node": model.fit(X, np.zeros(y.size)).tree_,
        "full": model.fit(X, y).tree_,
        "full with weights": model.fit(X, y, weights).tree_,
        "whole weights": model.fit(X, y, np.ceil(1e5 * weights)).tree_,
        "soft labels with weights": model.fit(X, soft).tree_,
        "huge weights": model.fit(X, y, np.full(y.size, 2.0**70)).tree_,
        "leaves with several classes": model.set_params(min_samples_leaf=20, shrinkage=3.0).fit(X, y).tree_,
        "leaves with weights": model.fit(X, y, weights).tree_,
        "categories": model.fit(frame, y).tree_,
        "majority": model.set_params(leaf_value="majority").fit(X, y).tree_,
    }


NAMES = """one node, full, full with weights, whole weights, soft labels with weights, huge weights,
leaves with several classes, leaves with weights, categories, majority""".replace("\n", " ")


@pytest.mark.parametrize("name", NAMES.split(", "))
def test_nothing_is_lost(fitted_trees, name):
    tree = fitted_trees[name]
    stored = StoredTree.of(tree)
    expanded = stored.expand()
    assert (stored.n_nodes, stored.n_leaves) == (tree.n_nodes, tree.n_leaves)
    assert (stored.weight.size == tree.n_leaves) == ("with weights" not in name)
    for field, expected in vars(tree).items():
        found = getattr(expanded, field)
        if isinstance(expected, np.ndarray):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected, err_msg=field)
        else:
            assert found is expected or found == expected
    for found, expected in zip(pack_leaf_values([stored]), pack_leaf_values([tree]), strict=True):
        np.testing.assert_array_equal(found, expected)
    for dtype in map(np.dtype, (np.float32, np.float64)):
        found, expected = pack([stored], dtype), pack([tree], dtype)
        assert found.nodes.tobytes() == expected.nodes.tobytes()
        assert (found.shift, found.mask) == (expected.shift, expected.mask)


def n_bytes(tree):
    return sum(getattr(value, "nbytes", 0) for value in tree.__getstate__().values())


def test_memory():
    X, y = noisy_rows(20_000, n_classes=2)
    (stored,) = RobustDecisionTreeClassifier("gini").fit(X, y)._stored_trees()
    assert isinstance(stored, StoredTree)
    assert n_bytes(stored) < n_bytes(stored.expand()) / 3
    assert "expanded" not in vars(stored)
    assert stored.expanded is stored.expanded
    assert "expanded" not in vars(pickle.loads(pickle.dumps(stored)))


@pytest.mark.parametrize(
    "parameters", [{}, {"passes": 1, "oob_score": True}, {"bootstrap": False, "leaf_value": "gce"}]
)
def test_stored_trees_predict_as_trees_do(monkeypatch, parameters):
    X, y = noisy_rows()

    def outputs():
        forest = RobustForestClassifier(5, random_state=0, warm_start=True, **parameters).fit(X, y)
        forest.set_params(n_estimators=8).fit(X, y)
        kind = {type(tree) for tree in forest._stored_trees()}
        same = pickle.loads(pickle.dumps(forest))
        pruned = forest.pruned(200)
        tree = forest.estimators_[1]
        sizes = [each.tree_.n_nodes for each in forest.estimators_], tree.get_depth(), tree.get_n_leaves()
        return kind, [
            np.array(found).tobytes()
            for found in (
                forest.predict_proba(X),
                same.predict_proba(X.astype(np.float32)),
                forest.apply(X),
                forest.decision_path(X)[0].toarray(),
                forest.feature_importances_,
                getattr(forest, "oob_decision_function_", 0),
                pruned.predict_proba(X),
                tree.predict_proba(X),
                tree.feature_importances_,
                tree.pruned(200).predict_proba(X),
                np.hstack(sizes),
            )
        ]

    kind, expected = outputs()
    assert kind == {Tree}
    monkeypatch.setattr(stored_tree, "MIN_STORED_NODES", 1)
    kind, found = outputs()
    assert kind == {StoredTree}
    assert found == expected


def test_stored_trees_are_saved_without_pickle(store_all):
    X, y = noisy_rows()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical.from_codes(y, list("xyz")))
    forest = RobustForestClassifier(3, random_state=0).fit(frame, y)
    assert {type(tree) for tree in forest._stored_trees()} == {StoredTree}
    saved = skops.io.dumps(forest)
    loaded = skops.io.loads(saved, trusted=skops.io.get_untrusted_types(data=saved))
    assert loaded.predict_proba(frame).tobytes() == forest.predict_proba(frame).tobytes()
    assert loaded.estimators_[0].tree_.gain.tobytes() == forest.estimators_[0].tree_.gain.tobytes()


def test_predictions_of_a_single_tree_read_it_as_it_is_stored(store_all):
    X, y = noisy_rows()
    model = RobustDecisionTreeClassifier().fit(X, y)
    p, leaves, path = model.predict_proba(X), model.apply(X), model.decision_path(X)
    (stored,) = model._stored_trees()
    assert "expanded" not in vars(stored)
    assert "_packed" not in vars(pickle.loads(pickle.dumps(model)))
    tree = model.tree_
    np.testing.assert_array_equal(leaves, tree.apply(X))
    np.testing.assert_array_equal(p, tree.values[leaves])
    assert (path.sum(axis=1) == tree.node_depth[leaves] + 1).all()
    model.tree_ = tree.pruned(100)
    np.testing.assert_array_equal(model.predict_proba(X), model.tree_.values[model.apply(X)])


def test_the_tree_of_an_estimator_is_kept_once_read(store_all):
    X, y = noisy_rows()
    model = RobustDecisionTreeClassifier().fit(X, y)
    assert model.tree_ is model.tree_
    (stored,) = model._stored_trees()
    assert expand(stored) is not model.tree_
    model.tree_ = model.tree_.pruned(100)
    assert model.tree_.n_nodes < stored.n_nodes
    assert not hasattr(RobustDecisionTreeClassifier(), "tree_")
