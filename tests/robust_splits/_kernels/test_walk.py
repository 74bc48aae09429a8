from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier
from robust_splits import tree as tree_module
from robust_splits._kernels import walk as walk_module
from robust_splits._kernels.walk import leaves_of
from robust_splits.tree import pack


@dataclass
class Nodes:
    """The part of a tree that a walk reads."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    missing_left: np.ndarray
    subsets: None = None

    @property
    def n_nodes(self):
        return self.left.size


def reference(tree, x):
    """The leaf of one row, in double precision."""
    node = 0
    while tree.left[node] >= 0:
        value = float(x[tree.feature[node]])
        goes_left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
        node = tree.left[node] + (not goes_left)
    return node


def chain(n_splits, n_features, seed):
    """A tree in which every split is the left child of the one above."""
    rng = np.random.default_rng(seed)
    left = np.full(2 * n_splits + 1, -1, dtype=np.int32)
    left[0] = 1
    left[1 : 2 * n_splits - 1 : 2] = np.arange(3, 2 * n_splits + 1, 2)
    feature = np.where(left < 0, -1, rng.integers(n_features, size=left.size)).astype(np.int32)
    threshold = np.where(left < 0, np.nan, rng.normal(2, 1, size=left.size))
    return Nodes(feature, threshold, left, rng.random(left.size) < 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("n_samples", "block"), [(0, 64), (1, 1), (9, 4), (10, 10), (100, 7), (100, 64)])
@pytest.mark.parametrize("n_trees", [1, 23])
def test_leaves_of_trees(monkeypatch, dtype, missing, n_samples, block, n_trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    forest = RobustForestClassifier(
        n_trees, criterion="gini", min_samples_split=2, max_features="sqrt", random_state=0
    ).fit(X, rng.integers(3, size=600))
    trees = [estimator.tree_ for estimator in forest.estimators_]
    assert min(tree.n_nodes for tree in trees) > 200
    some = (X if missing else np.nan_to_num(X))[:n_samples].astype(dtype)
    monkeypatch.setattr(walk_module, "MAX_BLOCK_BYTES", block * some.strides[0])
    leaves = leaves_of(some, pack(trees, some.dtype))
    assert leaves.tolist() == [[reference(tree, x) for x in some] for tree in trees]


def test_leaves_of_single_nodes():
    X = np.zeros((3, 2))
    X[0] = np.nan
    X[1] = np.finfo(float).max
    tree = RobustDecisionTreeClassifier().fit(np.zeros((2, 2)), [1, 1]).tree_
    assert leaves_of(X, pack([tree, tree], X.dtype)).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(("n_features", "size"), [(1 << 10, 8), (1 << 16, 12)])
def test_a_word_holds_any_feature_and_child(n_features, size):
    tree = chain(1 << 16, n_features, seed=0)
    X = np.random.default_rng(1).normal(0, 2, size=(3, n_features)).astype(np.float32)
    X[1] = -9  # reaches the deepest leaf
    X[2] = np.nan
    steps = pack([tree], X.dtype)
    leaves = leaves_of(X, steps)[0]
    assert steps.nodes.itemsize == size
    assert leaves.tolist() == [reference(tree, x) for x in X]
    assert leaves[1] == (1 << 17) - 1


def test_thresholds_between_numbers_of_single_precision():
    one, largest = np.float32(1), np.finfo(np.float32).max
    numbers = np.array(
        [-largest, -1, np.nextafter(-one, np.float32(0)), 0, np.nextafter(one, np.float32(0)), 1,
         largest],
        dtype=np.float32,
    )  # fmt: skip
    exact = numbers.astype(np.float64)
    thresholds = [*exact, *((exact[1:] + exact[:-1]) / 2), 1 - 1e-12, -1 - 1e-12, 1e300, -1e300, np.inf]
    for threshold in thresholds:
        tree = Nodes(np.array([0, -1, -1], np.int32), np.array([threshold, np.nan, np.nan]),
                     np.array([1, -1, -1], np.int32), np.zeros(3, bool))  # fmt: skip
        leaves = leaves_of(numbers[:, None], pack([tree], numbers.dtype))[0]
        np.testing.assert_array_equal(leaves, np.where(exact <= threshold, 1, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("place", "missing"), [(0, None), (99, None), (99, 0), (50, 99), (50, 50)])
def test_infinite_values_are_found(monkeypatch, dtype, place, missing):
    monkeypatch.setattr(walk_module, "MIN_BLOCK_BYTES", 40 * np.dtype(dtype).itemsize)
    monkeypatch.setattr(walk_module, "MAX_BLOCK_BYTES", 40 * np.dtype(dtype).itemsize)
    X = np.random.default_rng(0).normal(size=(100, 4)).astype(dtype)
    forest = RobustForestClassifier(2, random_state=0).fit(X, np.arange(100) % 2)
    X[place, 1] = -np.inf
    X[place, 2] = np.inf
    if missing is not None:
        X[missing, 0] = np.nan
    for predict in (forest.predict_proba, forest.apply, forest.estimators_[0].predict, forest.decision_path):
        with pytest.raises(
            ValueError, match=f"Input X contains infinity .* dtype\\('{np.dtype(dtype).name}'\\)"
        ):
            predict(X)


def test_rows_are_predicted_alike_however_many_there_are(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 4))
    forest = RobustForestClassifier(5, random_state=0).fit(X, np.arange(90) % 3)
    together = forest.predict_proba(X)
    assert together.tobytes() == np.vstack([forest.predict_proba(x[None]) for x in X]).tobytes()
    monkeypatch.setattr(tree_module, "MIN_WALKS_PER_THREAD", 7)
    monkeypatch.setattr(tree_module, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(tree_module, "LEAVES_AT_ONCE", 20)
    monkeypatch.setattr(tree_module, "MAX_COPIED_BYTES", 100)
    wide = np.random.default_rng(1).normal(size=(90, 8))
    wide[:, ::2] = X
    for n_jobs in (1, 2):
        forest.set_params(n_jobs=n_jobs)
        for same in (X, np.asfortranarray(X), wide[:, ::2], pd.DataFrame(X), csr_array(X)):
            assert together.tobytes() == forest.predict_proba(same).tobytes()
            assert forest.apply(same).tolist() == forest.apply(X).tolist()


def test_new_trees_are_packed_anew():
    X = np.random.default_rng(0).normal(size=(60, 3))
    forest = RobustForestClassifier(3, random_state=0, warm_start=True).fit(X, np.arange(60) % 2)
    three_trees = forest.predict_proba(X)
    forest.set_params(n_estimators=9).fit(X, np.arange(60) % 2)
    assert forest.predict_proba(X).tobytes() != three_trees.tobytes()
    nine_trees = np.mean([estimator.predict_proba(X) for estimator in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), nine_trees, rtol=1e-12)
    del forest.estimators_[3:]
    three_of_nine = np.mean([estimator.predict_proba(X) for estimator in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), three_of_nine, rtol=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 1.0])
def test_values_are_stored_for_leaves_with_several_classes(shrinkage):
    X = np.random.default_rng(0).normal(size=(200, 3)).round(1)
    y = np.random.default_rng(1).integers(4, size=200)
    forest = RobustForestClassifier(
        4, criterion="gini", min_samples_split=2, min_samples_leaf=2, shrinkage=shrinkage, random_state=0
    ).fit(X, y)
    for tree in (estimator.tree_ for estimator in forest.estimators_):
        class_or_row, values = tree.leaf_values()
        leaf, one_class = tree.left < 0, (tree.counts > 0).sum(axis=1) == 1
        assert 0 < (leaf & one_class).sum() < tree.n_leaves
        np.testing.assert_array_equal(tree.only_class, np.where(one_class, tree.counts.argmax(axis=1), -1))
        stored = leaf & ~one_class if shrinkage == 0 else leaf
        np.testing.assert_array_equal(class_or_row[leaf & ~stored], tree.only_class[leaf & ~stored])
        np.testing.assert_array_equal(values[-1 - class_or_row[stored]], tree.values[stored])
    every = np.mean([tree.values[tree.apply(X)] for tree in (e.tree_ for e in forest.estimators_)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), every, rtol=1e-15)


def test_blocks_of_wide_rows():
    X = np.random.default_rng(0).normal(size=(400, walk_module.WIDE_ROW_BYTES // 8 + 1))
    X[::7, ::3] = np.nan
    forest = RobustForestClassifier(3, criterion="gini", random_state=0).fit(X, np.arange(400) % 2)
    trees = [estimator.tree_ for estimator in forest.estimators_]
    assert leaves_of(X, pack(trees, X.dtype)).tolist() == [[reference(tree, x) for x in X] for tree in trees]


def test_a_tiny_weight_is_a_second_class():
    tree = RobustDecisionTreeClassifier().fit([[0.0], [0.0]], [0, 1], sample_weight=[1.0, 1e-20]).tree_
    assert tree.only_class.tolist() == [-1]
    assert tree.leaf_values().values.tolist() == [[1.0, 1e-20]]
