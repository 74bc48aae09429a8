import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.metrics.correct_rows import pack_rows
from boostnoise.eval.metrics.curves import per_repeat
from boostnoise.eval.plotting.bands import averaged, by_dataset, over_units
from boostnoise.eval.statistics.confidence_band import confidence_band

SETS = ("w", "x", "y", "z")
INTERVAL = "95 % t interval of the mean over"


@pytest.mark.parametrize(
    ("repeats", "datasets", "over", "expected"),
    [
        (3, SETS[:1], "repeats", f"{INTERVAL} 3 repeats"),
        (3, SETS, "repeats", f"{INTERVAL} 3 repeats"),
        (5, SETS, "repeats", f"{INTERVAL} 5 repeats"),
        (1, SETS, "datasets", f"{INTERVAL} 4 data sets (one repeat is too few for an interval over repeats)"),
        (2, SETS, "datasets", f"{INTERVAL} 4 data sets (two repeats are too few for an interval over repeats)"),
    ],
)
def test_averaged(made_scores, repeats, datasets, over, expected):
    scores = made_scores(repeats=repeats, datasets=datasets)
    table, description = averaged(scores, "ela")
    pd.testing.assert_frame_equal(table, confidence_band(scores, "ela", over=over))
    assert description == expected
    assert (table["low"] < table["ela"]).all()
    assert (table["ela"] < table["high"]).all()


def test_too_few_repeats_and_data_sets(made_scores):
    table, description = averaged(made_scores(repeats=2), "ela")
    assert table["low"].isna().all()
    assert table["ela"].notna().all()
    assert description.startswith("none (two repeats are too few")
    assert over_units(1, 1).startswith("none (one data set is too few")


def test_by_dataset(made_scores):
    scores = made_scores(repeats=3)
    table, description = by_dataset(scores, "accuracy")
    alone, _ = averaged(scores[scores["dataset"] == "wine"], "accuracy")
    here = table[table["dataset"] == "wine"]
    np.testing.assert_allclose(here[["accuracy", "low", "high"]], alone[["accuracy", "low", "high"]])
    assert description == f"{INTERVAL} 3 repeats"


@pytest.mark.parametrize("metric", ["ela", "accuracy"])
def test_two_standard_deviations(made_scores, metric):
    scores = made_scores(repeats=4, datasets=SETS[:2])
    keys = ["noise_kind", "noise_rate", "model"]
    values = per_repeat(scores, metric)
    for draw, by in ((by_dataset, ["dataset", *keys]), (averaged, keys)):
        table, description = draw(scores, metric, band="two_sd")
        assert description == "two standard deviations over 4 repeats"
        means = values.groupby([*by, "repeat"])[metric].mean().groupby(by)
        expected = pd.DataFrame({metric: means.mean(), "sd": means.std(ddof=1)})
        drawn = table.set_index(by).loc[expected.index]
        np.testing.assert_allclose(drawn[metric], expected[metric])
        np.testing.assert_allclose(drawn["low"], (expected[metric] - 2 * expected["sd"]).clip(lower=0))
        above = expected[metric] + 2 * expected["sd"]
        np.testing.assert_allclose(drawn["high"], above.clip(upper=1) if metric == "accuracy" else above)


def test_no_standard_deviation_of_one_repeat(made_scores):
    table, description = by_dataset(made_scores(repeats=1), "accuracy", band="two_sd")
    assert table["low"].isna().all()
    assert description == "none (one repeat is too few; at least two repeats needed)"


def test_points_with_fewer_data_sets():
    assert over_units(3, 7) == f"{INTERVAL} 3 to 7 data sets"


def test_repeats_that_share_their_test_rows(made_scores):
    scores = made_scores(repeats=3)
    correct = np.arange(50) < 40
    scores = scores.assign(accuracy=0.8, balanced_accuracy=0.7, correct_rows=pack_rows(correct))
    table, description = by_dataset(scores, "accuracy")
    assert description == f"{INTERVAL} 3 repeats and the test rows that they share"
    np.testing.assert_allclose(table["high"] - table["low"], 2 * 2.01 * 0.0571, rtol=0.01)
    for metric, measure in (("balanced_accuracy", "accuracy"), ("ela", "balanced_accuracy")):
        _, description = by_dataset(scores, metric, measure)
        assert description == f"{INTERVAL} 3 repeats, not over the test rows that they share"
