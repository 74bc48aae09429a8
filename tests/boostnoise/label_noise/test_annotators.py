import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from boostnoise.label_noise import annotators
from boostnoise.label_noise.annotators import estimate_annotator_errors, resample_rates

RATES = np.array([[0.05, 0.25], [0.2, 0.1]])  # of each annotator, in each class


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(annotators, "RESAMPLES", 40)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def draw(n, rng, rates=RATES):
    """Overlapping classes, their probabilities, and labels of annotators who err independently."""
    p = rng.beta(0.5, 0.5, size=n)
    y = (rng.random(n) < p).astype(int)
    labels = np.array([np.where(rng.random(n) < rate[y], 1 - y, y) for rate in rates]).T
    return np.column_stack([1 - p, p]), y, labels


def test_two_annotators_are_found_where_classes_overlap(rng):
    q, y, labels = draw(20_000, rng)
    errors = estimate_annotator_errors(labels, q, np.full(y.size, -1))
    np.testing.assert_allclose(errors.rates[:, 1:], RATES, atol=0.03)
    np.testing.assert_allclose(errors.rates[:, 0], (labels != y[:, np.newaxis]).mean(axis=0), atol=0.02)
    assert np.abs(errors.posterior[:, 1].mean() - y.mean()) < 0.02
    assert np.log(errors.posterior[np.arange(y.size), y]).mean() > -0.2


def test_the_estimate_maximises_the_likelihood(rng):
    q, y, labels = draw(2000, rng)
    errors = estimate_annotator_errors(labels, q, np.full(y.size, -1))

    def loss(values):
        """The negative log posterior, written out for two classes and two annotators."""
        rates, power, offsets = 1 / (1 + np.exp(-values[:4])).reshape(2, 2), values[4], values[5:]
        p = softmax(power * np.log(np.maximum(q, 1e-3)) + offsets, axis=1)
        for a in range(2):
            right = labels[:, [a]] == np.arange(2)
            p = p * np.where(right, 1 - rates[a], rates[a])
        return -np.log(p.sum(axis=1)).sum() + (power - 1) ** 2 / 2 + (offsets**2).sum() / 8

    best = minimize(loss, np.concatenate([np.full(4, -2.0), [1.0, 0.0, 0.0]])).x
    np.testing.assert_allclose(errors.rates[:, 1:], 1 / (1 + np.exp(-best[:4])).reshape(2, 2), atol=0.005)


def test_checked_rows_weigh_the_annotators(rng):
    """Without features, only checked rows tell which of two annotators is right."""
    _, y, labels = draw(4000, rng)
    none = np.full((y.size, 2), 0.5)
    right = np.full(y.size, -1)
    right[:500] = y[:500]
    errors = estimate_annotator_errors(labels, none, right)
    np.testing.assert_allclose(errors.rates[:, 1:], RATES, atol=0.05)
    np.testing.assert_array_equal(errors.posterior[:500].argmax(axis=1), y[:500])


def test_missing_labels_are_left_out(rng):
    q, y, labels = draw(5000, rng)
    labels[::2, 0] = -1
    errors = estimate_annotator_errors(labels, q, np.full(y.size, -1))
    np.testing.assert_allclose(errors.rates[:, 1:], RATES, atol=0.05)


@pytest.mark.release
def test_intervals_hold_the_rates_in_repeated_samples():
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q, y, labels = draw(500, rng)
        none = np.full(y.size, -1)
        errors = estimate_annotator_errors(labels, q, none)
        sample = resample_rates(errors, labels, q, none, None, seed)
        error = np.sqrt(sample.variance(sample.rates))
        held.append(np.abs(errors.rates[:, 1:] - RATES) < 2 * error[:, 1:])
    assert 0.85 <= np.mean(held) <= 1.0


def test_the_variance_of_samples_of_large_data(rng, monkeypatch):
    """Samples of a quarter of the rows vary by four times as much."""
    q, y, labels = draw(2000, rng)
    none = np.full(y.size, -1)
    errors = estimate_annotator_errors(labels, q, none)
    whole = resample_rates(errors, labels, q, none, None, 0)
    monkeypatch.setattr(annotators, "MAX_RESAMPLED", 500)
    quarter = resample_rates(errors, labels, q, none, None, 0)
    ratio = quarter.variance(quarter.rates).mean() / whole.variance(whole.rates).mean()
    assert ratio == pytest.approx(1, abs=0.4)


def test_copies_in_groups_tell_nothing_new(rng):
    copies = 3
    q, y, labels = draw(300, rng)
    errors = estimate_annotator_errors(labels, q, np.full(y.size, -1))
    groups = np.repeat(np.arange(y.size), copies)
    copied, copied_q = np.repeat(labels, copies, axis=0), np.repeat(q, copies, axis=0)
    sample = resample_rates(errors, copied, copied_q, np.full(groups.size, -1), groups, 0)
    alone = resample_rates(errors, labels, q, np.full(y.size, -1), None, 0)
    ratio = sample.variance(sample.rates).mean() / alone.variance(alone.rates).mean()
    assert ratio == pytest.approx(1, abs=0.4)
