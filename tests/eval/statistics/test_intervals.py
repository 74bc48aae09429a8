import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostnoise.eval import best_and_overlapping

# Three repeats of three models: the best, one near it, and one far from it.
EXAMPLE = [
    [[0.90, 0.88, 0.60], [0.91, 0.89, 0.61], [0.92, 0.90, 0.62]],
    [[0.70, 0.70, 0.10], [0.70, 0.70, 0.90], [0.70, 0.70, 0.50]],
]


def test_marks(scores_of):
    result = best_and_overlapping(scores_of(EXAMPLE))
    table = result.table.set_index(["dataset", "model"])
    # Each interval reaches t s / sqrt(J) = 6.2053 x 0.01 / sqrt(3) = 0.0358 far.
    np.testing.assert_allclose(
        table.loc[("d0", "m0"), ["accuracy", "low", "high"]].astype(float),
        [0.91, 0.91 - 0.03583, 0.91 + 0.03583],
        atol=1e-5,
    )
    assert table["best"].tolist() == [True, False, False, True, True, False]
    assert table["overlaps"].tolist() == [False, True, False, False, False, True]
    assert result.has_power
    assert result.remark == ""
    for cell in ("0.910**", "0.890*", "0.610", "0.700**", "0.500*"):
        assert cell in str(result).replace("\n", " ").split(" ")


def test_the_interval_is_scipys(scores_of):
    values = np.random.default_rng(0).uniform(size=7)
    scores = scores_of(values.reshape(1, 7, 1))
    for options, confidence in (({}, 0.975), ({"confidence": 0.5}, 0.5)):
        row = best_and_overlapping(scores, **options).table.iloc[0]
        expected = stats.t.interval(confidence, 6, loc=values.mean(), scale=stats.sem(values))
        assert (row["low"], row["high"]) == pytest.approx(expected)


def test_overlap_is_that_of_two_intervals(scores_of):
    scores = scores_of(np.random.default_rng(0).normal(0.5 + 0.02 * np.arange(5), 0.02, (20, 4, 5)))
    for metric, sign in (("accuracy", 1), ("log_loss", -1)):
        table = best_and_overlapping(
            scores.rename(columns={"accuracy": metric}), metric, measure="accuracy"
        ).table
        n_overlapping = 0
        for _, rows in table.groupby("dataset"):
            best = rows.loc[(sign * rows[metric]).idxmax()]
            assert rows.loc[rows["best"], "model"].tolist() == [best["model"]]
            overlapping = (
                (rows["high"] >= best["low"]) & (rows["low"] <= best["high"]) & (rows["model"] != best["model"])
            )
            assert rows["overlaps"].tolist() == overlapping.tolist()
            n_overlapping += overlapping.sum()
        assert 10 < n_overlapping < 70


def test_lower_is_better(scores_of):
    scores = scores_of([np.ones_like(EXAMPLE), EXAMPLE], rates=(0.0, 0.3))
    table = best_and_overlapping(scores, "ela", noise_rate=0.3).table.set_index(["dataset", "model"])
    assert table["best"].tolist() == [True, False, False, True, True, False]
    assert table["overlaps"].tolist() == [False, True, False, False, False, True]


def test_missing_repeats_have_no_mark(scores_of, fail):
    scores = scores_of([*EXAMPLE, np.full((3, 3), np.nan)])
    fail(scores, dataset="d0", model="m0", repeat=0)
    scores = pd.concat([scores, scores[scores["model"] == "m2"].assign(model="broken", accuracy=np.nan)])
    result = best_and_overlapping(scores)
    table = result.table.set_index(["dataset", "model"])
    assert table["best"].tolist() == [False, True, False, False, True, True, False, False] + [False] * 4
    assert not table.loc[("d0", "m0"), "overlaps"]
    assert math.isnan(table.loc[("d0", "m0"), "accuracy"])
    assert result.missing["d0"] == "m0 failed in 1 of 3 repeats: E: no"
    assert "On data set d0 there is no mean: m0 failed in 1 of 3 repeats: E: no." in str(result)
    assert list(result.left_out) == ["broken"]
    assert result.dropped == {}


def test_one_repeat_has_no_interval(scores_of):
    result = best_and_overlapping(scores_of([[[0.5, 0.6]]]))
    assert not result.has_power
    assert result.table["low"].isna().all()
    assert result.table["high"].isna().all()
    assert result.table["best"].tolist() == [False, True]
    assert result.table["overlaps"].tolist() == [False, False]
    assert result.remark == "One repeat is too few for an interval; at least two repeats are needed."
    assert "overlaps" not in str(result)


def test_no_values(scores_of):
    result = best_and_overlapping(scores_of(EXAMPLE).assign(accuracy=np.nan))
    assert not result.table[["best", "overlaps"]].any(axis=None)
    assert len(result.left_out) == 3


def test_confidence_is_a_probability(scores_of):
    with pytest.raises(ValueError, match=r"^confidence must lie between 0 and 1, got 97.5$"):
        best_and_overlapping(scores_of(EXAMPLE), confidence=97.5)
