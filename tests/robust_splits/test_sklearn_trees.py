"""Trees and forests in the form of scikit-learn's, and what other tools make of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import export_graphviz, export_text, plot_tree

from robust_splits import (
    CorrectedCriterion,
    RobustDecisionTreeClassifier,
    RobustForestClassifier,
)
from robust_splits.export import to_sklearn


def test_predictions_are_the_same(exported_model, exported_rows):
    X, _ = exported_rows
    converted = to_sklearn(exported_model)
    np.testing.assert_allclose(
        converted.predict_proba(X), exported_model.predict_proba(X), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_array_equal(converted.predict(X), exported_model.predict(X))
    np.testing.assert_array_equal(converted.apply(X), exported_model.apply(X))


def test_data_of_few_decimals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(1)  # thresholds between other values are such numbers, too
    forest = RobustForestClassifier(20, random_state=0).fit(X, X[:, 0] + X[:, 1] > rng.normal(size=300))
    np.testing.assert_allclose(to_sklearn(forest).predict_proba(X), forest.predict_proba(X), atol=1e-12)


def test_thresholds_between_neighbours_in_single_precision():
    one = np.float32(1)
    for low, high in [(one, np.nextafter(one, np.float32(2))), (-one, np.nextafter(-one, one))]:
        X = np.array([[low], [high]])
        tree = RobustDecisionTreeClassifier("gini").fit(X, [0, 1])
        assert to_sklearn(tree).predict(X).tolist() == [0, 1]


def test_shap_values_add_up_to_the_probabilities(exported_model, exported_rows):
    shap = pytest.importorskip("shap")
    X = exported_rows[0][:40]
    values = shap.TreeExplainer(to_sklearn(exported_model))(X)
    np.testing.assert_allclose(
        values.values.sum(axis=1) + values.base_values, exported_model.predict_proba(X), atol=1e-12
    )


def test_treelite_predicts_the_same(exported_model, exported_rows):
    treelite = pytest.importorskip("treelite")
    if isinstance(exported_model, RobustDecisionTreeClassifier):
        pytest.skip("treelite reads forests only")
    X = exported_rows[0]
    p = treelite.gtil.predict(treelite.sklearn.import_model(to_sklearn(exported_model)), X)
    np.testing.assert_allclose(p.reshape(len(X), -1), exported_model.predict_proba(X), atol=1e-6)


def test_scikit_learn_draws_trees(single_precision_sample):
    X, y = single_precision_sample()
    frame = pd.DataFrame(X, columns=list("uvwxy"))
    tree = to_sklearn(RobustDecisionTreeClassifier("gini", max_depth=2).fit(frame, y))
    text = export_text(tree, feature_names=list("uvwxy"))
    root = text.splitlines()[0].removeprefix("|--- ")[:6]
    assert root in export_graphviz(tree, feature_names=list("uvwxy"))
    assert len(plot_tree(tree, max_depth=1)) > 2


def test_what_cannot_be_converted(single_precision_sample):
    X, y = single_precision_sample()
    with pytest.raises(TypeError, match="model must be a tree or a forest of robust_splits, got str"):
        to_sklearn("forest")
    with pytest.raises(NotFittedError):
        to_sklearn(RobustForestClassifier())
    categories = RobustForestClassifier(3, categorical_features=[0], random_state=0).fit(X.round(), y)
    with pytest.raises(ValueError, match="a split divides categories into subsets"):
        to_sklearn(categories)
    corrected = CorrectedCriterion("gini", T=[[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(ValueError, match="criterion must not correct probabilities"):
        to_sklearn(RobustForestClassifier(3, criterion=corrected).fit(X, y))
