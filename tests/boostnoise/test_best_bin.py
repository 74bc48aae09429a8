import numpy as np
import pytest

from boostnoise import estimate_transition_matrix
from boostnoise.best_bin import SIZES, BestBin, find_best_bin

T3 = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])


def draw(T, n=30_000, sharpness=6.0, seed=0):
    """Clean labels of classes that overlap, noisy labels, and the probabilities of the noisy labels."""
    rng = np.random.default_rng(seed)
    logits = sharpness * rng.normal(size=(n, len(T)))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    clean = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    y = (rng.random(n)[:, None] > np.cumsum(T, axis=1)[clean][:, :-1]).sum(axis=1)
    return clean, y, p @ T


def test_the_bins_by_hand():
    """Row by row, for all sizes."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1.0, 1.0, 1.0], size=200)
    y = (rng.random(200)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    bounds = []
    for size in SIZES:
        rate = variance = 0.0
        for i in range(3):
            n_rows = int(np.ceil(size * (y == i).sum() - 1e-9))
            wrong = (y[np.argsort(-p[:, i], kind="stable")[:n_rows]] != i).mean()
            rate += (y == i).mean() * wrong
            variance += (y == i).mean() ** 2 * (wrong * (1 - wrong) + 0.25 / n_rows) / n_rows
        bounds.append((rate + 2 * np.sqrt(variance), rate, size))
    _, rate, size = min(bounds)
    mixed = bounds[-1][1] * (1 - bounds[-1][1])  # in the largest bins
    n_rows = np.ceil(size * np.bincount(y) - 1e-9)
    error = np.sqrt((np.bincount(y) / 200) ** 2 @ ((mixed + 0.25 / n_rows) / n_rows))
    best = find_best_bin(y, p, np.ones(200))
    assert (best.noise_rate, best.standard_error, best.size) == pytest.approx((rate, error, size))
    top = np.argsort(-p[:, 2], kind="stable")[: int(np.ceil(size * (y == 2).sum() - 1e-9))]
    np.testing.assert_array_equal(best.counts[2], np.bincount(y[top], minlength=3))


@pytest.mark.parametrize("sharpness", [6.0, 30.0])
def test_known_noise_is_recovered(sharpness):
    _, y, p = draw(T3, sharpness=sharpness)
    found = estimate_transition_matrix(y, p, "best_bin")
    np.testing.assert_allclose(found, T3, atol=0.035)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1, 0.3])
def test_overlap_is_not_taken_for_noise(rate):
    T = np.array([[1 - rate, rate], [rate, 1 - rate]])
    _, y, p = draw(T, sharpness=3.0)
    best = find_best_bin(y, p, np.ones(y.size))
    assert best.noise_rate == pytest.approx(rate, abs=0.02)
    assert (p.argmax(axis=1) != y).mean() > rate + 0.05  # the most probable label is often another one
    confident = estimate_transition_matrix(y, p, "confident_joint")
    assert 1 - np.diag(confident).mean() > rate + 0.02


def test_rows_shrink_to_one_another():
    def matrix(counts, overlap=0.0, weight=0.0):
        counts = np.asarray(counts, dtype=float)
        return BestBin(counts, np.full(len(counts), overlap), 1.0, 0.1, 0.01).transition_matrix(weight)

    same = matrix([[90, 10], [9, 91]])  # differ by less than chance
    assert same[0, 1] == pytest.approx(same[1, 0])
    far = matrix([[900, 100], [300, 700]])
    np.testing.assert_allclose(far, [[0.9, 0.1], [0.3, 0.7]], atol=0.003)
    unsure = matrix([[900, 100], [300, 700]], overlap=0.4, weight=0.5)
    assert unsure[0, 1] == pytest.approx(unsure[1, 0], abs=1e-6)
    to_one = matrix([[80, 20, 0], [0, 80, 20], [20, 0, 80]])
    np.testing.assert_allclose(to_one[0], [0.8, 0.18, 0.02], atol=1e-9)
    np.testing.assert_array_equal(matrix([[50, 0], [0, 50]]), np.eye(2))


def test_weights_are_equivalent_to_repeated_rows():
    rng = np.random.default_rng(0)
    _, y, p = draw(T3, n=300)
    copies = rng.integers(1, 4, size=300)
    best = find_best_bin(y, p, copies.astype(float))
    repeated = find_best_bin(np.repeat(y, copies), np.repeat(p, copies, axis=0), np.ones(copies.sum()))
    assert best.size == repeated.size
    # A bin ends with the last copy of a row.
    np.testing.assert_allclose(best.counts, repeated.counts, atol=2)
