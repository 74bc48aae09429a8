import pydoc

import numpy as np
import pytest

from boostnoise import Loss, get_loss
from boostnoise.losses.base import expected, reweighted
from boostnoise.losses.curvature import STRATEGIES
from boostnoise.losses.softmax import probabilities

RNG = np.random.default_rng(0)
BINARY = RNG.normal(size=400) * 5
SOFTMAX = RNG.normal(size=(200, 4)) * RNG.choice([0.3, 3, 15], (200, 1))
T2, T4 = [[0.8, 0.2], [0.3, 0.7]], (np.eye(4) * 0.6 + 0.1).tolist()
NOT_CONCAVE = [
    ("focal", {}), ("rfl", {}), ("rfl", {"r": 2, "q": 0.3}), ("mse", {}), ("bootstrap", {"beta": 0.5}),
    ("nce_mae", {}), ("nce_rce", {}),
]  # fmt: skip
CONCAVE = [("ce", {}), ("mae", {}), ("gce", {"q": 0}), ("gce", {"q": 0.4}), ("gce", {"q": 1}), ("sce", {})]
CONVEX = [("label_smoothing", {}), ("bootstrap", {"hard": True})]
MARGIN = [("ramp", {}), ("savage", {}), ("tangent", {}), ("negative_exponential", {})]


def cases():
    """Each loss with margins that it supports."""
    for name, params in [*CONCAVE, *CONVEX, *NOT_CONCAVE]:
        yield get_loss(name, **params), BINARY
        yield get_loss(name, **params), SOFTMAX
    for name, params in MARGIN:
        yield get_loss(name, **params), BINARY
    for name in ("forward", "backward"):
        yield get_loss(name, T=T2), BINARY
        yield get_loss(name, T=T4), SOFTMAX


EACH = pytest.mark.parametrize(("loss", "margin"), list(cases()), ids=str)


def labels(margin):
    return np.arange(len(margin)) % (2 if margin.ndim == 1 else margin.shape[1])


def variance(margin):
    p = probabilities(margin)
    return p[:, 1] * p[:, 0] if margin.ndim == 1 else p * (1 - p)


def mean_over_labels(p, derivative, margin):
    """The mean of a derivative of rows over their labels, whose probabilities are p."""
    of_labels = [derivative(np.full(len(margin), label)) for label in range(p.shape[1])]
    return np.sum([(row * found.T).T for row, found in zip(p.T, of_labels, strict=True)], axis=0)


@EACH
def test_strategies_derived_from_the_exact_hessian(loss, margin):
    y = labels(margin)
    exact = loss.exact_hessian(y, margin)
    np.testing.assert_array_equal(loss.hessian(y, margin, "abs"), np.abs(exact))
    np.testing.assert_array_equal(loss.hessian(y, margin, "unit"), np.ones_like(margin))
    np.testing.assert_allclose(loss.hessian(y, margin, "logistic"), variance(margin), atol=1e-15)
    clipped = loss.hessian(y, margin, "exact_clipped")
    np.testing.assert_allclose(clipped, np.maximum(exact, 0.1 * variance(margin)), atol=1e-15)
    np.testing.assert_array_equal(loss.hessian(y, margin), loss.hessian(y, margin, loss.default_hessian))


@EACH
def test_irls_is_never_below_the_exact_hessian(loss, margin):
    y = labels(margin)
    irls, exact = loss.hessian(y, margin, "irls"), loss.exact_hessian(y, margin)
    assert (irls >= exact - 1e-14 * np.abs(exact)).all()


@pytest.mark.parametrize(
    ("name", "params"), [*CONCAVE, *NOT_CONCAVE, *(case for case in MARGIN if case[0] != "tangent")], ids=str
)
def test_irls_equals_its_formula(name, params):
    """Including losses with a simplified formula."""
    loss = get_loss(name, **params)
    for margin in [BINARY] if loss.binary_only else [BINARY, SOFTMAX]:
        y = labels(margin)
        found = loss.hessian(y, margin, "irls")
        np.testing.assert_allclose(found, reweighted(loss, y, margin), rtol=1e-10, atol=1e-300)
        residual = np.abs(get_loss("ce").gradient(y, margin))
        weighted = np.abs(loss.gradient(y, margin)) * (1 - residual)
        np.testing.assert_allclose(found, np.maximum(weighted, loss.exact_hessian(y, margin)), atol=1e-14)


@pytest.mark.parametrize(("name", "params"), CONCAVE, ids=str)
def test_irls_of_concave_functions_of_cross_entropy_has_a_majoriser(name, params):
    """Cross entropy with the weight of irls, shifted to touch the loss at a margin, is nowhere below the loss."""
    loss, ce = get_loss(name, **params), get_loss("ce")
    for margin in (BINARY, SOFTMAX):
        y = labels(margin)
        elsewhere = margin + np.random.default_rng(1).normal(size=margin.shape) * 5
        weight = loss.hessian(y, margin) / ce.hessian(y, margin)
        weight = weight if margin.ndim == 1 else weight[:, 0]
        majoriser = loss.value(y, margin) + weight * (ce.value(y, elsewhere) - ce.value(y, margin))
        assert (majoriser >= loss.value(y, elsewhere) - 1e-9).all()
        touching = (weight if margin.ndim == 1 else weight[:, np.newaxis]) * ce.gradient(y, margin)
        np.testing.assert_allclose(touching, loss.gradient(y, margin), rtol=1e-9, atol=1e-12)


def test_irls_of_forward_has_a_majoriser():
    """Cross entropy with the posterior as targets, shifted to touch the loss, is nowhere below it."""
    for margin, T in ((BINARY, T2), (SOFTMAX, T4)):
        loss, y = get_loss("forward", T=T), labels(margin)
        elsewhere = margin + np.random.default_rng(1).normal(size=margin.shape) * 5
        posterior = probabilities(margin) * np.array(T)[:, y].T
        posterior /= posterior.sum(axis=1, keepdims=True)
        rise = (posterior * np.log(probabilities(margin) / probabilities(elsewhere))).sum(axis=1)
        assert (loss.value(y, margin) + rise >= loss.value(y, elsewhere) - 1e-9).all()
        touching = probabilities(margin) - posterior
        np.testing.assert_allclose(
            touching[:, 1] if margin.ndim == 1 else touching, loss.gradient(y, margin), atol=1e-12
        )
        np.testing.assert_allclose(loss.hessian(y, margin), variance(margin), atol=1e-15)


def test_irls_of_hard_bootstrap_has_a_majoriser():
    loss, ce, margin, y = get_loss("bootstrap", beta=0.6, hard=True), get_loss("ce"), SOFTMAX, labels(SOFTMAX)
    elsewhere = margin + np.random.default_rng(1).normal(size=margin.shape) * 5
    top = margin.argmax(axis=1)
    majoriser = 0.6 * ce.value(y, elsewhere) + 0.4 * ce.value(top, elsewhere)
    np.testing.assert_allclose(0.6 * ce.value(y, margin) + 0.4 * ce.value(top, margin), loss.value(y, margin))
    assert (majoriser >= loss.value(y, elsewhere) - 1e-12).all()


def test_irls_of_negative_exponential_has_a_majoriser():
    """A constant where the loss is capped, elsewhere the exponential."""
    loss, y = get_loss("negative_exponential", mu=0.5), np.ones(81, dtype=int)
    v = np.linspace(-8, 8, 81)
    capped = v < -0.5
    assert (loss.hessian(y, v)[capped] == 0).all()
    np.testing.assert_allclose(loss.hessian(y, v)[~capped], np.exp(-v[~capped] - 0.5))
    assert (np.exp(-v - 0.5) >= loss.value(y, v)).all()
    assert (loss.value(y, v) <= 1).all()


@pytest.mark.parametrize(("name", "params"), [*CONCAVE, *NOT_CONCAVE, *MARGIN], ids=str)
@pytest.mark.parametrize("margin", [BINARY, SOFTMAX], ids=["binary", "softmax"])
def test_fisher_is_the_covariance_with_the_gradient_of_cross_entropy(name, params, margin):
    """For all losses except those whose second derivative does not depend on the label, and corrected losses."""
    loss, ce = get_loss(name, **params), get_loss("ce")
    if loss.binary_only:
        margin = BINARY
    y = labels(margin)
    total = mean_over_labels(
        probabilities(margin), lambda given: loss.gradient(given, margin) * ce.gradient(given, margin), margin
    )
    np.testing.assert_allclose(loss.hessian(y, margin, "fisher"), total, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(expected(loss, y, margin), total, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(loss.hessian(y, margin, "fisher"), loss.hessian(0 * y, margin, "fisher"))


@pytest.mark.parametrize("name", ["ce", "mse", "label_smoothing", "forward", "backward"])
@pytest.mark.parametrize(("margin", "T"), [(BINARY, T2), (SOFTMAX, T4)], ids=["binary", "softmax"])
def test_fisher_of_proper_and_corrected_losses_is_the_expected_hessian(name, margin, T):
    """Over the labels that the loss expects: noisy ones if it corrects for noise, else clean ones."""
    corrected = name in ("forward", "backward")
    loss = get_loss(name, T=T) if corrected else get_loss(name)
    p = probabilities(margin) @ T if corrected else probabilities(margin)
    total = mean_over_labels(p, lambda given: loss.exact_hessian(given, margin), margin)
    rtol = 1e-6 if name == "forward" else 1e-9  # its second derivative is a difference
    np.testing.assert_allclose(loss.hessian(labels(margin), margin, "fisher"), total, rtol=rtol, atol=1e-14)


def test_formulas_of_individual_losses():
    """The formulas of the documentation."""
    p, y, f = probabilities(BINARY)[:, 1], labels(BINARY), BINARY
    v = np.where(y == 1, f, -f)
    p_t, variance = 1 / (1 + np.exp(-v)), p * (1 - p)
    np.testing.assert_allclose(get_loss("gce", q=0.3).hessian(y, f), p_t**0.3 * variance)
    inside = np.abs(v) <= 1
    np.testing.assert_allclose(get_loss("ramp").hessian(y, f), np.where(inside, 0.5 * p_t, 0))
    fisher = get_loss("gce", q=0.3).hessian(y, f, "fisher")
    np.testing.assert_allclose(fisher, variance * ((1 - p) * p**0.3 + p * (1 - p) ** 0.3))
    np.testing.assert_allclose(get_loss("ramp").hessian(y, f, "fisher"), np.where(inside, variance, 0))
    np.testing.assert_allclose(get_loss("tangent").hessian(y, f, "fisher"), 8 * variance / (1 + f**2))
    np.testing.assert_allclose(get_loss("mse").hessian(y, f, "fisher"), 4 * variance**2)
    np.testing.assert_allclose(get_loss("bootstrap", beta=0.3).hessian(y, f, "fisher"), 0.3 * variance)


def test_the_default_of_cross_entropy_equals_that_of_the_libraries():
    f = np.linspace(-30, 30, 61)
    p, y = 1 / (1 + np.exp(-f)), np.zeros(61, dtype=int)
    np.testing.assert_allclose(get_loss("ce").hessian(y, f), p / (1 + np.exp(f)), rtol=1e-14)
    for strategy in ("irls", "logistic", "exact_clipped", "abs"):
        np.testing.assert_array_equal(get_loss("ce").hessian(y, f, strategy), get_loss("ce").hessian(y, f))


def test_unknown_strategies():
    with pytest.raises(ValueError, match=f"'newton' is unknown.* {', '.join(STRATEGIES)}$"):
        get_loss("gce").hessian(np.array([0]), np.array([0.5]), "newton")


class Squared(Loss):
    """A custom loss for two classes, ``(f - s)^2 / 2 - f^4``, with three methods and plain arrays."""

    default_hessian = "exact_clipped"

    def value(self, y, margin):
        return (margin - (2 * y - 1)) ** 2 / 2 - margin**4

    def gradient(self, y, margin):
        return margin - (2 * y - 1) - 4 * margin**3

    def exact_hessian(self, y, margin):
        return 1 - 12 * margin**2


def test_a_custom_loss():
    loss, y, margin = Squared(), labels(BINARY), BINARY / 10
    for strategy in STRATEGIES:
        hessian = loss.hessian(y, margin, strategy)
        assert hessian.shape == margin.shape
        assert (hessian >= 0).all()
    np.testing.assert_allclose(loss.hessian(y, margin), np.maximum(1 - 12 * margin**2, 0.1 * variance(margin)))
    np.testing.assert_array_equal(loss.gradient_hessian(y, margin)[1], loss.hessian(y, margin))
    assert not loss.binary_only
    loss.check_classes(3)


def test_help_of_the_module_describes_the_strategies():
    shown = pydoc.render_doc("boostnoise.losses.curvature")
    assert all(f'``"{strategy}"``' in shown for strategy in STRATEGIES)
