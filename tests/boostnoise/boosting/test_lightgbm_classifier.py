import inspect

import lightgbm
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from joblib import cpu_count
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_classifier_data_not_an_array, check_sample_weights_not_an_array

from boostnoise import CorrectedErrorMetric, LogLossMetric, RobustLGBMClassifier
from boostnoise.boosting.lightgbm_parameters import threads_for

QUIET = {"verbose": -1}
HAS_EVAL_X = "eval_X" in inspect.signature(lightgbm.LGBMClassifier.fit).parameters  # from LightGBM 4.7


def test_small_samples_are_split_by_categories():
    """LightGBM's default needs 100 rows for each group of categories."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "town": pd.Categorical(rng.choice(list("abcdefgh"), 400))})
    y = (frame["x"] > 0) ^ frame["town"].isin(list("abc"))
    model = RobustLGBMClassifier(random_state=0, n_jobs=1, **QUIET).fit(frame[:300], y[:300])
    assert model.score(frame[300:], y[300:]) > 0.8
    assert model.chosen_params_["min_data_per_group"] == 10
    assert "[min_data_per_group: 10]" in model.booster_.model_to_string()
    assert "[min_data_per_group: 100]" in model.set_params(passes=1).fit(frame, y).booster_.model_to_string()


@pytest.mark.parametrize(
    ("params", "least_hessian"),
    [({}, 0.1), ({"passes": 1}, 0.001), ({"min_child_weight": 2.0}, 2), ({"min_sum_hessian": 3.0}, 3)],
)
def test_least_hessian_of_a_leaf(params, least_hessian):
    """LightGBM's default of 0.001 gave margins of 100,000 on 65,000 rows with hardly any noise."""
    X, _, y, _ = split_data()
    booster = RobustLGBMClassifier(random_state=0, n_jobs=1, **QUIET, **params).fit(X, y).booster_
    assert f"[min_sum_hessian_in_leaf: {least_hessian}]" in booster.model_to_string()


def split_data():
    """Training rows, and rows for early stopping."""
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, np.array(["no", "yes"])[y], random_state=0)


@pytest.mark.filterwarnings("ignore:Early stopping is not available in dart mode")
@pytest.mark.parametrize("boosting_type", ["gbdt", "dart"])
def test_rounds_without_a_split_do_not_count_as_trees(boosting_type):
    X, y = make_classification(400, 10, random_state=0)
    noisy = np.where(np.random.default_rng(0).random(400) < 0.2, 1 - y, y)
    X_train, X_stop, y_train, y_stop = train_test_split(X, noisy, random_state=0)
    evaluated = {"eval_X": X_stop, "eval_y": y_stop} if HAS_EVAL_X else {"eval_set": [(X_stop, y_stop)]}
    model = RobustLGBMClassifier(
        n_estimators=200, boosting_type=boosting_type, passes=1, random_state=2, n_jobs=1, verbose=-1,
        early_stopping_rounds=20, min_child_samples=110, subsample=0.7, subsample_freq=1, colsample_bynode=0.5,
    ).fit(X_train, y_train, **evaluated)  # fmt: skip
    losses = model.evals_result_["valid_0"]["binary_logloss"]
    if boosting_type == "dart":  # never stops
        assert len(losses) == 200
        return
    assert model.best_iteration_ == model.n_estimators_ == model.booster_.num_trees()
    assert model.best_iteration_ < np.argmin(losses) + 1
    assert log_loss(y_stop, model.predict_proba(X_stop)) == pytest.approx(min(losses))


def test_metrics_by_the_names_of_the_library():
    X_train, X_test, y_train, y_test = split_data()
    names = ["auc", "average_precision", "binary_error", "binary_logloss"]
    hooked = {"hessian": "logistic", "passes": 1, "n_estimators": 10, "n_jobs": 1, **QUIET}
    model = RobustLGBMClassifier(**hooked)
    model.fit(X_train, y_train, eval_set=[(X_test, y_test)], eval_metric=names)
    p = model.predict_proba(X_test)[:, 1]
    y = y_test == "yes"
    expected = [
        roc_auc_score(y, p),
        average_precision_score(y, p),
        1 - model.score(X_test, y_test),
        log_loss(y, p),
    ]
    found = model.best_score_["valid_0"]
    assert set(found) == set(names)
    np.testing.assert_allclose([found[name] for name in names], expected, rtol=1e-6)
    by_parameter = RobustLGBMClassifier(metric="auc", **hooked)
    by_parameter.fit(X_train, y_train, eval_set=[(X_test, y_test)])
    assert by_parameter.best_score_["valid_0"] == {"auc": found["auc"]}
    by_parameter.set_params(metric="auc, binary_error").fit(X_train, y_train, eval_set=[(X_test, y_test)])
    assert by_parameter.best_score_["valid_0"] == {name: found[name] for name in ("auc", "binary_error")}
    for nothing in ("None", "none", "custom"):
        by_parameter.set_params(metric=nothing).fit(X_train, y_train, eval_set=[(X_test, y_test)])
        assert not by_parameter.best_score_


def test_the_error_of_several_classes():
    X, y = load_iris(return_X_y=True)
    model = RobustLGBMClassifier(hessian="logistic", passes=1, n_estimators=3, n_jobs=1, **QUIET)
    model.fit(X, y, eval_set=[(X, y)], eval_metric="multi_error")
    found = model.best_score_["training"]
    assert found.keys() == {"multi_error", "multi_logloss"}
    assert found["multi_error"] == pytest.approx(1 - model.score(X, y))


def test_threads_are_chosen_for_rows_of_any_type():
    model = RobustLGBMClassifier(n_estimators=3, passes=1, verbose=-1)
    check_classifier_data_not_an_array("RobustLGBMClassifier", model)
    check_sample_weights_not_an_array("RobustLGBMClassifier", model)
    assert threads_for(np.zeros((10, 3))) == threads_for([[0.0] * 3] * 10) == 1
    assert threads_for(np.zeros((1 << 20, 1))) == min(17, cpu_count(only_physical_cores=True))


@pytest.mark.parametrize("metric", ["auc", ["auc", "binary_error"], lambda y, p: ("mine", 1.0, True)])
def test_eval_metric_adds_to_the_metric_of_the_objective(metric):
    X, y = load_breast_cancer(return_X_y=True)

    def recorded(cls, **parameters):
        model = cls(n_estimators=3, n_jobs=1, verbose=-1, **parameters)
        return list(model.fit(X, y, eval_set=[(X, y)], eval_metric=metric).evals_result_["training"])

    assert recorded(RobustLGBMClassifier, passes=1) == recorded(lightgbm.LGBMClassifier)
    names = recorded(RobustLGBMClassifier, loss="gce")
    assert set(names) == {"gce"} | set(recorded(lightgbm.LGBMClassifier)) - {"binary_logloss"}


@pytest.mark.skipif(not HAS_EVAL_X, reason="LightGBM before 4.7")
@pytest.mark.parametrize("several", [False, True])
def test_eval_X_and_eval_y_equal_an_eval_set(several):
    X_train, X_test, y_train, y_test = split_data()

    def fitted(**arguments):
        return RobustLGBMClassifier(passes=1, n_estimators=5, n_jobs=1, **QUIET).fit(
            X_train, y_train, **arguments
        )

    expected = fitted(eval_set=[(X_test, y_test)] * (1 + several)).best_score_
    pair = (
        {"eval_X": (X_test,) * 2, "eval_y": (y_test,) * 2} if several else {"eval_X": X_test, "eval_y": y_test}
    )
    assert fitted(**pair).best_score_ == expected
    name = r"eval_y\[1\]" if several else "eval_y"
    wrong = (y_test, y_test + "!") if several else y_test + "!"
    with pytest.raises(ValueError, match=f"{name}: labels must occur in the training data"):
        fitted(**pair | {"eval_y": wrong})


def test_leaves_on_request():
    X, y = load_breast_cancer(return_X_y=True)
    boosted = RobustLGBMClassifier(passes=1, n_estimators=10, n_jobs=1, **QUIET).fit(X, y)
    assert boosted.predict_proba(X, pred_leaf=True).shape == (len(X), 10)


def test_columns_that_cannot_be_read_are_named():
    pl = pytest.importorskip("polars")
    X = pd.DataFrame({"a": np.arange(60.0), "kind": ["u", "v", "w"] * 20})
    y = np.arange(60) % 2
    boosted = RobustLGBMClassifier(passes=1, n_estimators=3, n_jobs=1, **QUIET)
    with pytest.raises(ValueError, match=r"not numbers: 'kind' \(text\); make text a category"):
        boosted.fit(X, y)
    with pytest.raises(ValueError, match="unique column names, got 'a' twice"):
        boosted.fit(X[["a", "a"]], y)
    # LightGBM would end the process.
    categories = pl.from_pandas(X).with_columns(pl.col("kind").cast(pl.Categorical))
    for frame in (categories, categories.to_arrow()):
        with pytest.raises(ValueError, match=r"'kind' .categories that LightGBM reads from pandas only"):
            boosted.fit(frame, y)
    boosted.fit(X.astype({"kind": "category"}), y)


def test_few_rows_are_trained_in_one_thread(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda **_: 8)
    threads = []
    fit = lightgbm.LGBMModel.fit
    monkeypatch.setattr(
        lightgbm.LGBMModel,
        "fit",
        lambda self, *args, **kwargs: threads.append(self.n_jobs) or fit(self, *args, **kwargs),
    )
    X, y = np.random.default_rng(0).normal(size=(200_000, 1)), np.arange(200_000) % 2
    for parameters, rows, expected in [({}, 200, 1), ({}, 200_000, 4), ({"n_jobs": 2}, 200, 2)]:
        boosted = RobustLGBMClassifier(passes=1, n_estimators=1, **parameters, **QUIET).fit(X[:rows], y[:rows])
        assert threads[-1] == expected
        assert boosted.n_jobs == parameters.get("n_jobs")


def test_columns_must_be_those_of_the_training_data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["first one", 2, "c"])
    boosted = RobustLGBMClassifier(passes=1, n_estimators=3, n_jobs=1, **QUIET).fit(X, X["c"] > 0)
    expected = boosted.predict_proba(X)
    np.testing.assert_array_equal(boosted.predict_proba(pa.table(X.rename(columns=str))), expected)
    methods = [boosted.predict, boosted.predict_proba]
    if hasattr(lightgbm.LGBMClassifier, "decision_function"):  # from LightGBM 4.7
        methods.append(boosted.decision_function)
    for method in methods:
        with pytest.raises(ValueError, match="in the order that fit saw"):
            method(X[["c", "first one", 2]])
        with pytest.raises(ValueError, match=r"\['first one', 'c'\] are missing"):
            method(X[[2]])
        with pytest.raises(ValueError, match=r"\['d'\] are new"):
            method(X.assign(d=1))
    named = RobustLGBMClassifier(passes=1, n_estimators=3, n_jobs=1, **QUIET)
    named.fit(X, X["c"] > 0, feature_name=["u", "v", "w"])  # names in the model
    np.testing.assert_array_equal(named.predict_proba(X), expected)
    # Arrays have no names to compare.
    boosted.fit(X.to_numpy(), X["c"] > 0)
    np.testing.assert_array_equal(boosted.predict_proba(X), expected)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits], ids=["binary", "10 classes"])
@pytest.mark.parametrize("loss", ["ce", "gce"])
def test_a_saved_booster_predicts_the_same(tmp_path, load, loss):
    X, y = load(return_X_y=True)
    boosted = RobustLGBMClassifier(passes=1, loss=loss, n_estimators=10, **QUIET).fit(X, y)
    boosted.booster_.save_model(tmp_path / "model.txt")
    loaded = lightgbm.Booster(model_file=tmp_path / "model.txt")
    found, expected = loaded.predict(X), boosted.predict_proba(X)
    np.testing.assert_allclose(found, expected[:, 1] if y.max() == 1 else expected, rtol=1e-12)
    margins = loaded.predict(X, raw_score=True)
    np.testing.assert_allclose(margins, boosted.predict_proba(X, raw_score=True), rtol=1e-12)


def test_parameters_of_built_in_objectives_are_rejected():
    X, y = load_iris(return_X_y=True)
    for parameters, fit_parameters in (({}, {"eval_metric": "auc_mu"}), ({"metric": "auc_mu"}, {})):
        with pytest.raises(ValueError, match=r"metric 'auc_mu' .* margins of a robust loss as probabilities"):
            RobustLGBMClassifier(loss="gce", passes=1, **parameters).fit(
                X, y, eval_set=[(X, y)], **fit_parameters
            )
    for parameters, message in (
        ({"metrics": ["auc"]}, "metric 'auc' .*allowed metrics: multi_logloss, multi_error, a callable"),
        ({"is_unbalance": True}, "is_unbalance"),
        ({"unbalance": True}, "is_unbalance"),
        ({"application": "regression"}, "objective is set by the loss"),
        ({"linear_tree": True}, "linear_tree is not supported"),
        ({"sigmoid": 2.0}, "sigmoid is for LightGBM's own objectives only"),
        ({"boosting_type": "rf"}, 'boosting_type="rf" is not supported'),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLGBMClassifier(loss="gce", passes=1, **parameters).fit(X, y)


def test_unsuitable_metrics_are_rejected():
    X, y = load_iris(return_X_y=True)
    for metric, message in (
        (LogLossMetric("xgboost"), "eval_metric must be for lightgbm, got one for xgboost"),
        (CorrectedErrorMetric("lightgbm", T=np.eye(2)), "T is for 2 classes, but there are 3"),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLGBMClassifier(passes=1, **QUIET).fit(X, y, eval_set=[(X, y)], eval_metric=metric)
