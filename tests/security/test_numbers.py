"""No input makes a model silently predict what is not a probability."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier
from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier

LIGHTGBM = RobustLGBMClassifier(passes=1, n_estimators=10, n_jobs=1, verbose=-1)
XGBOOST = RobustXGBClassifier(passes=1, n_estimators=10, n_jobs=1)
TREE = RobustDecisionTreeClassifier(shrinkage=1.0, random_state=0)
FOREST = RobustForestClassifier(5, random_state=0)
every_model = pytest.mark.parametrize(
    "model", [LIGHTGBM, XGBOOST, TREE, FOREST], ids=["lightgbm", "xgboost", "tree", "forest"]
)


def check_probabilities(p):
    assert p.min() >= 0
    assert p.max() <= 1
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(return_X_y=True)


@every_model
@pytest.mark.parametrize("share", [0.001, 0.5, 1.0])
def test_weights_that_overflow_are_refused(data, model, share):
    X, y = data
    weights = np.where(np.arange(y.size) < share * y.size, 1e300, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight must sum to .*, got [\de+.]*30[0-9]$"):
        model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("model", [LIGHTGBM, XGBOOST], ids=["lightgbm", "xgboost"])
@pytest.mark.parametrize("weight", [1e-46, 1e-20])
def test_a_booster_refuses_weights_that_underflow(data, model, weight):
    X, y = data
    with pytest.raises(ValueError, match="sample_weight must sum to at least 1e-06"):
        model.fit(X, y, sample_weight=np.full(y.size, weight))


@pytest.mark.parametrize("model", [TREE, FOREST], ids=["tree", "forest"])
@pytest.mark.parametrize("weight", [1e-46, 1e46])
def test_trees_know_no_scale_of_weights(data, model, weight):
    X, y = data
    model = clone(model).set_params(shrinkage=0.0)
    p = model.fit(X, y, sample_weight=np.full(y.size, weight)).predict_proba(X)
    check_probabilities(p)
    assert (p.argmax(axis=1) == y).mean() > 0.9


@every_model
@pytest.mark.parametrize("weight", [0.0, 1e-300, 1e-46])
def test_a_few_negligible_weights_do_no_harm(data, model, weight):
    X, y = data
    p = model.fit(X, y, sample_weight=np.where(np.arange(y.size) % 5 == 0, weight, 1.0)).predict_proba(X)
    check_probabilities(p)
    assert (p.argmax(axis=1) == y).mean() > 0.9


def test_shrinkage_keeps_probabilities_in_their_range():
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((200, 2)), rng.integers(3, size=200), 10.0 ** rng.uniform(-20, 3, 200)
    tree = RobustDecisionTreeClassifier("gini", shrinkage=1e-30, random_state=0).fit(X, y, weights)
    check_probabilities(tree.predict_proba(X))
