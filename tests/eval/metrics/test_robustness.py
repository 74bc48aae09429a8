import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import area_under_ela, curve, ela, mean_curve, retention, rla
from boostnoise.eval.metrics.curves import per_repeat


def test_definitions():
    assert ela(0.6, 0.8) == pytest.approx(0.5)
    assert rla(0.6, 0.8) == pytest.approx(0.25)
    assert ela(0.8, 0.8) == pytest.approx(0.2 / 0.8)
    assert rla(0.9, 0.8) < 0
    assert retention(0.6, 0.8) == pytest.approx(0.75)


def test_ela_is_rla_plus_the_ela_without_noise():
    rng = np.random.default_rng(0)
    accuracy, baseline = rng.random(100), rng.uniform(0.01, 1, 100)
    np.testing.assert_allclose(ela(accuracy, baseline), rla(accuracy, baseline) + ela(baseline, baseline))
    assert (ela(accuracy, baseline) >= 0).all()


def test_no_value_without_a_baseline():
    for metric in (ela, rla, retention):
        assert np.isnan(metric(0.5, 0.0))
        assert np.isnan(metric(np.nan, 0.5))
        assert np.isnan(metric(0.5, np.nan))


def table(rows):
    columns = ["dataset", "model", "repeat", "noise_rate", "accuracy"]
    return pd.DataFrame(rows, columns=columns).assign(noise_kind="uniform")


SCORES = table(
    [
        ("a", "m", 0, 0.0, 0.8),
        ("a", "m", 0, 0.5, 0.6),
        ("a", "m", 1, 0.0, 0.5),
        ("a", "m", 1, 0.5, 0.4),
        ("b", "m", 0, 0.0, 1.0),
        ("b", "m", 0, 0.5, 0.9),
        ("b", "m", 1, 0.0, 1.0),
        ("b", "m", 1, 0.5, 0.7),
    ]
)


def test_repeats_are_paired_before_they_are_averaged():
    result = curve(SCORES, "ela").set_index(["dataset", "noise_rate"])
    assert result.loc[("a", 0.5), "ela"] == pytest.approx((0.4 / 0.8 + 0.6 / 0.5) / 2)
    assert result.loc[("a", 0.5), "std"] == pytest.approx(np.std([0.5, 1.2], ddof=1))
    assert result.loc[("b", 0.5), "repeats"] == 2


def test_mean_over_data_sets():
    result = mean_curve(SCORES, "rla").set_index("noise_rate")
    by_repeat = [(0.25 + 0.1) / 2, (0.2 + 0.3) / 2]
    assert result.loc[0.5, "rla"] == pytest.approx(np.mean(by_repeat))
    assert result.loc[0.5, "std"] == pytest.approx(np.std(by_repeat, ddof=1))
    assert result.loc[0.0, "rla"] == 0


def test_no_mean_over_other_data_sets_than_the_rest():
    scores = SCORES.copy()
    scores.loc[7, "accuracy"] = np.nan
    result = mean_curve(scores, "ela").set_index("noise_rate")
    assert result.loc[0.5, "repeats"] == 1
    assert result.loc[0.5, ["ela", "std"]].isna().all()
    assert result.loc[0.0, "ela"] == pytest.approx((0.25 / 2 + 1.0 / 2) / 2)
    of_sets = curve(scores, "ela").set_index(["dataset", "noise_rate"])
    assert of_sets["repeats"].tolist() == [2, 2, 2, 1]
    assert of_sets["ela"].isna().tolist() == [False, False, False, True]


def test_a_failed_baseline_leaves_no_value():
    scores = SCORES.copy()
    scores.loc[0, "accuracy"] = np.nan
    values = per_repeat(scores, "ela")
    assert np.isnan(values.loc[1, "ela"])
    assert values.loc[3, "ela"] == pytest.approx(1.2)


def test_order_and_rows_are_those_of_the_scores():
    shuffled = SCORES.sample(frac=1, random_state=0)
    assert per_repeat(shuffled, "ela")["accuracy"].tolist() == shuffled["accuracy"].tolist()


def test_unknown_metric():
    with pytest.raises(ValueError, match=r"metric must be one of accuracy, .* area_under_ela, got 'f1'"):
        curve(SCORES, "f1")
    with pytest.raises(
        ValueError, match="measure 'macro_f1' is not in the scores; available measures: accuracy"
    ):
        curve(SCORES, "macro_f1")
    with pytest.raises(
        ValueError, match="measure 'noise_rate' is not in the scores; available measures: accuracy"
    ):
        mean_curve(SCORES, "ela", measure="noise_rate")


def test_retention_and_rla_are_one():
    values = per_repeat(SCORES, "retention")["retention"] + per_repeat(SCORES, "rla")["rla"]
    np.testing.assert_allclose(values, 1)


def test_area_by_hand():
    # Trapezoids of the widths 0.1 and 0.3: (0.2 + 0.4) / 2 * 0.1 + (0.4 + 0.8) / 2 * 0.3, over 0.4.
    assert area_under_ela([0.2, 0.4, 0.8], [0.0, 0.1, 0.4]) == pytest.approx((0.03 + 0.18) / 0.4)
    assert area_under_ela([0.8, 0.2, 0.4], [0.4, 0.0, 0.1]) == pytest.approx((0.03 + 0.18) / 0.4)
    assert area_under_ela([0.3, 0.3, 0.3], [0.0, 0.7, 0.9]) == pytest.approx(0.3)
    for values, rates in (([0.2, np.nan], [0, 1]), ([0.2], [0]), ([], [])):
        assert np.isnan(area_under_ela(values, rates))
    with pytest.raises(ValueError, match=r"must have the same shape, got \(2,\) and \(1,\)"):
        area_under_ela([0.1, 0.2], [0.0])


def test_areas_of_scores():
    areas = per_repeat(SCORES, "area_under_ela").set_index(["dataset", "repeat"])["area_under_ela"]
    assert areas["a", 0] == pytest.approx((0.2 / 0.8 + 0.4 / 0.8) / 2)
    assert areas["b", 1] == pytest.approx((0 + 0.3) / 2)
    of_sets = curve(SCORES, "area_under_ela").set_index("dataset")
    assert of_sets.loc["a", "area_under_ela"] == pytest.approx((0.375 + (1.0 + 1.2) / 2) / 2)
    assert of_sets.loc["a", "repeats"] == 2
    mean = mean_curve(SCORES, "area_under_ela")
    assert mean["area_under_ela"].tolist() == pytest.approx([(0.375 + 0.05 + 1.1 + 0.15) / 4])
    # One failed cell, and there is no area of it, nor a mean with it.
    scores = SCORES.copy()
    scores.loc[7, "accuracy"] = np.nan
    mean = mean_curve(scores, "area_under_ela")
    assert mean["area_under_ela"].isna().all()
    assert mean["repeats"].tolist() == [1]


def test_other_measures_than_the_accuracy():
    scores = SCORES.assign(roc_auc=SCORES["accuracy"] / 2, leaves=np.arange(8.0))
    for metric in ("ela", "rla", "retention", "area_under_ela"):
        renamed = SCORES.assign(accuracy=SCORES["accuracy"] / 2)
        pd.testing.assert_frame_equal(
            mean_curve(scores, metric, measure="roc_auc"), mean_curve(renamed, metric)
        )
        pd.testing.assert_frame_equal(curve(scores, metric, measure="roc_auc"), curve(renamed, metric))
    leaves = curve(scores, "leaves", measure="roc_auc").set_index(["dataset", "noise_rate"])["leaves"]
    assert leaves["b", 0.5] == 6
