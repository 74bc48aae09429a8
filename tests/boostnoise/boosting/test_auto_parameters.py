import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting.lightgbm_parameters import AUTO_PARAMETERS as LIGHTGBM_PARAMETERS
from boostnoise.boosting.xgboost_parameters import AUTO_PARAMETERS as XGBOOST_PARAMETERS

LIBRARIES = {
    "xgboost": (RobustXGBClassifier, xgboost.XGBClassifier, XGBOOST_PARAMETERS, {}),
    "lightgbm": (RobustLGBMClassifier, lightgbm.LGBMClassifier, LIGHTGBM_PARAMETERS, {"verbose": -1}),
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return request.param


@pytest.fixture
def model(library):
    """Estimator with all parameters open."""
    cls, _, _, quiet = LIBRARIES[library]
    return cls(cv=2, n_jobs=1, random_state=3, **quiet)


@pytest.fixture
def auto(library):
    return LIBRARIES[library][2]


def noisy(rate=0.3):
    """Features, noisy labels and clean labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], y ^ (np.random.default_rng(0).random(y.size) < rate), y


def test_fit_changes_no_parameter(model, auto):
    X, y, _ = noisy()
    before = model.get_params()
    opened = {name for name, value in before.items() if isinstance(value, str) and value == "auto"}
    assert opened - {"passes"} == set(auto.defaults)
    fitted = clone(model).fit(X, y)
    assert fitted.get_params() == before
    assert fitted.chosen_params_ in auto.structures[0]
    assert fitted.n_estimators_ == fitted.chosen_params_["n_estimators"]


@pytest.mark.parametrize(
    ("given", "product"),
    [
        ({"n_estimators": 7}, None),
        ({"n_estimators": 400}, 10),
        ({"learning_rate": 0.5}, 10),
        ({"n_estimators": 7, "learning_rate": 0.05}, None),
    ],
    ids=str,
)
def test_given_parameters_are_kept(model, auto, given, product):
    X, y, _ = noisy()
    given = {**given, "max_depth": 3, "subsample": 0.9}
    model.set_params(**given).fit(X, y)
    chosen = model.chosen_params_
    assert set(chosen) == set(auto.defaults) - set(given)
    if "num_leaves" in chosen:
        assert chosen["num_leaves"] == 31  # follows from max_depth
    values = {**chosen, **given}
    rounds, rate = values["n_estimators"], values["learning_rate"]
    assert model.n_estimators_ == rounds
    if product is not None:
        assert rounds * rate == pytest.approx(product)
    elif "learning_rate" not in given:
        assert rate == 0.3  # few rounds
    # Without sizes of trees to choose, the first structures of either library differ in nothing.
    assert not hasattr(model, "cv_results_") or len(model.cv_results_["params"]) > 1


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *((name, {"passes": 1}) for name in LIBRARIES),
        *(
            (name, {"passes": 1, "random_state": 3, "subsample": 0.5, "subsample_freq": 1})
            for name in ["lightgbm"]
        ),
        *((name, {"passes": 1, **auto.defaults}) for name, (_, _, auto, _) in LIBRARIES.items()),
        ("xgboost", {"passes": 1, "booster": "gblinear", "updater": "coord_descent"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_pass_is_the_library(name, given, n_classes):
    cls, built_in, auto, quiet = LIBRARIES[name]
    X, y, _ = noisy()
    y = y + (n_classes > 2) * (X[:, 0] > 15)
    found = cls(n_jobs=1, **given, **quiet).fit(X, y)
    known = {key: value for key, value in given.items() if key != "passes"}
    expected = built_in(n_jobs=1, **known, **quiet).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert found.passes_ == 1
    assert not hasattr(found, "cv_results_")
    assert not hasattr(found, "transition_matrix_")
    assert set(found.chosen_params_) == set(auto.defaults) - set(given)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("xgboost", {"booster": "dart"}),
        ("xgboost", {"booster": "gblinear", "updater": "coord_descent"}),
        ("lightgbm", {"boosting_type": "dart"}),
        ("lightgbm", {"data_sample_strategy": "goss"}),
    ],
    ids=str,
)
def test_other_boosters_are_judged_and_keep_the_defaults_of_the_library(name, given):
    cls, _, auto, quiet = LIBRARIES[name]
    X, y, clean = noisy()
    model = cls(n_jobs=1, **given, **quiet).fit(X, y)
    assert model.passes_ == 2
    assert model.chosen_params_ == auto.defaults
    assert not hasattr(model, "cv_results_")
    assert model.score(X, clean) > 0.7


@pytest.mark.parametrize(
    ("name", "given", "settled"),
    [
        ("xgboost", {"eta": 0.2}, {"learning_rate": 0.2}),
        ("xgboost", {"max_leaves": 7, "grow_policy": "lossguide"}, {"max_depth": None}),
        ("lightgbm", {"eta": 0.2}, {"learning_rate": 0.2}),
        ("lightgbm", {"num_iterations": 7}, {"n_estimators": 7}),
        ("lightgbm", {"bagging_fraction": 0.7}, {"subsample": 0.7}),
        ("lightgbm", {"max_depth": 3}, {"num_leaves": 31}),
        ("lightgbm", {"feature_fraction_bynode": 0.9}, {"colsample_bynode": 0.9}),
    ],
)
def test_aliases_and_limits_of_parameters(name, given, settled):
    cls, _, _, quiet = LIBRARIES[name]
    X, y, _ = noisy()
    model = cls(cv=2, n_jobs=1, random_state=0, **given, **quiet).fit(X, y)
    assert settled.items() <= model.chosen_params_.items()
    assert model.n_estimators_ == model.chosen_params_["n_estimators"]
    if not {"max_leaves", "max_depth"} & set(given):
        canonical = cls(cv=2, n_jobs=1, random_state=0, **settled, **quiet).fit(X, y)
        np.testing.assert_array_equal(canonical.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("given", [{}, {"n_estimators": 300}, {"learning_rate": 0.3}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_evaluation_set_chooses_the_number_of_rounds(model, given, n_classes):
    X, y, _ = noisy(0.1)
    y = np.array(["a", "b", "c"])[y + (n_classes > 2) * (X[:, 0] > 15)]
    X_train, X_stop, y_train, y_stop = train_test_split(X, y, random_state=0)
    model.set_params(**given)
    if isinstance(model, RobustXGBClassifier):
        model.set_params(early_stopping_rounds=5)
        model.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], verbose=False)
        best, curve = model.best_iteration, model.evals_result()["validation_0"]
        assert best == np.argmin(list(curve.values())[-1])
    else:
        stop = lightgbm.early_stopping(5, verbose=False)
        model.fit(X_train, y_train, eval_set=[(X_stop, y_stop)], callbacks=[stop])
        best = model.best_iteration_
    assert model.passes_ == 2
    values = {**model.chosen_params_, **given}
    assert 0 < best < values["n_estimators"] == given.get("n_estimators", 2_000)
    assert not hasattr(model, "cv_results_")
    assert model.score(X_stop, y_stop) > 0.6


def test_an_evaluation_set_alone_does_not_choose(model):
    X, y, _ = noisy()
    alone = clone(model).fit(X, y)
    quiet = {"verbose": False} if isinstance(model, RobustXGBClassifier) else {}
    evaluated = clone(model).fit(X, y, eval_set=[(X[:100], y[:100])], **quiet)
    np.testing.assert_array_equal(alone.predict_proba(X), evaluated.predict_proba(X))
    assert evaluated.chosen_params_ == alone.chosen_params_


def test_categories_missing_values_text_labels_and_weights(model):
    X, y, _ = noisy()
    columns = pd.DataFrame({"a": X[:, 0], "b": pd.cut(X[:, 1], 4, labels=list("wxyz"))}).mask(X[:, :2] < 11)
    if isinstance(model, RobustXGBClassifier):
        model.set_params(enable_categorical=True)
    labels = pd.Series(np.array(["benign", "malign"])[y], index=np.arange(y.size)[::-1])
    fitted = model.set_params(class_weight="balanced").fit(columns, labels, sample_weight=pd.Series(X[:, 0]))
    assert set(fitted.predict(columns)) == {"benign", "malign"}
    assert fitted.score(columns, labels) > 0.55


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"passes": 3}, ValueError, "passes must be 1, 2 or 'auto', got 3"),
        ({"passes": True}, ValueError, "passes must be 1, 2 or 'auto', got True"),
        ({"n_estimators": "many"}, ValueError, "n_estimators must be a positive number or 'auto', got 'many'"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be a positive number or 'auto', got 0.0"),
        ({"early_stopping_rounds": 5}, ValueError, "early stopping needs rows to evaluate: pass eval_set"),
        ({"cv": 1}, ValueError, "cv must be at least 2 folds, got 1"),
        ({"cv": "five"}, ValueError, "cv"),
    ],
)
def test_bad_parameters_stop_before_the_labels_are_judged(model, given, error, message, monkeypatch):
    if given != {"cv": "five"}:
        monkeypatch.setattr("boostnoise.boosting.passes.judge_labels", None)
    X, y, _ = noisy()
    with pytest.raises(error, match=message):
        model.set_params(**given).fit(X, y)


def test_unknown_arguments_of_fit_stop_before_the_labels_are_judged(model, monkeypatch):
    monkeypatch.setattr("boostnoise.boosting.passes.judge_labels", None)
    X, y, _ = noisy()
    with pytest.raises(TypeError, match=r"argument 'early_stopping_rounds'; .* belong in the constructor"):
        model.fit(X, y, early_stopping_rounds=5)


def test_the_scale_of_small_weights_does_not_matter(model):
    """Weights often sum to one, as those of AdaBoost do; stock LightGBM's predictions hardly depend on that."""
    X, y, _ = noisy()
    weight = np.random.default_rng(1).random(y.size)
    expected = clone(model).fit(X, y, sample_weight=weight / 4).predict_proba(X)
    assert np.ptp(expected[:, 1]) > 0.2
    found = clone(model).fit(X, y, sample_weight=weight / 2**20).predict_proba(X)
    np.testing.assert_array_equal(found, expected)
    by_class = clone(model).set_params(class_weight={0: 1e-3, 1: 1e-3}).fit(X, y)
    np.testing.assert_allclose(by_class.predict_proba(X), clone(model).fit(X, y).predict_proba(X), rtol=1e-4)
