import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostnoise.eval import best_and_overlapping


def scores_of(values, metric="accuracy"):
    """Scores at one noise rate: for each data set the values of each model in each repeat."""
    rows = [
        (dataset, repeat, model, value)
        for dataset, models in values.items()
        for model, repeats in models.items()
        for repeat, value in enumerate(repeats)
    ]
    scores = pd.DataFrame(rows, columns=["dataset", "repeat", "model", metric])
    return scores.assign(noise_kind="uniform", noise_rate=0.3, error=None)


EXAMPLE = {
    "x": {"best": [0.90, 0.91, 0.92], "near": [0.88, 0.89, 0.90], "far": [0.60, 0.61, 0.62]},
    "y": {"best": [0.70, 0.70, 0.70], "near": [0.70, 0.70, 0.70], "far": [0.10, 0.90, 0.50]},
}


def test_marks():
    result = best_and_overlapping(scores_of(EXAMPLE))
    table = result.table.set_index(["dataset", "model"])
    # Each interval reaches t s / sqrt(J) = 6.2053 x 0.01 / sqrt(3) = 0.0358 far.
    np.testing.assert_allclose(
        table.loc[("x", "best"), ["accuracy", "low", "high"]].astype(float),
        [0.91, 0.91 - 0.03583, 0.91 + 0.03583],
        atol=1e-5,
    )
    assert table["best"].tolist() == [True, False, False, True, True, False]
    assert table["overlaps"].tolist() == [False, True, False, False, False, True]
    assert result.has_power
    assert result.remark == ""
    for cell in ("0.910**", "0.890*", "0.610", "0.700**", "0.500*"):
        assert cell in str(result).replace("\n", " ").split(" ")


def test_the_interval_is_scipys():
    values = np.random.default_rng(0).uniform(size=7)
    row = best_and_overlapping(scores_of({"x": {"a": values}})).table.iloc[0]
    expected = stats.t.interval(0.975, 6, loc=values.mean(), scale=stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx(expected)
    row = best_and_overlapping(scores_of({"x": {"a": values}}), confidence=0.5).table.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(
        stats.t.interval(0.5, 6, loc=values.mean(), scale=stats.sem(values))
    )


def test_overlap_is_that_of_two_intervals():
    rng = np.random.default_rng(0)
    values = {f"d{i}": {f"m{j}": rng.normal(0.5 + 0.02 * j, 0.02, 4) for j in range(5)} for i in range(20)}
    for metric, sign in (("accuracy", 1), ("log_loss", -1)):
        table = best_and_overlapping(scores_of(values, metric), metric, measure="accuracy").table
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


def test_lower_is_better():
    scores = pd.concat([scores_of(EXAMPLE), scores_of(EXAMPLE).assign(noise_rate=0.0, accuracy=1.0)])
    table = best_and_overlapping(scores, "ela", noise_rate=0.3).table.set_index(["dataset", "model"])
    assert table["best"].tolist() == [True, False, False, True, True, False]
    assert table["overlaps"].tolist() == [False, True, False, False, False, True]


def test_missing_repeats_have_no_mark():
    scores = scores_of(EXAMPLE | {"z": {name: [0.5] * 3 for name in EXAMPLE["x"]}})
    scores.loc[
        (scores["dataset"] == "x") & (scores["model"] == "best") & (scores["repeat"] == 0),
        ["accuracy", "error"],
    ] = [np.nan, "E: no"]
    scores = pd.concat([scores, scores[scores["model"] == "far"].assign(model="broken", accuracy=np.nan)])
    scores.loc[scores["dataset"] == "z", "accuracy"] = np.nan
    result = best_and_overlapping(scores)
    table = result.table.set_index(["dataset", "model"])
    assert table["best"].tolist() == [False, True, False, False, True, True, False, False] + [False] * 4
    assert not table.loc[("x", "best"), "overlaps"]
    assert math.isnan(table.loc[("x", "best"), "accuracy"])
    assert result.missing["x"] == "best failed in 1 of 3 repeats: E: no"
    assert "On data set x there is no mean: best failed in 1 of 3 repeats: E: no." in str(result)
    assert list(result.left_out) == ["broken"]
    assert result.dropped == {}


def test_one_repeat_has_no_interval():
    result = best_and_overlapping(scores_of({"x": {"a": [0.5], "b": [0.6]}}))
    assert not result.has_power
    assert result.table["low"].isna().all()
    assert result.table["high"].isna().all()
    assert result.table["best"].tolist() == [False, True]
    assert result.table["overlaps"].tolist() == [False, False]
    assert result.remark == "One repeat is too few for an interval; at least two repeats are needed."
    assert "overlaps" not in str(result)


def test_no_values():
    result = best_and_overlapping(scores_of(EXAMPLE).assign(accuracy=np.nan))
    assert not result.table[["best", "overlaps"]].any(axis=None)
    assert len(result.left_out) == 3


def test_confidence_is_a_probability():
    with pytest.raises(ValueError, match=r"^confidence must lie between 0 and 1, got 97.5$"):
        best_and_overlapping(scores_of(EXAMPLE), confidence=97.5)
