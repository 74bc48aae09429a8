"""Attributes of fitted forests."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification

from robust_splits import (
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    RobustForestClassifier,
    _out_of_bag,
)


@pytest.mark.parametrize(
    "options", [{}, {"passes": 1}, {"max_samples": 0.3}, {"bootstrap": False}, {"criterion": "ane"}]
)
def test_rows_that_trees_have_drawn(options):
    X, y = make_classification(200, random_state=0)
    weights = (np.arange(200) % 5 > 0).astype(float)
    forest = RobustForestClassifier(6, random_state=0, oob_score=options.get("bootstrap", True), **options)
    forest.fit(X, y, weights)
    samples = forest.estimators_samples_
    assert len(samples) == 6
    for rows, tree in zip(samples, forest.estimators_, strict=True):
        assert rows.size == (60 if "max_samples" in options else 200)
        # The weights of the rows that reach the root are those of the draws.
        assert tree.tree_.counts[0].sum() == pytest.approx(weights[rows].sum())
    if not options.get("bootstrap", True):
        assert all((rows == np.arange(200)).all() for rows in samples)
    elif forest.passes_ == 1:
        n_drawn = sum(np.bincount(np.unique(rows), minlength=200) for rows in samples)
        is_scored = np.isfinite(forest.oob_decision_function_).all(axis=1)
        np.testing.assert_array_equal(is_scored, (n_drawn < 6) | (weights == 0))


@pytest.mark.parametrize("options", [{}, {"passes": 1, "leaf_value": "gce"}])
def test_trees_are_scored_alike_however_many_at_once(monkeypatch, options):
    X, y = make_classification(300, flip_y=0.4, random_state=0)

    def fitted(n_jobs):
        forest = RobustForestClassifier(7, oob_score=True, n_jobs=n_jobs, random_state=0, **options).fit(X, y)
        return forest.smoothing_losses_, forest.oob_decision_function_.tobytes()

    together = fitted(n_jobs=1)
    monkeypatch.setattr(_out_of_bag, "COUNTS_AT_ONCE", 1)
    assert fitted(n_jobs=1) == fitted(n_jobs=3) == together


def test_rows_that_trees_have_drawn_in_groups():
    X, y = make_classification(90, random_state=0)
    groups = np.repeat(np.arange(30), 3)
    forest = RobustForestClassifier(4, random_state=0).fit(X, y, groups=groups)
    for rows in forest.estimators_samples_:
        counts = np.bincount(rows, minlength=90).reshape(30, 3)
        assert (counts == counts[:, :1]).all()
        assert counts.sum() == 90


@pytest.mark.parametrize("forest", [RobustForestClassifier(3, max_features=4), RobustExtraTreesClassifier(3)])
def test_the_tree_of_a_forest(forest):
    X, y = make_classification(100, random_state=0)
    forest.fit(X, y)
    tree = forest.estimator_
    assert not hasattr(tree, "tree_")
    assert tree.splitter == ("random" if isinstance(forest, RobustExtraTreesClassifier) else "best")
    assert forest.n_outputs_ == forest.estimators_[0].n_outputs_ == 1
    assert forest.estimators_[0].max_features_ == (4 if forest.max_features == 4 else 10)
    assert clone(forest.estimators_[0]).get_params() == {
        **tree.get_params(),
        "random_state": forest.estimators_[0].random_state,
    }


def test_a_tree_with_random_thresholds():
    X, y = make_classification(300, random_state=0)
    # The tree of a forest without bootstrap that has its seed.
    forest = RobustExtraTreesClassifier(
        1, bootstrap=False, passes=1, shrinkage=0.0, min_samples_split=2, random_state=0
    )
    forest.fit(X, y)
    tree = forest.estimator_.set_params(max_features="sqrt")
    seeds = {
        RobustDecisionTreeClassifier(splitter="random", random_state=seed).fit(X, y).tree_.n_nodes
        for seed in range(5)
    }
    assert len(seeds) > 1
    found = tree.set_params(random_state=0).fit(X, y)
    assert found.score(X, y) == 1
    best = RobustDecisionTreeClassifier("gini", random_state=0).fit(X, y)
    assert found.tree_.n_nodes > best.tree_.n_nodes
    thresholds = found.tree_.threshold[found.tree_.feature >= 0]
    assert not np.isin(thresholds, best.tree_.threshold).any()
    with pytest.raises(ValueError, match="splitter must be 'best' or 'random', got 'worst'"):
        RobustDecisionTreeClassifier(splitter="worst").fit(X, y)
