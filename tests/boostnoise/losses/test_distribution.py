import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from boostnoise import get_loss

V = np.concatenate([np.linspace(-40, 40, 160), [0.3, -0.7, 1e-9]])
Y = np.arange(V.size) % 2


class Atom(stats.rv_continuous):
    """Half a normal distribution, half the number 0."""

    def _cdf(self, x):
        return stats.norm.cdf(x) / 2 + (x >= 0) / 2

    def _ppf(self, q):
        return np.where(q < 0.25, stats.norm.ppf(2 * q), np.where(q > 0.75, stats.norm.ppf(2 * q - 1), 0.0))

    def _pdf(self, x):
        return stats.norm.pdf(x) / 2


@pytest.mark.parametrize(
    ("dist", "name", "params"),
    [
        (stats.logistic(), "sigmoid", {}),
        (stats.uniform(-1, 2), "ramp", {}),
        (stats.weibull_max(1, loc=0.4), "negative_exponential", {"mu": 0.4}),
        (stats.weibull_max(1, loc=np.log(4)), "negative_exponential", {}),
    ],
    ids=["logistic", "uniform", "exponential", "exponential by default"],
)
def test_distributions_of_losses_with_a_closed_form(dist, name, params):
    loss, same = get_loss("distribution", dist=dist), get_loss(name, **params)
    np.testing.assert_allclose(loss.value(Y, V), same.value(Y, V), rtol=1e-12)
    np.testing.assert_allclose(loss.gradient(Y, V), same.gradient(Y, V), rtol=1e-12)
    # Computed by finite differences.
    np.testing.assert_allclose(loss.exact_hessian(Y, V), same.exact_hessian(Y, V), rtol=1e-9, atol=1e-12)
    for strategy in ("irls", "fisher"):
        np.testing.assert_allclose(loss.hessian(Y, V, strategy), same.hessian(Y, V, strategy), rtol=1e-9)


def test_second_derivative_of_a_normal_distribution():
    for location, scale in ((0, 1), (3, 1e-3), (-1, 50)):
        dist = stats.norm(location, scale)
        f = location + scale * np.linspace(-8, 8, 41)
        found = get_loss("distribution", dist=dist).exact_hessian(np.zeros(41, dtype=int), f)
        expected = -(f - location) / scale**2 * dist.pdf(f)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12 / scale**2)


def test_second_derivatives_at_the_ends_of_the_support():
    """Within 1/200 of the interquartile range, the derivative of ln f is constant."""
    dist = stats.expon()
    loss, f = get_loss("distribution", dist=dist), np.array([-1e-3, 0.0, 1e-9, 1e-3, 5e-3, 1.0])
    np.testing.assert_allclose(loss.exact_hessian(np.zeros(6, dtype=int), f), -dist.pdf(f), rtol=1e-9)


@pytest.mark.parametrize(
    "dist",
    [stats.norm(1, 2), stats.t(3), stats.cauchy(), stats.gamma(2.5), stats.beta(2, 3), stats.norm,
     stats.rv_histogram((np.array([1, 0, 2, 4]), np.linspace(-2, 3, 5)))()],
)  # fmt: skip
def test_values_and_gradients_are_cdf_and_density(dist):
    loss = get_loss("distribution", dist=dist)
    np.testing.assert_array_equal(loss.value(Y, V), dist.cdf(np.where(Y == 1, -V, V)))
    np.testing.assert_array_equal(np.abs(loss.gradient(Y, V)), dist.pdf(np.where(Y == 1, -V, V)))
    assert np.isfinite(loss.exact_hessian(Y, V)).all()


def test_equal_distributions_give_equal_losses():
    loss = get_loss("distribution", dist=stats.norm(0, 2))
    for same in (stats.norm(scale=2), pickle.loads(pickle.dumps(loss.dist)), copy.deepcopy(loss).dist):
        assert get_loss("distribution", dist=same) == loss
        assert hash(get_loss("distribution", dist=same)) == hash(loss)
    for other in (stats.norm(0, 2.1), stats.logistic(), stats.norm(1e-6, 2)):
        assert get_loss("distribution", dist=other) != loss
    assert repr(loss) == "DistributionLoss(dist=norm(0, 2))"


@pytest.mark.parametrize(
    ("dist", "error", "message"),
    [
        (stats.poisson(3), TypeError, "must be continuous, got the discrete poisson"),
        (stats.bernoulli, TypeError, "must be continuous, got the discrete"),
        *([(stats.Normal(), TypeError, "must be a frozen continuous")] if hasattr(stats, "Normal") else []),
        ("norm", TypeError, "must be a frozen continuous distribution .* cdf, pdf, ppf, support; got 'norm'"),
        (stats.norm(scale=-1), ValueError, r"parameters within their range, got norm\(scale=-1\)"),
        (stats.norm([0, 1]), ValueError, r"scalar parameters .*, got norm\(\[0, 1\]\)"),
        (Atom(name="atom")(), ValueError, r"must be continuous, got atom\(\) with an atom"),
        (stats.beta(0.5, 0.5), ValueError, r"must have a bounded density, got beta\(0.5, 0.5\)"),
        (stats.gamma(0.5), ValueError, "must have a bounded density"),
    ],
)
def test_bad_distributions(dist, error, message):
    with pytest.raises(error, match=message):
        get_loss("distribution", dist=dist)
