"""Hooks in the Dask modules of both libraries, on a cluster of two processes."""

import threading
from dataclasses import dataclass
from functools import partial

import dask.array as da
import lightgbm
import numpy as np
import pytest
import xgboost
from xgboost import dask as xgboost_dask

from boostnoise import CrossEntropy, lightgbm_objective, xgboost_objective
from boostnoise.losses import probabilities

pytestmark = [
    pytest.mark.release,
    # LightGBM warns about the number of threads that it sets itself.
    pytest.mark.filterwarnings("ignore:Parameter n_jobs will be ignored:UserWarning"),
]

N = 600
ROUNDS = 6
CLASSES = pytest.mark.parametrize("n_classes", [2, 3])


def in_time(function, seconds=60):
    """Call a function; fail instead of waiting if it takes too long."""
    outcome = {}

    def run():
        try:
            outcome["returned"] = function()
        except BaseException as error:  # noqa: BLE001 - raised below
            outcome["raised"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"no answer in {seconds} seconds"
    if "raised" in outcome:
        raise outcome["raised"]
    return outcome["returned"]


class Data:
    """Rows in two chunks, on two workers; columns have so few values that bins do not depend on the chunks."""

    def __init__(self, n_classes):
        rng = np.random.default_rng(0)
        self.X = rng.integers(16, size=(N, 5)).astype(float)
        score = self.X[:, :n_classes] + rng.normal(scale=4, size=(N, n_classes))
        self.y, self.weight = score.argmax(axis=1), rng.random(N) + 0.1
        self.n_classes = n_classes
        self.dX, self.dy, self.dweight = (self.in_chunks(each) for each in (self.X, self.y, self.weight))

    @staticmethod
    def in_chunks(array):
        return da.from_array(array, chunks=(N // 2, *array.shape[1:]))

    def weights(self, weighted):
        return (self.weight, self.dweight) if weighted else (None, None)


def xgboost_params(n_classes, **params):
    named = (
        {"objective": "binary:logistic"}
        if n_classes == 2
        else {"objective": "multi:softprob", "num_class": n_classes}
    )
    return {**named, "max_depth": 3, "nthread": 1, **params}


@CLASSES
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost(dask_client, n_classes, weighted):
    data, objective = Data(n_classes), xgboost_objective("ce")
    weight, dweight = data.weights(weighted)
    rows = xgboost.DMatrix(data.X, data.y, weight=weight)
    start = objective.base_score(data.y, weight)

    def trained(obj=None, **params):
        dtrain = xgboost_dask.DaskDMatrix(dask_client, data.dX, data.dy, weight=dweight)
        params = xgboost_params(n_classes, **params)
        found = xgboost_dask.train(dask_client, params, dtrain, num_boost_round=ROUNDS, obj=obj)
        return found["booster"].predict(rows)

    def fitted(**params):
        model = xgboost_dask.DaskXGBClassifier(n_estimators=ROUNDS, max_depth=3, n_jobs=1, **params)
        model.client = dask_client
        p = model.fit(data.dX, data.dy, sample_weight=dweight).predict_proba(data.dX).compute()
        return p if n_classes > 2 else p[:, 1]

    alone = xgboost.train(xgboost_params(n_classes), rows, num_boost_round=ROUNDS).predict(rows)
    np.testing.assert_allclose(in_time(trained), alone, atol=1e-5)
    np.testing.assert_allclose(in_time(lambda: trained(objective, base_score=start)), alone, atol=1e-5)
    hooked = in_time(lambda: fitted(objective=objective, base_score=start))
    np.testing.assert_allclose(hooked, alone, atol=1e-5)


@CLASSES
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm(dask_client, n_classes, weighted):
    data, objective = Data(n_classes), lightgbm_objective("ce")
    weight, dweight = data.weights(weighted)
    # LightGBM estimates the number of rows of a leaf from sums of hessians, whose rounding depends on the chunks.
    # With min_child_samples=1 this makes no difference.
    params = {"n_estimators": ROUNDS, "num_leaves": 7, "min_child_samples": 1, "verbose": -1}

    def fitted(init_score=None, **more):
        model = lightgbm.DaskLGBMClassifier(client=dask_client, **params, **more)
        model.fit(data.dX, data.dy, sample_weight=dweight, init_score=init_score)
        return np.asarray(model.predict(data.dX, raw_score=True).compute())

    start = objective.init_score(data.y, weight)
    built_in = in_time(fitted)
    hooked = start + in_time(lambda: fitted(data.in_chunks(start), objective=objective, metric="None"))
    alone = lightgbm.LGBMClassifier(n_jobs=1, **params).fit(data.X, data.y, sample_weight=weight)
    np.testing.assert_allclose(probabilities(hooked), probabilities(built_in), atol=1e-5)
    np.testing.assert_allclose(probabilities(hooked), alone.predict_proba(data.X), atol=1e-5)


def test_weights_and_losses_have_an_effect(dask_client):
    """Otherwise the results above might be equal because weights and objectives were ignored."""
    data = Data(3)

    def trained(loss, dweight=None, **loss_params):
        dtrain = xgboost_dask.DaskDMatrix(dask_client, data.dX, data.dy, weight=dweight)
        objective = xgboost_objective(loss, **loss_params)
        params = xgboost_params(3, base_score=0.5)
        found = xgboost_dask.train(dask_client, params, dtrain, num_boost_round=ROUNDS, obj=objective)
        return found["booster"].predict(xgboost.DMatrix(data.X))

    plain, weighted, robust = (
        in_time(lambda given=given: trained(*given)) for given in (("ce",), ("ce", data.dweight), ("gce",))
    )
    assert np.abs(plain - weighted).max() > 0.05
    assert np.abs(plain - robust).max() > 0.05


def broken():
    """A loss that is NaN in all processes at once; otherwise errors of other processes might be reported first."""

    # A local class is pickled with its code; workers cannot import this module.
    @dataclass(frozen=True)
    class Broken(CrossEntropy):
        def gradient(self, y, margin):
            return CrossEntropy.gradient(self, y, margin) * np.nan

    return Broken()


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [(broken(), FloatingPointError, r"the gradient of .*Broken\(\) is not finite"),
     ("savage", ValueError, "SavageLoss is for two classes, got 3")],
    ids=["nan", "classes"],
)  # fmt: skip
def test_errors_of_a_loss_reach_the_user(dask_client, library, loss, error, message):
    data = Data(3)
    if library == "xgboost":
        rows = xgboost_dask.DaskDMatrix(dask_client, data.dX, data.dy)
        train = partial(
            xgboost_dask.train,
            dask_client,
            xgboost_params(3),
            rows,
            num_boost_round=50,
            obj=xgboost_objective(loss),
        )
    else:
        model = lightgbm.DaskLGBMClassifier(
            client=dask_client, objective=lightgbm_objective(loss), metric="None", verbose=-1
        )
        # On one worker: if one of several fails, LightGBM leaves the others waiting.
        train = partial(model.fit, da.from_array(data.X, chunks=data.X.shape), da.from_array(data.y, chunks=N))
    with pytest.raises(error, match=message):
        in_time(train)
