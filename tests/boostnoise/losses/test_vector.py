import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from boostnoise import get_loss
from boostnoise.losses.softmax import probabilities

RNG = np.random.default_rng(0)
BINARY = RNG.normal(size=200) * RNG.choice([0.3, 3, 20], 200)
SOFTMAX = RNG.normal(size=(200, 4)) * RNG.choice([0.3, 3, 15], (200, 1))
METHODS = ("value", "gradient", "exact_hessian", "irls_hessian")


def labels(margin):
    return np.arange(200) % (2 if margin.ndim == 1 else 4)


@pytest.mark.parametrize("margin", [BINARY, SOFTMAX], ids=["binary", "softmax"])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("label_smoothing", {"eps": 0.0}),
        ("bootstrap", {"beta": 1.0}),
        ("bootstrap", {"beta": 1.0, "hard": True}),
    ],
)
def test_special_cases_that_equal_cross_entropy(name, params, margin):
    for method in METHODS:
        expected = getattr(get_loss("ce"), method)(labels(margin), margin)
        found = getattr(get_loss(name, **params), method)(labels(margin), margin)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("margin", [BINARY, SOFTMAX], ids=["binary", "softmax"])
def test_special_cases_that_equal_the_passive_loss(margin):
    y = labels(margin)
    for method in METHODS:
        mae = getattr(get_loss("mae"), method)(y, margin)
        for name, params, scale in (("nce_mae", {"beta": 3}, 3), ("nce_rce", {"beta": 3, "A": -2.0}, 3)):
            found = getattr(get_loss(name, alpha=0, **params), method)(y, margin)
            np.testing.assert_allclose(found, scale * mae, rtol=1e-11)


def test_brier_score_equals_that_of_scikit_learn():
    y = labels(BINARY)
    ours = get_loss("mse").value(y, BINARY).mean()
    assert ours == pytest.approx(2 * brier_score_loss(y, probabilities(BINARY)[:, 1]))


def test_normalised_cross_entropy_sums_to_1_over_the_labels():
    loss = get_loss("nce_mae", alpha=1, beta=0)
    for margin, n_classes in ((BINARY, 2), (SOFTMAX, 4)):
        given = [np.full(200, label) for label in range(n_classes)]
        np.testing.assert_allclose(np.sum([loss.value(y, margin) for y in given], axis=0), 1)
        np.testing.assert_allclose(np.sum([loss.gradient(y, margin) for y in given], axis=0), 0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("label_smoothing", {"eps": 1}, ValueError, r"eps of LabelSmoothing must be in \[0, 1\), got 1"),
        ("bootstrap", {"beta": 0}, ValueError, r"beta of Bootstrap must be in \(0, 1\], got 0"),
        ("bootstrap", {"hard": "yes"}, TypeError, "hard of Bootstrap must be True or False, got 'yes'"),
        ("nce_mae", {"beta": None}, TypeError, "beta of NormalizedCrossEntropyMAE must be a number, got None"),
        ("nce_mae", {"alpha": 0, "beta": 0}, ValueError, "alpha and beta of .* must not all be 0"),
        ("nce_rce", {"A": 4}, ValueError, r"A of NormalizedCrossEntropyRCE must be in \(-inf, 0\), got 4"),
    ],
)
def test_bad_parameters(name, params, error, message):
    with pytest.raises(error, match=message):
        get_loss(name, **params)
