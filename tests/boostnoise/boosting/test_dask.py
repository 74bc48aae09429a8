import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from boostnoise import GeneralizedCrossEntropy, RobustLGBMClassifier, RobustXGBClassifier
from boostnoise.boosting import dask_passes
from boostnoise.eval import UniformNoise

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

# Without sampling of rows and columns, which depends on the worker.
MODELS = {
    "xgboost": (RobustXGBClassifier, {"subsample": 1.0, "colsample_bynode": 1.0}),
    "lightgbm": (RobustLGBMClassifier, {"subsample_freq": 0, "colsample_bynode": 1.0, "verbose": -1}),
}
NAMES = np.array(["low", "middle", "high"])
pytestmark = [
    pytest.mark.release,
    pytest.mark.filterwarnings("ignore:Sending large graph"),
]


def make_rows(n_classes, n_rows=2_000):
    """Rows, names of noisy labels, and of clean ones; with few values, for which bins do not depend on the worker."""
    X, y = make_classification(n_rows, 10, n_informative=6, n_classes=n_classes, random_state=0)
    X = X.round(1)
    X[::13, 0] = np.nan
    return X, NAMES[UniformNoise(0.2).corrupt(y, random_state=0).labels], NAMES[y]


def make(library, **parameters):
    model, fixed = MODELS[library]
    return model(random_state=0, n_jobs=1, **{**fixed, **parameters})


def in_parts(*arrays, rows=600):
    """Dask arrays; the chunks of the first have four columns each."""
    X, *columns = (None if a is None else np.asarray(a) for a in arrays)
    return [
        da.from_array(X, chunks=(rows, 4)),
        *(a if a is None else da.from_array(a, rows // 2) for a in columns),
    ]


@pytest.fixture(scope="module")
def one_worker(start_dask):
    """The client of a cluster of one worker, on which LightGBM trains as without Dask."""
    with start_dask(n_workers=1, processes=False) as client:
        yield client


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"passes": 1, "class_weight": "balanced"}, {"loss": "gce"}, {"loss": "gce", "passes": 2}],
    ids=str,
)
def test_xgboost_trains_the_model_of_one_machine(dask_client, parameters, n_classes, weighted):
    _check_model("xgboost", dask_client, parameters, n_classes, weighted, 1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters", [{}, {"passes": 1}, {"loss": "gce"}, {"loss": "gce", "passes": 2}], ids=str
)
def test_lightgbm_trains_the_model_of_one_machine(one_worker, parameters, n_classes, weighted):
    _check_model("lightgbm", one_worker, parameters, n_classes, weighted, 2e-3)


def _check_model(library, client, parameters, n_classes, weighted, tolerance):
    X, y, _ = make_rows(n_classes)
    weight = np.random.default_rng(0).random(len(X)) + 0.2 if weighted else None
    expected = make(library, **parameters).fit(X, y, sample_weight=weight)
    rows, labels, weights = in_parts(X, y, weight)
    with client.as_current():
        model = make(library, **parameters).fit(rows, labels, sample_weight=weights)
        p, predicted = model.predict_proba(rows).compute(), model.predict(rows).compute()
    assert model.chosen_params_ == expected.chosen_params_
    assert np.abs(p - expected.predict_proba(X)).mean() < tolerance
    np.testing.assert_array_equal(predicted, model.predict(X))
    np.testing.assert_array_equal(model.classes_, expected.classes_)


@pytest.mark.parametrize("library", MODELS)
def test_labels_beyond_the_sample_are_judged_too(dask_client, monkeypatch, library):
    X, y, clean = make_rows(2, n_rows=8_000)
    expected = make(library).fit(X, y)
    monkeypatch.setattr(dask_passes, "SAMPLED_ROWS", 4_000)
    frame = dd.from_pandas(pd.DataFrame(X).rename(columns=str).assign(label=y), npartitions=3)
    rows = frame.drop(columns="label")
    with dask_client.as_current():
        model = make(library).fit(rows, frame["label"])
        predicted = model.predict(rows).compute()
    assert model.passes_ == 2
    np.testing.assert_allclose(model.transition_matrix_, expected.transition_matrix_, atol=0.05)
    given_labels = make(library, passes=1).fit(X, y)
    accuracies = [
        (found == clean).mean() for found in (given_labels.predict(X), predicted, expected.predict(X))
    ]
    assert accuracies[0] + 0.005 < accuracies[1]
    assert accuracies[2] - 0.02 < accuracies[1]


@pytest.mark.parametrize("parameters", [{}, {"class_weight": "balanced"}, {"passes": 1}], ids=str)
@pytest.mark.parametrize("library", MODELS)
def test_a_rare_class_is_part_of_the_sample(dask_client, monkeypatch, library, parameters):
    monkeypatch.setattr(dask_passes, "SAMPLED_ROWS", 1_000)
    y = np.arange(8_000) // 3_992  # sixteen rows of the last class
    X = np.random.default_rng(0).normal(size=(8_000, 4)) + 4 * y[:, np.newaxis]
    with dask_client.as_current():
        model = make(library, **parameters).fit(*in_parts(X, y, rows=2_000))
    assert model.classes_.tolist() == [0, 1, 2]
    p = model.predict_proba(X)
    assert p[y == 2, 2].mean() > 0.5
    assert p[:, 2].mean() == pytest.approx(16 / 8_000, rel=2.0 if "class_weight" in parameters else 0.5)


@pytest.mark.parametrize("loss", ["ce", "gce"])
def test_xgboost_stops_early(dask_client, loss):
    X, y, _ = make_rows(2)
    evaluated = make_rows(2, n_rows=2_600)
    rows, labels = in_parts(X, y)
    other = in_parts(evaluated[0][2_000:], evaluated[1][2_000:], rows=200)
    parameters = {"loss": loss, "early_stopping_rounds": 3, "passes": 1, "n_estimators": 200}
    parameters["eval_metric"] = "logloss"
    expected = make("xgboost", **parameters)
    expected.fit(X, y, eval_set=[(evaluated[0][2_000:], evaluated[1][2_000:])], verbose=False)
    with dask_client.as_current():
        model = make("xgboost", **parameters).fit(rows, labels, eval_set=[tuple(other)])
    assert model.best_iteration == expected.best_iteration < 190
    found, wanted = (next(iter(m.evals_result()["validation_0"].values())) for m in (model, expected))
    np.testing.assert_allclose(found[:5], wanted[:5], rtol=1e-3)


@dataclass(frozen=True)
class KillingLoss(GeneralizedCrossEntropy):
    """A loss that once kills the process that computes it, in the middle of a training on two workers."""

    calls: str = ""  # a file with a byte for each call

    def gradient(self, y, margin):
        with Path(self.calls).open("ab") as file:
            file.write(b".")
        if Path(self.calls).stat().st_size == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().gradient(y, margin)


def test_xgboost_begins_again_if_a_worker_is_killed(tmp_path, monkeypatch, caplog, start_dask):
    X, y, clean = make_rows(2, n_rows=4_000)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    monkeypatch.setattr(dask_passes, "SAMPLED_ROWS", 2_000)
    # With nothing to choose, only workers compute the loss.
    fixed = {"n_estimators": 50, "learning_rate": 0.1, "max_depth": 4}
    model = make("xgboost", loss=KillingLoss(calls=str(tmp_path / "calls")), passes=2, **fixed)
    with start_dask():
        model.fit(*in_parts(X, y, rows=500))
    assert "training begins again" in caplog.text
    assert (tmp_path / "calls").stat().st_size > 60
    assert (model.predict(X) == clean).mean() > (y == clean).mean() + 0.05


@pytest.mark.parametrize("library", MODELS)
def test_what_is_not_supported_is_refused(dask_client, library):
    X, y, _ = make_rows(2)
    rows, labels = in_parts(X, y)
    with dask_client.as_current():
        with pytest.raises(TypeError, match="groups of fit is not supported with Dask collections"):
            make(library).fit(rows, labels, groups=np.arange(len(X)))
        with pytest.raises(TypeError, match="y must be a Dask collection, as X is, got ndarray"):
            make(library).fit(rows, y)
        with pytest.raises(ValueError, match="y must have as many parts as X, 4, got 6"):
            make(library).fit(rows, labels[:1_700])
        with pytest.raises(ValueError, match="sample_weight must have as many rows as X in each part"):
            make(library).fit(rows[:600], labels[:600], sample_weight=da.ones(300))
        with pytest.raises(ValueError, match="at least two classes"):
            make(library).fit(rows, da.zeros(len(X)))


@pytest.mark.parametrize("library", MODELS)
def test_parts_may_have_no_rows(dask_client, library):
    X, y, clean = make_rows(3)
    table = pd.DataFrame(X).rename(columns=str)
    frame = dd.from_pandas(table.assign(label=y), npartitions=3)
    frame = frame.map_partitions(lambda part: part[part.index >= 1_000])  # nothing is left of the first
    with dask_client.as_current():
        model = make(library, class_weight="balanced").fit(frame.drop(columns="label"), frame["label"])
    assert (model.predict(table[1_000:]) == clean[1_000:]).mean() > (y == clean).mean()


def test_a_worker_may_have_no_rows(dask_client):
    X, y, clean = make_rows(3)
    with dask_client.as_current():
        model = make("xgboost", loss="gce").fit(da.from_array(X, chunks=-1), da.from_array(y, chunks=-1))
    assert (model.predict(X) == clean).mean() > (y == clean).mean()


def test_metrics_to_evaluate_are_those_of_xgboost(dask_client):
    parts = in_parts(*make_rows(2)[:2])
    with (
        dask_client.as_current(),
        pytest.raises(ValueError, match="eval_metric must be a metric of XGBoost's own"),
    ):
        make("xgboost", loss="gce").fit(*parts, eval_set=[tuple(parts)])


def test_labels_to_evaluate_must_be_known(dask_client):
    X, y, _ = make_rows(2)
    parts = in_parts(X, y)
    unknown = da.from_array(np.full(len(X), "new"), chunks=300)
    with dask_client.as_current(), pytest.raises(ValueError, match="must occur in the training data, got"):
        make("xgboost").fit(*parts, eval_set=[(parts[0], unknown)])


def test_a_client_is_needed(monkeypatch):
    def no_client(*_):
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", no_client)
    with pytest.raises(ValueError, match=r"create a distributed\.Client first"):
        RobustXGBClassifier().fit(*in_parts(*make_rows(2)[:2]))
