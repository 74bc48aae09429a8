"""The posterior of the clean label, on rows whose truth is known, against Bayes' formula and brute force."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import log_loss

from robust_splits.label_noise.clean_posterior import (
    MAX_FITTED_ROWS,
    CleanPosterior,
    IndistinctClassesError,
    calibrate,
    estimate_clean_posterior,
    mean_log_likelihood,
    posterior,
)

LOW, HIGH = np.array([[0.96, 0.04], [0.15, 0.85]]), np.array([[0.9, 0.1], [0.4, 0.6]])


def uniform(n_classes, rate):
    return (1 - rate) * np.eye(n_classes) + rate / (n_classes - 1) * (1 - np.eye(n_classes))


def pair_flip(n_classes, rate):
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=1)


def sample(T, shares, sharpness=3.0, n=4_000, seed=0):
    """Clean and noisy labels, and the probabilities of the noisy ones; classes overlap with a low sharpness."""
    rng = np.random.default_rng(seed)
    p = np.exp(sharpness * rng.normal(size=(n, len(T))))
    p *= shares / (p / p.sum(axis=1, keepdims=True)).mean(axis=0)
    p /= p.sum(axis=1, keepdims=True)
    clean = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    noisy = (rng.random(n)[:, None] > np.cumsum(T[clean], axis=1)[:, :-1]).sum(axis=1)
    return clean, noisy, p @ T


def blurred(q, seed=1):
    """Probabilities as from a forest: uncertain, and smoothed towards their mean."""
    noise = np.random.default_rng(seed).normal(scale=0.4, size=q.shape)
    p = np.exp(np.log(np.maximum(q, 1e-3)) + noise)
    p = 0.85 * p / p.sum(axis=1, keepdims=True) + 0.15 * q.mean(axis=0)
    return p / p.sum(axis=1, keepdims=True)


def wrong_by_given_label(found, noisy):
    wrong = 1 - found.probabilities[np.arange(noisy.size), noisy]
    return np.bincount(noisy, weights=wrong)


@pytest.mark.parametrize("T", [LOW, HIGH], ids=["low", "high"])
@pytest.mark.parametrize("positives", [0.1, 0.3])
@pytest.mark.parametrize("sharpness", [3.0, 6.0])
@pytest.mark.parametrize("make", [lambda q: q, blurred], ids=["exact", "blurred"])
def test_wrong_labels_are_counted_by_class(T, positives, sharpness, make):
    clean, noisy, q = sample(T, [1 - positives, positives], sharpness)
    found = estimate_clean_posterior(noisy, make(q))
    expected = np.bincount(noisy, weights=noisy != clean)
    np.testing.assert_allclose(wrong_by_given_label(found, noisy), expected, rtol=0.25, atol=40)
    np.testing.assert_allclose(found.transition_matrix, T, atol=0.12)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(found.prior.sum(axis=1), 1)


@pytest.mark.parametrize(
    "T", [LOW, HIGH, uniform(3, 0.3), pair_flip(3, 0.3), uniform(10, 0.3), pair_flip(10, 0.4)]
)
@pytest.mark.parametrize("make", [lambda q: q, blurred], ids=["exact", "blurred"])
def test_the_posterior_is_better_than_the_probabilities_of_the_labels(T, make):
    n_classes = len(T)
    shares = [0.7, 0.3] if n_classes == 2 else np.full(n_classes, 1 / n_classes)
    clean, noisy, q = sample(T, shares, sharpness=4.0)
    q = make(q)
    found = estimate_clean_posterior(noisy, q)
    labels = np.arange(n_classes)
    for p in (found.prior, found.probabilities):
        assert log_loss(clean, p, labels=labels) < log_loss(clean, q, labels=labels)
    assert log_loss(clean, found.probabilities, labels=labels) < log_loss(clean, found.prior, labels=labels)
    wrong, is_wrong = 1 - found.probabilities[np.arange(noisy.size), noisy], noisy != clean
    plain = 1 - q[np.arange(noisy.size), noisy]
    assert log_loss(is_wrong, wrong) < log_loss(is_wrong, plain)
    assert wrong.mean() == pytest.approx(is_wrong.mean(), abs=0.06)
    edges = np.quantile(wrong, np.linspace(0, 1, 11))
    for low, high in itertools.pairwise(edges):
        some = (wrong >= low) & (wrong <= high)
        assert wrong[some].mean() == pytest.approx(is_wrong[some].mean(), abs=0.25)


def test_posterior_is_bayes_formula():
    p, codes = np.array([[0.7, 0.3], [0.2, 0.8], [1.0, 0.0]]), np.array([0, 1, 1])
    expected = [[0.63, 0.12], [0.02, 0.48], [0.1, 0.0]] / np.array([[0.75], [0.5], [0.1]])
    np.testing.assert_allclose(posterior(p, HIGH, codes), expected, atol=1e-12)


def test_mean_log_likelihood_by_hand():
    p, codes = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0, 1])
    labels = np.log([0.7 * 0.9 + 0.3 * 0.4, 0.2 * 0.1 + 0.8 * 0.6])
    assert mean_log_likelihood(p, HIGH, codes) == pytest.approx(labels.mean())
    assert mean_log_likelihood(p, HIGH, codes, np.array([1.0, 3.0])) == pytest.approx(labels @ [0.25, 0.75])
    impossible = mean_log_likelihood(np.eye(2), np.eye(2), np.array([1, 0]))
    assert -10 < impossible < np.log(1e-3)


def test_the_likelihood_prefers_better_probabilities():
    _, noisy, q = sample(HIGH, [0.7, 0.3], sharpness=4.0)
    p = q @ np.linalg.inv(HIGH)
    scores = [mean_log_likelihood(some, HIGH, noisy) for some in (p, blurred(p), np.full_like(p, 0.5))]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_maximises_the_penalised_likelihood(n_classes):
    """By a search without gradients, over the same parameters."""
    T = uniform(n_classes, 0.25)
    _, noisy, q = sample(T, np.full(n_classes, 1 / n_classes), sharpness=2.0, n=300)
    q, weight = blurred(q), np.random.default_rng(0).uniform(0.5, 1.5, 300)
    smallest = 2e-3 / n_classes
    corrected = 0.02 * np.logaddexp(0, q @ np.linalg.inv(T) / 0.02)
    corrected /= corrected.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum([q, corrected], smallest))

    def scaled(change):
        p = np.exp((1 + change[0]) * logs[0] + change[1] * logs[1] + change[2:])
        return p / p.sum(axis=1, keepdims=True)

    def loss(change):
        likelihood = (scaled(change) * T[:, noisy].T).sum(axis=1)
        return change @ change / (2 * 0.3**2) - weight @ np.log(likelihood)

    options = {"maxiter": 5_000, "maxfev": 20_000, "xatol": 1e-7, "fatol": 1e-10}
    best = minimize(loss, np.zeros(2 + n_classes), method="Nelder-Mead", options=options)
    np.testing.assert_allclose(calibrate(noisy, q, T, weight), scaled(best.x), atol=2e-3)


def test_calibration_of_many_rows():
    """More rows than are fitted are calibrated in the same way, block by block."""
    n = MAX_FITTED_ROWS + 20_000
    _, noisy, q = sample(LOW, [0.7, 0.3], n=n)
    p = calibrate(noisy, q, LOW, np.ones(n))
    assert p.shape == q.shape
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p, q @ np.linalg.inv(LOW), atol=0.05)


def test_probabilities_that_say_nothing():
    assert issubclass(IndistinctClassesError, ValueError)
    n_judged = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for n_classes in (2, 5):
            y = rng.integers(n_classes, size=300)
            with pytest.raises(IndistinctClassesError, match="do not distinguish the classes"):
                estimate_clean_posterior(y, np.full((300, n_classes), 1 / n_classes))
            with suppress(IndistinctClassesError):
                estimate_clean_posterior(y, rng.dirichlet(np.ones(n_classes), size=300))
                n_judged += 1
    assert n_judged <= 2  # of 40, by chance


def test_rows_of_weight_zero_do_not_count_and_the_scale_of_weights_does_not_matter():
    _, noisy, q = sample(HIGH, [0.7, 0.3], n=600)
    weighted = estimate_clean_posterior(noisy, q, np.where(np.arange(600) < 300, 1.0, 0.0))
    alone = estimate_clean_posterior(noisy[:300], q[:300])
    np.testing.assert_allclose(weighted.probabilities[:300], alone.probabilities, atol=1e-6)
    np.testing.assert_allclose(weighted.transition_matrix, alone.transition_matrix, atol=1e-12)
    for scale in (1e-6, 7.0, 1e9):
        scaled = estimate_clean_posterior(noisy, q, np.full(600, scale))
        plain = estimate_clean_posterior(noisy, q)
        np.testing.assert_allclose(scaled.probabilities, plain.probabilities, atol=1e-5)


def test_weights_are_repeated_rows():
    """Weights whose effective size is the number of rows that they stand for."""
    _, noisy, q = sample(LOW, [0.7, 0.3], n=2_000)
    n_copies = np.random.default_rng(0).integers(1, 3, 2_000)
    repeated = np.repeat(np.arange(2_000), n_copies)
    found = estimate_clean_posterior(noisy, q, n_copies.astype(float))
    copies = estimate_clean_posterior(noisy[repeated], q[repeated])
    np.testing.assert_allclose(found.transition_matrix, copies.transition_matrix, atol=0.01)
    np.testing.assert_allclose(found.probabilities[repeated], copies.probabilities, atol=0.03)


@pytest.mark.parametrize("tiny", [1e-300, 1e-30])
def test_negligible_weights(tiny):
    _, noisy, q = sample(LOW, [0.7, 0.3], n=500)
    weight = np.where(noisy == 0, 1.0, tiny)
    with pytest.raises(IndistinctClassesError):
        estimate_clean_posterior(noisy, q, weight)
    weight = np.where(np.arange(500) < 250, 1.0, tiny)
    found = estimate_clean_posterior(noisy, q, weight)
    alone = estimate_clean_posterior(noisy[:250], q[:250])
    np.testing.assert_allclose(found.probabilities[:250], alone.probabilities, atol=1e-6)


def test_soft_labels_leave_out_negligible_classes():
    p = np.array([[0.95, 0.03, 0.02], [0.5, 0.25, 0.25]])
    soft = CleanPosterior(p, p, np.eye(3), None, None).soft_labels()
    np.testing.assert_allclose(soft, [[95 / 98, 3 / 98, 0.0], [0.5, 0.25, 0.25]])
    assert p[0, 2] == 0.02


def test_many_classes_leave_each_row_a_label():
    """Of 50 classes that a row may have, none is more probable than 0.03."""
    p = np.full((1, 50), 0.02)
    soft = CleanPosterior(p, p, np.eye(50), None, None).soft_labels()
    np.testing.assert_allclose(soft.sum(axis=1), 1)
