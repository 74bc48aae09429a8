import lightgbm
import numpy as np
import pytest
from scipy.special import log_softmax, logit

from boostnoise.objectives.intercept import lightgbm_intercept, repeat, xgboost_intercept

RNG = np.random.default_rng(0)
Y = {2: (RNG.random(200) < 0.2).astype(int), 4: RNG.choice(4, size=200, p=[0.1, 0.2, 0.3, 0.4])}
WEIGHTS = pytest.mark.parametrize("weight", [None, RNG.random(200) + 0.1], ids=["unweighted", "weighted"])


@WEIGHTS
def test_intercepts_of_two_classes_are_the_share_of_class_1(weight):
    share = np.average(Y[2], weights=weight)
    assert xgboost_intercept(Y[2], weight, 2) == pytest.approx(share, rel=1e-5)
    np.testing.assert_allclose(lightgbm_intercept(Y[2], weight, 2), logit(share), rtol=1e-6)


@pytest.mark.parametrize("n_classes", Y)
@WEIGHTS
def test_a_model_of_lightgbm_without_splits_predicts_the_intercept(n_classes, weight):
    params = {2: {"objective": "binary"}, 4: {"objective": "multiclass", "num_class": 4}}[n_classes]
    rows = lightgbm.Dataset(np.zeros((200, 1)), Y[n_classes], weight=weight)
    booster = lightgbm.train({**params, "feature_pre_filter": False, "verbose": -1}, rows, 1)
    predicted = booster.predict(np.zeros((3, 1)), raw_score=True)
    found = repeat(lightgbm_intercept(Y[n_classes], weight, n_classes), 3)
    if n_classes > 2:  # margins that differ by a constant mean the same
        found, predicted = log_softmax(found, axis=1), log_softmax(predicted, axis=1)
    np.testing.assert_allclose(found, predicted, rtol=1e-6)


def test_intercepts_are_repeated_for_each_row():
    assert repeat(np.array([0.5]), 3).tolist() == [0.5, 0.5, 0.5]
    assert repeat(np.array([0.5, 1, 2]), 2).tolist() == [[0.5, 1, 2], [0.5, 1, 2]]
