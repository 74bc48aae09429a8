import math

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.stats.power import TTestPower

from boostnoise.eval.statistics.power import repeats_needed, smallest_difference


@pytest.mark.parametrize(
    ("n", "alpha", "power"),
    [(3, 0.05, 0.8), (10, 0.05, 0.8), (40, 0.05, 0.8), (10, 0.01, 0.9), (40, 0.01, 0.9)],
)
def test_independent_repeats_are_students_test(n, alpha, power):
    found = smallest_difference(2.0, n, alpha=alpha, power=power)
    assert TTestPower().power(found / 2, n, alpha) == pytest.approx(power, abs=1e-5)


@pytest.mark.parametrize("fraction", [None, 0.2])
def test_the_share_of_significant_tests(fraction):
    """Simulated repeats whose means vary as the correction assumes."""
    n, sd, rng = 8, 0.02, np.random.default_rng(0)
    shared = 0 if fraction is None else fraction / (1 - fraction)
    difference = smallest_difference(sd, n, fraction)
    mean = rng.normal(difference, sd * math.sqrt(shared), 20_000)
    values = rng.normal(mean[:, np.newaxis], sd, (20_000, n))
    t = values.mean(axis=1) / (values.std(axis=1, ddof=1) * math.sqrt(1 / n + shared))
    assert np.mean(t > student.ppf(0.975, n - 1)) == pytest.approx(0.8, abs=0.02)


def test_more_repeats_show_less_but_not_everything():
    sizes = [smallest_difference(0.01, n, 0.2) for n in (2, 3, 10, 100, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 2.8 * 0.01 * math.sqrt(0.25)  # two quantiles, 1.96 and 0.84
    assert repeats_needed(0.01, 0.01, 0.2) is None
    assert repeats_needed(0.01, 0.01) < 20


@pytest.mark.parametrize(
    ("sd", "difference", "fraction"), [(0.01, 0.02, 0.2), (0.02, 0.01, None), (0.01, 0.5, 0.5)]
)
def test_the_smallest_number_of_repeats(sd, difference, fraction):
    n = repeats_needed(sd, difference, fraction)
    assert smallest_difference(sd, n, fraction) <= difference
    assert n == 3 or smallest_difference(sd, n - 1, fraction) > difference


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_difference(1, 1), "n_repeats must be at least 2, got 1"),
        (lambda: smallest_difference(1, 3, 1.0), "test_fraction"),
        (lambda: smallest_difference(1, 3, alpha=0), "alpha"),
        (lambda: smallest_difference(1, 3, power=1), "power"),
        (lambda: repeats_needed(1, 0), "difference must be above 0, got 0"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call()
