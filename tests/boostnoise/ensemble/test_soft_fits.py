import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from boostnoise.ensemble.soft_fits import (
    SoftRows,
    check_weights,
    fit_to_soft_labels,
    predict_unseen,
    weight_argument,
)
from robust_splits import RobustForestClassifier
from robust_splits.label_noise.folds import make_folds

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
P = rng.dirichlet([0.3, 0.3, 0.3], size=120)
P[P < 0.1] = 0
P /= P.sum(axis=1, keepdims=True)
WEIGHT = rng.uniform(0.5, 2, size=120)


def copies(weight=1.0):
    at, codes = np.nonzero(P)
    return X[at], codes, P[at, codes] * np.broadcast_to(weight, 120)[at]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), DecisionTreeClassifier(random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_with_weights_get_weighted_copies(model, weight):
    features, codes, weights = copies(1.0 if weight is None else weight)
    expected = model.fit(features, codes, weights).predict_proba(X)
    found = fit_to_soft_labels(model, SoftRows(X, P, weight)).predict_proba(X)
    np.testing.assert_allclose(found, expected)


def test_pipelines_pass_weights_to_their_last_step():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert (
        weight_argument(make_pipeline(StandardScaler(), pipeline))
        == "pipeline__logisticregression__sample_weight"
    )
    features, codes, weights = copies()
    expected = pipeline.fit(features, codes, logisticregression__sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(fit_to_soft_labels(pipeline, SoftRows(X, P)).predict_proba(X), expected)


def test_classifiers_without_weights_get_the_rows_that_are_sure():
    sure = P.max(axis=1) >= 0.5
    assert 0 < sure.sum() < 120
    model = KNeighborsClassifier(3)
    expected = model.fit(X[sure], P[sure].argmax(axis=1)).predict_proba(X)
    np.testing.assert_array_equal(fit_to_soft_labels(model, SoftRows(X, P)).predict_proba(X), expected)
    unsure = np.where(P.argmax(axis=1)[:, np.newaxis] == 2, [0.3, 0.3, 0.4], P)  # all rows of class 2
    assert fit_to_soft_labels(model, SoftRows(X, unsure)).predict_proba(X)[:, 2].any()
    with pytest.raises(
        TypeError, match=r"sample_weight must be None, since KNeighborsClassifier.* takes no weights"
    ):
        check_weights([LogisticRegression(), model], WEIGHT)
    check_weights([model], None)


def test_own_forests_take_soft_labels():
    forest = RobustForestClassifier(20, random_state=0)
    expected = forest.fit(X, P, WEIGHT).predict_proba(X)
    np.testing.assert_array_equal(fit_to_soft_labels(forest, SoftRows(X, P, WEIGHT)).predict_proba(X), expected)


@pytest.mark.parametrize("model", [XGBClassifier(n_estimators=5), LGBMClassifier(n_estimators=5, verbose=-1)])
def test_classes_that_no_row_has(model):
    """XGBoost accepts class numbers without gaps only."""
    without = np.insert(P, 1, 0.0, axis=1)
    found = fit_to_soft_labels(model, SoftRows(X, without)).predict_proba(X)
    expected = fit_to_soft_labels(model, SoftRows(X, P)).predict_proba(X)
    np.testing.assert_array_equal(found, np.insert(expected, 1, 0.0, axis=1))


def test_unseen_rows():
    folds = make_folds(P.argmax(axis=1), 3)[:2]
    rows = SoftRows(pd.DataFrame(X, columns=list("abc")), P, WEIGHT, np.arange(120))
    model = DecisionTreeClassifier(random_state=0)
    p, fitted = predict_unseen(model, rows, folds)
    assert fitted is None
    for seen, unseen in folds:
        expected = fit_to_soft_labels(model, rows.part(seen)).predict_proba(rows.X.iloc[unseen])
        np.testing.assert_array_equal(p[unseen], expected)
    assert np.isnan(p).any(axis=1).sum() == 120 - sum(unseen.size for _, unseen in folds)
    p, fitted = predict_unseen(RobustForestClassifier(30, random_state=0), rows, folds)
    np.testing.assert_array_equal(p, fitted.estimator.oob_decision_function_)
    assert not np.allclose(p, fitted.predict_proba(rows.X))
