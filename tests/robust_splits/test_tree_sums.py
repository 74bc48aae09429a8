import dataclasses

import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits.tree_sums import DTYPES, TreeSums


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return RobustForestClassifier(4, passes=1, random_state=0).fit(X, rng.integers(3, size=150)), X


@pytest.fixture(scope="module")
def sums(forest):
    trees = [each.tree_ for each in forest[0].estimators_]
    return TreeSums.of(trees, [tree.values for tree in trees])


def test_sums_are_those_of_the_trees(forest, sums):
    model, X = forest
    sums.check(3, 3)
    np.testing.assert_allclose(sums.sums(X) / 4, model.predict_proba(X), rtol=1e-12)
    assert sums.sums(X[:0]).shape == (0, 3)


def leaf(sums):
    return int(np.flatnonzero(sums.left < 0)[0])


@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("left", lambda s: 0, 0),  # a circle
        ("left", lambda s: 0, 10**6),
        ("left", lambda s: 0, lambda s: s.n_nodes[0] - 1),  # the right child is in the next tree
        ("left", leaf, 2**31 - 1),  # the right child would overflow
        ("left", lambda s: 0, -1),  # a leaf with a feature
        ("feature", lambda s: 0, 3),
        ("feature", lambda s: 0, -5),
        ("feature", leaf, 0),
        ("row", leaf, -1),
        ("row", leaf, 10**6),
        ("threshold", lambda s: 0, np.nan),
        ("values", lambda s: (0, 0), np.inf),
        ("n_nodes", lambda s: 0, 0),
        ("n_nodes", lambda s: 0, 2**63 - 1),
    ],
)
def test_damaged_trees(sums, name, where, value):
    array = getattr(sums, name).copy()
    array[where(sums)] = value(sums) if callable(value) else value
    with pytest.raises(
        ValueError, match=r"node of a tree is damaged|n_nodes does not fit|values must be finite"
    ):
        dataclasses.replace(sums, **{name: array}).check(3, 3)


@pytest.mark.parametrize("name", DTYPES)
def test_wrong_arrays(sums, name):
    array = getattr(sums, name)
    with pytest.raises(ValueError, match=f"{name} has the wrong type or shape"):
        dataclasses.replace(sums, **{name: array.astype(np.float32)}).check(3, 3)
    with pytest.raises(ValueError, match=f"{name} has the wrong type or shape"):
        dataclasses.replace(sums, **{name: array[np.newaxis]}).check(3, 3)
    with pytest.raises(ValueError, match=r"differ in length|n_nodes does not fit|node of a tree is damaged"):
        dataclasses.replace(sums, **{name: array[:-1]}).check(3, 3)


def test_arrays_in_another_order(sums):
    with pytest.raises(ValueError, match="values has the wrong type or shape"):
        dataclasses.replace(sums, values=np.asfortranarray(sums.values)).check(3, 3)


def test_other_features_or_classes(sums):
    with pytest.raises(ValueError, match="node of a tree is damaged"):
        sums.check(2, 3)
    with pytest.raises(ValueError, match="values must be finite, one for each class"):
        sums.check(3, 2)
