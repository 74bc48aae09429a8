import numpy as np
import pytest
from scipy.special import expit

from boostnoise import get_loss

RNG = np.random.default_rng(0)
BINARY = RNG.normal(size=200) * RNG.choice([0.3, 3, 20], 200)
SOFTMAX = RNG.normal(size=(200, 4)) * RNG.choice([0.3, 3, 15], (200, 1))


def assert_same(one, other, scale=1.0, **tolerance):
    """One loss is a multiple of the other, in value and derivatives, for two and for more classes."""
    for margin in (BINARY, SOFTMAX):
        y = np.arange(200) % (2 if margin.ndim == 1 else 4)
        for name in ("value", "gradient", "exact_hessian", "irls_hessian", "fisher_hessian"):
            found = scale * getattr(one, name)(y, margin)
            np.testing.assert_allclose(found, getattr(other, name)(y, margin), **({"rtol": 1e-11} | tolerance))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("gce", {"q": 0}), ("ce", {})),
        (("rfl", {"r": 0, "q": 0.4}), ("gce", {"q": 0.4})),
        (("rfl", {"r": 1.5, "q": 0}), ("focal", {"r": 1.5})),
        (("focal", {"r": 0}), ("ce", {})),
        (("sce", {"alpha": 1.0, "beta": 0.0}), ("ce", {})),
        (("sce", {"alpha": 0.0, "beta": 1.0, "A": -2.0}), ("mae", {})),
    ],
    ids=str,
)
def test_special_cases(one, other):
    assert_same(get_loss(one[0], **one[1]), get_loss(other[0], **other[1]))


def test_generalised_cross_entropy_of_1_is_half_the_mean_absolute_error():
    assert_same(get_loss("gce", q=1), get_loss("mae"), scale=2.0)


def test_limits_of_generalised_cross_entropy_and_focal_loss():
    assert_same(get_loss("gce", q=1e-9), get_loss("ce"), rtol=1e-6, atol=1e-7)
    assert_same(get_loss("rfl", r=1e-9, q=1e-9), get_loss("ce"), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["ce", "mae", "gce", "sce", "focal", "rfl"])
def test_concave_losses_have_a_second_derivative_of_at_most_the_weighted_variance(name):
    loss, y = get_loss(name), np.arange(200) % 2
    weighted = np.abs(loss.gradient(y, BINARY)) * expit((2 * y - 1) * BINARY)
    assert loss.concave == bool((loss.exact_hessian(y, BINARY) <= (1 + 1e-12) * weighted).all())


def test_mean_absolute_error_is_symmetric():
    """Its sum over all labels is constant, which makes it robust against uniform noise."""
    for margin, n_classes in ((BINARY, 2), (SOFTMAX, 4)):
        values = [get_loss("mae").value(np.full(200, label), margin) for label in range(n_classes)]
        np.testing.assert_allclose(np.sum(values, axis=0), 2 * (n_classes - 1))


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("gce", {"q": 1.5}, ValueError, r"q of GeneralizedCrossEntropy must be in \[0, 1\], got 1.5"),
        ("gce", {"q": np.nan}, ValueError, r"\[0, 1\], got nan"),
        ("gce", {"q": "auto"}, TypeError, "q of GeneralizedCrossEntropy must be a number, got 'auto'"),
        ("gce", {"q": True}, TypeError, "must be a number, got True"),
        ("rfl", {"r": -1}, ValueError, r"r of RobustFocalLoss must be in \[0, inf\), got -1"),
        ("rfl", {"q": 2}, ValueError, r"q of RobustFocalLoss must be in \[0, 1\]"),
        ("focal", {"r": np.inf}, ValueError, r"r of FocalLoss must be in \[0, inf\), got inf"),
        ("alpha", {"a": 0.5}, ValueError, r"a of alpha must be in \[1, inf\], got 0.5"),
        ("sce", {"alpha": -1}, ValueError, r"alpha of SymmetricCrossEntropy must be in \[0, inf\), got -1"),
        ("sce", {"alpha": 0, "beta": 0}, ValueError, "alpha and beta of SymmetricCrossEntropy must not all be 0"),
        ("sce", {"A": 0}, ValueError, r"A of SymmetricCrossEntropy must be in \(-inf, 0\), got 0"),
    ],
)  # fmt: skip
def test_bad_parameters(name, params, error, message):
    with pytest.raises(error, match=message):
        get_loss(name, **params)
