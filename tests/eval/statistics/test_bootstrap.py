import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostnoise.eval import bootstrap_band, curve, mean_curve
from boostnoise.eval.statistics.bootstrap import mean_band

KEYS = ["noise_kind", "noise_rate", "model"]


@pytest.fixture
def accuracy():
    return np.random.default_rng(0).uniform(0.3, 1, (2, 3, 4, 5, 2))


@pytest.mark.parametrize("metric", ["accuracy", "ela", "rla", "retention", "area_under_ela"])
@pytest.mark.parametrize("over", ["repeats", "datasets"])
def test_the_middle_is_the_mean_curve(accuracy, metric, over, scores_of):
    scores = scores_of(accuracy)
    band, means = bootstrap_band(scores, metric, over=over), mean_curve(scores, metric)
    keys = [name for name in KEYS if name in means]
    pd.testing.assert_frame_equal(band[[*keys, metric]], means[[*keys, metric]])
    assert (band["low"] <= band[metric]).all()
    assert (band[metric] <= band["high"]).all()
    changes = band["noise_rate"] > 0 if metric in ("rla", "retention") else slice(None)
    assert (band["low"] < band["high"])[changes].all()


DEFAULTS = {"confidence": 0.95, "n_resamples": 2000, "seed": 0}
OTHERS = {"confidence": 0.8, "n_resamples": 300, "seed": 3}


@pytest.mark.parametrize("options", [{}, OTHERS])
def test_data_sets_drawn_one_by_one(accuracy, scores_of, options):
    band = bootstrap_band(scores_of(accuracy), "ela", over="datasets", **options)
    confidence, n_resamples, seed = (DEFAULTS | options).values()
    ela = ((1 - accuracy) / accuracy[:, :1]).mean(axis=3)  # kinds, rates, data sets, models
    n = ela.shape[2]
    draws = np.random.default_rng(seed).integers(n, size=(n_resamples, n))
    means = np.array([ela[:, :, draw].mean(axis=2) for draw in draws])
    tail = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, n - 1))
    np.testing.assert_allclose(band["low"], np.quantile(means, tail, axis=0).ravel())
    np.testing.assert_allclose(band["high"], np.quantile(means, 1 - tail, axis=0).ravel())


@pytest.mark.parametrize("options", [{}, OTHERS])
def test_repeats_of_each_data_set_drawn_one_by_one(accuracy, scores_of, options):
    band = bootstrap_band(scores_of(accuracy), "ela", **options)
    confidence, n_resamples, seed = (DEFAULTS | options).values()
    ela = (1 - accuracy) / accuracy[:, :1]  # kinds, rates, data sets, repeats, models
    n_sets, n = ela.shape[2:4]
    draws = np.random.default_rng(seed).integers(n, size=(n_resamples, n_sets, n))
    means = np.array(
        [np.mean([ela[:, :, d, draw[d]].mean(axis=2) for d in range(n_sets)], axis=0) for draw in draws]
    )
    of_sets = [ela[:, :, d].var(axis=2, ddof=1) / n for d in range(n_sets)]
    freedom = sum(of_sets) ** 2 / sum(variance**2 / (n - 1) for variance in of_sets)
    tails = stats.norm.cdf(-np.sqrt(n / (n - 1)) * stats.t.ppf((1 + confidence) / 2, freedom))
    for i in np.ndindex(tails.shape):
        row = band.iloc[np.ravel_multi_index(i, tails.shape)]
        expected = np.quantile(means[:, *i], [tails[i], 1 - tails[i]])
        np.testing.assert_allclose(row[["low", "high"]].to_numpy(dtype=float), expected)


def test_a_band_of_each_data_set(accuracy, scores_of):
    scores = scores_of(accuracy)
    bands = bootstrap_band(scores, "ela", by_dataset=True)
    assert list(bands) == ["dataset", *KEYS, "ela", "low", "high"]
    for dataset, band in bands.groupby("dataset"):
        alone = bootstrap_band(scores[scores["dataset"] == dataset], "ela")
        pd.testing.assert_frame_equal(band.drop(columns="dataset").reset_index(drop=True), alone)
    means = curve(scores, "ela").set_index(["dataset", *KEYS])["ela"]
    pd.testing.assert_series_equal(bands.set_index(["dataset", *KEYS])["ela"].sort_index(), means.sort_index())


def test_coverage():
    """How often a band of the mean of few normal numbers holds 0, as the docstring says."""
    spread = np.array([1, 0.3, 0.1])[:, np.newaxis]
    for n_sets, n, scale, expected in ((1, 3, 1, 0.75), (1, 5, 1, 0.92), (3, 3, 1, 0.94), (3, 3, spread, 0.87)):
        low, high = mean_band(np.random.default_rng(n).normal(size=(2000, n_sets, n)) * scale)
        assert ((low <= 0) & (high >= 0)).mean() == pytest.approx(expected, abs=0.02)


def test_a_missing_cell_has_no_band(accuracy, scores_of):
    scores = scores_of(accuracy)
    hole = (
        scores[["noise_kind", "noise_rate", "dataset", "repeat", "model"]] == ["uniform", 0.1, "d1", 2, "m1"]
    ).all(axis=1)
    assert hole.sum() == 1
    for holes in (scores.assign(accuracy=scores["accuracy"].mask(hole)), scores[~hole]):
        for over in ("repeats", "datasets"):
            band = bootstrap_band(holes, "accuracy", over=over)
            missing = (band[KEYS] == ["uniform", 0.1, "m1"]).all(axis=1)
            assert band.loc[missing, ["accuracy", "low", "high"]].isna().all(axis=None)
            whole = bootstrap_band(scores, "accuracy", over=over)
            pd.testing.assert_frame_equal(band[~missing], whole[~missing])
        by_dataset = bootstrap_band(holes, "accuracy", by_dataset=True)
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
    band = bootstrap_band(few, "ela", over=over)
    assert band[["low", "high"]].isna().all(axis=None)
    assert band["ela"].notna().all()
    assert band.attrs == {"remark": remark}
    assert bootstrap_band(scores_of(accuracy), "ela", over=over).attrs == {}


def test_no_spread_is_no_width(scores_of):
    band = bootstrap_band(scores_of(np.full((2, 2, 3, 3, 1), 0.75)), "accuracy")
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
        ({"n_resamples": 0}, "n_resamples must be at least 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}$"):
            bootstrap_band(scores, "ela", **arguments)
