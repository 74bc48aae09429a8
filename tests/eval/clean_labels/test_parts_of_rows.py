import numpy as np
import pytest

from boostnoise.eval.clean_labels.checked_sample import CheckedSample
from boostnoise.eval.clean_labels.parts_of_rows import precision_of_part, recall_of_part
from boostnoise.eval.clean_labels.prediction_powered import PredictionPowered
from boostnoise.eval.clean_labels.without_checked_rows import Scenarios

N = 400
FIRST = np.arange(N) < 100
NO_IDEA = np.full((N, 2), 0.5)


def inference(rows, y, p=NO_IDEA):
    """From checked rows drawn at random."""
    sample = CheckedSample(rows, y[rows], np.full(rows.size, 0.25), np.ones(rows.size, int))
    return PredictionPowered(p, sample, 0.95)


def test_checked_rows_of_a_part_and_of_the_rest():
    rng = np.random.default_rng(0)
    y = (rng.random(N) < np.where(FIRST, 0.7, 0.3)).astype(int)
    rows = np.concatenate([rng.choice(100, 20, replace=False), 100 + rng.choice(300, 80, replace=False)])
    powered = inference(rows, y)
    inside, outside = y[rows[:20]].mean(), y[rows[20:]].mean()
    found = precision_of_part(powered, FIRST, 1)
    assert found.value == pytest.approx(inside)
    recall = recall_of_part(powered, FIRST, 1)
    assert recall.value == pytest.approx(inside / (inside + 3 * outside))
    rest = recall_of_part(powered, ~FIRST, 1)
    assert [1 - rest.value, 1 - rest.high, 1 - rest.low] == pytest.approx(
        [recall.value, recall.low, recall.high]
    )
    # The delta method for two independent samples, and their Wilson intervals nearly agree with it.
    variances = inside * (1 - inside) / 20, outside * (1 - outside) / 80
    odds_std = np.sqrt(variances[0] / inside**2 + variances[1] / outside**2)
    half = 1.96 * odds_std * recall.value * (1 - recall.value)
    assert (recall.high - recall.low) / 2 == pytest.approx(half, rel=0.15)
    everything = recall_of_part(powered, np.ones(N, bool), 1)
    assert (everything.low, everything.value, everything.high) == (1, 1, 1)


def test_without_checked_rows_in_the_part():
    y = np.tile([0, 1], N // 2)
    powered = inference(100 + np.arange(0, 300, 3), y)
    found = precision_of_part(powered, FIRST, 1)
    assert (found.value, found.low, found.high) == (0.5, 0, 1)
    recall = recall_of_part(powered, FIRST, 1)
    assert recall.low == 0
    assert recall.high > 1 / (1 + 3 * 0.5)  # if all of the part were of the class


def test_no_drawn_row_of_the_class():
    rows, y = np.arange(0, N, 4), (~FIRST).astype(int)
    p = np.tile([0.7, 0.3], (N, 1))
    p[rows] = np.where(FIRST[rows, np.newaxis], [0.9, 0.1], [0.5, 0.5])
    powered = inference(rows, y, p)
    found = precision_of_part(powered, FIRST, 1)
    assert found.low == 0 < found.value < found.high
    recall = recall_of_part(powered, ~FIRST, 1)
    assert recall.low < recall.value < recall.high == 1


def test_scenarios():
    least, most = NO_IDEA, np.eye(2)[FIRST.astype(int)]
    scenarios = Scenarios([least, most], 0, 0.95)
    found = precision_of_part(scenarios, FIRST, 1)
    assert (found.value, found.high) == (0.5, 1)
    assert found.low == pytest.approx(0.5 - 1.96 * 0.5 / 10, abs=1e-4)
    recall = recall_of_part(scenarios, FIRST, 1)
    assert (recall.value, recall.high) == (0.25, 1)
