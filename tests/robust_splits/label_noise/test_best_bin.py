import numpy as np
import pytest

from boostnoise import estimate_transition_matrix
from robust_splits.label_noise.best_bin import SIZES, BestBins, find_best_bins

T3 = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])


def bin_by_hand(y, certainty, size):
    """Numbers of the labels of the rows with the highest certainties; the last ties enter in part."""
    counts, left = np.zeros(y.max() + 1), float(size)
    for value in np.unique(certainty)[::-1]:
        tied = np.bincount(y[certainty == value], minlength=counts.size)
        taken = min(left, tied.sum())
        counts += taken * tied / tied.sum()
        left -= taken
    return counts


@pytest.mark.parametrize("decimals", [8, 1])
def test_bins_agree_with_a_count_by_hand(decimals):
    """For all sizes; with probabilities of one decimal, most rows are tied."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1.0, 1.0, 1.0], size=200).round(decimals)
    y = (rng.random(200)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    sizes = SIZES[:, None] * np.bincount(y)
    counts = np.array([[bin_by_hand(y, p[:, i], size[i]) for i in range(3)] for size in sizes])
    rates, errors = [], []
    for size, in_bins in zip(sizes, counts, strict=True):
        wrong = 1 - np.diag(in_bins) / size
        rates.append(np.bincount(y) / 200 @ wrong)
        errors.append(np.sqrt((np.bincount(y) / 200) ** 2 @ ((wrong * (1 - wrong) + 1.0 / size) / size)))
    bounds = np.array(rates) + 2 * np.array(errors)
    weights = np.exp(-3 * (bounds - bounds.min()) / errors)
    mixed = rates[-1] * (1 - rates[-1])  # in the largest bins
    size = sizes[bounds.argmin()]
    error = np.sqrt(((mixed + 0.25 / size) / size) @ (np.bincount(y) / 200) ** 2)
    best = find_best_bins(y, p, np.ones(200))
    np.testing.assert_allclose(best.counts, counts)
    np.testing.assert_allclose(best.weights, weights / weights.sum())
    assert best.noise_rate == pytest.approx(np.average(rates, weights=weights))
    assert best.standard_error == pytest.approx(error)


@pytest.mark.parametrize("sharpness", [6.0, 30.0])
def test_known_noise_is_recovered(sharpness, draw_overlapping):
    _, y, p = draw_overlapping(T3, sharpness=sharpness)
    found = estimate_transition_matrix(y, p, "best_bin")
    np.testing.assert_allclose(found, T3, atol=0.035)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1, 0.3])
def test_overlap_is_not_taken_for_noise(rate, draw_overlapping):
    T = np.array([[1 - rate, rate], [rate, 1 - rate]])
    _, y, p = draw_overlapping(T, sharpness=3.0)
    best = find_best_bins(y, p, np.ones(y.size))
    assert best.noise_rate == pytest.approx(rate, abs=0.02)
    assert (p.argmax(axis=1) != y).mean() > rate + 0.05  # the most probable label is often another one
    confident = estimate_transition_matrix(y, p, "confident_joint")
    assert 1 - np.diag(confident).mean() > rate + 0.02


def test_rows_shrink_to_one_another():
    def matrix(counts):
        return BestBins(np.array([counts], dtype=float), np.ones(1), 0.1, 0.01).transition_matrix()

    same = matrix([[90, 10], [9, 91]])  # differ by less than chance
    assert same[0, 1] == pytest.approx(same[1, 0])
    far = matrix([[900, 100], [300, 700]])
    np.testing.assert_allclose(far, [[0.9, 0.1], [0.3, 0.7]], atol=0.003)
    to_one = matrix([[80, 20, 0], [0, 80, 20], [20, 0, 80]])
    np.testing.assert_allclose(to_one[0], [0.8, 0.18, 0.02], atol=1e-9)
    np.testing.assert_array_equal(matrix([[50, 0], [0, 50]]), np.eye(2))


def test_rates_shrink_by_the_formula_of_dersimonian_and_laird():
    wrong, size = np.array([10.0, 20.0, 36.0]), np.array([100.0, 150.0, 100.0])
    counts = np.diag(size - wrong) + (np.ones((3, 3)) - np.eye(3)) * wrong[:, None] / 2
    found = BestBins(counts[None], np.ones(1), 0.2, 0.01).transition_matrix()
    rates, mean = wrong / size, wrong.sum() / size.sum()
    w = 1 / ((mean * (1 - mean) + 0.25 / size) / size)
    centre = np.average(rates, weights=w)
    between = ((w * (rates - centre) ** 2).sum() - 2) / (w.sum() - (w**2).sum() / w.sum())
    np.testing.assert_allclose(1 - np.diag(found), (between * rates + centre / w) / (between + 1 / w))


def test_sizes_are_averaged():
    sizes = np.array([[[9.0, 1.0], [1.0, 9.0]], [[70.0, 30.0], [30.0, 70.0]]])
    found = BestBins(sizes, np.array([0.75, 0.25]), 0.15, 0.01).transition_matrix()
    np.testing.assert_allclose(found, [[0.85, 0.15], [0.15, 0.85]])


def test_the_order_of_tied_rows_does_not_count():
    """Neighbours and shallow trees give few probabilities, and labels are often sorted."""
    y = np.repeat([0, 1], [300, 200])
    p = np.where(y == 0, 0.8, 0.2)
    p[::10] = 1 - p[::10]  # a tenth of the labels is wrong
    sorted_rows = find_best_bins(y, np.c_[p, 1 - p], np.ones(y.size))
    order = np.random.default_rng(0).permutation(y.size)
    shuffled = find_best_bins(y[order], np.c_[p, 1 - p][order], np.ones(y.size))
    np.testing.assert_allclose(sorted_rows.counts, shuffled.counts)
    assert sorted_rows.noise_rate == pytest.approx(0.1, abs=0.02)
    constant = find_best_bins(y, np.full((y.size, 2), 0.5), np.ones(y.size))
    assert constant.noise_rate == pytest.approx(2 * 0.6 * 0.4)  # as by chance


@pytest.mark.parametrize("n", [160, 400])
def test_few_rows_without_other_labels_are_no_proof_of_clean_labels(n):
    """Classes far apart, with 9 % of the labels wrong: over sixty draws."""
    found, rates = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        right = np.arange(n) % 2
        wrong = rng.random(n) < 0.09
        p = np.clip(np.where(right == 1, 0.9, 0.1) + rng.normal(scale=0.02, size=n), 0, 1)
        rates.append(wrong.mean())
        found.append(find_best_bins(right ^ wrong, np.c_[1 - p, p], np.ones(n)).noise_rate)
    assert np.abs(np.subtract(found, rates)).mean() < 0.03
    assert (np.array(found) < 0.01).mean() <= 0.1
