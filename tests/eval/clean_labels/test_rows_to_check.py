import numpy as np
import pytest

from boostnoise.eval.clean_labels.checked_sample import CheckedSample
from boostnoise.eval.clean_labels.measures import Predicted
from boostnoise.eval.clean_labels.rows_to_check import doubt, draw_rows, inclusion_probabilities


def test_rows_are_drawn_with_their_probabilities():
    doubts = np.random.default_rng(0).lognormal(size=60)
    doubts /= doubts.mean()
    order = np.arange(60) % 3
    counts, stated = np.zeros(60), np.zeros(60)
    for seed in range(2000):
        rows, p = draw_rows(doubts, order, 12, np.random.default_rng(seed))
        assert np.unique(rows).size == 12
        counts[rows] += 1
        stated[rows] = p
    np.testing.assert_allclose(counts / 2000, stated, atol=0.04)
    assert stated.sum() == pytest.approx(12)
    assert np.corrcoef(stated, doubts)[0, 1] > 0.99


def test_probabilities_above_one_are_certain():
    sizes = np.array([100.0, 50.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(inclusion_probabilities(sizes, 3), [1, 1, 0.25, 0.25, 0.25, 0.25])
    np.testing.assert_allclose(inclusion_probabilities(sizes, 6), np.ones(6))
    rows, p = draw_rows(sizes / sizes.mean(), np.zeros(6), 6, np.random.default_rng(0))
    assert sorted(rows) == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(p, 1)


def test_doubt():
    """Rows in doubt, and those that separate two models; not rows of which all is known."""
    p = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.9, 0.1]])
    same = Predicted(np.array([0, 0, 0, 0]), None, 2)
    other = Predicted(np.array([0, 1, 0, 0]), None, 2)
    of_both = doubt([same, other], p)
    assert of_both.mean() == pytest.approx(1)
    assert of_both[1] > of_both[0] > of_both[3] > of_both[2] == 0
    np.testing.assert_array_equal(doubt([same], np.eye(2)[[0, 0, 0, 0]]), np.ones(4))


def test_weights_estimate_totals_in_each_round():
    values = np.random.default_rng(1).normal(size=40)
    estimates = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        chosen = np.array([7, 8])
        left = np.setdiff1d(np.arange(40), chosen)
        first = rng.choice(left, 6, replace=False)
        rest = np.setdiff1d(left, first)
        second = rng.choice(rest, 12, replace=False)
        sample = CheckedSample(
            np.concatenate([chosen, first, second]),
            np.zeros(20, dtype=int),
            np.repeat([1, 6 / 38, 12 / 32], [2, 6, 12]),
            np.repeat([0, 1, 2], [2, 6, 12]),
        )
        weights = sample.weights(40)
        assert weights.sum() == pytest.approx(40)
        estimates.append(weights @ values[sample.rows])
    assert np.mean(estimates) == pytest.approx(values.sum(), abs=4 * np.std(estimates) / np.sqrt(1000))


def test_checked_rows_among_some():
    sample = CheckedSample(
        np.array([5, 2, 9]), np.array([1, 0, 1]), np.array([0.5, 1, 0.2]), np.array([1, 0, 2])
    )
    part = sample.among(np.array([9, 5, 4]))
    np.testing.assert_array_equal(part.rows, [1, 0])
    np.testing.assert_array_equal(part.codes, [1, 1])
    np.testing.assert_array_equal(part.probabilities, [0.5, 0.2])
    np.testing.assert_array_equal(part.is_random, [True, True])
