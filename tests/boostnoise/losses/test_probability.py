import mpmath
import numpy as np
import pytest

from boostnoise.losses.probability import Logistic


@pytest.mark.parametrize(("precision", "digits"), [(np.float32, 2e-6), (np.float64, 1e-14)])
def test_values_agree_with_exact_arithmetic(precision, digits):
    complement_logit = np.concatenate([np.linspace(-40, 40, 81), [-80, -1e-8, 1e-8, 80]]).astype(precision)
    ours = Logistic(complement_logit)
    with mpmath.workdps(60):
        for i, u in enumerate(complement_logit.tolist()):
            p = 1 / (1 + mpmath.exp(u))
            assert ours.p[i] == pytest.approx(float(p), rel=digits)
            assert ours.complement[i] == pytest.approx(float(1 - p), rel=digits)
            assert ours.log_p[i] == pytest.approx(float(mpmath.log(p)), rel=digits)
    assert ours.p.dtype == ours.complement.dtype == ours.log_p.dtype == precision


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_far_margins_do_not_overflow(precision):
    ours = Logistic(np.array([-1e5, 1e5], dtype=precision))
    np.testing.assert_allclose(ours.p, [1, 0], atol=np.finfo(precision).tiny)
    np.testing.assert_allclose(ours.complement, [0, 1], rtol=np.finfo(precision).eps)
    assert ours.log_p.tolist() == [0, -1e5]


def test_results_of_functions_are_cached():
    calls = []

    def double(probs):
        calls.append(probs)
        return 2 * probs.p

    ours = Logistic(np.zeros(2))
    assert ours.cached(double) is ours.cached(double)
    assert calls == [ours]
    assert ours.cached(double).tolist() == [1, 1]
    assert ours.cached(lambda probs: probs.p).tolist() == [0.5, 0.5]
