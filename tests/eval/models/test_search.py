import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval.models.search import SearchSplitter, make_search, negative_log_loss

X, Y = load_iris(return_X_y=True)
FEW = np.repeat([0, 1, 2, 7], [30, 20, 2, 1])
ways = pytest.mark.parametrize(
    ("folds", "holdout"), [(5, None), (40, None), (None, 0.2), (None, 0.9), (None, 0.01)]
)


@pytest.mark.parametrize(
    ("splits", "expected"),
    [
        (SearchSplitter(4, None, 3), StratifiedKFold(4, shuffle=True, random_state=3)),
        (SearchSplitter(None, 0.3, 3), StratifiedShuffleSplit(1, test_size=0.3, random_state=3)),
    ],
)
def test_splits_equal_those_of_scikit_learn(splits, expected):
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 40]}
    ours = make_search(DecisionTreeClassifier(random_state=0), grid, splits, draws=None, metric="accuracy").fit(
        X, Y
    )
    theirs = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=expected).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


@ways
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_every_class_has_a_fitting_row(folds, holdout):
    splits = SearchSplitter(folds, holdout, seed=0)
    pairs = list(splits.split(None, FEW))
    assert len(pairs) == splits.get_n_splits(None, FEW) == (1 if holdout else min(folds, 30))
    for fit, validation in pairs:
        assert set(FEW[fit]) == set(FEW)
        assert validation.size > 0
        assert sorted([*fit, *validation]) == list(range(FEW.size))


@ways
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_splits_depend_on_the_seed_only(folds, holdout):
    def rows(seed):
        return [validation.tolist() for _, validation in SearchSplitter(folds, holdout, seed).split(None, FEW)]

    assert rows(1) == rows(1) != rows(2)


def test_log_loss_without_validation_rows_of_a_class():
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, Y)
    rows = Y < 2
    expected = -log_loss(np.append(Y[rows], 2), model.predict_proba(np.vstack([X[rows], X[-1:]])))
    weight = rows.sum() / (rows.sum() + 1)
    last = -log_loss([2], model.predict_proba(X[-1:]), labels=[0, 1, 2])
    assert negative_log_loss(model, X[rows], Y[rows]) * weight + last * (1 - weight) == pytest.approx(expected)


def test_a_failing_candidate_stops_the_search():
    search = make_search(
        DecisionTreeClassifier(),
        {"max_depth": [1, -1]},
        SearchSplitter(3, None, 0),
        draws=None,
        metric="accuracy",
    )
    with pytest.raises(ValueError, match="max_depth"):
        search.fit(X, Y)


@pytest.mark.parametrize(("folds", "holdout"), [(4, None), (None, 0.3)])
def test_groups_stay_together(folds, holdout):
    groups = np.arange(Y.size) // 5
    splits = list(SearchSplitter(folds, holdout, 0).split(X, Y, groups))
    assert len(splits) == SearchSplitter(folds, holdout, 0).get_n_splits(X, Y, groups) == (folds or 1)
    for fit, validation in splits:
        assert np.intersect1d(groups[fit], groups[validation]).size == 0
        assert sorted([*fit, *validation]) == list(range(Y.size))


def test_a_class_of_one_group_is_always_fitted():
    y = np.repeat([0, 1, 2], [40, 40, 3])
    groups = np.where(y == 2, 0, np.arange(83) // 4)
    for fit, validation in SearchSplitter(3, None, 0).split(y, y, groups):
        assert (y[fit] == 2).sum() == 3
        assert np.intersect1d(groups[fit], groups[validation]).size == 0


def test_there_are_no_more_folds_than_groups():
    assert SearchSplitter(5, None, 0).get_n_splits(X, Y, np.arange(Y.size) % 3) == 3
