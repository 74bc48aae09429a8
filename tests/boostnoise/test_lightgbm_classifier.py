import lightgbm
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from boostnoise import CorrectedAccuracyMetric, LogLossMetric, RobustLGBMClassifier

QUIET = {"verbose": -1}


def test_small_data():
    X, y = np.arange(16.0).reshape(-1, 1), np.array([0, 1, 1, 1] * 4)
    expected = lightgbm.LGBMClassifier(**QUIET).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(RobustLGBMClassifier(loss="ce", **QUIET).fit(X, y).predict_proba(X), expected)


def test_parameters_set_later():
    X, y = load_breast_cancer(return_X_y=True)
    later = (
        RobustLGBMClassifier(n_estimators=5, n_jobs=1, **QUIET)
        .set_params(loss="ce", loss_params=None)
        .fit(X, y)
    )
    at_once = RobustLGBMClassifier(n_estimators=5, loss="ce", **QUIET).fit(X, y)
    np.testing.assert_array_equal(later.predict_proba(X), at_once.predict_proba(X))


def split_data():
    """Training rows, and rows for early stopping."""
    X, y = load_breast_cancer(return_X_y=True)
    return train_test_split(X, np.array(["no", "yes"])[y], random_state=0)


@pytest.mark.parametrize(
    "eval_metric",
    [None, "logloss", LogLossMetric("lightgbm", name="binary_logloss"), LogLossMetric("lightgbm", "probabilities", name="binary_logloss"),
     lambda y, p: ("binary_logloss", log_loss(y, p), False)],
)  # fmt: skip
def test_early_stopping_equals_that_of_the_library(eval_metric):
    X_train, X_test, y_train, y_test = split_data()

    def fitted(cls, **parameters):
        stop = lightgbm.early_stopping(5, verbose=False)
        model = cls(n_estimators=300, n_jobs=1, **QUIET, **parameters)
        metric = None if cls is lightgbm.LGBMClassifier else eval_metric
        return model.fit(X_train, y_train, eval_set=[(X_test, y_test)], eval_metric=metric, callbacks=[stop])

    expected, found = fitted(lightgbm.LGBMClassifier), fitted(RobustLGBMClassifier, loss="ce")
    assert found.best_iteration_ == expected.best_iteration_ < 300
    assert found.best_score_["valid_0"].keys() == expected.best_score_["valid_0"].keys()
    score = expected.best_score_["valid_0"]["binary_logloss"]
    assert found.best_score_["valid_0"]["binary_logloss"] == pytest.approx(score, rel=1e-6)
    np.testing.assert_allclose(found.predict_proba(X_test), expected.predict_proba(X_test), atol=1e-6)


def test_early_stopping_on_the_corrected_accuracy():
    X_train, X_test, y_train, y_test = split_data()
    metric = CorrectedAccuracyMetric("lightgbm", rate=0.1)
    model = RobustLGBMClassifier(n_estimators=100, n_jobs=1, **QUIET)
    stop = lightgbm.early_stopping(5, verbose=False)
    model.fit(X_train, y_train, eval_set=[(X_test, y_test)], eval_metric=metric, callbacks=[stop])
    corrected = (model.score(X_test, y_test) - 0.1) / 0.8
    assert model.best_score_["valid_0"]["corrected_accuracy"] == pytest.approx(corrected)


def test_margins_on_request():
    X, y = load_breast_cancer(return_X_y=True)
    boosted = RobustLGBMClassifier(n_estimators=10, n_jobs=1, **QUIET).fit(X, y)
    sigmoid = 1 / (1 + np.exp(-boosted.predict_proba(X, raw_score=True)))
    np.testing.assert_allclose(sigmoid, boosted.predict_proba(X)[:, 1])
    assert boosted.predict_proba(X, pred_leaf=True).shape == (len(X), 10)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits], ids=["binary", "10 classes"])
@pytest.mark.parametrize("loss", ["ce", "gce"])
def test_a_saved_booster_predicts_the_same(tmp_path, load, loss):
    X, y = load(return_X_y=True)
    boosted = RobustLGBMClassifier(loss=loss, n_estimators=10, **QUIET).fit(X, y)
    boosted.booster_.save_model(tmp_path / "model.txt")
    loaded = lightgbm.Booster(model_file=tmp_path / "model.txt")
    found, expected = loaded.predict(X), boosted.predict_proba(X)
    np.testing.assert_allclose(found, expected[:, 1] if y.max() == 1 else expected, rtol=1e-12)
    margins = loaded.predict(X, raw_score=True)
    np.testing.assert_allclose(margins, boosted.predict_proba(X, raw_score=True), rtol=1e-12)


def test_training_continues_from_a_model():
    X, y = load_breast_cancer(return_X_y=True)

    def twice(cls, **parameters):
        first = cls(n_estimators=10, n_jobs=1, **QUIET, **parameters).fit(X, y)
        return (
            cls(n_estimators=10, n_jobs=1, **QUIET, **parameters).fit(X, y, init_model=first).predict_proba(X)
        )

    np.testing.assert_allclose(
        twice(RobustLGBMClassifier, loss="ce"), twice(lightgbm.LGBMClassifier), atol=1e-6
    )


def test_parameters_of_built_in_objectives_are_rejected():
    X, y = load_iris(return_X_y=True)
    for parameters, fit_parameters in (({}, {"eval_metric": "multi_error"}), ({"metric": "multi_error"}, {})):
        with pytest.raises(
            ValueError, match=r"metric 'multi_error' .* margins of a robust loss as probabilities"
        ):
            RobustLGBMClassifier(**parameters).fit(X, y, eval_set=[(X, y)], **fit_parameters)
    for parameters, message in (
        ({"metrics": ["auc"]}, "metric 'auc'"),
        ({"is_unbalance": True}, "is_unbalance"),
        ({"unbalance": True}, "is_unbalance"),
        ({"application": "regression"}, "objective is set by the loss"),
        ({"linear_tree": True}, "linear_tree is not supported"),
        ({"sigmoid": 2.0}, "sigmoid is for LightGBM's own objectives only"),
        ({"boosting_type": "rf"}, 'boosting_type="rf" is not supported'),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLGBMClassifier(**parameters).fit(X, y)


def test_unsuitable_metrics_are_rejected():
    X, y = load_iris(return_X_y=True)
    for metric, message in (
        (LogLossMetric("xgboost"), "eval_metric must be for lightgbm, got one for xgboost"),
        (
            CorrectedAccuracyMetric("lightgbm", rate=0.7),
            "rate must be less than 0.666667 for 3 classes, got 0.7",
        ),
        (CorrectedAccuracyMetric("lightgbm", T=np.eye(2)), "T is for 2 classes, but there are 3"),
    ):
        with pytest.raises(ValueError, match=message):
            RobustLGBMClassifier(**QUIET).fit(X, y, eval_set=[(X, y)], eval_metric=metric)
