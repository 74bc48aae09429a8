import dataclasses
import re

import numpy as np
import pytest
from scipy.special import expit, logit

from boostnoise import LabelErrors, find_label_errors
from boostnoise.label_noise.checked_labels import use_checked_labels

T3 = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])


def label_errors(y, p):
    """Estimates for labels 0 and 1 with probabilities p of being wrong."""
    clean = np.where(np.arange(2) == y[:, np.newaxis], 1 - p[:, np.newaxis], p[:, np.newaxis])
    T = np.array([[0.9, 0.1], [0.1, 0.9]])
    interval, q = (0.0, 1.0), np.full((y.size, 2), 0.5)
    return LabelErrors(
        np.arange(2), p, clean, np.argsort(-p), 1 - y, float(p.mean()), interval, 0.5, T, T, T, q
    )


def simulate(seed, n=3000):
    """Labels with known probabilities of being wrong, and estimates whose log odds are shifted."""
    rng = np.random.default_rng(seed)
    right = rng.integers(2, size=n)
    exact = rng.beta(0.2, 3, size=n)
    y = np.where(rng.random(n) < exact, 1 - right, right)
    p = expit(logit(np.clip(exact, 1e-3, 0.999)) + rng.normal())
    return right, y, label_errors(y, p)


def first(errors, rng):
    return errors.ranking[:50]


def random_rows(errors, rng):
    return rng.choice(errors.p_wrong.size, 200, replace=False)


def both(errors, rng):
    return np.union1d(first(errors, rng), random_rows(errors, rng))


@pytest.mark.release
@pytest.mark.parametrize("choose", [first, random_rows, both], ids=lambda choose: choose.__name__)
def test_intervals_cover_the_noise_rate(choose):
    covered, errors_before, errors_after = [], [], []
    for seed in range(30):
        right, y, errors = simulate(seed)
        rows = choose(errors, np.random.default_rng(seed))
        found = use_checked_labels(errors, y, rows, right[rows])
        low, high = found.noise_rate_interval
        rate = (y != right).mean()
        covered.append(low <= rate <= high)
        errors_before.append(abs(errors.noise_rate - rate))
        errors_after.append(abs(found.noise_rate - rate))
    assert np.mean(covered) >= 0.8
    assert np.mean(errors_after) < 0.6 * np.mean(errors_before)


def test_checks_of_the_first_rows_leave_a_wide_interval():
    rng = np.random.default_rng(0)
    estimated = np.concatenate([np.full(60, 0.3), np.full(2940, 0.02)])
    wrong = rng.random(3000) < np.where(estimated > 0.1, 0.95, 0.05)
    y = np.arange(3000) % 2
    errors = label_errors(y, estimated - 1e-6 * np.arange(3000))
    found = use_checked_labels(errors, y, np.arange(50), np.where(wrong, 1 - y, y)[:50])
    assert found.p_wrong[50:60].mean() > 0.7
    assert found.noise_rate == pytest.approx(wrong.mean(), abs=0.05)
    low, high = found.noise_rate_interval
    assert low < wrong.mean() < high
    assert high - low > 0.05


@pytest.mark.release
@pytest.mark.parametrize("choose", [random_rows, both], ids=lambda choose: choose.__name__)
def test_intervals_of_labels_cover_their_noise_rates(choose):
    covered, corrected = [], []
    for seed in range(30):
        right, y, errors = simulate(seed)
        rng = np.random.default_rng(seed)
        back = (y == 1) & (y != right) & (rng.random(y.size) < 0.6)  # wrong labels 1 are rarer than estimated
        y = np.where(back, right, y)
        rows = choose(errors, rng)
        found = use_checked_labels(errors, y, rows, right[rows])
        for label, (low, high) in enumerate(found.intervals_of_labels):
            rate = (y != right)[y == label].mean()
            covered.append(low <= rate <= high)
            corrected.append(found.p_wrong[y == label].mean() - rate)
    assert np.mean(covered) >= 0.8
    assert np.abs(np.mean(np.reshape(corrected, (30, 2)), axis=0)).max() < 0.02
    assert errors.intervals_of_labels is None


def test_the_interval_begins_with_the_labels_known_to_be_wrong():
    right, y, errors = simulate(0, n=300)
    errors = dataclasses.replace(errors, p_wrong=np.full(300, 1e-3))
    found = use_checked_labels(errors, y, np.arange(290), right[:290])
    assert found.noise_rate_interval[0] == (y != right)[:290].sum() / 300


def test_checked_rows_are_certain():
    right, y, errors = simulate(3)
    rows = np.array([5, 17, *errors.ranking[:40]])
    found = use_checked_labels(errors, y, rows, right[rows])
    wrong = y[rows] != right[rows]
    np.testing.assert_array_equal(found.p_wrong[rows], wrong)
    np.testing.assert_array_equal(found.suggested[rows[wrong]], right[rows[wrong]])
    np.testing.assert_array_equal(found.clean_probabilities[rows], np.eye(2)[right[rows]])
    np.testing.assert_allclose(found.clean_probabilities[np.arange(y.size), y], 1 - found.p_wrong)
    assert set(found.ranking[-rows.size :]) == set(rows)
    unchecked = found.ranking[: -rows.size]
    assert (np.diff(found.p_wrong[unchecked]) <= 0).all()
    assert found.noise_rate == pytest.approx(found.p_wrong.mean())
    assert found.noise_rate_interval[0] >= wrong.sum() / y.size


def test_with_all_rows_checked_the_noise_rate_is_exact():
    right, y, errors = simulate(4, n=300)
    found = use_checked_labels(errors, y, np.arange(300), right)
    rate = (y != right).mean()
    assert found.noise_rate == pytest.approx(rate)
    assert found.noise_rate_interval == pytest.approx((rate, rate))


def test_the_transition_matrix_of_checked_rows(draw_overlapping):
    right, y, p = draw_overlapping(T3, n=6000)
    names = np.array(["a", "b", "c"])
    errors = find_label_errors(names[y], p)
    rows = np.random.default_rng(0).choice(y.size, 3000, replace=False)
    found = use_checked_labels(errors, names[y], rows, names[right[rows]])
    np.testing.assert_allclose(found.transition_matrix.sum(axis=1), 1)
    np.testing.assert_allclose(found.transition_matrix, T3, atol=0.05)


@pytest.mark.parametrize(
    ("rows", "right", "message"),
    [
        ([], [], "no row is checked"),
        ([1, 2], [0], "vectors of one length"),
        ([3000], [0], "whole numbers from 0 to 2999, got 3000"),
        ([-1], [0], "whole numbers from 0 to 2999"),
        (["a"], [0], "whole numbers from 0 to 2999"),
        ([4, 4], [0, 1], "row 4 is checked more than once"),
        ([4], [7], "must be labels of the data (0, 1), got 7 for row 4"),
    ],
)
def test_bad_rows_and_labels(rows, right, message):
    _, y, errors = simulate(0)
    with pytest.raises(ValueError, match=re.escape(message)):
        use_checked_labels(errors, y, rows, right)
