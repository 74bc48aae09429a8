import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from boostnoise import CorrectedErrorMetric, LogLossMetric, RobustXGBClassifier

LABELS = {
    "strings": np.array(["zebra", "ä b", "ox"]),
    "objects": np.array(["zebra", "ä b", "ox"], dtype=object),
    "integers": np.array([7, -3, 2**40]),
    "floats": np.array([0.0, 3.0, -1.0]),
}


def split_data():
    """Training rows, and rows for early stopping."""
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, y, random_state=0)


@pytest.mark.parametrize(
    "eval_metric", [None, "logloss", log_loss, LogLossMetric("xgboost", name="logloss"), LogLossMetric("xgboost", "probabilities"), ["error", "logloss"]]
)  # fmt: skip
def test_early_stopping_equals_that_of_the_library(eval_metric):
    X_train, X_test, y_train, y_test = split_data()

    def fitted(cls, **parameters):
        metric = eval_metric if cls is RobustXGBClassifier else "logloss"
        model = cls(n_estimators=300, early_stopping_rounds=5, n_jobs=1, eval_metric=metric, **parameters)
        model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
        assert model.get_params()["eval_metric"] is metric
        return model

    expected, found = fitted(xgboost.XGBClassifier), fitted(RobustXGBClassifier, loss="ce", budget=0)
    assert found.best_iteration == expected.best_iteration < 299
    assert found.best_score == pytest.approx(expected.best_score, rel=1e-5)
    np.testing.assert_allclose(found.predict_proba(X_test), expected.predict_proba(X_test), atol=1e-5)


def test_early_stopping_on_the_corrected_error():
    X_train, X_test, y_train, y_test = split_data()
    metric = CorrectedErrorMetric("xgboost", noise_rate=0.1)
    model = RobustXGBClassifier(
        budget=0, n_estimators=100, n_jobs=1, early_stopping_rounds=5, eval_metric=metric
    )
    model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
    assert model.best_score == pytest.approx((0.9 - model.score(X_test, y_test)) / 0.8, abs=1e-6)


@pytest.mark.parametrize(
    "parameters", [{"loss": "mae"}, {"loss": "gce", "loss_params": {"q": "auto"}}], ids=str
)
def test_training_stops_early_on_the_loss(monkeypatch, parameters):
    monkeypatch.setattr("boostnoise.boosting.loss_parameters.Q_CANDIDATES", (0.7, 1.0))
    X_train, X_test, y_train, y_test = split_data()
    model = RobustXGBClassifier(budget=0, n_estimators=100, n_jobs=1, early_stopping_rounds=5, **parameters)
    model.fit(X_train, y_train, eval_set=[(X_test, y_test)], verbose=False)
    assert model.best_iteration < 99
    *_, (name, values) = model.evals_result()["validation_0"].items()
    assert name == parameters["loss"]
    margin = model.predict(X_test, output_margin=True)
    assert min(values) == model.best_score == pytest.approx(model.loss_.value(y_test, margin).mean(), abs=1e-6)


def test_an_eval_set_must_not_be_a_pair():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"eval_set must be a list of pairs, such as \[\(X, y\)\]; .*ndarray"):
        RobustXGBClassifier(budget=0).fit(X, y, eval_set=(X, y))


def test_margins_on_request():
    X, y = load_breast_cancer(return_X_y=True)
    boosted = RobustXGBClassifier(budget=0, n_estimators=10, n_jobs=1).fit(X, y)
    sigmoid = 1 / (1 + np.exp(-boosted.predict(X, output_margin=True)))
    np.testing.assert_allclose(sigmoid, boosted.predict_proba(X)[:, 1], rtol=1e-5)


@pytest.mark.parametrize("label_type", LABELS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["model.json", "model.ubj"])
def test_a_saved_model_predicts_the_same_labels(tmp_path, label_type, classes, name):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], LABELS[label_type][y[y < classes]]
    boosted = RobustXGBClassifier(budget=0, n_estimators=5, n_jobs=1).fit(X, y)
    boosted.save_model(tmp_path / name)
    assert "boostnoise_labels" not in boosted.get_booster().attributes()
    loaded = RobustXGBClassifier(budget=0)
    loaded.load_model(tmp_path / name)
    np.testing.assert_array_equal(loaded.predict_proba(X), boosted.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), boosted.predict(X))
    assert loaded.classes_.dtype == boosted.classes_.dtype
    assert set(loaded.predict(X)) == set(LABELS[label_type][:classes])


def test_xgboost_reads_a_saved_model(tmp_path):
    X, y = load_digits(return_X_y=True)
    boosted = RobustXGBClassifier(budget=0, n_estimators=5, n_jobs=1).fit(X, y)
    boosted.save_model(tmp_path / "model.json")
    plain = xgboost.XGBClassifier()
    plain.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(plain.predict_proba(X), boosted.predict_proba(X))
    plain.save_model(tmp_path / "plain.json")
    boosted.get_booster().save_model(tmp_path / "booster.json")
    loaded = RobustXGBClassifier(budget=0)
    loaded.load_model(tmp_path / "booster.json")
    np.testing.assert_array_equal(loaded.predict(X), boosted.predict(X))


def test_labels_that_the_format_cannot_hold(tmp_path):
    X, y = load_iris(return_X_y=True)
    boosted = RobustXGBClassifier(budget=0, n_estimators=2, n_jobs=1).fit(
        X, np.array(["2001", "2002", "2003"], dtype="datetime64[Y]")[y]
    )
    with pytest.raises(TypeError, match=r"labels must be strings or numbers.*datetime64"):
        boosted.save_model(tmp_path / "model.json")


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits], ids=["binary", "10 classes"])
def test_training_continues_from_a_model(load):
    X, y = load(return_X_y=True)

    def twice(cls, **parameters):
        first = cls(n_estimators=5, n_jobs=1, **parameters).fit(X, y)
        # With other class shares, another intercept would be estimated.
        some = np.flatnonzero((y > 0) | (np.arange(y.size) % 3 == 0))
        second = cls(n_estimators=5, n_jobs=1, **parameters).fit(
            X[some], y[some], xgb_model=first.get_booster()
        )
        return second.predict_proba(X)

    np.testing.assert_allclose(
        twice(RobustXGBClassifier, loss="ce", budget=0), twice(xgboost.XGBClassifier), atol=1e-5
    )
