import numpy as np
import pytest

from boostnoise.boosting.learning_curve import (
    MAX_GROWING_RATE,
    MAX_TOTAL,
    MIN_TOTAL,
    LearningCurve,
    Schedule,
    alternating,
    first_values,
    growing_rates,
    pool_curves,
)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_rates_grow_with_the_length(block):
    rates, totals = growing_rates(30, block)
    assert totals.size == len(rates) * block
    np.testing.assert_allclose(totals, np.cumsum(np.repeat(rates, block)))
    assert totals[-1] >= MAX_TOTAL > totals[-1 - block]
    assert (rates[0], max(rates)) == (MIN_TOTAL / 30, MAX_GROWING_RATE)
    at_start = np.append(0, totals[block - 1 :: block])[:-1]
    np.testing.assert_allclose(rates, np.clip(at_start / 30, MIN_TOTAL / 30, MAX_GROWING_RATE))


def test_a_schedule_changes_parameters_after_each_block():
    schedule = Schedule({"max_depth": (2, 4, 6), "min_child_weight": (1, 4, 4)}, 2, (0.1, 0.2, 0.3, 0.3))
    found = [schedule.changes(done) for done in range(8)]
    assert found[1::2] == [{}] * 4
    assert found[::2] == [
        {},  # training starts with the first values
        {"max_depth": 4, "min_child_weight": 4, "learning_rate": 0.2},
        {"max_depth": 6, "learning_rate": 0.3},
        {"max_depth": 2, "min_child_weight": 1},
    ]
    assert Schedule({}, 1).changes(3) == {}


def test_curves_are_pooled_up_to_the_end_of_the_shortest():
    np.testing.assert_array_equal(pool_curves([[3.0, 2.0, 4.0], [1.0, 5.0]]), [[3, 2], [1, 5]])


def test_alternating_and_first_values():
    params = {"max_depth": (2, 4), "subsample": 0.5}
    assert alternating(params) == {"max_depth": (2, 4)}
    assert first_values(params) == {"max_depth": 2, "subsample": 0.5}


@pytest.mark.parametrize(("best", "last"), [(0.3, 2 * MIN_TOTAL), (MIN_TOTAL, 2 * MIN_TOTAL), (5.0, 10.0)])
def test_a_curve_is_recorded_up_to_twice_its_best_length(best, last):
    totals = np.arange(1, 1000) * 0.05
    curve = LearningCurve(totals)
    recorded = next(total for total in totals if curve.record((total - best) ** 2))
    assert recorded == pytest.approx(last + 0.05)
    assert len(curve.losses) == pytest.approx(recorded / 0.05)
