import itertools

import mpmath
import numpy as np
import pytest

from robust_splits import Gini, Misclassification, Twoing
from robust_splits.bounds import (
    gain_order_failure_probability,
    majority_retention_probability,
    min_leaf_samples,
)

CASES = [
    (noise_rate, margin, n_classes, delta)
    for n_classes, noise_rates in [(2, (0.0, 0.1, 0.45, 0.499)), (3, (0.2, 0.6)), (10, (0.0, 0.5, 0.89))]
    for noise_rate, margin, delta in itertools.product(noise_rates, (1.0, 0.3, 0.01), (0.5, 0.05, 1e-9))
]


def exact_gamma(noise_rate, margin, n_classes):
    return (1 - n_classes * mpmath.mpf(noise_rate) / (n_classes - 1)) * mpmath.mpf(margin)


@pytest.mark.parametrize("n", [1, 30, 10_000])
def test_retention_agrees_with_exact_arithmetic(n):
    with mpmath.workdps(50):
        for noise_rate, margin, n_classes, _ in CASES:
            gamma = exact_gamma(noise_rate, margin, n_classes)
            expected = max(0, 1 - (n_classes - 1) * mpmath.exp(-n * gamma**2 / 2))
            bound = majority_retention_probability(n, noise_rate, margin, n_classes)
            assert bound == pytest.approx(float(expected), rel=1e-10, abs=1e-14)


def test_leaf_samples_agree_with_exact_arithmetic():
    with mpmath.workdps(50):
        for noise_rate, margin, n_classes, delta in CASES:
            gamma = exact_gamma(noise_rate, margin, n_classes)
            expected = mpmath.ceil(2 / gamma**2 * mpmath.log((n_classes - 1) / mpmath.mpf(delta)))
            assert min_leaf_samples(noise_rate, margin, n_classes, delta) == int(expected)


@pytest.mark.parametrize(
    ("criterion", "c", "d"), [("gini", 12, 72), ("misclassification", 12, 18), ("twoing", 8, 2)]
)
def test_gain_order_agrees_with_exact_arithmetic(criterion, c, d):
    for n, noise_rate, difference in itertools.product(
        (1, 10_000, 10**6), (0.0, 0.2, 0.45, 0.7, 1.0), (0.5, 0.1, 0.01)
    ):
        expected = min(1, c * mpmath.exp(-n * difference**2 * (1 - 2 * noise_rate) ** 2 / d))
        bound = gain_order_failure_probability(n, noise_rate, difference, criterion)
        assert bound == pytest.approx(float(expected), rel=1e-10)


def draw_noisy_counts(rng, counts, noise_rate, size):
    """Counts of the noisy labels, of shape (size, n_classes)."""
    n_classes = len(counts)
    transition = np.full((n_classes, n_classes), noise_rate / (n_classes - 1))
    np.fill_diagonal(transition, 1 - noise_rate)
    return sum(rng.multinomial(count, row, size) for count, row in zip(counts, transition, strict=True))


@pytest.mark.parametrize(
    ("counts", "noise_rate"),
    [
        ([12, 0], 0.2),
        ([30, 20], 0.1),
        ([60, 40], 0.1),
        ([150, 0], 0.4),
        ([40, 20, 20], 0.1),
        ([60, 5, 5, 0, 0], 0.5),
    ],
)
def test_the_majority_stays_as_often_as_the_bound_says(counts, noise_rate):
    noisy = draw_noisy_counts(np.random.default_rng(0), counts, noise_rate, 20_000)
    retained = (noisy[:, :1] > noisy[:, 1:]).all(axis=1).mean()
    margin = (counts[0] - max(counts[1:])) / sum(counts)
    bound = majority_retention_probability(sum(counts), noise_rate, margin, len(counts))
    assert 0 < bound <= retained


@pytest.mark.parametrize(
    ("name", "criterion"),
    [("gini", Gini()), ("misclassification", Misclassification()), ("twoing", Twoing())],
)
@pytest.mark.parametrize("noise_rate", [0.0, 0.1, 0.3, 0.8])
def test_the_order_of_splits_fails_no_more_often_than_the_bound_says(noise_rate, name, criterion):
    # Two features of two values make four cells.
    clean = [[900, 9100], [2000, 8000], [8000, 2000], [9100, 900]]
    rng = np.random.default_rng(0)
    noisy = np.stack([draw_noisy_counts(rng, cell, noise_rate, 300) for cell in clean], axis=1)

    def gain_difference(cells):
        a, b, c, d = np.asarray(cells)
        return criterion.gain(a + b, c + d) - criterion.gain(a + c, b + d)

    bound = gain_order_failure_probability(40_000, noise_rate, gain_difference(clean), name)
    assert np.mean([gain_difference(cells) <= 0 for cells in noisy]) <= bound < 1


def test_huge_and_tiny_arguments():
    most = np.iinfo(np.int64).max
    assert majority_retention_probability(most, 0.0, 1.0) == 1
    assert majority_retention_probability(1, 0.0, 1e-300, 10**18) == 0
    assert gain_order_failure_probability(most, 0.0, 0.5) == 0
    assert gain_order_failure_probability(1, 0.0, 1e-300) == 1
    assert min_leaf_samples(0.0, delta=np.nextafter(1, 0)) == 1
    assert min_leaf_samples(0.0, delta=5e-324) == 1489
    assert 10**18 < min_leaf_samples(0.0, margin=2e-9) < most


@pytest.mark.parametrize("margin", [1e-9, 1e-200, 5e-324])
def test_a_number_of_samples_beyond_64_bits_is_refused(margin):
    with pytest.raises(
        ValueError, match=r"noise_rate 0\.4 and margin .* need more than 9223372036854775807 samples"
    ):
        min_leaf_samples(0.4, margin)


def test_numpy_numbers_are_numbers():
    n = min_leaf_samples(np.float32(0.25), np.int64(1), np.int8(3), np.float64(0.1))
    assert type(n) is int
    assert n == min_leaf_samples(0.25, 1.0, 3, 0.1)
    assert majority_retention_probability(np.uint8(200), 0.25, 1, np.int8(3)) == majority_retention_probability(
        200, 0.25, 1.0, 3
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"noise_rate": 0.5, "margin": 0.5}, ValueError, r"noise_rate must be a number in \[0, 0\.5\), got 0\.5"),
        ({"noise_rate": 0.5, "difference": 0.1}, ValueError, r"noise_rate must not be 0\.5"),
        ({"noise_rate": 2 / 3, "n_classes": 3}, ValueError, r"noise_rate must be a number in \[0, 0\.666667\), got 0\.66"),
        ({"noise_rate": "0.1"}, TypeError, r"noise_rate .* got '0\.1'"),
        ({"margin": 0.0}, ValueError, r"margin must be a number in \(0, 1\], got 0\.0"),
        ({"n_classes": 1}, ValueError, r"n_classes must be an integer in \[2, 9223372036854775807\], got 1"),
        ({"n_classes": 2.0}, TypeError, r"n_classes .* got 2\.0"),
        ({"delta": 0.0}, ValueError, r"delta must be a number in \(0, 1\), got 0\.0"),
        ({"delta": 1}, ValueError, r"delta .* got 1"),
        ({"n": 0}, ValueError, r"n must be an integer in \[1, 9223372036854775807\], got 0"),
        ({"n": 2**63}, ValueError, r"n must be .* got 9223372036854775808"),
        ({"n": 5.0}, TypeError, r"n must be .* got 5\.0"),
        ({"difference": 0.0}, ValueError, r"difference must be a number in \(0, 0\.5\], got 0\.0"),
        ({"criterion": "entropy"}, ValueError, r"criterion must be one of gini, .*, twoing, got 'entropy'"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(change, error, message):
    functions = [
        (majority_retention_probability, {"n": 10, "noise_rate": 0.1, "margin": 0.5, "n_classes": 2}),
        (min_leaf_samples, {"noise_rate": 0.1, "margin": 0.5, "n_classes": 2, "delta": 0.05}),
        (gain_order_failure_probability, {"n": 10, "noise_rate": 0.1, "difference": 0.1, "criterion": "gini"}),
    ]
    taking = [(function, good | change) for function, good in functions if change.keys() <= good.keys()]
    assert taking
    for function, arguments in taking:
        with pytest.raises(error, match=message):
            function(**arguments)
