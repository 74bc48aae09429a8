import mpmath
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from boostnoise.losses.softmax import BinarySoftmax, Softmax, probabilities, softmax_of, sum_of_others


@pytest.fixture
def margin():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=(50, 4)) * rng.choice([1, 10, 40], (50, 1))
    margin[0] = 3.0  # all equal
    margin[1] = [5.0, 5.0, -40.0, 0.0]
    return margin


def test_it_equals_scipy_for_moderate_margins(margin):
    ours, p = Softmax(margin), softmax(margin, axis=1)
    np.testing.assert_allclose(ours.p, p, rtol=1e-12)
    np.testing.assert_allclose(ours.log_p, log_softmax(margin, axis=1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours.log_total, logsumexp(margin, axis=1), rtol=1e-14)
    np.testing.assert_allclose(ours.complement, 1 - p, atol=1e-15)
    np.testing.assert_allclose(ours.variance, p * (1 - p), atol=1e-15)
    np.testing.assert_allclose(probabilities(margin), p, rtol=1e-12)


def test_complements_and_logarithms_agree_with_exact_arithmetic(margin):
    ours = Softmax(margin)
    with mpmath.workdps(60):
        for i, row in enumerate(margin.tolist()):
            powers = [mpmath.exp(f) for f in row]
            total = mpmath.fsum(powers)
            for k, power in enumerate(powers):
                rest = mpmath.fsum(powers[:k] + powers[k + 1 :]) / total
                assert ours.complement[i, k] == pytest.approx(float(rest), rel=1e-13)
                assert ours.log_p[i, k] == pytest.approx(float(mpmath.log(power / total)), rel=1e-13)


@pytest.mark.parametrize("name", ["p", "complement", "log_p", "log_total"])
def test_two_classes_equal_a_softmax_of_0_and_the_margin(name):
    f = np.array([-800.0, -40, -1, 0, 1e-9, 2, 40, 800])
    both = np.column_stack([np.zeros(8), f])
    # Numbers below the smallest normal number may be 0.
    tolerance = {"rtol": 1e-13, "atol": np.finfo(float).tiny}
    np.testing.assert_allclose(getattr(BinarySoftmax(f), name), getattr(Softmax(both), name), **tolerance)


@pytest.mark.parametrize("binary", [True, False])
def test_values_by_label(margin, binary):
    f = margin[:, 1] if binary else margin
    ours, y = softmax_of(f), np.arange(50) % (2 if binary else 4)
    p, onehot = probabilities(f), np.eye(2 if binary else 4)[y]
    given = ours.of_label(y)
    np.testing.assert_allclose(np.exp(given.log_p), p[onehot == 1], rtol=1e-12)
    np.testing.assert_allclose(given.complement, 1 - p[onehot == 1], atol=1e-15)
    np.testing.assert_allclose(ours.residual_by_class(y), p - onehot, atol=1e-15)
    np.testing.assert_allclose(ours.residual(y), ours.shaped(p - onehot), atol=1e-15)
    np.testing.assert_allclose(ours.agreement(y), 1 - np.abs(ours.shaped(p - onehot)), atol=1e-15)
    assert ours.shaped(p).shape == f.shape
    assert (ours.spread(given.p) * f).shape == f.shape


def test_sum_of_others():
    x = np.array([[1.0, 2.0, 4.0], [1.0, 1e-30, 1e-30]])
    np.testing.assert_allclose(sum_of_others(x), [[6, 5, 3], [2e-30, 1, 1]], rtol=1e-15)
