import numpy as np
import pytest

from robust_splits import RobustDecisionTreeClassifier
from robust_splits._kernels.walk import ROWS_AT_ONCE, find_leaves, pack


def walk(feature, threshold, left, missing_left, x):
    """Reference walk in double precision."""
    node = 0
    while left[node] >= 0:
        value = float(x[feature[node]])
        goes_left = missing_left[node] if np.isnan(value) else value <= threshold[node]
        node = left[node] + (not goes_left)
    return node


def leaves_of(X, feature, threshold, left, missing_left):
    leaves = np.full(len(X), -1)
    steps = pack(feature, threshold, left, X.dtype)
    find_leaves(X, steps, missing_left, leaves, *np.empty((2, ROWS_AT_ONCE), dtype=np.int64))
    return leaves, steps.nodes.dtype


def chain(n_splits, n_features, seed):
    """A tree in which every split is the left child of the one above."""
    rng = np.random.default_rng(seed)
    left = np.full(2 * n_splits + 1, -1, dtype=np.int32)
    left[0] = 1
    left[1 : 2 * n_splits - 1 : 2] = np.arange(3, 2 * n_splits + 1, 2)
    feature = np.where(left < 0, -1, rng.integers(n_features, size=left.size)).astype(np.int32)
    threshold = np.where(left < 0, np.nan, rng.normal(2, 1, size=left.size))
    return feature, threshold, left, rng.random(left.size) < 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_samples", [1, ROWS_AT_ONCE, 3 * ROWS_AT_ONCE + 1])
def test_leaves_of_a_tree_with_missing_values(dtype, n_samples):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    tree = RobustDecisionTreeClassifier("gini", random_state=0).fit(X, rng.integers(3, size=600)).tree_
    arrays = tree.feature, tree.threshold, tree.left, tree.missing_left
    some = X[:n_samples].astype(dtype)
    assert leaves_of(some, *arrays)[0].tolist() == [walk(*arrays, x) for x in some]
    assert tree.n_nodes > 200


@pytest.mark.parametrize(("n_features", "size"), [(1 << 10, 8), (1 << 16, 12)])
def test_a_word_holds_any_feature_and_child(n_features, size):
    arrays = chain(1 << 16, n_features, seed=0)
    X = np.random.default_rng(1).normal(0, 2, size=(3, n_features)).astype(np.float32)
    X[1] = -9  # reaches the deepest leaf
    leaves, dtype = leaves_of(X, *arrays)
    assert dtype.itemsize == size
    assert leaves.tolist() == [walk(*arrays, x) for x in X]
    assert leaves[1] == (1 << 17) - 1


def test_thresholds_between_numbers_of_single_precision():
    one, largest = np.float32(1), np.finfo(np.float32).max
    numbers = np.array(
        [-largest, -1, np.nextafter(-one, np.float32(0)), 0, np.nextafter(one, np.float32(0)), 1, largest],
        dtype=np.float32,
    )
    exact = numbers.astype(np.float64)
    thresholds = [*exact, *((exact[1:] + exact[:-1]) / 2), 1 - 1e-12, -1 - 1e-12, 1e300, -1e300, np.inf]
    for threshold in thresholds:
        arrays = (np.array([0, -1, -1], np.int32), np.array([threshold, np.nan, np.nan]),
                  np.array([1, -1, -1], np.int32), np.zeros(3, bool))  # fmt: skip
        leaves, _ = leaves_of(numbers[:, None], *arrays)
        np.testing.assert_array_equal(leaves, np.where(exact <= threshold, 1, 2))
