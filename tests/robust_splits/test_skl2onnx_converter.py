"""Pipelines with trees and forests, converted by skl2onnx."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robust_splits import RobustForestClassifier
from robust_splits.export import register_onnx_converters

skl2onnx = pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def registered():
    register_onnx_converters()


def run(model, X, **options):
    graph = skl2onnx.to_onnx(model, X[:1], options=options or {"zipmap": False})
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})


def test_models_alone(exported_model, exported_rows):
    X, _ = exported_rows
    labels, p = run(exported_model, X)
    np.testing.assert_allclose(p, exported_model.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(labels, exported_model.predict(X))


def test_a_pipeline(single_precision_sample):
    X, y = single_precision_sample(3)
    pipeline = make_pipeline(StandardScaler(), RobustForestClassifier(10, random_state=0)).fit(X, y)
    labels, p = run(pipeline, X)
    np.testing.assert_allclose(p, pipeline.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(labels, pipeline.predict(X))
    (row,) = run(pipeline, X[:1], zipmap=True)[1]
    assert list(row) == sorted(set(y))


def test_inside_another_estimator(single_precision_sample):
    X, y = single_precision_sample()
    model = CalibratedClassifierCV(RobustForestClassifier(5, random_state=0), cv=2).fit(X, y)
    np.testing.assert_allclose(run(model, X)[1], model.predict_proba(X), atol=1e-6)
