import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from robust_splits import RobustForestClassifier
from robust_splits import _packed_trees as packed_trees


def test_rows_are_predicted_alike_however_many_there_are(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 4))
    forest = RobustForestClassifier(5, random_state=0).fit(X, np.arange(90) % 3)
    together = forest.predict_proba(X)
    assert together.tobytes() == np.vstack([forest.predict_proba(x[None]) for x in X]).tobytes()
    monkeypatch.setattr(packed_trees, "MIN_WALKS_PER_THREAD", 7)
    monkeypatch.setattr(packed_trees, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(packed_trees, "LEAVES_AT_ONCE", 20)
    monkeypatch.setattr(packed_trees, "MAX_COPIED_BYTES", 100)
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
        class_or_row, values, *_ = packed_trees.pack_leaf_values([tree])
        leaf, one_class = tree.left < 0, (tree.counts > 0).sum(axis=1) == 1
        assert 0 < (leaf & one_class).sum() < tree.n_leaves
        np.testing.assert_array_equal(tree.only_class, np.where(one_class, tree.counts.argmax(axis=1), -1))
        stored = leaf & ~one_class if shrinkage == 0 else leaf
        np.testing.assert_array_equal(class_or_row[leaf & ~stored], tree.only_class[leaf & ~stored])
        np.testing.assert_array_equal(values[-1 - class_or_row[stored]], tree.values[stored])
    every = np.mean([tree.values[tree.apply(X)] for tree in (e.tree_ for e in forest.estimators_)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(X), every, rtol=1e-15)


def test_rows_that_need_no_checks_are_predicted_as_all_others():
    X = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32)
    forest = RobustForestClassifier(5, random_state=0).fit(X, np.arange(90) % 3)
    expected = forest.predict_proba(X).tobytes()
    for same in (X.tolist(), X.astype(">f4"), X.astype(np.longdouble), X[::-1][::-1]):
        assert forest.predict_proba(same).tobytes() == expected
    for wrong, message in (
        (X[:, :3], "X has 3 features, but RobustForestClassifier is expecting 4"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], r"Found array with 0 sample\(s\)"),
        (X.astype(complex), "Complex data not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            forest.predict_proba(wrong)
    named = RobustForestClassifier(5, random_state=0).fit(
        pd.DataFrame(X, columns=list("abcd")), np.arange(90) % 3
    )
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert named.predict_proba(X).tobytes() == expected
