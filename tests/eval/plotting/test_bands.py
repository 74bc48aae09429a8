import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.plotting.bands import averaged, by_dataset, over_datasets
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
    assert over_datasets(1, 1).startswith("none (one data set is too few")


def test_by_dataset(made_scores):
    scores = made_scores(repeats=3)
    table, description = by_dataset(scores, "accuracy")
    alone, _ = averaged(scores[scores["dataset"] == "wine"], "accuracy")
    here = table[table["dataset"] == "wine"]
    np.testing.assert_allclose(here[["accuracy", "low", "high"]], alone[["accuracy", "low", "high"]])
    assert description == f"{INTERVAL} 3 repeats"


def test_points_with_fewer_data_sets():
    assert over_datasets(3, 7) == f"{INTERVAL} 3 to 7 data sets"
