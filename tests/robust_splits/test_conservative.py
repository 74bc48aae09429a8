"""The check of losses, against the losses that Wilton & Ye name, and against the impurities that losses induce."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import cauchy, logistic, norm

from boostnoise import get_loss
from robust_splits import LossCriterion, Misclassification, check_conservative


def of_label(y, p):
    return p[np.arange(len(y)), y]


def difference(y, p):
    return np.abs(p - np.eye(p.shape[1])[y])


def zero_one(y, p):
    return (of_label(y, p) < 1).astype(float)


def absolute(y, p):
    return difference(y, p).sum(axis=1)


def infinity_norm(y, p):
    return difference(y, p).max(axis=1)


def squared(y, p):
    return np.square(difference(y, p)).sum(axis=1)


def cross_entropy(y, p):
    return -np.log(of_label(y, p))


def gce(q):
    return lambda y, p: (1 - of_label(y, p) ** q) / q


@pytest.mark.parametrize("n_classes", [2, 3, 10, 20])
@pytest.mark.parametrize(
    ("loss", "constant"),
    [(zero_one, 1), (absolute, 2), (infinity_norm, 1), (gce(1), 1), (gce(2.5), 0.4)],
    ids=["0-1", "MAE", "infinity norm", "GCE 1", "GCE 2.5"],
)
def test_losses_of_corollary_2_1(loss, constant, n_classes):
    report = check_conservative(loss, n_classes, of="probabilities")
    assert report.ok
    assert report.constant == pytest.approx(constant)
    assert str(report).endswith(f"{n_classes} classes: conservative, C = {constant:g}")


@pytest.mark.parametrize("n_classes", [2, 3, 10, 20])
@pytest.mark.parametrize(
    ("loss", "least", "constant"),
    [
        (squared, lambda k: k - 1, 2),
        (gce(0.7), lambda k: k * (1 - k**-0.7) / 0.7, 1 / 0.7),
        (gce(0.99), lambda k: k * (1 - k**-0.99) / 0.99, 1 / 0.99),
    ],
    ids=["MSE", "GCE 0.7", "GCE 0.99"],
)
def test_too_small_sums(loss, least, constant, n_classes):
    """The sums are least for the uniform prediction."""
    report = check_conservative(loss, n_classes, of="probabilities")
    assert set(report.failures) == {"a"}
    assert report.constant == pytest.approx(constant)
    uniform, bound = f"{1 / n_classes:.4g}", constant * (n_classes - 1)
    assert report.failures["a"].startswith(f"for probabilities ({uniform}, {uniform}")
    assert f"sum to {least(n_classes):.6g}, less than C (K - 1) = {bound:.6g}" in report.failures["a"]


def test_losses_without_bound():
    report = check_conservative(cross_entropy, 3, of="probabilities")
    assert set(report.failures) == {"b"}
    assert report.constant == math.inf
    assert report.failures["b"] == "for probabilities (1, 0, 0) the loss of class 1 is infinite"
    report = check_conservative(get_loss("ce"), 3)
    assert set(report.failures) == {"b"}
    assert report.failures["b"].startswith(
        "for margins (0, -1e+08, -1e+08) the loss of class 1 is 1e+08, and it"
    )


def test_losses_of_certain_predictions():
    smoothed = lambda y, p: 0.9 * absolute(y, p) + 0.1 * absolute(1 - y, p)  # noqa: E731
    report = check_conservative(smoothed, of="probabilities")
    assert set(report.failures) == {"c"}
    assert report.failures["c"] == "for probabilities (1, 0) the loss of class 0 is 0.2, not 0"
    assert str(report).splitlines()[1] == f"  (c) {report.failures['c']}"


def of_margin(function):
    return lambda y, margin: function(np.where(y == 1, margin, -margin))


LOSSES_OF_MARGINS = {
    "0-1": (of_margin(lambda z: (z <= 0).astype(float)), True),
    "MAE": (get_loss("mae"), True),
    "sigmoid": (get_loss("sigmoid"), True),
    "ramp": (get_loss("ramp"), True),
    "logistic distribution": (get_loss("distribution", dist=logistic()), True),
    "heavy tails": (get_loss("distribution", dist=cauchy()), True),
    "NE, lam 1": (get_loss("negative_exponential", mu=math.log(2)), True),
    "NE, lam 0.9": (get_loss("negative_exponential", mu=math.log(2 / 0.9)), False),
    "normal distribution": (get_loss("distribution", dist=norm(0.5)), False),
    "MSE": (get_loss("mse"), False),
    "CE": (get_loss("ce"), False),
    "GCE": (get_loss("gce", q=0.7), False),
    "exponential": (of_margin(lambda z: np.exp(np.minimum(-z, 700))), False),
    "savage": (get_loss("savage"), False),
    "none": (of_margin(lambda z: 0 * z), False),
}


@pytest.mark.parametrize("name", LOSSES_OF_MARGINS)
def test_losses_of_margins(name):
    """By Theorem 2 the impurity of a conservative loss is C (1 - max p); that of these others is not."""
    loss, conservative = LOSSES_OF_MARGINS[name]
    report = check_conservative(loss)
    assert report.ok == conservative
    shares = np.linspace(0.02, 0.98, 25)
    induced, rate = (
        np.array([criterion.impurity([1 - p, p]) for p in shares])
        for criterion in (LossCriterion(loss), Misclassification())
    )
    factors = induced / rate
    assert np.allclose(factors, factors[0], rtol=1e-5) == conservative or name == "none"
    if conservative:
        np.testing.assert_allclose(induced, report.constant * rate, rtol=1e-3)


def test_hinge_loss_shows_that_the_converse_of_theorem_2_is_false():
    hinge = of_margin(lambda z: np.maximum(0, 1 - z))
    assert set(check_conservative(hinge).failures) == {"b"}
    assert LossCriterion(hinge).impurity([3, 7]) == pytest.approx(2 * 0.3)


def test_a_loss_that_fails_for_one_pair_of_classes_only():
    """Confusing classes 1 and 2 costs half as much, so an even prediction of both is cheap."""
    costs = np.ones((4, 4)) - np.eye(4)
    costs[1, 2] = costs[2, 1] = 0.5
    report = check_conservative(lambda y, p: (costs[y] * p).sum(axis=1), 4, of="probabilities")
    assert set(report.failures) == {"a"}
    at_vertices = min(costs[:, k].sum() for k in range(4))
    assert f"sum to {at_vertices:g}, less than C (K - 1) = 3" in report.failures["a"]


def test_the_grid_covers_the_simplex():
    """Each distribution with steps of a fifth is near a prediction."""
    seen = []
    check_conservative(lambda y, p: seen.append(p) or zero_one(y, p), 3, of="probabilities")
    for a, b in product(range(6), range(6)):
        if a + b <= 5:
            point = np.array([a, b, 5 - a - b]) / 5
            assert np.abs(seen[0] - point).max(axis=1).min() < 0.01


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"loss": 3}, TypeError, "loss must be callable or have a method value, got 3"),
        ({"n_classes": 1}, ValueError, r"n_classes must be an integer in \[2, 100\], got 1"),
        ({"of": "scores"}, ValueError, "of must be 'margins' or 'probabilities', got 'scores'"),
        ({"loss": lambda y, p: 0.0}, ValueError, r"loss must return an array of shape \(\d+,\), got \(\)"),
        ({"loss": lambda y, p: np.full(len(y), np.nan)}, ValueError, "loss must not be NaN"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        check_conservative(**{"loss": zero_one, "of": "probabilities"} | arguments)
