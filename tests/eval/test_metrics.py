import numpy as np
import pandas as pd
import pytest
from boostnoise.eval import curve, ela, mean_curve, rla
from boostnoise.eval.metrics import per_repeat


def test_definitions():
    assert ela(0.6, 0.8) == pytest.approx(0.5)
    assert rla(0.6, 0.8) == pytest.approx(0.25)
    assert ela(0.8, 0.8) == pytest.approx(0.2 / 0.8)
    assert rla(0.9, 0.8) < 0


def test_ela_is_rla_plus_the_ela_without_noise():
    rng = np.random.default_rng(0)
    accuracy, baseline = rng.random(100), rng.uniform(0.01, 1, 100)
    np.testing.assert_allclose(ela(accuracy, baseline), rla(accuracy, baseline) + ela(baseline, baseline))
    assert (ela(accuracy, baseline) >= 0).all()


def test_no_value_without_a_baseline():
    for metric in (ela, rla):
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
    assert result.loc[0.5, "ela"] == pytest.approx((0.5 + 0.1) / 2)
    scores.loc[5, "accuracy"] = np.nan
    assert np.isnan(mean_curve(scores, "ela").set_index("noise_rate").loc[0.5, "ela"])
    assert mean_curve(scores, "ela").set_index("noise_rate").loc[0.5, "repeats"] == 0
    assert np.isnan(curve(scores, "ela").set_index(["dataset", "noise_rate"]).loc[("b", 0.5), "ela"])


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
    with pytest.raises(ValueError, match="metric must be one of accuracy, ela, rla, got 'f1'"):
        curve(SCORES, "f1")
