import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostnoise.eval import confidence_band, curve, mean_curve
from boostnoise.eval.statistics.confidence_band import mean_interval

KEYS = ["noise_kind", "noise_rate", "model"]


@pytest.fixture
def accuracy():
    return np.random.default_rng(0).uniform(0.3, 1, (2, 3, 4, 5, 2))


@pytest.mark.parametrize("metric", ["accuracy", "ela", "rla", "retention", "area_under_ela"])
@pytest.mark.parametrize("over", ["repeats", "datasets"])
def test_the_middle_is_the_mean_curve(accuracy, metric, over, scores_of):
    scores = scores_of(accuracy)
    band, means = confidence_band(scores, metric, over=over), mean_curve(scores, metric)
    keys = [name for name in KEYS if name in means]
    pd.testing.assert_frame_equal(band[[*keys, metric]], means[[*keys, metric]])
    assert (band["low"] <= band[metric]).all()
    assert (band[metric] <= band["high"]).all()
    changes = band["noise_rate"] > 0 if metric in ("rla", "retention") else slice(None)
    assert (band["low"] < band["high"])[changes].all()


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_over_data_sets_it_is_students_interval(accuracy, scores_of, confidence):
    band = confidence_band(scores_of(accuracy), "ela", over="datasets", confidence=confidence)
    ela = ((1 - accuracy) / accuracy[:, :1]).mean(axis=3)  # kinds, rates, data sets, models
    interval = stats.ttest_1samp(ela, 0, axis=2).confidence_interval(confidence)
    np.testing.assert_allclose(band["low"], np.maximum(interval.low.ravel(), 0))
    np.testing.assert_allclose(band["high"], interval.high.ravel())


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_over_the_repeats_of_two_data_sets_it_is_welchs_interval(accuracy, scores_of, confidence):
    band = confidence_band(scores_of(accuracy[:, :, :2]), "ela", confidence=confidence)
    ela = (1 - accuracy) / accuracy[:, :1]  # kinds, rates, data sets, repeats, models
    # Welch's interval of a difference; the mean of two is half the difference of one and minus the other.
    test = stats.ttest_ind(ela[:, :, 0], -ela[:, :, 1], axis=2, equal_var=False)
    interval = test.confidence_interval(confidence)
    np.testing.assert_allclose(band["low"], interval.low.ravel() / 2)
    np.testing.assert_allclose(band["high"], interval.high.ravel() / 2)


def test_a_band_of_each_data_set(accuracy, scores_of):
    scores = scores_of(accuracy)
    bands = confidence_band(scores, "ela", by_dataset=True)
    assert list(bands) == ["dataset", *KEYS, "ela", "low", "high"]
    for dataset, band in bands.groupby("dataset"):
        alone = confidence_band(scores[scores["dataset"] == dataset], "ela")
        pd.testing.assert_frame_equal(band.drop(columns="dataset").reset_index(drop=True), alone)
    means = curve(scores, "ela").set_index(["dataset", *KEYS])["ela"]
    pd.testing.assert_series_equal(bands.set_index(["dataset", *KEYS])["ela"].sort_index(), means.sort_index())


@pytest.mark.parametrize("n", [3, 4, 10])
@pytest.mark.parametrize("spread", [[1], [1, 1, 1], [1, 0.3, 0.1]])
def test_it_contains_the_mean_as_often_as_promised(spread, n):
    noise = np.random.default_rng(n).normal(size=(2000, len(spread), n))
    low, high = mean_interval(noise * np.array(spread)[:, np.newaxis])
    assert ((low <= 0) & (high >= 0)).mean() > 0.92


def test_it_stays_within_the_range_of_the_measure(scores_of):
    accuracy = np.array([0.9, 1, 1])[:, None]  # of three repeats
    band = confidence_band(scores_of(accuracy), "accuracy")
    assert band["low"].iat[0] < 0.9
    assert band["high"].iat[0] == 1


def test_a_missing_cell_has_no_band(accuracy, scores_of):
    scores = scores_of(accuracy)
    hole = (
        scores[["noise_kind", "noise_rate", "dataset", "repeat", "model"]] == ["uniform", 0.1, "d1", 2, "m1"]
    ).all(axis=1)
    assert hole.sum() == 1
    for holes in (scores.assign(accuracy=scores["accuracy"].mask(hole)), scores[~hole]):
        for over in ("repeats", "datasets"):
            band = confidence_band(holes, "accuracy", over=over)
            missing = (band[KEYS] == ["uniform", 0.1, "m1"]).all(axis=1)
            assert band.loc[missing, ["accuracy", "low", "high"]].isna().all(axis=None)
            whole = confidence_band(scores, "accuracy", over=over)
            pd.testing.assert_frame_equal(band[~missing], whole[~missing])
        by_dataset = confidence_band(holes, "accuracy", by_dataset=True)
        assert by_dataset["low"].isna().sum() == 1


@pytest.mark.parametrize(
    ("over", "shape", "remark"),
    [
        (
            "repeats",
            (slice(None), slice(1)),
            "One repeat is too few for a band over repeats; at least three repeats are needed.",
        ),
        (
            "datasets",
            (slice(2), slice(None)),
            "Two data sets are too few for a band over data sets; at least three data sets are needed.",
        ),
    ],
)
def test_too_few_have_no_band(accuracy, over, shape, remark, scores_of):
    few = scores_of(accuracy[:, :, *shape])
    band = confidence_band(few, "ela", over=over)
    assert band[["low", "high"]].isna().all(axis=None)
    assert band["ela"].notna().all()
    assert band.attrs == {"remark": remark}
    assert confidence_band(scores_of(accuracy), "ela", over=over).attrs == {}


def test_no_spread_is_no_width(scores_of):
    band = confidence_band(scores_of(np.full((2, 2, 3, 3, 1), 0.75)), "accuracy")
    np.testing.assert_allclose(band[["low", "high"]], 0.75)


def test_arguments(accuracy, scores_of):
    scores = scores_of(accuracy)
    for arguments, message in [
        ({"over": "models"}, "over must be 'repeats' or 'datasets', got 'models'"),
        (
            {"over": "datasets", "by_dataset": True},
            "over must be 'repeats' if by_dataset is set, got 'datasets'",
        ),
        ({"confidence": 95}, "confidence must lie between 0 and 1, got 95"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            confidence_band(scores, "ela", **arguments)
