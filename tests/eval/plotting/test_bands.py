import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.plotting.bands import averaged, by_dataset, over_datasets
from boostnoise.eval.statistics.bootstrap import bootstrap_band

SETS = ("w", "x", "y", "z")
INTERVAL = "95 % bootstrap interval of the mean over"


@pytest.mark.parametrize(
    ("repeats", "datasets", "over", "said"),
    [
        (3, SETS[:1], "repeats", f"{INTERVAL} 3 repeats, rough as they are few"),
        (3, SETS, "repeats", f"{INTERVAL} 3 repeats"),
        (5, SETS, "repeats", f"{INTERVAL} 5 repeats"),
        (1, SETS, "datasets", f"{INTERVAL} 4 data sets, as one repeat is too few for one over repeats"),
        (2, SETS, "datasets", f"{INTERVAL} 4 data sets, as two repeats are too few for one over repeats"),
    ],
)
def test_averaged(made_scores, repeats, datasets, over, said):
    scores = made_scores(repeats=repeats, datasets=datasets)
    table, told = averaged(scores, "ela")
    pd.testing.assert_frame_equal(table, bootstrap_band(scores, "ela", over=over))
    assert told == said
    assert (table["low"] < table["ela"]).all()
    assert (table["ela"] < table["high"]).all()


def test_too_little_for_any(made_scores):
    table, told = averaged(made_scores(repeats=2), "ela")
    assert table["low"].isna().all()
    assert table["ela"].notna().all()
    assert told == "none, as two repeats are too few: it takes three repeats"
    assert over_datasets(1, 1) == "none, as one data set is too few: it takes three data sets"


def test_by_dataset(made_scores):
    scores = made_scores(repeats=3)
    table, told = by_dataset(scores, "accuracy")
    alone, _ = averaged(scores[scores["dataset"] == "wine"], "accuracy")
    here = table[table["dataset"] == "wine"]
    np.testing.assert_allclose(here[["accuracy", "low", "high"]], alone[["accuracy", "low", "high"]])
    assert told == f"{INTERVAL} 3 repeats, rough as they are few"


def test_points_with_fewer_data_sets():
    assert over_datasets(3, 7) == f"{INTERVAL} 3 to 7 data sets"
