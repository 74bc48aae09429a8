"""Fitted boosters in other tools: what these read is the library's own booster."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier

SETTINGS = {"n_estimators": 12, "n_jobs": 1}
MODELS = {
    "XGBoost, two passes": RobustXGBClassifier(**SETTINGS),
    "XGBoost, gce": RobustXGBClassifier(loss="gce", **SETTINGS),
    "LightGBM, two passes": RobustLGBMClassifier(verbose=-1, **SETTINGS),
    "LightGBM, gce": RobustLGBMClassifier(loss="gce", verbose=-1, **SETTINGS),
}


@pytest.fixture(params=[load_breast_cancer, load_iris], ids=["two classes", "three classes"])
def rows(request):
    X, y = request.param(return_X_y=True)
    X = X.astype(np.float32)
    X[::7, 0] = np.nan
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(params=MODELS)
def model(request, rows):
    return MODELS[request.param].fit(*rows)


def booster_of(model):
    return model.booster_ if isinstance(model, RobustLGBMClassifier) else model.get_booster()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_onnx(model, rows):
    onnxmltools = pytest.importorskip("onnxmltools")
    runtime = pytest.importorskip("onnxruntime")
    from onnxmltools.convert.common.data_types import FloatTensorType

    X, _ = rows
    columns = [("X", FloatTensorType([None, X.shape[1]]))]
    if isinstance(model, RobustLGBMClassifier):
        graph = onnxmltools.convert_lightgbm(booster_of(model), initial_types=columns, zipmap=False)
    else:
        graph = onnxmltools.convert_xgboost(booster_of(model), initial_types=columns)
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    _, p = session.run(None, {"X": X})
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-6)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:LightGBM binary classifier"
)
def test_shap(model, rows):
    shap = pytest.importorskip("shap")
    X = rows[0][:20]
    explained = shap.TreeExplainer(booster_of(model))(X)
    margin = explained.values.sum(axis=1) + explained.base_values
    p = model.predict_proba(X)
    found = softmax(margin, axis=1) if p.shape[1] > 2 else expit(np.ravel(margin))
    np.testing.assert_allclose(found, p if p.shape[1] > 2 else p[:, 1], atol=1e-5)


def test_treelite(model, rows, tmp_path):
    treelite = pytest.importorskip("treelite")
    X, _ = rows
    name = str(tmp_path / "model.json")
    booster_of(model).save_model(name)
    load = (
        treelite.frontend.load_lightgbm_model
        if isinstance(model, RobustLGBMClassifier)
        else treelite.frontend.load_xgboost_model
    )
    loaded = load(name)
    p = treelite.gtil.predict(
        loaded,
        X.astype(
            np.float64 if "Light" in type(model).__name__ or "LGBM" in type(model).__name__ else np.float32
        ),
    )[:, 0]
    expected = model.predict_proba(X)
    np.testing.assert_allclose(p, expected if expected.shape[1] > 2 else expected[:, 1:], atol=1e-5)
