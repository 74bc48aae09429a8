import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval.models.node_size_search import NodeSizeSearch, can_prune
from boostnoise.eval.models.search import SearchSplitter, make_search
from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier

SIZES = [2, 10, 40, 80, 150]
GRID = {"min_samples_split": SIZES}
CV = SearchSplitter(3, None, 0)
X, Y = make_classification(300, 6, n_informative=3, flip_y=0.3, random_state=0)
WEIGHTS = np.random.default_rng(0).integers(1, 4, Y.size)

TREE = RobustDecisionTreeClassifier("pairwise", max_depth=12, random_state=0)
FOREST = RobustForestClassifier(8, criterion="entropy", passes=1, shrinkage=0.0, random_state=0, n_jobs=1)


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss"])
@pytest.mark.parametrize("estimator", [TREE, FOREST])
def test_results_are_those_of_a_grid_search(estimator, metric):
    pruned = make_search(estimator, GRID, CV, draws=None, metric=metric).fit(X, Y)
    assert isinstance(pruned, NodeSizeSearch)
    grid = GridSearchCV(estimator, GRID, cv=CV, scoring=pruned.scoring).fit(X, Y)
    assert len(set(pruned.mean_scores_)) > 2
    np.testing.assert_array_equal(pruned.mean_scores_, grid.cv_results_["mean_test_score"])
    assert pruned.best_params_ == grid.best_params_
    np.testing.assert_array_equal(pruned.predict_proba(X), grid.predict_proba(X))
    np.testing.assert_array_equal(pruned.predict(X), grid.predict(X))


def test_weights_count_in_fits_and_scores():
    pruned = make_search(TREE, GRID, CV, draws=None, metric="accuracy").fit(X, Y, sample_weight=WEIGHTS)
    for size, mean in zip(SIZES, pruned.mean_scores_, strict=True):
        tree, scores = clone(TREE).set_params(min_samples_split=size), []
        for fit, rows in CV.split(X, Y):
            tree.fit(X[fit], Y[fit], WEIGHTS[fit])
            scores.append(tree.score(X[rows], Y[rows], WEIGHTS[rows]))
        assert mean == pytest.approx(np.mean(scores), rel=1e-12)


def test_groups_stay_together_in_the_splits():
    groups = np.arange(Y.size) // 10
    pruned = make_search(FOREST, GRID, CV, draws=None, metric="accuracy").fit(X, Y, groups=groups)
    grid = GridSearchCV(FOREST, GRID, cv=CV).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(pruned.mean_scores_, grid.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (TREE, {"min_samples_split": [2, 0.1]}),
        (TREE, {"min_samples_split": [2, 10], "max_depth": [2, 3]}),
        (TREE, {"min_samples_leaf": [1, 2]}),
        (clone(TREE).set_params(criterion="ane"), GRID),
        (clone(TREE).set_params(max_leaf_nodes=9), GRID),
        (clone(FOREST).set_params(passes="auto"), GRID),
        (clone(FOREST).set_params(shrinkage="auto"), GRID),
        (DecisionTreeClassifier(), GRID),
    ],
)
def test_other_searches_grow_the_trees_of_each_candidate(estimator, grid):
    assert not can_prune(estimator, grid)


def test_forests_without_bootstrap_have_one_pass():
    extra_trees = RobustExtraTreesClassifier(bootstrap=False, shrinkage=0.0)
    assert can_prune(extra_trees, GRID)
