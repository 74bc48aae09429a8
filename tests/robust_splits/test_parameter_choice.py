"""Parameters chosen on noisy labels, against direct recomputation."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from robust_splits import (
    NegativeExponential,
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    RobustForestClassifier,
    min_leaf_samples,
)
from robust_splits._adaptive_criterion import LAMS
from robust_splits._kernels.random import count_draws
from robust_splits._leaf_values import apply_shrinkage
from robust_splits._out_of_bag import NODE_SIZES, SHRINKAGES

UNSMOOTHED = {"min_samples_split": 2, "shrinkage": 0.0, "passes": 1, "random_state": 0}


@pytest.fixture(scope="module")
def noisy():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.3
    return X, np.where(wrong, rng.integers(0, 3, len(y)), y)


def unseen_rows(seed, n):
    drawn = np.zeros(n)
    count_draws(np.full(1, seed + 1, dtype=np.uint64), n, drawn)
    return drawn == 0


@pytest.fixture(params=["equal", "different"])
def weight(request):
    return (
        np.ones(150) if request.param == "equal" else np.random.default_rng(1).integers(1, 5, 150).astype(float)
    )


def test_losses_of_node_sizes_and_shrinkages(noisy, weight):
    X, y = noisy
    forest = RobustForestClassifier(12, passes=1, random_state=0).fit(X, y, weight)
    full = RobustForestClassifier(12, **UNSMOOTHED).fit(X, y, weight)
    losses = {(size, g): loss for size, row in forest.smoothing_losses_.items() for g, loss in row.items()}
    assert set(losses) == {(size, g) for size in NODE_SIZES for g in np.array(SHRINKAGES) * weight.mean()}
    for (size, shrinkage), loss in losses.items():
        p, n_trees = np.zeros((150, 3)), np.zeros(150)
        for estimator, (seed, _) in zip(full.estimators_, full._seeds, strict=True):
            unseen = unseen_rows(seed, 150)
            tree = estimator.tree_.pruned(size)
            values = tree.proportions
            apply_shrinkage(values, tree.counts, tree.left, shrinkage)
            p[unseen] += values[tree.apply(X[unseen])]
            n_trees += unseen
        seen = n_trees > 0
        of_label = p[seen, y[seen]] / n_trees[seen]
        log_p = np.log(np.maximum(of_label, 0.5 / (n_trees[seen] + 1) / 3))
        expected = -np.average(log_p, weights=weight[seen])
        assert loss == pytest.approx(expected, rel=1e-12)
    chosen = forest.min_samples_split_, forest.shrinkage_
    assert losses[chosen] == min(losses.values())


@pytest.mark.parametrize("passes", [1, 2])
def test_the_scale_of_weights_does_not_matter(noisy, passes):
    X, y = noisy
    weight = np.random.default_rng(1).integers(1, 5, 150).astype(float)
    forest = RobustForestClassifier(12, passes=passes, random_state=0)
    expected = forest.fit(X, y, weight).predict_proba(X)
    for scale in (2.0, 2.0**-10, 1e6):  # by which weights are multiplied exactly
        np.testing.assert_allclose(forest.fit(X, y, weight * scale).predict_proba(X), expected, atol=1e-12)


def test_a_pruned_tree_is_one_that_stopped_earlier():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(2_000, 3)), rng.integers(0, 3, 2_000), rng.uniform(size=2_000)
    full = RobustDecisionTreeClassifier("gini", random_state=0).fit(X, y, weight).tree_
    for size in (20, 100, 300, 3_000):
        pruned = full.pruned(size)
        grown = RobustDecisionTreeClassifier("gini", min_samples_split=size, random_state=0)
        grown = grown.fit(X, y, weight).tree_
        assert pruned.n_nodes == grown.n_nodes
        # The sums of the weights, added up in another order, differ by rounding.
        values, expected = pruned.values[pruned.apply(X)], grown.values[grown.apply(X)]
        np.testing.assert_allclose(values, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (RobustForestClassifier, {"criterion": "pairwise"}),
        (RobustForestClassifier, {"max_features": 1, "class_weight": "balanced_subsample"}),
        (RobustExtraTreesClassifier, {"criterion": "entropy"}),
    ],
)
def test_a_pruned_forest_is_the_one_that_stopped_earlier(noisy, estimator, params):
    # The values of few rows tie in gain, and each node draws features and thresholds.
    X, y = noisy[0], noisy[1] % 2
    forest = estimator(10, passes=1, shrinkage=0.0, min_samples_split=2, random_state=0, n_jobs=2, **params)
    full = forest.fit(X, y)
    for size in (5, 40, 1_000):
        grown = clone(forest).set_params(min_samples_split=size).fit(X, y)
        pruned = full.pruned(size)
        np.testing.assert_allclose(pruned.predict_proba(X), grown.predict_proba(X), rtol=1e-14)
        assert pruned.min_samples_split_ == size
    assert full.pruned(5).apply(X).max() < full.apply(X).max()
    with pytest.raises(ValueError, match=r"min_samples_split must be .*40"):
        full.pruned(40).pruned(39)
    with pytest.raises(ValueError, match=r"min_samples_split must be .*5"):
        full.pruned(5)[0].pruned(4)


def test_a_pruned_forest_has_no_attributes_of_the_full_one(noisy):
    X, y = noisy[0], noisy[1]
    forest = RobustForestClassifier(20, oob_score=True, random_state=0, n_jobs=1).fit(X, y)
    pruned = forest.pruned(100)
    assert pruned.chosen_params_ == {"shrinkage": forest.shrinkage_}
    assert not {"oob_score_", "oob_decision_function_", "smoothing_losses_"} & vars(pruned).keys()
    assert forest.oob_score_ > 0.5


def test_more_noise_is_smoothed_more():
    X, y = load_breast_cancer(return_X_y=True)
    coin = np.random.default_rng(0).integers(0, 2, len(y))
    clean = RobustForestClassifier(30, passes=1, random_state=0).fit(X, y)
    noise = RobustForestClassifier(30, passes=1, random_state=0).fit(X, coin)
    assert (clean.min_samples_split_, clean.shrinkage_) < (noise.min_samples_split_, noise.shrinkage_)
    assert clean.min_samples_split_ <= 10
    assert noise.shrinkage_ >= 30 or noise.min_samples_split_ == NODE_SIZES[-1]


def test_chosen_params_has_only_what_fit_has_chosen(noisy):
    forest = RobustForestClassifier(8, random_state=0).fit(*noisy)
    assert forest.chosen_params_ == {
        "min_samples_split": forest.min_samples_split_,
        "shrinkage": forest.shrinkage_,
    }
    forest = RobustForestClassifier(8, min_samples_split=5, min_samples_leaf="auto", noise_rate=0.1)
    forest.fit(*noisy)
    assert forest.min_samples_split_ == 5
    leaf = min_leaf_samples(0.1, n_classes=3)
    assert forest.chosen_params_ == {"min_samples_leaf": leaf, "shrinkage": forest.shrinkage_}
    assert RobustForestClassifier(2, min_samples_split=5, shrinkage=1.0).fit(*noisy).chosen_params_ == {}


@pytest.mark.parametrize("estimator", [RobustForestClassifier, RobustExtraTreesClassifier])
def test_without_bootstrap_trees_are_neither_pruned_nor_shrunk(noisy, estimator):
    X, y = noisy
    forest = estimator(4, bootstrap=False, random_state=0).fit(X, y)
    assert forest.chosen_params_ == {"min_samples_split": 2, "shrinkage": 0.0}
    assert not hasattr(forest, "smoothing_losses_")
    fixed = estimator(4, bootstrap=False, **UNSMOOTHED).fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(X), fixed.predict_proba(X))


def test_without_out_of_bag_rows_nothing_is_chosen():
    forest = RobustForestClassifier(1, max_samples=200, random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert (forest.min_samples_split_, forest.shrinkage_) == (2, 0.0)
    assert forest.smoothing_losses_ == {}


@pytest.mark.parametrize("selection", ["oob", "holdout", None])
def test_adaptive_negative_exponential(noisy, selection):
    X, y = noisy
    settings = {"passes": 1, "random_state": 0}
    forest = RobustForestClassifier(20, criterion="ane", selection=selection, **settings).fit(X, y)
    assert tuple(forest.criterion_scores_) == LAMS
    best = max(forest.criterion_scores_, key=forest.criterion_scores_.get)
    assert forest.criterion_ == NegativeExponential(best)
    same = RobustForestClassifier(20, criterion=forest.criterion_, **settings).fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(X), same.predict_proba(X))


def test_adaptive_scores_are_out_of_bag_accuracies(noisy, weight):
    X, y = noisy
    forest = RobustForestClassifier(8, criterion="ane", passes=1, random_state=0).fit(X, y, weight)
    for lam, score in forest.criterion_scores_.items():
        first = RobustForestClassifier(8, criterion=NegativeExponential(lam), **UNSMOOTHED).fit(X, y, weight)
        votes = np.zeros((150, 3))
        for estimator, (seed, _) in list(zip(first.estimators_, first._seeds, strict=True))[:2]:
            unseen = unseen_rows(seed, 150)
            votes[unseen] += estimator.predict_proba(X[unseen])
        seen = votes.sum(axis=1) > 0
        is_right = votes[seen].argmax(axis=1) == y[seen]
        assert score == pytest.approx(np.average(is_right, weights=weight[seen]))


def test_a_tree_chooses_lam_on_held_out_rows(noisy):
    X, y = noisy
    tree = RobustDecisionTreeClassifier("ane", random_state=0).fit(X, y)
    assert tuple(tree.criterion_scores_) == LAMS
    assert tree.criterion_.lam in LAMS
    assert tree.tree_.n_rows[0] == 150


@pytest.mark.parametrize("estimator", [RobustForestClassifier, RobustExtraTreesClassifier])
def test_bootstrap_samples_draw_whole_groups(estimator):
    """Of rows with copies and random labels, only whole groups show that nothing can be learnt."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(150, 4)), 3, axis=0)
    y = np.repeat(rng.permutation(150) % 2, 3)  # says nothing, but copies agree
    settings = {"n_estimators": 60, "oob_score": True, **UNSMOOTHED}
    groups = np.repeat(rng.permutation(150), 3)
    assert estimator(**settings).fit(X, y).oob_score_ > 0.8
    grouped = estimator(**settings).fit(X, y, groups=groups)
    assert abs(grouped.oob_score_ - 0.5) < 0.12
    named = estimator(**settings).fit(X, y, groups=groups.astype(str))
    assert np.array_equal(named.predict_proba(X), grouped.predict_proba(X))
    alone = estimator(**settings).fit(X, y, groups=np.arange(450))
    assert np.array_equal(alone.predict_proba(X), estimator(**settings).fit(X, y).predict_proba(X))


def test_groups_of_another_length():
    with pytest.raises(ValueError, match=r"groups must have shape \(4,\), got \(3,\)"):
        RobustForestClassifier().fit(np.eye(4), [0, 1, 0, 1], groups=[0, 1, 1])
