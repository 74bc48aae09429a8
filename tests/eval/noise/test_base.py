"""Properties of all kinds of noise."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_digits

from boostnoise.eval import (
    ByClassNoise,
    ClassConditionalNoise,
    GivenNoise,
    InstanceDependentNoise,
    LabelNoise,
    MahalanobisNoise,
    PairFlipNoise,
    RowNoise,
    UniformNoise,
)

X, Y = load_digits(return_X_y=True)
TRAIN, TEST = np.arange(0, 1797, 2), np.arange(1, 1797, 2)
CYCLE = np.roll(np.eye(10), 3, axis=1)
GIVEN = np.where(np.arange(1797) % 5 == 0, (Y + 1) % 10, Y)
MATRIX_KINDS = [
    UniformNoise(0.3),
    PairFlipNoise(0.3),
    ByClassNoise(0.3),
    ClassConditionalNoise(0.6 * np.eye(10) + 0.4 * CYCLE),
    MahalanobisNoise(),
]
ROW_KINDS = [RowNoise(np.linspace(0.0, 0.6, 1797)), RowNoise(lambda X: np.minimum(X[:, 20], 16) / 32)]
DRAWN = [*MATRIX_KINDS, InstanceDependentNoise(0.3), InstanceDependentNoise(0.8), LabelNoise(0.3), *ROW_KINDS]
ALL = [*DRAWN, GivenNoise(GIVEN)]


def ids(noise):
    return f"{noise.kind} {getattr(noise, 'noise_rate', '')}"


@pytest.mark.parametrize("noise", ALL, ids=ids)
def test_flipped_marks_the_changed_labels(noise):
    noisy = noise.corrupt(Y, X, random_state=0)
    np.testing.assert_array_equal(noisy.flipped, noisy.labels != Y)
    assert noisy.realised_rate == noisy.flipped.mean() > 0.1
    assert set(noisy.labels) <= set(range(10))
    assert noisy.labels.dtype == Y.dtype


@pytest.mark.parametrize("noise", [n for n in DRAWN if n.kind != "label"], ids=ids)
def test_the_noise_rate_is_the_expectation_of_the_realised_rate(noise):
    # Rows are drawn independently, so the variance is at most that of a binomial with the mean rate.
    draws = [noise.corrupt(Y, X, random_state=seed) for seed in range(4)]
    flips = sum(int(draw.flipped.sum()) for draw in draws)
    assert len({draw.noise_rate for draw in draws}) == 1
    assert binomtest(flips, 4 * Y.size, draws[0].noise_rate).pvalue > 1e-3


@pytest.mark.parametrize("noise", MATRIX_KINDS, ids=ids)
def test_labels_are_drawn_from_the_transition_matrix(noise):
    T = noise.transition_matrix(Y, X)
    np.testing.assert_allclose(T.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (T >= 0).all()
    n_draws = 6
    counts = np.zeros((10, 10))
    for seed in range(n_draws):
        np.add.at(counts, (Y, noise.corrupt(Y, X, random_state=seed).labels), 1)
    for true, label in np.ndindex(10, 10):
        n = n_draws * int((true == Y).sum())
        # A hundred tests of one fixed draw: the bound is for the smallest p-value.
        assert binomtest(int(counts[true, label]), n, min(T[true, label], 1.0)).pvalue > 1e-5
    np.testing.assert_allclose(noise.corrupt(Y, X).noise_rate, (1 - T[Y, Y]).mean(), rtol=1e-12)


@pytest.mark.parametrize("noise", ALL, ids=ids)
def test_training_labels_do_not_depend_on_noise_on(noise):
    split = (Y, TRAIN, TEST, X)
    (alone, clean), (both, noisy), (default, y_test) = (
        noise.corrupt_split(*split, random_state=3, noise_on=where) for where in ("train", "train+test", None)
    )
    np.testing.assert_array_equal(alone.labels, both.labels)
    np.testing.assert_array_equal(alone.labels, default.labels)
    np.testing.assert_array_equal(alone.flipped, alone.labels != Y[TRAIN])
    np.testing.assert_array_equal(clean, Y[TEST])
    assert 0.1 < (noisy != Y[TEST]).mean() < 0.9
    np.testing.assert_array_equal(y_test, noisy if noise.kind == "label" else clean)


@pytest.mark.parametrize("noise", DRAWN, ids=ids)
def test_draws_depend_on_the_seed_only(noise):
    first, again, other = (
        noise.corrupt_split(Y, TRAIN, TEST, X, random_state=seed, noise_on="train+test")
        for seed in ([1, 2], [1, 2], [1, 3])
    )
    for part, same, different in zip(first, again, other, strict=True):
        labels = [getattr(p, "labels", p) for p in (part, same, different)]
        np.testing.assert_array_equal(labels[0], labels[1])
        assert (labels[0] != labels[2]).any()


@pytest.mark.parametrize("noise", [n for n in ALL if not n.needs_features], ids=ids)
def test_features_are_ignored_unless_needed(noise):
    np.testing.assert_array_equal(
        noise.corrupt(Y, random_state=0).labels, noise.corrupt(Y, X, random_state=0).labels
    )


@pytest.mark.parametrize("noise", [n for n in ALL if n.needs_features], ids=ids)
def test_invalid_features(noise):
    with pytest.raises(ValueError, match=r"^X must be given"):
        noise.corrupt(Y)
    with pytest.raises(ValueError, match=r"^X must have shape \(1797, n_features\), got \(5, 64\)"):
        noise.corrupt(Y, X[:5])
    with pytest.raises(ValueError, match=r"^X must be finite"):
        noise.corrupt(Y, np.where(X > 15, np.nan, X))


@pytest.mark.parametrize("noise", ALL, ids=ids)
def test_training_labels_do_not_depend_on_test_rows(noise):
    other_X, other_y = X.copy(), Y.copy()
    other_X[TEST] = 1e3
    other_y[TEST] = 0
    first, _ = noise.corrupt_split(Y, TRAIN, TEST, X, random_state=0)
    second, _ = noise.corrupt_split(other_y, TRAIN, TEST, other_X, classes=np.arange(10), random_state=0)
    np.testing.assert_array_equal(first.labels, second.labels)


@pytest.mark.parametrize("noise", [UniformNoise(0.1), MahalanobisNoise(), LabelNoise(0.1)], ids=ids)
def test_invalid_labels(noise):
    with pytest.raises(ValueError, match=r"^classes must .* got \[1\]"):
        noise.corrupt([1, 1, 1], np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"^y contains the label 3"):
        noise.corrupt([1, 2, 3], np.ones((3, 1)), classes=[1, 2])
    with pytest.raises(ValueError, match=r"^y must be one-dimensional .* \(1, 2\)"):
        noise.corrupt([[1, 2]], np.ones((1, 1)))
    with pytest.raises(ValueError, match=r"^y must be .* non-empty, got shape \(0,\)"):
        noise.corrupt([], np.ones((0, 1)), classes=[0, 1])
    with pytest.raises(ValueError, match=r"noise_on must be one of train, train\+test, got 'test'"):
        noise.corrupt_split([0, 1], np.array([0]), np.array([1]), np.ones((2, 1)), noise_on="test")


@pytest.mark.parametrize("noise", MATRIX_KINDS[:3], ids=ids)
def test_noise_does_not_depend_on_labels_drawn_with_the_same_seed(noise):
    y = (np.random.default_rng(0).random(20_000) * 10).astype(int)
    flipped = noise.corrupt(y, random_state=0).flipped
    rates = 1 - np.diag(noise.transition_matrix(y))
    for label, rate in enumerate(rates):
        of_label = flipped[y == label]
        assert binomtest(int(of_label.sum()), of_label.size, rate).pvalue > 1e-3


def test_identities_are_distinct():
    pairs = [ClassConditionalNoise(pair) for pair in ([0.1, 0.3], [0.3, 0.1])]
    kinds = [*ALL, UniformNoise(0.4), GivenNoise(Y), *pairs]
    assert len({str(noise.identity) for noise in kinds}) == len(kinds)
    assert GivenNoise(GIVEN.tolist()).identity == GivenNoise(GIVEN).identity


@pytest.mark.parametrize(
    "make", [UniformNoise, ByClassNoise, PairFlipNoise, LabelNoise, InstanceDependentNoise, MahalanobisNoise]
)
@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "0.1", True, None])
def test_invalid_rates(make, rate):
    with pytest.raises(ValueError, match=rf"noise_rate of {make.__name__} must be a number in \[0, "):
        make(rate)
