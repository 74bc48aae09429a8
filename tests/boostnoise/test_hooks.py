import pickle

import numpy as np
import pytest

from boostnoise import CrossEntropy, GeneralizedCrossEntropy
from boostnoise.hooks import Objective, log_loss_metric


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("shape", [(6,), (6, 3)])
def test_shapes_weights_and_types(library, shape):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=shape).astype(np.float32)
    y = np.array([0, 1, 1, 0, 1, 0], dtype=np.float32)
    weight = np.array([0, 1, 2, 3, 4, 5], dtype=np.float32)
    objective = pickle.loads(pickle.dumps(Objective(GeneralizedCrossEntropy(0.5), library)))
    gradient, hessian = objective(y, margin)
    assert gradient.shape == hessian.shape == shape
    assert gradient.dtype == hessian.dtype == np.float32
    assert (hessian > 0).all()
    weighted = objective(y, margin, weight)
    by_row = weight if len(shape) == 1 else weight[:, None]
    np.testing.assert_allclose(weighted[0], gradient * by_row, rtol=1e-6)
    np.testing.assert_allclose(weighted[1], hessian * by_row, rtol=1e-6)


def test_scale_of_the_softmax_curvature():
    margin = np.zeros((1, 4))
    y = np.array([2.0])
    variance = CrossEntropy().hessian(np.array([2]), margin)
    for library, factor in (("xgboost", 2), ("lightgbm", 4 / 3)):
        _, hessian = Objective(CrossEntropy(), library)(y, margin)
        np.testing.assert_allclose(hessian, factor * variance, rtol=1e-6)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_strategies_of_the_curvature(library):
    """The library's factor goes on all of them but "unit", which is 1 in both."""
    rng = np.random.default_rng(0)
    margin, y, loss = rng.normal(size=(6, 3)), np.array([0, 1, 2, 0, 1, 2]), GeneralizedCrossEntropy(0.5)
    factor = 2 if library == "xgboost" else 1.5
    for strategy in ("irls", "logistic", "fisher", "exact_clipped", "abs"):
        _, hessian = Objective(loss, library, hessian=strategy)(y, margin)
        np.testing.assert_allclose(hessian, factor * loss.hessian(y, margin, strategy), rtol=1e-6)
    _, hessian = Objective(loss, library, hessian="unit")(y, margin)
    np.testing.assert_array_equal(hessian, 1)
    with pytest.raises(ValueError, match="hessian strategy 'newton' is unknown; known are irls"):
        Objective(loss, library, hessian="newton")


def test_weight_of_the_positive_class():
    y, margin = np.array([0.0, 1.0]), np.zeros(2)
    gradient, hessian = Objective(CrossEntropy(), "xgboost", scale_pos_weight=3)(y, margin)
    assert gradient.tolist() == [0.5, -1.5]
    assert hessian.tolist() == [0.25, 0.75]


def test_a_loss_that_yields_nan_stops_training():
    class Broken(CrossEntropy):
        def gradient(self, y, margin):
            return np.full_like(margin, np.nan)

    with pytest.raises(FloatingPointError, match=r"the gradient or hessian of .*Broken\(\) is not finite"):
        Objective(Broken(), "xgboost")(np.array([0.0]), np.zeros(1))


def test_log_loss_of_margins():
    y = np.array([0, 1, 1])
    name, value, higher_is_better = log_loss_metric(y, np.array([0.0, 0.0, np.log(3)]), np.array([1, 1, 2]))
    assert (name, higher_is_better) == ("log_loss", False)
    assert value == pytest.approx((np.log(2) + np.log(2) + 2 * np.log(4 / 3)) / 4)
    assert log_loss_metric(np.array([0]), np.array([[0.0, 800.0]]))[1] < 1000
