"""Trees and forests as treelite models."""

import numpy as np
import pytest

from robust_splits import CorrectedCriterion, Gini, RobustForestClassifier
from robust_splits.export import onnx_input, to_treelite

treelite = pytest.importorskip("treelite")


def predict(model, X):
    return treelite.gtil.predict(to_treelite(model), np.asarray(X, dtype=np.float64))[:, 0]


def test_predictions_are_the_same(exported_model, exported_rows):
    X, _ = exported_rows
    np.testing.assert_allclose(predict(exported_model, X), exported_model.predict_proba(X), atol=1e-12)


def test_categories(model_of_categories):
    model, frame = model_of_categories
    p = predict(model, onnx_input(model, frame))
    np.testing.assert_allclose(p, model.predict_proba(frame), atol=1e-12)


def test_a_saved_model(tmp_path, single_precision_sample):
    X, y = single_precision_sample()
    forest = RobustForestClassifier(5, random_state=0).fit(X, y)
    to_treelite(forest).serialize(tmp_path / "forest.tl")
    loaded = treelite.Model.deserialize(tmp_path / "forest.tl")
    found = treelite.gtil.predict(loaded, X.astype(np.float64))[:, 0]
    np.testing.assert_allclose(found, forest.predict_proba(X), atol=1e-12)
    assert loaded.num_tree == 5


def test_what_cannot_be_converted(single_precision_sample):
    X, y = single_precision_sample()
    with pytest.raises(TypeError, match="model must be a tree or a forest of robust_splits, got str"):
        to_treelite("forest")
    with pytest.raises(ValueError, match="at least two classes for treelite, got one"):
        to_treelite(RobustForestClassifier(2).fit(X, ["only"] * len(X)))
    corrected = CorrectedCriterion(Gini(), [[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(ValueError, match="criterion must not correct probabilities"):
        to_treelite(RobustForestClassifier(2, criterion=corrected).fit(X, y))
    codes = np.where(X[:, :1] > 0, 0.5, -1.0)
    forest = RobustForestClassifier(2, categorical_features=[0]).fit(codes, y)
    with pytest.raises(ValueError, match=r"categories must be integers from 0 to 16777215 for treelite"):
        to_treelite(forest)
