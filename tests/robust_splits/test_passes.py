"""Forests of two passes: the first one judges the labels, the second one is grown on soft labels."""

import io
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import log_loss

from robust_splits import RobustExtraTreesClassifier as ExtraTrees
from robust_splits import RobustForestClassifier as Forest
from robust_splits import export_text

forests = pytest.mark.parametrize("forest", [Forest, ExtraTrees])
T = np.array([[0.95, 0.05], [0.35, 0.65]])


def corrupt(clean, T, seed=0):
    u = np.random.default_rng(seed).random(clean.size)
    return (u[:, None] > np.cumsum(T[clean], axis=1)[:, :-1]).sum(axis=1)


def split(n=2_400, seed=0, T=T, **options):
    """Training rows with noisy labels, and test rows with clean ones."""
    options = {"n_features": 8, "n_informative": 5, "class_sep": 1.5, "flip_y": 0.0} | options
    X, clean = make_classification(n, random_state=seed, **options)
    half = n // 2
    return X[:half], corrupt(clean[:half], T, seed), clean[:half], X[half:], clean[half:]


@pytest.fixture(scope="module")
def data():
    return split()


@forests
def test_two_passes_are_more_accurate_where_classes_differ_in_noise(forest):
    gains, losses = [], []
    for seed in range(3):
        X, y, _, X_test, truth = split(seed=seed)
        one = forest(50, passes=1, random_state=0).fit(X, y)
        two = forest(50, random_state=0).fit(X, y)
        assert (one.passes_, two.passes_) == (1, 2)
        gains.append(two.score(X_test, truth) - one.score(X_test, truth))
        losses.append([log_loss(truth, model.predict_proba(X_test)) for model in (one, two)])
    assert np.mean(gains) > 0.02
    one, two = np.mean(losses, axis=0)
    assert two < 0.85 * one


@pytest.mark.parametrize("n_classes", [3, 5])
def test_two_passes_of_several_classes(n_classes):
    pair = 0.6 * np.eye(n_classes) + 0.4 * np.roll(np.eye(n_classes), 1, axis=1)
    X, y, _, X_test, truth = split(3_000, T=pair, n_classes=n_classes, n_informative=6, n_clusters_per_class=1)
    one, two = (Forest(50, passes=n, random_state=0).fit(X, y) for n in (1, 2))
    assert two.score(X_test, truth) > one.score(X_test, truth) + 0.02
    np.testing.assert_allclose(two.transition_matrix_, pair, atol=0.25)
    assert two.transition_matrix_.argmax(axis=1).tolist() == list(range(n_classes))


@forests
def test_the_transition_matrix_is_near_the_truth(data, forest):
    X, y, clean, *_ = data
    model = forest(100, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.transition_matrix_.sum(axis=1), 1)
    np.testing.assert_allclose(model.transition_matrix_, T, atol=0.08)
    without_noise = forest(100, random_state=0).fit(X, clean)
    np.testing.assert_allclose(without_noise.transition_matrix_, np.eye(2), atol=0.04)
    assert not hasattr(model.set_params(passes=1).fit(X, y), "transition_matrix_")


@forests
def test_without_noise_two_passes_lose_little(forest):
    X, y = load_breast_cancer(return_X_y=True)
    test = np.arange(y.size) % 2 == 0
    one, two = (
        forest(50, passes=n, random_state=0).fit(X[~test], y[~test]).score(X[test], y[test]) for n in (1, 2)
    )
    assert two > one - 0.02


def test_predictions_are_of_the_clean_labels(data):
    X, y, clean, X_test, _ = data
    one, two = (
        Forest(50, passes=n, random_state=0).fit(X, y).predict_proba(X_test)[:, 1].mean() for n in (1, 2)
    )
    assert one == pytest.approx(y.mean(), abs=0.03)
    assert two == pytest.approx(clean.mean(), abs=0.06)
    assert two > one + 0.05


@forests
@pytest.mark.parametrize("parameters", [{}, {"criterion": "ane"}, {"max_samples": 0.3}], ids=str)
def test_a_forest_that_cannot_judge_grows_in_one_pass(data, forest, parameters):
    """Labels at random: the forest is still fitted, to the labels as they are, for any explicit `passes`."""
    X = data[0]
    y = np.random.default_rng(5).integers(2, size=len(X))
    for passes in ("auto", 2):
        model = forest(20, passes=passes, random_state=0, **parameters).fit(X, y)
        assert model.passes_ == 1
        assert not hasattr(model, "transition_matrix_")


@pytest.mark.parametrize("passes", ["auto", 2])
def test_a_class_without_weight_is_not_judged(data, passes):
    X, y, *_ = data
    model = Forest(5, passes=passes, random_state=0).fit(X, y, np.where(y == 1, 0.0, 1.0))
    assert model.passes_ == 1
    assert not model.predict(X).any()
    only = Forest(5, passes=passes, random_state=0).fit(X, np.zeros(len(X)))
    assert (only.passes_, only.classes_.tolist()) == (1, [0])


def test_without_bootstrap_no_row_is_judged(data):
    X, y, *_ = data
    model = Forest(5, bootstrap=False, random_state=0).fit(X, y)
    assert model.passes_ == 1
    one = Forest(5, bootstrap=False, passes=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), one.predict_proba(X))
    with pytest.raises(ValueError, match="passes=2 needs bootstrap=True; otherwise no row is out of bag"):
        model.set_params(passes=2).fit(X, y)


@pytest.mark.parametrize("passes", [0, 3, 1.5, True, None, "two", [1]])
def test_bad_numbers_of_passes(data, passes):
    with pytest.raises(ValueError, match="passes must be 1, 2 or 'auto', got"):
        Forest(2, passes=passes).fit(*data[:2])


@forests
def test_two_passes_are_the_default_and_the_same_for_any_number_of_threads(data, forest):
    X, y, _, X_test, _ = data
    expected = forest(12, random_state=0).fit(X, y)
    for parameters in ({"passes": 2}, {"n_jobs": 2}, {"n_jobs": 3, "oob_score": True}):
        model = forest(12, random_state=0, **parameters).fit(X, y)
        assert model.passes_ == 2
        assert model.predict_proba(X_test).tobytes() == expected.predict_proba(X_test).tobytes()
        np.testing.assert_array_equal(model.transition_matrix_, expected.transition_matrix_)


@forests
def test_out_of_bag_predictions_are_honest(forest):
    """Copies of rows with random labels agree: nothing can be learnt, unless a tree has seen a copy."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(200, 4)), 3, axis=0)
    y = np.repeat(rng.integers(0, 2, 200), 3)
    groups = np.repeat(np.arange(200), 3)
    settings = {"oob_score": True, "random_state": 0}
    model = forest(60, **settings).fit(X, y)
    assert (model.passes_, model.oob_score_ > 0.8) == (2, True)
    assert abs(forest(60, **settings).fit(X, y, groups=groups).oob_score_ - 0.5) < 0.12


@forests
def test_out_of_bag_predictions_of_two_passes(data, forest):
    """They are as accurate on the clean labels as predictions of new rows, and score the given labels."""
    X, y, clean, X_test, truth = data
    model = forest(60, oob_score=True, random_state=0).fit(X, y)
    p = model.oob_decision_function_
    assert model.passes_ == 2
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert model.oob_score_ == (p.argmax(axis=1) == y).mean()
    assert (p.argmax(axis=1) == clean).mean() == pytest.approx(model.score(X_test, truth), abs=0.04)
    few = forest(2, oob_score=True, passes=2, random_state=0).fit(X, y)
    missing = np.isnan(few.oob_decision_function_).all(axis=1)
    assert few.passes_ == 2
    assert 0.2 < missing.mean() < 0.6
    found = few.oob_decision_function_[~missing]
    assert few.oob_score_ == (found.argmax(axis=1) == y[~missing]).mean()


def test_class_weights_do_not_change_the_estimated_noise(data):
    """They are those of the clean classes, applied after the first pass."""
    X, y, *_ = data
    plain = Forest(30, random_state=0).fit(X, y)
    shares = []
    for class_weight in ({1: 0.1}, "balanced", "balanced_subsample", {1: 10.0}):
        model = Forest(30, class_weight=class_weight, oob_score=True, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.transition_matrix_, plain.transition_matrix_)
        shares.append((model.predict(X).mean(), np.nanmean(model.oob_decision_function_[:, 1])))
    by_weight = np.array(shares)[[0, 1, 3]]
    assert (np.diff(by_weight, axis=0) > 0.02).all()


def test_negligible_and_repeated_weights(data):
    X, y, _, X_test, _ = data
    weight = np.where(np.arange(y.size) % 2, 1.0, 1e-250)
    model = Forest(20, random_state=0).fit(X, y, weight)
    assert np.isfinite(model.predict_proba(X_test)).all()
    same = Forest(20, random_state=0).fit(X, y, np.full(y.size, 8.0)).predict_proba(X_test)
    np.testing.assert_allclose(same, Forest(20, random_state=0).fit(X, y).predict_proba(X_test), atol=1e-6)


@forests
def test_warm_start_keeps_the_soft_labels(data, forest):
    X, y, _, X_test, _ = data
    settings = {"min_samples_split": 2, "shrinkage": 0.0, "oob_score": True, "random_state": 0}
    model = forest(10, warm_start=True, **settings).fit(X, y)
    noise, oob = model.transition_matrix_, model.oob_decision_function_
    first = [estimator.tree_ for estimator in model]
    model.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(model.transition_matrix_, noise)
    np.testing.assert_array_equal(model.oob_decision_function_, oob)
    for estimator, tree in zip(model, first, strict=False):
        np.testing.assert_array_equal(estimator.tree_.threshold, tree.threshold)
    # The new trees are grown on the soft labels of the first fit too.
    restored = pickle.loads(pickle.dumps(model)).set_params(n_estimators=30)
    np.testing.assert_array_equal(
        restored.fit(X, y).predict_proba(X_test),
        model.set_params(n_estimators=30).fit(X, y).predict_proba(X_test),
    )
    assert model.passes_ == 2


def test_a_warm_start_without_kept_soft_labels_judges_again(data):
    X, y, *_ = data
    model = Forest(10, random_state=0).fit(X, y).set_params(n_estimators=20, warm_start=True).fit(X, y)
    assert model.passes_ == 2
    np.testing.assert_allclose(model.transition_matrix_, T, atol=0.15)
    one = Forest(10, passes=1, warm_start=True, random_state=0).fit(X, y)
    one.set_params(n_estimators=20, passes="auto").fit(X, y)
    assert one.passes_ == 1


@pytest.mark.parametrize("warm_start", [False, True])
def test_models_are_saved_and_loaded(data, warm_start):
    X, y, _, X_test, _ = data
    model = Forest(6, warm_start=warm_start, oob_score=True, random_state=0).fit(X, y)
    assert model.passes_ == 2
    expected = model.predict_proba(X_test).tobytes()
    saved = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=saved)
    assert all(name.startswith("robust_splits.") for name in types)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for loaded in (skops.io.loads(saved, trusted=types), pickle.loads(pickle.dumps(model)), joblib.load(file)):
        assert loaded.predict_proba(X_test).tobytes() == expected
        assert loaded.passes_ == 2
        assert len(loaded.set_params(n_estimators=8).fit(X, y)) == 8
    assert (model._judged is not None) == warm_start  # else its memory is free
    assert "<=" in export_text(model[0])


def test_labels_are_of_any_type_and_keep_their_order(data):
    X, y, _, X_test, _ = data
    names = np.array(["zebra", "ant"])
    numbers, words = Forest(10, random_state=0).fit(X, y), Forest(10, random_state=0).fit(X, names[y])
    assert words.classes_.tolist() == ["ant", "zebra"]
    assert (words.predict(X_test) == names[numbers.predict(X_test)]).mean() > 0.95
