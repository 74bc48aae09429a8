import json

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import log_softmax, logit

from boostnoise.objectives.intercept import lightgbm_intercept, repeat, xgboost_intercept

RNG = np.random.default_rng(0)
Y = {2: (RNG.random(200) < 0.2).astype(int), 4: RNG.choice(4, size=200, p=[0.1, 0.2, 0.3, 0.4])}
WEIGHT = RNG.random(200) + 0.1


@pytest.mark.parametrize("n_classes", Y)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_xgboost_intercept(n_classes, weight):
    """It equals the base_score of a model trained on a constant feature."""
    y = Y[n_classes]
    params = (
        {"objective": "binary:logistic"}
        if n_classes == 2
        else {"objective": "multi:softprob", "num_class": n_classes}
    )
    rows = xgboost.DMatrix(np.zeros((200, 1)), y, weight=weight)
    config = json.loads(xgboost.train(params, rows, 1).save_config())
    expected = json.loads(config["learner"]["learner_model_param"]["base_score"])
    found = xgboost_intercept(y, weight, n_classes)
    np.testing.assert_array_equal(np.atleast_1d(found), np.atleast_1d(expected))
    if n_classes == 2:
        assert found == pytest.approx(np.average(y, weights=weight), rel=1e-5)


@pytest.mark.parametrize("n_classes", Y)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_lightgbm_intercept(n_classes, weight):
    """A model without splits predicts the intercept alone."""
    y = Y[n_classes]
    params = (
        {"objective": "binary", "verbose": -1}
        if n_classes == 2
        else {"objective": "multiclass", "num_class": n_classes, "verbose": -1}
    )
    rows = lightgbm.Dataset(np.zeros((200, 1)), y, weight=weight)
    predicted = lightgbm.train(params | {"feature_pre_filter": False}, rows, 1).predict(
        np.zeros((3, 1)), raw_score=True
    )
    found = lightgbm_intercept(y, weight, n_classes)
    if n_classes == 2:
        np.testing.assert_allclose(repeat(found, 3), predicted, rtol=1e-6)
        np.testing.assert_allclose(found, logit(np.average(y, weights=weight)), rtol=1e-6)
    else:
        np.testing.assert_allclose(
            log_softmax(repeat(found, 3), axis=1), log_softmax(predicted, axis=1), rtol=1e-6
        )


def test_an_empty_class():
    np.testing.assert_allclose(lightgbm_intercept(np.array([0, 0]), None, 3), [0, np.log(1e-15), np.log(1e-15)])


def test_shapes():
    assert repeat(np.array([0.5]), 3).tolist() == [0.5, 0.5, 0.5]
    assert repeat(np.array([0.5, 1, 2]), 2).tolist() == [[0.5, 1, 2], [0.5, 1, 2]]
