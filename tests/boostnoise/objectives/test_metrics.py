import pickle
from dataclasses import dataclass
from functools import partial

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss, zero_one_loss

from boostnoise import (
    CorrectedErrorMetric,
    ErrorMetric,
    GeneralizedCrossEntropy,
    LogLossMetric,
    LossMetric,
    MeanAbsoluteError,
    lightgbm_objective,
    xgboost_objective,
)

DATA = {"binary": load_breast_cancer, "4 classes": partial(load_digits, n_class=4)}
METRICS = {
    LogLossMetric: "log_loss",
    LossMetric: "gce",
    ErrorMetric: "error",
    CorrectedErrorMetric: "corrected_error",
}


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
    options = {LossMetric: {"loss": GeneralizedCrossEntropy(0.7)}, CorrectedErrorMetric: {"noise_rate": 0.2}}
    return cls(*arguments, **options.get(cls, {}))


def expected(cls, y, p, weight):
    """From scikit-learn, and the formulas of the loss and of uniform noise."""
    n_classes = p.shape[1]
    if cls is LogLossMetric:
        return log_loss(y, p, sample_weight=weight, labels=np.arange(n_classes))
    if cls is LossMetric:
        p_label = p[np.arange(y.size), np.asarray(y, dtype=int)]
        return np.average((1 - p_label**0.7) / 0.7, weights=weight)
    error = zero_one_loss(y, p.argmax(axis=1), sample_weight=weight)
    if cls is ErrorMetric:
        return error
    wrong = 0.2 / (n_classes - 1)
    return (error - 0.2) / (1 - n_classes * wrong)


def probabilities_of(margin):
    return np.stack([expit(-margin), expit(margin)], axis=1) if margin.ndim == 1 else softmax(margin, axis=1)


@pytest.mark.parametrize("cls", METRICS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_values_and_forms_of_results(cls, n_classes, weighted, library):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=50 if n_classes == 2 else (50, n_classes))
    y = rng.integers(0, n_classes, size=50).astype(np.float32)
    weight = rng.random(50).astype(np.float32) if weighted else None
    p = probabilities_of(margin)
    value = pytest.approx(expected(cls, y, p, weight), rel=1e-6)
    name = METRICS[cls]
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
            assert natively == from_sklearn == (name, value, False)


def trained_by_xgboost(X, y, weight, robust, metric):
    """From both interfaces: probabilities after three rounds, and the last value of the metric."""
    n_classes = int(y.max()) + 1
    rows, history = xgboost.DMatrix(X, y, weight=weight), {}
    params = {"objective": "binary:logistic", "nthread": 1}
    if n_classes > 2:
        params |= {"objective": "multi:softprob", "num_class": n_classes}
    objective = xgboost_objective("gce") if robust else None
    booster = xgboost.train(
        params, rows, 3, evals=[(rows, "on")], obj=objective, custom_metric=metric, evals_result=history, verbose_eval=False
    )  # fmt: skip
    p = booster.predict(rows)
    yield p if n_classes > 2 else np.stack([1 - p, p], axis=1), history["on"]
    model = xgboost.XGBClassifier(
        objective=objective or "binary:logistic", n_estimators=3, n_jobs=1, eval_metric=metric
    )
    model.fit(X, y, sample_weight=weight, eval_set=[(X, y)], sample_weight_eval_set=[weight], verbose=False)
    yield model.predict_proba(X), model.evals_result()["validation_0"]


def trained_by_lightgbm(X, y, weight, robust, metric):
    n_classes = int(y.max()) + 1
    rows, history = lightgbm.Dataset(X, y, weight=weight), {}
    built_in = "binary" if n_classes == 2 else "multiclass"
    params = {"objective": lightgbm_objective("gce") if robust else built_in, "verbose": -1}
    if n_classes > 2:
        params["num_class"] = n_classes
    booster = lightgbm.train(
        params | {"num_threads": 1, "metric": "None"}, rows, 3, valid_sets=[rows], valid_names=["on"], feval=metric,
        callbacks=[lightgbm.record_evaluation(history)],
    )  # fmt: skip
    yield probabilities_of(booster.predict(X, raw_score=True)), history["on"]
    model = lightgbm.LGBMClassifier(objective=params["objective"], n_estimators=3, n_jobs=1, verbose=-1)
    model.fit(X, y, sample_weight=weight, eval_set=[(X, y)], eval_sample_weight=[weight], eval_metric=metric)
    yield probabilities_of(model.predict(X, raw_score=True)), model.evals_result_["training"]


@pytest.mark.parametrize("cls", METRICS)
@pytest.mark.parametrize("load", DATA.values(), ids=DATA)
@pytest.mark.parametrize("train", [trained_by_xgboost, trained_by_lightgbm])
@pytest.mark.parametrize("robust", [True, False])
def test_values_in_the_libraries(cls, load, train, robust):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    library = train.__name__.rpartition("_")[2]
    metric = make_metric(cls, library, "margins" if robust else "probabilities")
    for p, history in train(X, y, weight, robust, metric):
        # XGBoost keeps six digits.
        value = pytest.approx(expected(cls, y, p, weight), rel=1e-5, abs=1e-6)
        assert history[metric.__name__][-1] == value


def test_extreme_margins():
    margin = np.array([[0.0, 800.0, -800.0]])
    assert LogLossMetric("xgboost")(np.array([2]), margin) == 1600
    assert LogLossMetric("xgboost", "probabilities")(np.array([1]), np.array([0.0], dtype=np.float32)) < 16


def test_the_name_of_a_loss_metric():
    class Own(MeanAbsoluteError):
        pass

    assert [LossMetric("xgboost", loss=loss()).__name__ for loss in (MeanAbsoluteError, Own)] == ["mae", "Own"]


def test_the_corrected_error_is_unbiased():
    """Its expectation over noisy labels is 0 for the clean class and 1 for others."""
    T = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.3, 0.7]])
    metric = CorrectedErrorMetric("xgboost", T=T)
    for found in range(3):
        margin = np.tile(np.eye(3)[found], (3, 1))
        estimates = [metric(np.array([label]), margin[:1]) for label in range(3)]
        np.testing.assert_allclose(T @ estimates, 1 - np.eye(3)[found], atol=1e-12)


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
        (lambda: LossMetric("xgboost", loss="gce"), TypeError, "loss must be a Loss, got 'gce'"),
        (lambda: CorrectedErrorMetric("xgboost"), ValueError, "one of T and noise_rate must be set, got T=None and noise_rate=None"),
        (lambda: CorrectedErrorMetric("xgboost", T=np.eye(2), noise_rate=0.1), ValueError, "one of T and noise_rate must be set"),
        (lambda: CorrectedErrorMetric("xgboost", noise_rate=1.0), ValueError, r"rate of .* must be in \[0, 1\), got 1.0"),
        (lambda: CorrectedErrorMetric("xgboost", noise_rate="0.1"), TypeError, "rate of .* must be a number"),
        (lambda: CorrectedErrorMetric("xgboost", noise_rate=0.5)(np.zeros(1), np.zeros(1)), ValueError, "rate must be less than 0.5 for 2 classes"),
        (lambda: CorrectedErrorMetric("xgboost", T=np.eye(3))(np.zeros(1), np.zeros(1)), ValueError, "T is for 3 classes, but there are 2"),
        (lambda: LogLossMetric("xgboost")(np.full(1, 2), np.zeros(1)), ValueError, "y must contain class numbers 0 to 1"),
        (lambda: LogLossMetric("xgboost")(np.zeros(2), np.zeros(2), [1, np.nan]), ValueError, "sample_weight must be finite"),
    ],
)  # fmt: skip
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
