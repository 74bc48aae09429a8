"""Trees grown with lists of rows are those grown without them."""

import numpy as np
import pytest
from numba import njit

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits._kernels import coding
from robust_splits._kernels.coding import encode
from robust_splits._kernels.listed_rows import gather_listed, init_places


@njit(error_model="numpy", _nrt=False)
def gather(*arguments):
    return gather_listed(*arguments)


def rare_values(n_samples=2000, n_features=30, seed=0):
    """Columns with values other than the lowest one in 0.1 % to 40 % of the rows, two with missing values."""
    rng = np.random.default_rng(seed)
    shares = np.geomspace(0.001, 0.4, n_features)
    X = np.where(
        rng.random((n_samples, n_features)) < shares, rng.integers(1, 6, (n_samples, n_features)), -1.0
    )
    X[rng.random(n_samples) < 0.02, -9] = np.nan
    X[rng.random(n_samples) < 0.02, 4] = np.nan
    y = (np.nansum(X[:, ::3], axis=1) + rng.normal(size=n_samples) > -8).astype(int) + (X[:, -1] > 3)
    return X, y


def test_lists_hold_the_rows_without_the_lowest_value():
    X, _ = rare_values()
    columns = encode(X)
    for j, values in enumerate(X.T):
        listed = columns.listed.rows[columns.listed.offsets[j] : columns.listed.offsets[j + 1]]
        others = np.flatnonzero(values != np.nanmin(values))
        np.testing.assert_array_equal(listed, others if others.size <= 500 else [])
    assert np.diff(columns.listed.offsets).astype(bool).sum() == 27


def test_categories_have_no_lists():
    X, _ = rare_values()
    assert encode(X, categorical=np.ones(X.shape[1], dtype=bool)).listed.rows.size == 0


def test_keys_are_in_the_order_of_the_rows():
    codes = np.array([0, 2, 0, 1, 3, 0], dtype=float)
    columns = encode(codes[:, None])
    column = coding.Column(columns.codes.data, columns.codes.first[0], columns.codes.step[0], columns.mask[0])
    rows = np.array([0, 1, 3, 3, 4], dtype=np.int64)  # row 3 has two labels
    keys = rows << 32 | np.arange(10, 15)
    places, found = np.empty(6, dtype=np.int32), np.empty(5, dtype=np.int64)
    init_places(keys, places)
    assert places.tolist() == [0, 1, -1, 2, 4, -1]
    listed = np.array([1, 3, 4], dtype=np.int32)
    for begin, end, low, expected in (
        (0, 5, 0, [(2, 11), (1, 12), (1, 13), (3, 14)]),
        (2, 5, 1, [(1, 12), (1, 13), (3, 14)]),
    ):
        lowest, highest, n = gather(column, listed, keys, places, begin, end, found)
        assert (lowest, highest) == (low, 3)
        assert [(key >> 32, key & 0xFFFFFFFF) for key in found[:n].tolist()] == expected
    assert gather(column, listed, keys, places, 0, 1, found) == (0, 0, 0)


@pytest.mark.parametrize("weights", ["equal", "integers", "floats"])
@pytest.mark.parametrize(
    "model",
    [
        RobustDecisionTreeClassifier("gini"),
        RobustDecisionTreeClassifier("entropy", max_leaf_nodes=40),
        RobustDecisionTreeClassifier("twoing", max_features=0.3, min_samples_leaf=3),
        RobustDecisionTreeClassifier("gini", max_bins=3),
        RobustForestClassifier(4),
        RobustForestClassifier(4, criterion="credal", passes=1, class_weight="balanced_subsample"),
        RobustExtraTreesClassifier(4),
    ],
    ids=str,
)
def test_trees_are_the_same_without_lists(monkeypatch, model, weights):
    X, y = rare_values()
    rng = np.random.default_rng(1)
    weight = {"equal": None, "integers": rng.integers(0, 4, y.size), "floats": rng.random(y.size)}[weights]
    model.set_params(random_state=0)
    trees = []
    for share in (coding.MAX_LISTED_SHARE, -1.0):
        monkeypatch.setattr(coding, "MAX_LISTED_SHARE", share)
        model.fit(X, y, weight)
        trees.append([e.tree_ for e in getattr(model, "estimators_", [model])])
    for with_lists, without in zip(*trees, strict=True):
        for name in ("feature", "threshold", "missing_left", "left", "n_rows", "gain", "counts"):
            np.testing.assert_array_equal(getattr(with_lists, name), getattr(without, name))


def test_a_row_with_several_labels_is_a_leaf():
    X = np.random.default_rng(0).permutation(300)[:, None]
    P = np.random.default_rng(1).dirichlet(np.ones(3), 300)
    tree = RobustDecisionTreeClassifier("gini", random_state=0).fit(X, P).tree_
    assert tree.n_leaves == 300
    assert (tree.n_rows[tree.left < 0] == 3).all()  # its labels
