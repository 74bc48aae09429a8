import numpy as np
import pytest

from robust_splits.label_noise.proven_noise import SCALES, profile_likelihood, scale_noise, smallest_scale

T = np.array([[0.9, 0.1], [0.3, 0.7]])


def test_scaled_noise():
    np.testing.assert_array_equal(scale_noise(T, 0.0), np.eye(2))
    np.testing.assert_allclose(scale_noise(T, 1.0), T)
    np.testing.assert_allclose(scale_noise(T, 0.5), [[0.95, 0.05], [0.15, 0.85]])


@pytest.mark.parametrize(
    ("best", "drop", "expected"),
    [(1.0, 0.0, 1.0), (1.0, 0.5, 0.975), (0.3, 4.0, 0.1), (0.3, 1e9, 0.0), (0.0, 4.0, 0.0)],
)
def test_the_smallest_scale_is_interpolated(best, drop, expected):
    log_likelihoods = -10.0 * np.abs(SCALES - best)
    assert smallest_scale(log_likelihoods, drop) == pytest.approx(expected)


def draw(T, rng, n=4_000):
    """Labels of two classes that are far apart but for a tenth of the rows, and probabilities of a model."""
    log_odds = np.where(rng.random(n) < 0.1, rng.normal(size=n), 6.0 * rng.choice([-1, 1], size=n))
    p = 1 / (1 + np.exp(-log_odds))
    clean = (rng.random(n) < p).astype(int)
    y = (rng.random(n) < T[clean, 1]).astype(int)
    q = np.column_stack([1 - p, p]) @ T * np.exp(0.4 * rng.normal(size=(n, 2)))
    return y, q / q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(3))
def test_noise_far_from_the_boundary_is_proven(seed):
    y, q = draw(T, np.random.default_rng(seed))
    found = profile_likelihood(y, q, T, np.ones(y.size))
    assert found.shape == SCALES.shape
    assert smallest_scale(found, 4.0) > 0.8
    assert smallest_scale(found, 4.0) < smallest_scale(found, 0.5) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_is_not_there_is_not_proven(seed):
    y, q = draw(np.eye(2), np.random.default_rng(seed))
    found = profile_likelihood(y, q, T, np.ones(y.size))
    assert smallest_scale(found, 4.0) < 0.1


def test_copies_of_rows_and_weights_are_the_same():
    y, q = draw(T, np.random.default_rng(0), n=500)
    twice = profile_likelihood(np.repeat(y, 2), np.repeat(q, 2, axis=0), T, np.ones(1000))
    np.testing.assert_allclose(profile_likelihood(y, q, T, np.full(500, 2.0)), twice, rtol=1e-6)
