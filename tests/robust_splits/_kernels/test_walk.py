from dataclasses import dataclass

import numpy as np
import pytest

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier
from robust_splits._kernels import walk as walk_module
from robust_splits._kernels.walk import Splits, leaves_of
from robust_splits._packed_trees import pack, pack_leaf_values


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

    @property
    def splits(self):
        return Splits(self.left < 0, self.feature, self.threshold, self.missing_left, self.left)


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


def test_blocks_of_wide_rows():
    X = np.random.default_rng(0).normal(size=(400, walk_module.WIDE_ROW_BYTES // 8 + 1))
    X[::7, ::3] = np.nan
    forest = RobustForestClassifier(3, criterion="gini", random_state=0).fit(X, np.arange(400) % 2)
    trees = [estimator.tree_ for estimator in forest.estimators_]
    assert leaves_of(X, pack(trees, X.dtype)).tolist() == [[reference(tree, x) for x in X] for tree in trees]


def test_a_tiny_weight_is_a_second_class():
    tree = RobustDecisionTreeClassifier().fit([[0.0], [0.0]], [0, 1], sample_weight=[1.0, 1e-20]).tree_
    assert tree.only_class.tolist() == [-1]
    assert pack_leaf_values([tree]).values.tolist() == [[1.0, 1e-20]]
