import numpy as np
import pytest

from boostnoise import NegativeExponential, get_loss

V = np.concatenate([np.linspace(-40, 40, 161), [0.3, -0.7, 1e-9]])
ONES, ZEROS = np.ones(V.size, dtype=int), np.zeros(V.size, dtype=int)


def test_the_ramp_loss_is_symmetric():
    loss = get_loss("ramp")
    np.testing.assert_allclose(loss.value(ONES, V) + loss.value(ZEROS, V), 1, rtol=1e-15)


def test_where_gradients_vanish():
    """As documented for each loss."""
    assert (get_loss("savage").gradient(ONES, V) < 0).all()
    np.testing.assert_array_equal(get_loss("ramp").gradient(ONES, V) == 0, np.abs(V) > 1)
    for mu in (0.0, 2.5):
        capped = get_loss("negative_exponential", mu=mu).gradient(ONES, V) == 0
        np.testing.assert_array_equal(capped, -mu > V)
    np.testing.assert_array_equal(get_loss("tangent").gradient(ONES, V) < 0, np.tan(0.5) > V)


def test_losses_with_a_minimum_at_half_the_log_odds():
    p = 0.8
    f, one, zero = np.array([np.log(p / (1 - p)) / 2]), np.array([1]), np.array([0])
    for loss in (get_loss("savage"), get_loss("negative_exponential", mu=5)):
        np.testing.assert_allclose(p * loss.gradient(one, f), -(1 - p) * loss.gradient(zero, f))
    f, loss = np.array([np.tan(p - 0.5)]), get_loss("tangent")
    np.testing.assert_allclose(p * loss.gradient(one, f), -(1 - p) * loss.gradient(zero, f))


def test_newton_steps_of_the_tangent_loss_do_not_pass_its_minimum():
    loss, v = get_loss("tangent"), np.append(V, np.tan(0.5))
    y = np.ones(v.size, dtype=int)
    hessian, distance = loss.hessian(y, v), np.abs(v - np.tan(0.5))
    assert (np.abs(loss.gradient(y, v)) <= distance * hessian * (1 + 1e-12)).all()
    assert (hessian > 0).all()
    far = np.abs(v) > 2
    np.testing.assert_allclose(np.abs(loss.gradient(y, v))[far], (distance * hessian)[far])


def test_the_default_of_negative_exponential_equals_that_of_the_criterion():
    assert 2 * np.exp(-NegativeExponential().mu) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("mu", "error", "message"),
    [
        (-0.1, ValueError, r"mu of NegativeExponential must be in \[0, inf\), got -0.1"),
        (np.inf, ValueError, r"\[0, inf\), got inf"),
        ("1", TypeError, "mu of NegativeExponential must be a number, got '1'"),
    ],
)
def test_bad_parameters(mu, error, message):
    with pytest.raises(error, match=message):
        get_loss("negative_exponential", mu=mu)
