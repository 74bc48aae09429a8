"""Trees on bins, against exact trees on the same bins and on few values."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from robust_splits import RobustDecisionTreeClassifier as Tree
from robust_splits import RobustExtraTreesClassifier as ExtraTrees
from robust_splits import RobustForestClassifier as Forest
from robust_splits._kernels.coding import encode
from robust_splits.criteria import CRITERIA

models = pytest.mark.parametrize("model", [Tree, Forest, ExtraTrees])


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(3_000, 8, n_informative=5, n_classes=2, flip_y=0.3, random_state=0)
    X = X.astype(np.float32)
    X[::9, 0] = np.nan
    return X, y


def make(model, **parameters):
    size = {} if model is Tree else {"n_estimators": 5}
    return model(**size, random_state=0, **parameters)


def same(a, b, *names):
    first, second = (getattr(model, "estimators_", [model]) for model in (a, b))
    for one, other in zip(first, second, strict=True):
        for name in names:
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))


@models
@pytest.mark.parametrize("weighted", [False, True])
def test_few_values_are_split_exactly(data, model, weighted):
    X, y = np.round(data[0] * 20) / 20, data[1]
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size) if weighted else None
    assert max(np.unique(column).size for column in X.T) < 255
    exact, binned = (make(model, max_bins=bins).fit(X, y, weight) for bins in (None, 255))
    same(exact, binned, "feature", "threshold", "missing_left", "left", "counts", "values")


@models
@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_are_those_of_exact_splits_on_bin_numbers(data, model, criterion):
    X, y = data
    columns = encode(X, max_bins=30)
    codes = columns.codes.data[: X.size].reshape(X.T.shape).T.astype(np.float32)
    codes[np.isnan(X)] = np.nan
    # Between the bins, thresholds on values and on numbers differ, so no out-of-bag row may have a say.
    chosen = {} if model is Tree else {"min_samples_split": 2, "shrinkage": 0.0, "passes": 1}
    parameters = {"criterion": criterion, "min_samples_leaf": 5} | chosen
    on_codes = make(model, **parameters).fit(codes, y)
    binned = make(model, **parameters, max_bins=30).fit(X, y)
    if model is ExtraTrees:  # thresholds are drawn between values, so that trees differ
        assert binned.score(X, y) == pytest.approx(on_codes.score(codes, y), abs=0.03)
    else:
        same(on_codes, binned, "feature", "missing_left", "left", "counts", "values")


@models
@pytest.mark.parametrize("max_bins", [None, 10])
def test_rows_lie_in_the_leaves_that_counted_them(data, model, max_bins):
    X, y = data
    parameters = {} if model is Tree else {"bootstrap": False}
    fitted = make(model, max_bins=max_bins, **parameters).fit(X, y)
    leaves = fitted.apply(X).reshape(y.size, -1).T
    for leaf, tree in zip(leaves, getattr(fitted, "estimators_", [fitted]), strict=True):
        counts = np.zeros_like(tree.tree_.counts)
        np.add.at(counts, (leaf, y), 1)
        is_leaf = tree.tree_.left < 0
        np.testing.assert_array_equal(counts[is_leaf], tree.tree_.counts[is_leaf])


def test_bins_are_about_as_accurate(data):
    X, y = data
    train, test = slice(0, 2_000), slice(2_000, None)
    exact, binned = (
        Forest(random_state=0, max_bins=bins).fit(X[train], y[train]).score(X[test], y[test])
        for bins in (None, 255)
    )
    assert binned == pytest.approx(exact, abs=0.02)


def test_same_forest_for_any_number_of_threads(data):
    first, second = (Forest(6, max_bins=20, n_jobs=n, random_state=0).fit(*data) for n in (1, 3))
    same(first, second, "feature", "threshold", "left", "values")


@models
@pytest.mark.parametrize(
    ("value", "error"),
    [(1, ValueError), (256, ValueError), (0.5, TypeError)],
)
def test_bad_numbers_of_bins(data, model, value, error):
    with pytest.raises(error, match=r"max_bins must be an integer .*, got"):
        make(model, max_bins=value).fit(*data)


@pytest.fixture
def trace():
    """Starts tracing memory until the end of the test, as it would slow down others."""
    yield tracemalloc.start
    tracemalloc.stop()


@pytest.mark.parametrize("passes", [1, "auto"])
@pytest.mark.parametrize("kind", ["rows", "columns", "file", "frame"])
def test_the_data_are_not_copied(tmp_path, trace, kind, passes):
    n_samples, n_features = 100_000, 60
    X = np.random.default_rng(0).random((n_samples, n_features), dtype=np.float32)
    y = (X[:, 0] > 0.5).astype(int)
    data = X
    if kind == "columns":
        data = np.asfortranarray(X)
    elif kind == "file":
        np.save(tmp_path / "X.npy", X)
        data = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif kind == "frame":
        X_and_y = pd.DataFrame(X, columns=[f"x{i}" for i in range(n_features)]).assign(y=y)
        X_and_y.to_parquet(tmp_path / "X.parquet")
        data = pd.read_parquet(tmp_path / "X.parquet").drop(columns="y")
    forest = Forest(2, max_bins=255, max_depth=2, passes=passes, random_state=0)
    forest.fit(data[:100], y[:100])  # compiles
    trace()
    forest.fit(data, y)
    peak = tracemalloc.get_traced_memory()[1]
    assert peak < 1.2 * X.nbytes  # codes by column and by row, and a block of columns
    for model in (forest, Tree(max_bins=255, max_depth=2).fit(data[:100], y[:100])):
        model.predict(data)  # compiles
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        model.predict(data)
        assert tracemalloc.get_traced_memory()[1] - before < 0.3 * X.nbytes
