import pickle
from dataclasses import dataclass

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import accuracy_score, log_loss

from boostnoise import CorrectedAccuracyMetric, LogLossMetric, lightgbm_objective, xgboost_objective

DATA = {"binary": load_breast_cancer, "10 classes": load_digits}
METRICS = [LogLossMetric, CorrectedAccuracyMetric]


@dataclass
class Rows:
    """The interface of both libraries' data sets that metrics use."""

    label: np.ndarray
    weight: np.ndarray | None

    def get_label(self):
        return self.label

    def get_weight(self):
        return self.weight


def make_metric(cls, *arguments):
    return cls(*arguments) if cls is LogLossMetric else cls(*arguments, rate=0.2)


def expected(cls, y, p, weight):
    """From scikit-learn and the formula for uniform noise."""
    n_classes = p.shape[1]
    if cls is LogLossMetric:
        return log_loss(y, p, sample_weight=weight, labels=np.arange(n_classes))
    wrong = 0.2 / (n_classes - 1)
    return (accuracy_score(y, p.argmax(axis=1), sample_weight=weight) - wrong) / (1 - n_classes * wrong)


@pytest.mark.parametrize("cls", METRICS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_values_and_forms_of_results(cls, n_classes, weighted, library):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=50 if n_classes == 2 else (50, n_classes))
    y = rng.integers(0, n_classes, size=50).astype(np.float32)
    weight = rng.random(50).astype(np.float32) if weighted else None
    p = np.stack([expit(-margin), expit(margin)], axis=1) if n_classes == 2 else softmax(margin, axis=1)
    value = pytest.approx(expected(cls, y, p, weight), rel=1e-6)
    name = "log_loss" if cls is LogLossMetric else "corrected_accuracy"
    higher = cls is not LogLossMetric
    order = "C" if library == "xgboost" else "F"
    for reads, predicted in (("margins", margin), ("probabilities", p[:, 1] if n_classes == 2 else p)):
        metric = make_metric(cls, library, reads)
        assert pickle.loads(pickle.dumps(metric)) == metric
        assert metric.__name__ == name
        natively = metric(predicted, Rows(y, weight))
        assert metric(predicted.ravel(order=order), Rows(y, weight)) == natively
        from_sklearn = metric(y, predicted) if weight is None else metric(y, predicted, sample_weight=weight)
        if library == "xgboost":
            assert natively == (name, value)
            assert from_sklearn == value
        else:
            assert natively == from_sklearn == (name, value, higher)


@pytest.mark.parametrize("cls", METRICS)
@pytest.mark.parametrize("load", DATA.values(), ids=DATA)
def test_in_xgboost(cls, load):
    X, y = load(return_X_y=True)
    n_classes = int(y.max()) + 1
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    rows = xgboost.DMatrix(X, y, weight=weight)
    params = {"objective": "binary:logistic", "nthread": 1}
    if n_classes > 2:
        params |= {"objective": "multi:softprob", "num_class": n_classes}
    for objective, reads in ((xgboost_objective("gce"), "margins"), (None, "probabilities")):
        metric, history = make_metric(cls, "xgboost", reads), {}
        booster = xgboost.train(
            params, rows, 3, evals=[(rows, "on")], obj=objective, custom_metric=metric, evals_result=history, verbose_eval=False
        )  # fmt: skip
        p = booster.predict(rows)
        p = np.stack([1 - p, p], axis=1) if n_classes == 2 else p
        value = pytest.approx(expected(cls, y, p, weight), rel=1e-5)
        assert history["on"][metric.__name__][-1] == value
        model = xgboost.XGBClassifier(
            objective=objective or "binary:logistic", n_estimators=3, n_jobs=1, eval_metric=metric
        )
        model.fit(X, y, sample_weight=weight, eval_set=[(X, y)], sample_weight_eval_set=[weight], verbose=False)
        p = model.predict_proba(X)
        value = pytest.approx(expected(cls, y, p, weight), rel=1e-5)
        assert model.evals_result()["validation_0"][metric.__name__][-1] == value


@pytest.mark.parametrize("cls", METRICS)
@pytest.mark.parametrize("load", DATA.values(), ids=DATA)
def test_in_lightgbm(cls, load):
    X, y = load(return_X_y=True)
    n_classes = int(y.max()) + 1
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    many = {} if n_classes == 2 else {"num_class": n_classes}
    own = "binary" if n_classes == 2 else "multiclass"
    for objective, reads in ((lightgbm_objective("gce"), "margins"), (own, "probabilities")):
        metric, history = make_metric(cls, "lightgbm", reads), {}
        rows = lightgbm.Dataset(X, y, weight=weight)
        quiet = {"verbose": -1, "num_threads": 1, "metric": "None"}
        booster = lightgbm.train(
            {"objective": objective, **quiet, **many}, rows, 3, valid_sets=[rows], valid_names=["on"], feval=metric, callbacks=[lightgbm.record_evaluation(history)]
        )  # fmt: skip
        model = lightgbm.LGBMClassifier(objective=objective, n_estimators=3, n_jobs=1, verbose=-1)
        model.fit(
            X, y, sample_weight=weight, eval_set=[(X, y)], eval_sample_weight=[weight], eval_metric=metric
        )
        for margin, value in (
            (booster.predict(X, raw_score=True), history["on"][metric.__name__][-1]),
            (model.predict(X, raw_score=True), model.evals_result_["training"][metric.__name__][-1]),
        ):
            p = np.stack([expit(-margin), expit(margin)], axis=1) if n_classes == 2 else softmax(margin, axis=1)
            assert value == pytest.approx(expected(cls, y, p, weight), rel=1e-6)


def test_extreme_margins():
    margin = np.array([[0.0, 800.0, -800.0]])
    assert LogLossMetric("xgboost")(np.array([2]), margin) == 1600
    assert LogLossMetric("xgboost", "probabilities")(np.array([1]), np.array([0.0], dtype=np.float32)) < 16


def test_the_corrected_accuracy_is_unbiased():
    """Its expectation over noisy labels is 1 for the clean class and 0 for others."""
    T = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.3, 0.7]])
    metric = CorrectedAccuracyMetric("xgboost", T=T)
    for found in range(3):
        margin = np.tile(np.eye(3)[found], (3, 1))
        estimates = [metric(np.array([label]), margin[:1]) for label in range(3)]
        np.testing.assert_allclose(T @ estimates, np.eye(3)[found], atol=1e-12)


def test_the_corrected_accuracy_estimates_the_clean_accuracy():
    rng = np.random.default_rng(0)
    clean = rng.integers(0, 2, size=40_000)
    margin = np.where(rng.random(40_000) < 0.9, 1.0, -1.0) * (2 * clean - 1)
    rates = np.array([0.1, 0.4])
    noisy = np.where(rng.random(40_000) < rates[clean], 1 - clean, clean)
    metric = CorrectedAccuracyMetric("xgboost", T=[[0.9, 0.1], [0.4, 0.6]])
    assert metric(noisy, margin) == pytest.approx(accuracy_score(clean, margin > 0), abs=0.02)
    assert accuracy_score(noisy, margin > 0) < 0.75
    assert CorrectedAccuracyMetric("xgboost", rate=0.3)(clean, 2.0 * clean - 1) > 1


def test_a_data_set_of_the_other_library_is_rejected():
    X, y = load_breast_cancer(return_X_y=True)
    rows = xgboost.DMatrix(X, y)
    with pytest.raises(TypeError, match=r'of lightgbm, got a DMatrix of xgboost; use library="xgboost"'):
        xgboost.train({}, rows, 1, evals=[(rows, "on")], custom_metric=LogLossMetric("lightgbm"))
    data = lightgbm.Dataset(X, y)
    with pytest.raises(TypeError, match=r'of xgboost, got a Dataset of lightgbm; use library="lightgbm"'):
        lightgbm.train({"verbose": -1}, data, 1, valid_sets=[data], feval=LogLossMetric("xgboost"))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LogLossMetric("catboost"), ValueError, "library must be one of xgboost, lightgbm, got 'catboost'"),
        (lambda: LogLossMetric("xgboost", "logits"), ValueError, "reads must be one of margins, probabilities, got 'logits'"),
        (lambda: CorrectedAccuracyMetric("xgboost"), ValueError, "one of T and rate must be given, got T=None and rate=None"),
        (lambda: CorrectedAccuracyMetric("xgboost", T=np.eye(2), rate=0.1), ValueError, "one of T and rate must be given"),
        (lambda: CorrectedAccuracyMetric("xgboost", T=[[0.5, 0.5], [0.5, 0.5]]), ValueError, "T must be invertible"),
        (lambda: CorrectedAccuracyMetric("xgboost", rate=1.0), ValueError, r"rate of .* must be in \[0, 1\), got 1.0"),
        (lambda: CorrectedAccuracyMetric("xgboost", rate="0.1"), TypeError, "rate of .* must be a number"),
        (lambda: CorrectedAccuracyMetric("xgboost", rate=0.5)(np.zeros(1), np.zeros(1)), ValueError, "rate must be less than 0.5 for 2 classes"),
        (lambda: CorrectedAccuracyMetric("xgboost", T=np.eye(3))(np.zeros(1), np.zeros(1)), ValueError, "T is for 3 classes, but there are 2"),
        (lambda: LogLossMetric("xgboost")(np.full(1, 2), np.zeros(1)), ValueError, "y must contain class numbers 0 to 1"),
        (lambda: LogLossMetric("xgboost")(np.zeros(2), np.zeros(2), [1, np.nan]), ValueError, "sample_weight must be finite"),
    ],
)  # fmt: skip
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
