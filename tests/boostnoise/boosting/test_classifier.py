import warnings
from functools import partial

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_sample_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostnoise import (
    CorrectedErrorMetric,
    GeneralizedCrossEntropy,
    LogLossMetric,
    RobustLGBMClassifier,
    RobustXGBClassifier,
)

QUIET = {"verbose": -1}
# One thread: on small data, several threads mostly wait for each other.
BOTH = [
    RobustXGBClassifier(loss="gce", passes=1, n_estimators=10, n_jobs=1),
    RobustLGBMClassifier(loss="gce", passes=1, n_estimators=10, n_jobs=1, **QUIET),
]
LIBRARIES = [
    (xgboost.XGBClassifier, RobustXGBClassifier, {}),
    (lightgbm.LGBMClassifier, RobustLGBMClassifier, QUIET),
]


@pytest.fixture(params=["xgboost", "lightgbm"])
def model(request):
    return clone(BOTH[["xgboost", "lightgbm"].index(request.param)])


DATA = pytest.mark.parametrize(
    "load", [load_breast_cancer, partial(load_digits, n_class=4)], ids=["binary", "4 classes"]
)
# The same curvature as by default, but with the objective of this package instead of the built-in one.
HOOK = {"loss": "ce", "hessian": "logistic", "passes": 1}


@pytest.mark.parametrize(("built_in", "robust", "parameters"), LIBRARIES, ids=["xgboost", "lightgbm"])
@DATA
@pytest.mark.parametrize("weighted", [False, True])
def test_with_cross_entropy_it_equals_the_library(built_in, robust, parameters, load, weighted):
    X, y = load(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    weight = np.random.default_rng(0).random(len(y_train)) + 0.1 if weighted else None
    # With several threads, XGBoost's sums depend on timing, and so do its trees where gains tie.
    parameters = {"n_estimators": 20, "n_jobs": 1, **parameters}
    expected = built_in(**parameters).fit(X_train, y_train, sample_weight=weight)
    found = robust(**HOOK, **parameters).fit(X_train, y_train, sample_weight=weight)
    np.testing.assert_allclose(found.predict_proba(X_test), expected.predict_proba(X_test), atol=1e-5)
    np.testing.assert_allclose(found.feature_importances_, expected.feature_importances_, atol=1e-6)


@pytest.mark.parametrize(
    ("library", "parameters"),
    [(0, {"scale_pos_weight": 3.0}), (0, {"base_score": 0.2}), (1, {"scale_pos_weight": 3.0}),
     (1, {"class_weight": "balanced"}), (1, {"class_weight": {0: 1, 1: 5}}), (1, {"boost_from_average": False}),
     (1, {"extra_trees": True, "random_state": 3}), (0, {"subsample": 0.5, "random_state": 3})],
)  # fmt: skip
def test_parameters_reach_the_library(library, parameters):
    X, y = load_breast_cancer(return_X_y=True)
    built_in, robust, quiet = LIBRARIES[library]
    parameters = {"n_estimators": 20, "learning_rate": 0.2, "max_depth": 3, "n_jobs": 1, **quiet, **parameters}
    expected = built_in(**parameters).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(robust(**HOOK, **parameters).fit(X, y).predict_proba(X), expected, atol=1e-5)


def test_parameters_of_a_loss_in_a_grid_search(model):
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), model)
    name = f"{pipeline.steps[-1][0]}__loss_params__q"
    search = GridSearchCV(pipeline, {name: [0.2, 0.9]}, cv=2).fit(X, y)
    assert search.best_estimator_[-1].loss_ == GeneralizedCrossEntropy(search.best_params_[name])
    assert search.cv_results_["mean_test_score"].min() > 0.8


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ({"q": 0.4}, {"loss": "ce"}, None),
        ({"q": 0.4}, {"loss": GeneralizedCrossEntropy(0.2)}, None),
        ({"q": 0.4}, {"loss": "gce"}, {"q": 0.4}),
        ({"q": 0.4}, {"loss": "focal", "loss_params__gamma": 1.0}, {"gamma": 1.0}),
        ({"q": 0.4}, {"loss": "ce", "loss_params": {"q": 0.4}}, {"q": 0.4}),
        ({"q": 0.4}, {"loss_params__q": 0.5}, {"q": 0.5}),
        (None, {"loss_params__q": 0.5}, {"q": 0.5}),
        ({"q": 0.4}, {"loss_params": {"q": 0.3}, "loss_params__q": 0.5}, {"q": 0.5}),
        ({"q": 0.4}, {"n_estimators": 3}, {"q": 0.4}),
    ],
)
def test_a_new_loss_keeps_the_parameters_that_it_has(model, before, changes, after):
    given = {"loss": "gce", "loss_params": before}
    assert model.set_params(**given).set_params(**changes).get_params()["loss_params"] == after
    assert given["loss_params"] is before


def test_loss_params_that_are_no_dict_are_not_merged(model):
    for changes in ({"loss": "ce"}, {"loss_params__q": 0.5}):
        with pytest.raises(TypeError, match=r"loss_params must be a dict or None, got \[0.7\]"):
            clone(model).set_params(loss_params=[0.7]).set_params(**changes)


@pytest.mark.parametrize("cls", [RobustXGBClassifier, RobustLGBMClassifier])
def test_a_parameter_of_the_loss_as_an_argument_of_the_estimator(cls):
    model = cls(loss_params={"q": 0.4}, loss_params__q=0.5, max_depth=2)
    assert clone(model).get_params()["loss_params"] == {"q": 0.5}
    assert "loss_params__q" not in model.get_params()


def test_repr_shows_the_loss():
    assert repr(RobustXGBClassifier(n_estimators=20)) == "RobustXGBClassifier(loss='ce', n_estimators=20)"
    shown = repr(RobustLGBMClassifier(loss="ce", loss_params={}, verbose=-1))
    assert shown == "RobustLGBMClassifier(loss='ce', loss_params={}, verbose=-1)"


def test_libraries_do_not_warn_about_unknown_parameters(model, capfd):
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y).predict(X)
    printed = "".join([*capfd.readouterr(), *(str(warning.message) for warning in caught)])
    assert "loss" not in printed
    assert "Unknown parameter" not in printed


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"loss": "gcee"}, ValueError, "loss 'gcee' is unknown"),
        ({"loss": "savage"}, ValueError, "SavageLoss is for two classes, got 3"),
        ({"loss": "forward", "loss_params": {"T": np.eye(2)}}, ValueError, "T is for 2 classes, but there are 3"),
        ({"loss_params": {"q": 7}}, ValueError, r"q of GeneralizedCrossEntropy must be in \[0, 1\]"),
        ({"loss_params": {"q": "auto", "r": 1}}, ValueError, "has no parameter 'r'"),
        ({"loss_params": {"q": "estimate"}}, TypeError, r"q .* must be a number, got 'estimate'; only .* \{\"q\": \"auto\"\}"),
        ({"loss": "rfl", "loss_params": {"q": "auto"}}, TypeError, r"q .* must be a number, got 'auto'; only .* of \"gce\""),
        ({"loss": "backward", "loss_params": {"T": "estimate"}}, TypeError, r"T must be a square matrix .*; only .* \{\"T\": \"auto\"\}"),
        ({"hessian": "newton"}, ValueError, "hessian strategy 'newton' is unknown.*irls"),
        ({"objective": "multiclass"}, ValueError, "objective is set by the loss"),
        ({"q": 0.5}, TypeError, r"q=0.5 has no effect.*loss_params=\{'q': 0.5\}"),
        ({"loss": GeneralizedCrossEntropy(0.4), "q": 0.5}, TypeError, "q=0.5 has no effect"),
        ({"loss_params": [0.7]}, TypeError, r"loss_params must be a dict or None, got \[0.7\]"),
    ],
)  # fmt: skip
def test_bad_parameters_stop_before_training(model, parameters, error, message, monkeypatch):
    X, y = load_iris(return_X_y=True)
    for library in (xgboost, lightgbm):
        monkeypatch.setattr(library.sklearn, "train", None)
    with pytest.raises(error, match=message):
        model.set_params(**parameters).fit(X, y)


def test_bad_data(model):
    X, y = load_iris(return_X_y=True)
    for labels, message in (
        (np.ones(150, dtype=int), "y must contain at least two classes, got one class, 1"),
        (np.where(X[:, 0] > 5, "a", None), r"y contains \d+ missing labels"),
        (X[:, 0] + 0.01, "Unknown label type"),
        (None, "requires y to be passed, but the target y is None"),
        (y[:-1], "same number of rows, got 150 and 149"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels)
    for weight, message in (
        (np.zeros(150), "sample_weight is zero for all rows"),
        (np.where(X[:, 0] > 7, np.nan, 1.0), r"finite and not negative, got \[nan, nan, nan\]"),
        (np.full(150, 1e-46), r"sample_weight must sum to at least 1e-06 and at most 1e\+18 .*, got 1.5e-44"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, sample_weight=weight)
    for class_weight, message in (
        ("balance", "class_weight must be a dict, 'balanced' or None, got 'balance'"),
        ({0: -1.0, 1: 1.0, 2: 1.0}, "class_weight must be finite and not negative"),
        (dict.fromkeys(range(3), 0), "sample_weight times class_weight is zero for all rows"),
        (dict.fromkeys(range(3), 1e-46), "sample_weight times class_weight must sum to at least 1e-06"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(class_weight=class_weight).fit(X, y)


def test_negligible_weights_equal_zero_weights(model):
    X, y = load_iris(return_X_y=True)
    negligible = np.arange(150) % 7 == 0
    actual = model.fit(X, y, sample_weight=np.where(negligible, 1e-46, 1.0)).predict_proba(X)
    expected = model.fit(X, y, sample_weight=np.where(negligible, 0.0, 1.0)).predict_proba(X)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "d"], r"eval_set\[1\].*unseen labels: .*d"),
        (["a", None], r"eval_set\[1\]"),
        (3.0, r"eval_set\[1\]"),
    ],
)
def test_bad_labels_of_an_eval_set(model, labels, message):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, eval_set=[(X, y), (X[:2], labels)])
    with pytest.raises(ValueError, match=r"eval_set\[0\].*NaN"):
        model.fit(X, load_iris().target, eval_set=[(X[:2], np.array([0, np.nan]))])


def test_an_eval_set_is_a_list_of_pairs(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"eval_set must be a list of pairs, such as \[\(X, y\)\]; .*ndarray"):
        model.fit(X, y, eval_set=[X, y])
    with pytest.raises(ValueError, match="item 0 is a tuple with 3 parts"):
        model.fit(X, y, eval_set=[(X, y, y)])


def test_a_column_of_labels_warns_once(model):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(DataConversionWarning) as caught:
        model.fit(X, y.reshape(-1, 1))
    assert len(caught) == 1


def test_alpha_is_a_parameter_of_the_libraries(model):
    """It is XGBoost's name of a penalty, although a loss also has a parameter of this name."""
    X, y = load_iris(return_X_y=True)
    model.set_params(loss="sce", alpha=0.5).fit(X, y)
    assert model.loss_.alpha != 0.5


def expected_failures(estimator):
    """Other checks pass, although the parent classes fail some, XGBoost's on labels other than 0 to K - 1."""
    if estimator.loss_params:
        return {}  # there is only one candidate for q, see below
    if estimator.passes != 1:
        reason = "folds and samples of repeated rows differ from those of weighted rows"
    elif isinstance(estimator, RobustXGBClassifier):
        reason = "XGBoost's bins depend on weights"
    else:
        reason = "min_child_samples of LightGBM counts rows, not weights"
    return dict.fromkeys(
        [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")], reason
    )


@parametrize_with_checks(
    [
        RobustXGBClassifier(passes=1, n_estimators=5, n_jobs=1),
        RobustXGBClassifier(passes=1, n_estimators=5, n_jobs=1, cv=2, loss="gce", loss_params={"q": "auto"}),
        RobustLGBMClassifier(passes=1, n_estimators=5, n_jobs=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks_in_one_pass(estimator, check, monkeypatch):
    # Each candidate costs fits, and no check depends on the choice.
    monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.7,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both libraries warn about column names and sparse formats
        check(estimator)


@pytest.mark.release
@parametrize_with_checks(
    [
        RobustXGBClassifier(n_estimators=5, cv=2, n_jobs=1),
        RobustLGBMClassifier(n_estimators=5, cv=2, n_jobs=1, verbose=-1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both libraries warn about column names and sparse formats
        check(estimator)


def test_the_hessian_strategy_matters(model):
    X, y = load_iris(return_X_y=True)
    default, irls, unit = (
        clone(model).set_params(hessian=strategy).fit(X, y).predict_proba(X)
        for strategy in (None, "irls", "unit")
    )
    np.testing.assert_array_equal(default, irls)
    assert np.abs(default - unit).max() > 0.01


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 1, "b": 5, "c": 2}])
def test_class_weights_multiply_sample_weights(model, class_weight):
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], np.array(["a", "b", "c"])[y[:120]]
    given = np.random.default_rng(0).random(120) + 0.5
    by_class = compute_sample_weight(class_weight, y)
    model.set_params(n_jobs=1)
    expected = clone(model).fit(X, y, sample_weight=given * by_class).predict_proba(X)
    found = clone(model).set_params(class_weight=class_weight).fit(X, y, sample_weight=given).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    unweighted = clone(model).fit(X, y, sample_weight=given).predict_proba(X)
    assert np.abs(found - unweighted).max() > 1e-3


@pytest.mark.parametrize(("built_in", "robust", "parameters"), LIBRARIES, ids=["xgboost", "lightgbm"])
@DATA
def test_training_continues_from_a_model(built_in, robust, parameters, load):
    X, y = load(return_X_y=True)
    # With other class shares, another intercept would be estimated.
    some = np.flatnonzero((y > 0) | (np.arange(y.size) % 3 == 0))

    def trained_twice(cls, **more):
        make = partial(cls, n_estimators=5, n_jobs=1, **parameters, **more)
        first = make().fit(X, y)
        start = {"init_model": first} if parameters else {"xgb_model": first.get_booster()}
        return make().fit(X[some], y[some], **start).predict_proba(X)

    np.testing.assert_allclose(trained_twice(robust, **HOOK), trained_twice(built_in), atol=1e-5)


@pytest.mark.parametrize("loss", ["ce", "gce"])
def test_margins_on_request(model, loss):
    X, y = load_breast_cancer(return_X_y=True)
    margin_of = {"output_margin": True} if isinstance(model, RobustXGBClassifier) else {"raw_score": True}
    margin = model.set_params(loss=loss).fit(X, y).predict(X, **margin_of)
    np.testing.assert_allclose(expit(margin), model.predict_proba(X)[:, 1], rtol=1e-5)


@pytest.fixture(scope="module")
def parts():
    """Training rows, and rows whose scores stop training."""
    return train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)


def fit_until_it_stops(cls, parts, metric=None, **parameters):
    """A fitted model, its best number of rounds, and the value of the last metric then."""
    X, X_stop, y, y_stop = parts
    evaluated = {"eval_set": [(X_stop, y_stop)]}
    if issubclass(cls, xgboost.XGBClassifier):
        model = cls(n_jobs=1, early_stopping_rounds=5, eval_metric=metric, **parameters)
        model.fit(X, y, verbose=False, **evaluated)
        assert model.get_params()["eval_metric"] is metric
        name = list(model.evals_result()["validation_0"])[-1]
        return model, model.best_iteration + 1, {name: model.best_score}
    stop = lightgbm.early_stopping(5, verbose=False)
    model = cls(n_jobs=1, **QUIET, **parameters)
    model.fit(X, y, eval_metric=metric, callbacks=[stop], **evaluated)
    return model, model.best_iteration_, model.best_score_["valid_0"]


@pytest.fixture(scope="module")
def stopped(parts):
    """Results of `fit_until_it_stops` for XGBoost and LightGBM."""
    return [
        fit_until_it_stops(xgboost.XGBClassifier, parts, "logloss", n_estimators=300),
        fit_until_it_stops(lightgbm.LGBMClassifier, parts, n_estimators=300),
    ]


@pytest.mark.parametrize("hessian", [None, "logistic"], ids=["built-in", "hook"])
@pytest.mark.parametrize(
    ("library", "metric"),
    [
        (0, None), (0, "logloss"), (0, log_loss), (0, ["error", "logloss"]),
        (0, LogLossMetric("xgboost", name="logloss")), (0, LogLossMetric("xgboost", "probabilities", name="logloss")),
        (1, None), (1, "logloss"), (1, lambda y, p: ("binary_logloss", log_loss(y, p), False)),
        (1, LogLossMetric("lightgbm", name="binary_logloss")), (1, LogLossMetric("lightgbm", "probabilities", name="binary_logloss")),
    ],
)  # fmt: skip
def test_early_stopping_equals_that_of_the_library(parts, stopped, library, metric, hessian):
    expected, rounds, scores = stopped[library]
    parameters = {"n_estimators": 300, "loss": "ce", "hessian": hessian, "passes": 1}
    found, found_rounds, found_scores = fit_until_it_stops(LIBRARIES[library][1], parts, metric, **parameters)
    assert found_rounds == rounds < 300
    if metric is not log_loss:  # its name is that of the function
        assert found_scores == pytest.approx(scores, rel=1e-5)
    np.testing.assert_allclose(found.predict_proba(parts[1]), expected.predict_proba(parts[1]), atol=1e-5)


@pytest.mark.parametrize("hessian", [None, "logistic"], ids=["built-in", "hook"])
@pytest.mark.parametrize(
    ("library", "robust"), [("xgboost", RobustXGBClassifier), ("lightgbm", RobustLGBMClassifier)]
)
def test_early_stopping_on_the_corrected_error(parts, library, robust, hessian):
    metric = CorrectedErrorMetric(library, noise_rate=0.1)
    model, _, scores = fit_until_it_stops(robust, parts, metric, n_estimators=100, hessian=hessian, passes=1)
    corrected = (0.9 - model.score(parts[1], parts[3])) / 0.8
    assert scores["corrected_error"] == pytest.approx(corrected, abs=1e-6)


@pytest.mark.parametrize(
    "parameters", [{"loss": "mae"}, {"loss": "gce", "loss_params": {"q": "auto"}}], ids=str
)
@pytest.mark.parametrize("robust", [RobustXGBClassifier, RobustLGBMClassifier])
def test_training_stops_early_on_the_loss(parts, monkeypatch, robust, parameters):
    monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.7, 1.0))
    model, rounds, scores = fit_until_it_stops(robust, parts, n_estimators=100, passes=1, cv=2, **parameters)
    assert rounds < 100
    margin = logit(model.predict_proba(parts[1])[:, 1])
    value = model.loss_.value(parts[3], margin).mean()
    assert scores == {parameters["loss"]: pytest.approx(value, abs=1e-6)}


def test_logarithms_of_probabilities(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
