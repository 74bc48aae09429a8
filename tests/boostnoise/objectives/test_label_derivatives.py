from dataclasses import dataclass

import numpy as np
import pytest

from boostnoise import GeneralizedCrossEntropy, get_loss
from boostnoise.losses.label import LabelLoss
from boostnoise.losses.registry import LOSSES, needed_parameters
from boostnoise.losses.softmax import softmax_of
from boostnoise.objectives.label_derivatives import label_derivatives


def derivatives(loss, y, margin, weight, factor, smallest):
    """Gradient and curvature, or None if one of them is not finite."""
    out = np.empty((2, *margin.shape), dtype=np.float32)
    softmax = softmax_of(margin, margin.dtype.type)
    return out if label_derivatives(loss, y, softmax, weight, factor, smallest, *out) else None


LABEL_LOSSES = [
    name for name in LOSSES if not needed_parameters(name) and isinstance(get_loss(name), LabelLoss)
]


def make_rows(n_classes, precision, scale=3.0):
    rng = np.random.default_rng(n_classes)
    margin = scale * rng.normal(size=(300, n_classes)).astype(precision)
    return rng.integers(n_classes, size=300), margin[:, 0].copy() if n_classes == 2 else margin, rng.random(300)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("name", LABEL_LOSSES)
def test_they_are_those_of_the_loss(name, n_classes, weighted):
    y, margin, weight = make_rows(n_classes, np.float64)
    loss = get_loss(name)
    expected = loss.gradient_hessian(y, margin, "irls")
    scale = weight if n_classes == 2 else weight[:, np.newaxis]
    gradient, hessian = derivatives(loss, y, margin, weight if weighted else None, 1.5, 0.05)
    np.testing.assert_allclose(gradient, expected[0] * (scale if weighted else 1), rtol=1e-6)
    limited = np.maximum(1.5 * expected[1], 0.05)
    np.testing.assert_allclose(hessian, limited * (scale if weighted else 1), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_precision_keeps_the_digits_of_small_numbers(n_classes):
    y, margin, _ = make_rows(n_classes, np.float32, scale=20.0)
    loss = get_loss("gce")
    found = derivatives(loss, y, margin, None, 1.0, 0.0)
    for single, double in zip(found, loss.gradient_hessian(y, margin.astype(np.float64), "irls"), strict=True):
        np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-30)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_that_are_not_finite_are_not_returned(n_classes):
    y, margin, _ = make_rows(n_classes, np.float64)
    margin[7] = np.nan
    assert derivatives(get_loss("gce"), y, margin, None, 1.0, 0.0) is None


def test_a_class_with_derivatives_of_its_own_has_no_terms():
    @dataclass(frozen=True)
    class Halved(GeneralizedCrossEntropy):
        def gradient(self, y, margin):
            return super().gradient(y, margin) / 2

    assert GeneralizedCrossEntropy.has_terms()
    assert not Halved.has_terms()
