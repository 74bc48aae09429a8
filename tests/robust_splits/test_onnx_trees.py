"""Trees and forests as ONNX models."""

import numpy as np
import pytest

from robust_splits import RobustForestClassifier
from robust_splits.export import to_onnx

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


def test_one_class():
    X = np.zeros((3, 2), dtype=np.float32)
    labels, p = run(to_onnx(RobustForestClassifier(2).fit(X, ["only"] * 3)), X)
    assert labels.tolist() == ["only"] * 3
    np.testing.assert_allclose(p, np.ones((3, 1)))
