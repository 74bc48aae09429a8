"""Trees and forests as ONNX models."""

import json

import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits.export import onnx_input, to_onnx

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def run(model, X):
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], {"X": X})


def test_predictions_are_the_same(exported_model, exported_rows):
    X, _ = exported_rows
    labels, p = run(to_onnx(exported_model), X)
    np.testing.assert_allclose(p, exported_model.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(labels, exported_model.predict(X))


@pytest.mark.parametrize("labels", [np.array([3, -1]), np.array([False, True])], ids=["integers", "booleans"])
def test_labels_of_other_types(labels, single_precision_sample):
    X, y = single_precision_sample()
    fitted = RobustForestClassifier(5, random_state=0).fit(X, labels[(y == "a").astype(int)])
    np.testing.assert_array_equal(run(to_onnx(fitted), X)[0].astype(labels.dtype), fitted.predict(X))
    assert run(to_onnx(fitted), X[:1])[1].shape == (1, 2)
    with pytest.raises(TypeError, match=r"labels must be strings, integers or booleans for ONNX, got \[1.0"):
        to_onnx(RobustForestClassifier(5).fit(X, np.where(y == "a", 1.0, 2.0)))


def test_data_of_few_decimals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)
    forest = RobustForestClassifier(20, random_state=0).fit(X, X[:, 0] + X[:, 1] > rng.normal(size=300))
    p = run(to_onnx(forest), X.astype(np.float32))[1]
    np.testing.assert_allclose(p, forest.predict_proba(X), atol=1e-6)


def test_categories(model_of_categories):
    model, frame = model_of_categories
    X = onnx_input(model, frame)
    assert X.dtype == np.float32
    graph = to_onnx(model)
    labels, p = run(graph, X)
    np.testing.assert_allclose(p, model.predict_proba(frame), atol=1e-6)
    np.testing.assert_array_equal(labels, model.predict(frame))
    (categories,) = (json.loads(entry.value) for entry in graph.metadata_props if entry.key == "categories")
    assert categories == {"kind": list(frame["kind"].cat.categories)}


def test_numbers_of_categories_that_are_not_exact():
    X = np.tile([[2.0**25], [0.0], [1.0]], (20, 1))
    forest = RobustForestClassifier(3, categorical_features=[0]).fit(X, np.tile([1, 0, 0], 20))
    with pytest.raises(ValueError, match=r"numbers of categories must be at most 2\^24 for ONNX, got 33554432"):
        to_onnx(forest)


def test_one_class():
    X = np.zeros((3, 2), dtype=np.float32)
    labels, p = run(to_onnx(RobustForestClassifier(2).fit(X, ["only"] * 3)), X)
    assert labels.tolist() == ["only"] * 3
    np.testing.assert_allclose(p, np.ones((3, 1)))
