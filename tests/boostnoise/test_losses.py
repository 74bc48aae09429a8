import pickle

import mpmath
import numpy as np
import pytest

from boostnoise import CrossEntropy, GeneralizedCrossEntropy, get_loss
from boostnoise.losses import probabilities

LOSSES = [CrossEntropy()] + [GeneralizedCrossEntropy(q) for q in (0, 1e-3, 0.3, 0.7, 1)]
MARGINS = np.concatenate([np.linspace(-40, 40, 161), [-1e-9, 1e-9]])


def exact_value(loss, y, margin):
    """The loss of one row with 60 digits."""
    with mpmath.workdps(60):
        if np.ndim(margin) == 0:
            margin = [0, margin]
        powers = [mpmath.exp(mpmath.mpf(float(f))) for f in margin]
        p_t = powers[y] / mpmath.fsum(powers)
        q = getattr(loss, "q", 0)
        return -mpmath.log(p_t) if q == 0 else (1 - p_t ** mpmath.mpf(q)) / mpmath.mpf(q)


def exact_derivative(loss, y, margin, k):
    """Derivative with respect to one margin, with many digits, so that it is right for p_t near 0 and 1."""

    def along(step):
        moved = np.array(margin, dtype=object)
        moved[k] = mpmath.mpf(float(margin[k])) + step
        powers = [mpmath.exp(mpmath.mpf(f)) for f in moved]
        p_t = powers[y] / mpmath.fsum(powers)
        q = getattr(loss, "q", 0)
        return -mpmath.log(p_t) if q == 0 else (1 - p_t ** mpmath.mpf(q)) / mpmath.mpf(q)

    with mpmath.workdps(80):
        h = mpmath.mpf("1e-25")
        return float((along(h) - along(-h)) / (2 * h))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("label", [0, 1])
def test_binary_values_and_gradients(loss, label):
    y = np.full(MARGINS.size, label)
    values, gradients = loss.value(y, MARGINS), loss.gradient(y, MARGINS)
    for margin, value, gradient in zip(MARGINS, values, gradients, strict=True):
        assert value == pytest.approx(float(exact_value(loss, label, margin)), rel=1e-12)
        expected = exact_derivative(loss, label, np.array([0.0, margin]), 1)
        assert gradient == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_softmax_values_and_gradients(loss):
    rng = np.random.default_rng(0)
    margin = rng.normal(size=(40, 4)) * rng.choice([0.1, 1, 10, 40], (40, 1))
    y = rng.integers(0, 4, 40)
    values, gradients = loss.value(y, margin), loss.gradient(y, margin)
    for i in range(40):
        assert values[i] == pytest.approx(float(exact_value(loss, y[i], margin[i])), rel=1e-11, abs=1e-15)
        for k in range(4):
            expected = exact_derivative(loss, y[i], margin[i], k)
            assert gradients[i, k] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_hessians(loss):
    """Positive everywhere; for cross entropy the second derivative."""
    for margin in (MARGINS, np.column_stack([MARGINS, -MARGINS, np.zeros(MARGINS.size)])):
        y = np.arange(MARGINS.size) % 2
        hessian = loss.hessian(y, margin)
        assert hessian.shape == margin.shape
        assert np.isfinite(hessian).all()
        assert (hessian >= 0).all()
    if loss == CrossEntropy():
        y, step = np.zeros(MARGINS.size, dtype=int), 1e-4
        numeric = (loss.gradient(y, MARGINS + step) - loss.gradient(y, MARGINS - step)) / (2 * step)
        np.testing.assert_allclose(loss.hessian(y, MARGINS), numeric, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_hessian_is_that_of_a_majoriser(loss):
    """Cross entropy, weighted by p_t^q at the margin and shifted to touch there, lies above the loss."""
    grid = np.linspace(-8, 8, 81)
    y = np.ones(81, dtype=int)
    for start in (-3.0, -0.5, 0.0, 2.0):
        at = np.array([start])
        weight = loss.hessian(y[:1], at) / CrossEntropy().hessian(y[:1], at)
        bound = weight * (CrossEntropy().value(y, grid) - CrossEntropy().value(y[:1], at))
        assert (loss.value(y[:1], at) + bound >= loss.value(y, grid) - 1e-12).all()


def test_limits():
    y = np.arange(MARGINS.size) % 2
    for method in ("value", "gradient", "hessian"):
        limit = getattr(GeneralizedCrossEntropy(0), method)(y, MARGINS)
        np.testing.assert_array_equal(limit, getattr(CrossEntropy(), method)(y, MARGINS))
    np.testing.assert_allclose(GeneralizedCrossEntropy(1).value(np.array([1]), np.array([0.0])), [0.5])


def test_two_softmax_classes_are_one_binary_margin():
    margin = np.linspace(-5, 5, 11)
    y = np.arange(11) % 2
    both = np.column_stack([np.zeros(11), margin])
    np.testing.assert_allclose(probabilities(margin), probabilities(both))
    loss = GeneralizedCrossEntropy(0.4)
    np.testing.assert_allclose(loss.gradient(y, margin), loss.gradient(y, both)[:, 1])


def test_names():
    assert get_loss("ce") == CrossEntropy()
    assert get_loss("gce", q=0.2) == GeneralizedCrossEntropy(0.2)
    assert get_loss(CrossEntropy()) == CrossEntropy()
    assert pickle.loads(pickle.dumps(get_loss("gce"))) == GeneralizedCrossEntropy(0.7)


@pytest.mark.parametrize(
    ("loss", "params", "error", "message"),
    [
        ("gcee", {}, ValueError, "loss 'gcee' is unknown; known are ce, gce"),
        ("gce", {"p": 1}, ValueError, "loss 'gce' has no parameter 'p'; it has q"),
        ("ce", {"q": 1}, ValueError, "it has none"),
        ("gce", {"q": 1.5}, ValueError, r"q of GeneralizedCrossEntropy must be in \[0, 1\], got 1.5"),
        ("gce", {"q": "x"}, TypeError, "q of GeneralizedCrossEntropy must be a number"),
        (CrossEntropy(), {"q": 1}, TypeError, "with the name of a loss"),
        (None, {}, TypeError, "loss must be a name or a Loss, got None"),
    ],
)
def test_bad_losses(loss, params, error, message):
    with pytest.raises(error, match=message):
        get_loss(loss, **params)
