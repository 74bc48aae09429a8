import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting.lightgbm_parameters import AUTO_PARAMETERS as LIGHTGBM_PARAMETERS
from boostnoise.boosting.xgboost_classifier import AUTO_PARAMETERS as XGBOOST_PARAMETERS

LIBRARIES = {
    "xgboost": (RobustXGBClassifier, xgboost.XGBClassifier, XGBOOST_PARAMETERS, {}),
    "lightgbm": (RobustLGBMClassifier, lightgbm.LGBMClassifier, LIGHTGBM_PARAMETERS, {"verbose": -1}),
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param


@pytest.fixture
def model(library):
    """Estimator with all parameters open, and few rounds."""
    cls, _, _, quiet = LIBRARIES[library]
    return cls(budget=1, cv=3, n_jobs=1, random_state=3, **quiet)


@pytest.fixture
def opened(library):
    return list(LIBRARIES[library][2].defaults)


def noisy(rate=0.3):
    """Features, noisy labels and clean labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], y ^ (np.random.default_rng(0).random(y.size) < rate), y


def trees_of(model):
    """Number of leaves of each tree."""
    if isinstance(model, RobustXGBClassifier):
        return [tree.count("leaf=") for tree in model.get_booster().get_dump()]
    return [tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]]


def test_fit_changes_no_parameter(model, opened):
    X, y, _ = noisy()
    before = model.get_params()
    assert {name for name, value in before.items() if isinstance(value, str) and value == "auto"} == set(opened)
    fitted = clone(model).fit(X, y)
    assert fitted.get_params() == before
    assert set(fitted.chosen_params_) == set(opened)
    assert fitted.n_estimators_ == fitted.chosen_params_["n_estimators"] == 50
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.chosen_params_ == fitted.chosen_params_


def test_boosters_hold_up_under_noise(library):
    cls, built_in, _, quiet = LIBRARIES[library]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_500, 8))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    seen, unseen = slice(0, 500), slice(500, None)
    scores = {}
    for rate in (0.0, 0.3):
        given = y[seen] ^ (rng.random(500) < rate)
        models = cls(n_jobs=1, budget=10, cv=3, **quiet), built_in(n_jobs=1, **quiet)
        scores[rate] = [model.fit(X[seen], given).score(X[unseen], y[unseen]) for model in models]
    assert scores[0.0][0] > scores[0.0][1] - 0.02
    assert scores[0.3][0] > scores[0.3][1] + 0.03


def test_depths_of_trees_alternate(library):
    cls, _, _, quiet = LIBRARIES[library]
    X, y, _ = noisy(0.1)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    stop = [(X[:100], y[:100])]
    model = cls(n_jobs=1, n_estimators=9, learning_rate=0.01, min_child_weight=1e-3, subsample=1.0, **quiet)
    if library == "xgboost":  # an evaluation set that chooses the rounds leaves the smoothest structure
        model.set_params(early_stopping_rounds=9).fit(X, y, eval_set=stop, verbose=False)
    else:
        model.set_params(min_child_samples=1)
        model.fit(X, y, eval_set=stop, callbacks=[lightgbm.early_stopping(9, verbose=False)])
    assert model.chosen_params_["max_depth"] == (2, 4, 6)
    leaves = np.array(trees_of(model)).reshape(3, 3)
    assert (leaves[:, 0] <= 4).all()
    assert ((leaves[:, 1] > 4) & (leaves[:, 1] <= 16)).all()
    assert ((leaves[:, 2] > 16) & (leaves[:, 2] <= 64)).all()


@pytest.mark.parametrize("total", [{}, {"n_estimators": 7}, {"learning_rate": 0.05}, {"n_estimators": 7, "learning_rate": 0.05}], ids=str)  # fmt: skip
def test_given_parameters_are_kept(model, opened, total):
    X, y, _ = noisy()
    given = {**total, "max_depth": 3, "subsample": 0.9}
    model.set_params(**given).fit(X, y)
    chosen = model.chosen_params_
    assert set(chosen) == set(opened) - set(given)
    if "num_leaves" in chosen:
        assert chosen["num_leaves"] == 31  # follows from max_depth
    assert max(trees_of(model)) <= 8
    results = pd.DataFrame(model.cv_results_)
    for name in results.columns.intersection([f"param_{name}" for name in chosen]):
        results = results[results[name].map(repr) == repr(chosen[name.removeprefix("param_")])]
    best = max(results["total_learning_rate"][results["mean_test_score"].idxmax()], 2.0)
    values = {**chosen, **given}
    rounds, rate = values["n_estimators"], values["learning_rate"]
    if total == {"n_estimators": 7}:
        assert rate == pytest.approx(min(best / 7, 0.3))
    elif total == {"learning_rate": 0.05}:
        assert rounds == round(best / 0.05)
    elif not total:
        assert rate * rounds == pytest.approx(best)
    if isinstance(model, RobustXGBClassifier):  # LightGBM does not count trees of a single leaf
        assert model.n_estimators_ == rounds


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *((name, {"budget": 0}) for name in LIBRARIES),
        *((name, auto.defaults) for name, (_, _, auto, _) in LIBRARIES.items()),
        ("xgboost", {"booster": "dart"}),
        ("xgboost", {"booster": "gblinear", "updater": "coord_descent"}),
        ("lightgbm", {"boosting_type": "dart"}),
        ("lightgbm", {"data_sample_strategy": "goss"}),
    ],
    ids=str,
)
def test_where_nothing_is_chosen_it_is_the_library(name, given):
    cls, built_in, auto, quiet = LIBRARIES[name]
    X, y, _ = noisy()
    found = cls(n_jobs=1, **given, **quiet).fit(X, y)
    known = {key: value for key, value in given.items() if key != "budget"}
    expected = built_in(n_jobs=1, **known, **quiet).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert not hasattr(found, "cv_results_")
    assert set(found.chosen_params_) == set(auto.defaults) - set(given)


@pytest.mark.parametrize(
    ("name", "given", "settled"),
    [
        ("xgboost", {"eta": 0.2}, {"learning_rate": 0.2}),
        ("lightgbm", {"eta": 0.2}, {"learning_rate": 0.2}),
        ("lightgbm", {"num_iterations": 7}, {"n_estimators": 7}),
        ("lightgbm", {"bagging_fraction": 0.7}, {"subsample": 0.7}),
        ("lightgbm", {"num_leaves": 5}, {"max_depth": -1}),
        ("lightgbm", {"min_data_in_leaf": 9}, {"min_child_samples": 9, "min_child_weight": 1e-3}),
        ("lightgbm", {"feature_fraction_bynode": 0.9}, {"colsample_bynode": 0.9}),
    ],
)
def test_aliases_of_parameters(name, given, settled):
    cls, _, _, quiet = LIBRARIES[name]
    X, y, _ = noisy()
    model = cls(budget=1, cv=2, n_jobs=1, random_state=0, **given, **quiet).fit(X, y)
    assert settled.items() <= model.chosen_params_.items()
    assert model.n_estimators_ == model.chosen_params_["n_estimators"]
    if "num_leaves" not in given:
        canonical = cls(budget=1, cv=2, n_jobs=1, random_state=0, **settled, **quiet).fit(X, y)
        np.testing.assert_array_equal(canonical.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("loss", "given", "rate"),
    [
        ("ce", {}, 0.02),
        ("gce", {}, 0.02),
        ("ce", {"n_estimators": 200}, 0.2),
        ("ce", {"learning_rate": 0.3}, 0.3),
    ],
    ids=str,
)
def test_an_evaluation_set_chooses_the_number_of_rounds(model, loss, given, rate):
    X, y, _ = noisy(0.1)
    X_train, X_stop, y_train, y_stop = train_test_split(X, y, random_state=0)
    model.set_params(loss=loss, **given)
    if isinstance(model, RobustXGBClassifier):
        model.set_params(early_stopping_rounds=5)
        model.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], verbose=False)
        best, curve = model.best_iteration, model.evals_result()["validation_0"]
        assert best == np.argmin(list(curve.values())[-1])
    else:
        stop = lightgbm.early_stopping(5, verbose=False)
        model.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], callbacks=[stop])
        best = model.best_iteration_
    values = {**model.chosen_params_, **given}
    assert 0 < best < values["n_estimators"]
    assert not hasattr(model, "cv_results_")
    assert values["learning_rate"] == rate


def test_an_evaluation_set_alone_does_not_choose(model):
    X, y, _ = noisy()
    alone = clone(model).fit(X, y)
    quiet = {"verbose": False} if isinstance(model, RobustXGBClassifier) else {}
    evaluated = clone(model).fit(X, y, eval_set=[(X[:100], y[:100])], **quiet)
    np.testing.assert_array_equal(alone.predict_proba(X), evaluated.predict_proba(X))
    assert evaluated.chosen_params_ == alone.chosen_params_


@pytest.mark.parametrize(("loss", "loss_params"), [("gce", {"q": "auto"}), ("forward", {"T": "auto"})])
def test_parameters_are_chosen_for_robust_losses(model, loss, loss_params, monkeypatch):
    monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.4, 0.7))
    X, y, clean = noisy()
    model.set_params(loss=loss, loss_params=loss_params).fit(X, y)
    assert model.score(X, clean) > 0.8
    rounds, rate = (model.chosen_params_[name] for name in ("n_estimators", "learning_rate"))
    assert rounds >= 50
    assert rate <= 0.1
    assert len({*trees_of(model)}) > 1
    assert "cv_results_" in vars(model)


def test_categories_missing_values_text_labels_and_weights(model):
    X, y, _ = noisy()
    columns = pd.DataFrame({"a": X[:, 0], "b": pd.cut(X[:, 1], 4, labels=list("wxyz"))}).mask(X[:, :2] < 11)
    if isinstance(model, RobustXGBClassifier):
        model.set_params(enable_categorical=True)
    labels = pd.Series(np.array(["benign", "malign"])[y], index=np.arange(y.size)[::-1])
    fitted = model.set_params(class_weight="balanced").fit(columns, labels, sample_weight=pd.Series(X[:, 0]))
    assert set(fitted.predict(columns)) == {"benign", "malign"}
    assert fitted.score(columns, labels) > 0.55


def test_small_data_and_rare_classes(model):
    X, y = load_iris(return_X_y=True)
    rows = np.r_[:12, 50:61, 100:106, 149]  # 30 rows
    fitted = clone(model).set_params(budget=2).fit(X[rows], y[rows])
    assert fitted.score(X, y) > 0.8
    labels = np.append(np.array(["a", "b", "c"])[y[rows]], "alone")
    fitted = clone(model).fit(np.append(X[rows], [[9.0, 9, 9, 9]], axis=0), labels)
    assert list(fitted.classes_) == ["a", "alone", "b", "c"]
    with pytest.raises(ValueError, match="folds, which need at least two rows of one class"):
        model.fit(X[[0, 60, 120]], y[[0, 60, 120]])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"budget": -1}, ValueError, r"budget must be in \[0, inf\), got -1"),
        ({"budget": "20"}, TypeError, "budget must be a number, got '20'"),
        ({"n_estimators": "many"}, ValueError, "n_estimators must be a positive number or 'auto', got 'many'"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be a positive number or 'auto', got 0.0"),
        ({"early_stopping_rounds": 5}, ValueError, "early stopping needs rows to evaluate: pass eval_set"),
        ({"cv": 1}, ValueError, "cv must be at least 2 folds, got 1"),
        ({"cv": "five"}, ValueError, "cv"),
    ],
)
def test_bad_parameters(model, given, error, message):
    X, y, _ = noisy()
    with pytest.raises(error, match=message):
        model.set_params(**given).fit(X, y)


def test_the_scale_of_small_weights_does_not_matter(model):
    """Weights often sum to one, as those of AdaBoost do; stock LightGBM's predictions hardly depend on that."""
    X, y, _ = noisy()
    weight = np.random.default_rng(1).random(y.size)
    weight *= weight.sum() / (weight @ weight)  # so that nothing is scaled
    expected = clone(model).fit(X, y, sample_weight=weight).predict_proba(X)
    assert np.ptp(expected[:, 1]) > 0.2
    for scale in (1e-6, 0.5):
        found = clone(model).fit(X, y, sample_weight=scale * weight).predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    by_class = clone(model).set_params(class_weight={0: 1e-3, 1: 1e-3}).fit(X, y)
    np.testing.assert_allclose(by_class.predict_proba(X), clone(model).fit(X, y).predict_proba(X), rtol=1e-4)
    large = clone(model).fit(X, y, sample_weight=20 * weight).predict_proba(X)
    assert not np.allclose(large, expected, rtol=1e-3)  # as if each row were repeated
    given = clone(model).set_params(min_child_weight=1.0).fit(X, y, sample_weight=1e-4 * weight)
    assert np.ptp(given.predict_proba(X)[:, 1]) < 1e-6  # as in the library


def test_unknown_arguments_of_fit_stop_before_the_search(model, monkeypatch):
    monkeypatch.setattr(type(model), "_fit_fold", None)
    X, y, _ = noisy()
    with pytest.raises(TypeError, match=r"argument 'early_stopping_rounds'; .* belong in the constructor"):
        model.fit(X, y, early_stopping_rounds=5)


def test_training_from_margins_or_a_model_needs_a_budget_of_0(model):
    X, y, _ = noisy()
    xgb = isinstance(model, RobustXGBClassifier)
    first = clone(model).fit(X, y)
    starts = {"base_margin" if xgb else "init_score": np.zeros(y.size)}
    starts["xgb_model" if xgb else "init_model"] = first.get_booster() if xgb else first.booster_
    for name, value in starts.items():
        with pytest.raises(
            ValueError, match=f"{name} cannot be combined with the choice of n_estimators, .*budget=0"
        ):
            clone(model).fit(X, y, **{name: value})
        clone(model).set_params(budget=0, n_estimators=3).fit(X, y, **{name: value})
