import os

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier

BOTH = [RobustDecisionTreeClassifier(), RobustForestClassifier(n_estimators=5)]
ALL = [*BOTH, RobustExtraTreesClassifier(n_estimators=5)]


def expected_failures(estimator):
    if isinstance(estimator, RobustDecisionTreeClassifier):
        return {}
    # A bootstrap sample depends on the number of rows; scikit-learn's forest expects the same failure.
    reason = "a bootstrap of weighted rows is not one of repeated rows"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(ALL, expected_failed_checks=expected_failures)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def test_extra_trees_take_the_parameters_of_forests():
    extra_trees = RobustExtraTreesClassifier().get_params()
    assert extra_trees | {"max_features": "sqrt"} == RobustForestClassifier().get_params()
    assert extra_trees["max_features"] == "auto"
    values = {name: f"value of {name}" for name in extra_trees}
    assert RobustExtraTreesClassifier(**values).get_params() == values


def test_forest_is_as_accurate_as_scikit_learns():
    X, y = load_digits(return_X_y=True)
    ours = cross_val_score(RobustForestClassifier(50, criterion="gini", random_state=0), X, y, cv=3).mean()
    theirs = cross_val_score(RandomForestClassifier(50, random_state=0), X, y, cv=3).mean()
    assert ours == pytest.approx(theirs, abs=0.015)


@pytest.mark.parametrize("model", BOTH, ids=["tree", "forest"])
def test_layout_and_precision_of_the_input_do_not_matter(model):
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    expected = clone(model).set_params(random_state=0).fit(X, y, sample_weight=weight).predict_proba(X)
    read_only, read_only_y, read_only_weight = X.copy(), y.copy(), weight.copy()
    for array in (read_only, read_only_y, read_only_weight):
        array.flags.writeable = False
    for same in (np.asfortranarray(X), X.astype(np.float64), read_only, X[:, ::1][::1], pd.DataFrame(X)):
        fitted = clone(model).set_params(random_state=0)
        fitted.fit(same, read_only_y, sample_weight=read_only_weight)
        np.testing.assert_array_equal(fitted.predict_proba(same), expected)


def test_a_single_class_is_predicted():
    X = np.random.default_rng(0).random((10, 2))
    for model in BOTH:
        fitted = clone(model).fit(X, ["only"] * 10)
        assert fitted.predict(X).tolist() == ["only"] * 10
        assert fitted.predict_proba(X).tolist() == [[1.0]] * 10


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("criterion", ["negative_exponential", "ane"])
def test_skops_saves_and_loads(model, criterion):
    X, y = load_iris(return_X_y=True)
    model = clone(model).set_params(criterion=criterion, random_state=0).fit(X, y)
    saved = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=saved)
    assert all(name.startswith("robust_splits.") for name in types)
    loaded = skops.io.loads(saved, trusted=types)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("estimator", BOTH)
def test_a_fit_that_fails_leaves_the_earlier_one(estimator):
    frame = pd.DataFrame({"a": pd.Categorical(list("xyz") * 20), "b": np.arange(60.0)})
    y = np.where(frame["a"] == "x", "yes", "no")
    reordered = frame.assign(a=frame["a"].cat.reorder_categories(list("zyx")))[["b", "a"]]
    failing = clone(estimator).set_params(max_depth=-1)
    with pytest.raises(ValueError, match="max_depth"):
        failing.fit(frame, y)
    for method in (failing.predict, failing.apply, failing.decision_path):
        with pytest.raises(NotFittedError):
            method(frame)
    model = clone(estimator).fit(frame, y)
    expected = model.predict_proba(frame)
    with pytest.raises(ValueError, match="max_depth"):
        model.set_params(max_depth=-1).fit(reordered, y == "yes")
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    assert model.classes_.tolist() == ["no", "yes"]


def test_ensembles_and_searches_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    boosted = AdaBoostClassifier(RobustDecisionTreeClassifier("gini", max_depth=2), n_estimators=5).fit(X, y)
    assert boosted.score(X, y) > 0.95
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RobustDecisionTreeClassifier(random_state=0)),
        {"robustdecisiontreeclassifier__criterion": ["gini", "negative_exponential(0.75)"]},
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.9


@pytest.mark.release
def test_other_processes_grow_the_same_trees_and_read_pickles(tmp_path):
    X, y = load_iris(return_X_y=True)
    forest = RobustForestClassifier(4, random_state=0, n_jobs=2)
    expected = forest.fit(X, y).predict_proba(X)
    joblib.dump(forest, tmp_path / "forest.joblib")

    def elsewhere(path):
        read = joblib.load(path)
        return os.getpid(), read.predict_proba(X), clone(read).set_params(n_jobs=1).fit(X, y).predict_proba(X)

    with joblib.parallel_config(backend="loky"):
        assert forest.fit(X, y).predict_proba(X).tobytes() == expected.tobytes()
        ((process, again, grown),) = joblib.Parallel(2)([joblib.delayed(elsewhere)(tmp_path / "forest.joblib")])
    assert process != os.getpid()
    assert again.tobytes() == grown.tobytes() == expected.tobytes()


def test_limits_beyond_sixty_four_bits_are_no_limits():
    X, y = load_iris(return_X_y=True)
    assert RobustDecisionTreeClassifier(max_depth=10**30).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("model", BOTH, ids=["tree", "forest"])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"criterion": "ginny"}, ValueError, "criterion 'ginny' is unknown"),
        ({"criterion": "pairwise"}, ValueError, "'pairwise' is for two classes, got 3"),
        ({"max_depth": 0}, ValueError, "max_depth must be an integer of at least 1, got 0"),
        ({"max_leaf_nodes": 1}, ValueError, "max_leaf_nodes"),
        ({"max_features": 0}, ValueError, "max_features"),
        ({"min_samples_split": 1}, ValueError, "min_samples_split"),
        ({"min_samples_leaf": 0.0}, ValueError, r"min_samples_leaf must be an integer .* fraction in \(0, 1\], got 0.0"),
        ({"min_samples_leaf": [3]}, TypeError, "min_samples_leaf must be an integer of at least 1 or a fraction"),
        ({"min_samples_leaf": "most"}, ValueError, "min_samples_leaf must be 'auto' or a number, got 'most'"),
        ({"min_samples_leaf": "auto"}, ValueError, "needs noise_rate"),
        ({"min_weight_fraction_leaf": 0.6}, ValueError, "min_weight_fraction_leaf"),
        ({"leaf_value": "mean"}, ValueError, "leaf_value must be 'proportions', 'majority'"),
        ({"shrinkage": -1}, ValueError, "shrinkage must be a finite number of at least 0, got -1"),
        ({"class_weight": {0: -1}}, ValueError, r"class_weight\[0\] must be a finite number of at least 0, got -1"),
        ({"class_weight": dict.fromkeys(range(3), 0)}, ValueError, "class_weight times sample_weight must sum to"),
        ({"class_weight": "even"}, ValueError, "class_weight must be a dict, 'balanced'.*, got 'even'"),
        ({"class_weight": 2}, TypeError, "class_weight must be a dict, 'balanced'"),
    ],
)  # fmt: skip
def test_bad_parameters(model, parameters, error, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        clone(model).set_params(**parameters).fit(X, y)


def test_bad_parameters_of_the_forest():
    X, y = load_iris(return_X_y=True)
    for parameters, error, message in [
        ({"n_estimators": 0}, ValueError, "n_estimators"),
        ({"bootstrap": "yes"}, TypeError, "bootstrap"),
        ({"max_features": "half"}, ValueError, "'sqrt', 'log2' or None, got 'half'"),
        ({"oob_score": "yes"}, TypeError, "oob_score must be True, False or a callable, got 'yes'"),
        ({"n_jobs": "two"}, TypeError, "n_jobs must be an integer or None, got 'two'"),
        ({"verbose": "no"}, TypeError, "verbose must be an integer, got 'no'"),
        ({"shrinkage": "oob"}, ValueError, "shrinkage must be 'auto' or a number, got 'oob'"),
        ({"min_samples_split": None}, ValueError, "min_samples_split must be 'auto' or a number, got None"),
        ({"selection": "oob", "bootstrap": False}, ValueError, "selection='oob' needs bootstrap=True"),
        ({"oob_score": True, "bootstrap": False}, ValueError, "oob_score=True needs bootstrap=True"),
    ]:
        with pytest.raises(error, match=message):
            RobustForestClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("parameter", ["min_samples_split", "shrinkage"])
def test_a_single_tree_has_no_out_of_bag_rows(parameter):
    with pytest.raises(ValueError, match=f"{parameter}='auto' is for forests"):
        RobustDecisionTreeClassifier(**{parameter: "auto"}).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("model", BOTH, ids=["tree", "forest"])
def test_bad_data(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="NaN"):
        clone(model).fit(X, np.where(y == 1, np.nan, y))
    with pytest.raises(ValueError, match="infinity"):
        clone(model).fit(np.where(X > 5, np.inf, X), y)
    with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
        clone(model).fit(X, y, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(model).fit(X, y, sample_weight=np.full(150, -1.0))
    with pytest.raises(ValueError, match="sample_weight must sum to more than 1e-100"):
        clone(model).fit(X, y, sample_weight=np.full(150, 1e-150))
    with pytest.raises(ValueError, match="features"):
        clone(model).fit(X, y).predict(X[:, :2])


def test_more_rows_than_nodes_can_be_numbered():
    X = np.broadcast_to(np.float32(0), (2**30 + 1, 1))
    with pytest.raises(ValueError, match="X must have at most 1073741824 rows"):
        RobustDecisionTreeClassifier().fit(X, np.broadcast_to(0, 2**30 + 1))
