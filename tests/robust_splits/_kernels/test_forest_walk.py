import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits import _forest as forest_module
from robust_splits._kernels.forest_walk import ForestWalk
from robust_splits._validation import read_only


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_rows_walk_down_all_trees_of_a_forest(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 300)
    forest = RobustForestClassifier(7, random_state=0).fit(X, y)
    trees = [estimator.tree_ for estimator in forest.estimators_]
    leaves = ForestWalk().leaves(read_only(X), trees)
    np.testing.assert_array_equal(leaves, [tree.apply(read_only(X)) for tree in trees])


def test_few_rows_are_predicted_as_many_are(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 4))
    forest = RobustForestClassifier(5, random_state=0).fit(X, np.arange(90) % 3)
    few = forest.predict_proba(X)
    monkeypatch.setattr(forest_module, "FEW_ROWS", 0)
    assert few.tobytes() == forest.predict_proba(X).tobytes()


def test_new_trees_are_packed_anew():
    X = np.random.default_rng(0).normal(size=(60, 3))
    forest = RobustForestClassifier(3, random_state=0, warm_start=True).fit(X, np.arange(60) % 2)
    one_row = forest.predict_proba(X[:1])
    forest.set_params(n_estimators=9).fit(X, np.arange(60) % 2)
    assert (
        forest.predict_proba(X[:1]).tobytes()
        == forest.predict_proba(np.repeat(X[:1], 200, axis=0))[:1].tobytes()
    )
    del forest.estimators_[3:]
    np.testing.assert_allclose(forest.predict_proba(X[:1]), one_row, atol=0.3)
    assert (
        forest.predict_proba(X[:1]).tobytes()
        == forest.predict_proba(np.repeat(X[:1], 200, axis=0))[:1].tobytes()
    )
