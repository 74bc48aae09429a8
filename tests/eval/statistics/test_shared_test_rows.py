import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from boostnoise.eval import best_and_overlapping, confidence_band, paired_t_tests, verdict
from boostnoise.eval.metrics.curves import per_repeat
from boostnoise.eval.metrics.robustness import ela
from boostnoise.eval.statistics.shared_test_rows import row_interval, row_test, row_values, variance_of_rows

METRICS = ["accuracy", "ela", "rla", "retention", "area_under_ela"]


def predict(rng, n_models=2, n_repeats=3, n_rows=60, kept=0.8, share=0.7):
    """Correct predictions of equal models: on its rows a model is right by chance, and repeats keep most of them."""
    base = rng.random((1, n_models, n_rows)) < share
    drawn = rng.random((n_repeats, n_models, n_rows)) < share
    return np.where(rng.random(drawn.shape) < kept, base, drawn)


@pytest.mark.parametrize("metric", METRICS)
def test_the_mean_of_the_rows_is_the_metric(shared_scores, metric):
    rng = np.random.default_rng(0)
    correct = np.array([[predict(rng, share=share) for _ in range(2)] for share in (0.9, 0.8, 0.6)])
    scores = shared_scores(correct, rates=(0.0, 0.1, 0.4))
    rows = row_values(scores, metric)
    keys = [
        name
        for name in ("dataset", "noise_kind", "noise_rate", "model")
        if name != "noise_rate" or "area" not in metric
    ]
    means = per_repeat(scores, metric).groupby(keys)[metric].mean()
    assert rows.keys() == set(means.index)
    for line, values in rows.items():
        assert values.shape == (60,)
        assert values.mean() == pytest.approx(means[line])


def test_the_variance_of_ela_over_rows_is_that_of_other_rows():
    rng = np.random.default_rng(0)
    chances = np.array([[0.85], [0.7]])

    def draw():
        clean, noisy = rng.random((2, 400)) < chances
        return clean, noisy & (clean | (rng.random(400) < 0.5))

    spread = np.std([float(ela(noisy.mean(), clean.mean())) for clean, noisy in (draw() for _ in range(3000))])
    clean, noisy = draw()
    values = row_values(one_repeat(clean, noisy), "ela")["d", "uniform", 0.3, "m"]
    assert np.sqrt(variance_of_rows(values, are_shares=False)) == pytest.approx(spread, rel=0.12)


def one_repeat(clean, noisy):
    from boostnoise.eval.metrics.correct_rows import pack_rows

    rows = [("d", "uniform", rate, 0, "m", x.mean(), pack_rows(x)) for rate, x in ((0.0, clean), (0.3, noisy))]
    names = ["dataset", "noise_kind", "noise_rate", "repeat", "model", "accuracy", "correct_rows"]
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "log_loss"])
def test_other_measures_have_no_rows(shared_scores, metric):
    scores = shared_scores(predict(np.random.default_rng(0))).assign(**{metric: 0.5})
    assert row_values(scores, metric) == {}
    assert row_values(scores, "ela", metric) == {}
    remark = "The repeats of d0 share their test rows, so their spread says nothing about other rows"
    (text,) = verdict(scores, metric=metric)
    assert remark in text
    assert "beats" not in text
    assert row_values(scores.drop(columns="correct_rows"), "accuracy") == {}


def test_a_single_row_is_no_sample(shared_scores):
    assert row_values(shared_scores(predict(np.random.default_rng(0), n_rows=1)), "accuracy") == {}


def test_a_cell_without_rows_leaves_its_line_out(shared_scores):
    scores = shared_scores(predict(np.random.default_rng(0)))
    assert row_values(scores, "accuracy").keys() == {("d0", "uniform", 0.3, "m0"), ("d0", "uniform", 0.3, "m1")}
    scores.loc[scores.index[0], "correct_rows"] = None
    assert row_values(scores, "accuracy").keys() == {("d0", "uniform", 0.3, "m1")}


@pytest.mark.parametrize(("n_first", "n_second"), [(9, 2), (6, 0), (1, 0), (40, 25), (5, 5), (0, 0)])
def test_if_all_repeats_are_alike_it_is_at_least_mcnemars_exact_test(n_first, n_second):
    rows = np.repeat([1.0, -1.0, 0.0], [n_first, n_second, 100 - n_first - n_second])
    p_value = row_test(rows, np.full(3, rows.mean()), are_shares=True)
    exact = binomtest(n_first, n_first + n_second).pvalue if n_first + n_second else 1.0
    assert exact - 1e-12 <= p_value <= exact + 0.05


def test_equal_models_rarely_differ():
    """Small test sets, where rows decide, and large ones, where fits do."""
    rng = np.random.default_rng(0)
    for n_rows, kept in ((60, 1.0), (60, 0.5), (2000, 0.9)):
        n_false = 0
        for _ in range(300):
            right = predict(rng, n_rows=n_rows, kept=kept)
            if n_rows == 2000:  # each fit has an accuracy of its own
                right &= rng.random(right.shape) < rng.uniform(0.9, 1, (3, 2, 1))
            differences = right[:, 0].astype(float) - right[:, 1]
            n_false += row_test(differences.mean(axis=0), differences.mean(axis=1), are_shares=True) <= 0.05
        assert n_false <= 24, (n_rows, kept)  # 8 %: three standard errors above 5 %


def test_better_models_are_found():
    rng = np.random.default_rng(1)
    n_found = 0
    for _ in range(100):
        right = predict(rng, n_rows=500)
        right[:, 1] &= rng.random(500) < 0.85
        differences = right[:, 0].astype(float) - right[:, 1]
        n_found += row_test(differences.mean(axis=0), differences.mean(axis=1), are_shares=True) <= 0.05
    assert n_found > 70


@pytest.mark.parametrize("share", [0.635, 0.97])
def test_intervals_contain_the_accuracy_on_other_rows(shared_scores, share):
    rng = np.random.default_rng(0)
    correct = np.array([predict(rng, n_models=1, kept=0.95, share=share) for _ in range(400)])
    scores = shared_scores(correct)
    marked = best_and_overlapping(scores, confidence=0.95).table
    band = confidence_band(scores, "accuracy", by_dataset=True)
    np.testing.assert_allclose(marked["low"].clip(0), band["low"])
    assert ((band["low"] <= share) & (share <= band["high"])).mean() > 0.93
    without = confidence_band(scores.drop(columns="correct_rows"), "accuracy", by_dataset=True)
    assert ((without["low"] <= share) & (share <= without["high"])).mean() < 0.8


def test_a_mean_over_data_sets_has_the_rows_of_each(shared_scores):
    scores = shared_scores(np.array([predict(np.random.default_rng(i), n_models=1, kept=1) for i in range(4)]))
    band = confidence_band(scores, "accuracy").iloc[0]
    rows = [variance_of_rows(values, are_shares=True) for values in row_values(scores, "accuracy").values()]
    assert len(rows) == 4
    half = (band["high"] - band["low"]) / 2
    assert half == pytest.approx(1.97 * np.sqrt(sum(rows)) / 4, rel=0.01)


def test_tests_of_sets_with_and_without_shared_rows(shared_scores, scores_of):
    rng = np.random.default_rng(0)
    shared = shared_scores(np.array([predict(rng) for _ in range(2)]))
    others = scores_of(rng.random((2, 3, 2)), rates=[0.3]).replace({"dataset": {"d0": "x", "d1": "y"}})
    both = paired_t_tests(pd.concat([shared, others]), test_fraction=0.2)
    assert both.n_rows == {"d0": 60, "d1": 60}
    assert both.n_datasets == 4
    assert both.table["p_value"].notna().all()
    expected = paired_t_tests(others, test_fraction=0.2).table
    pd.testing.assert_frame_equal(both.table[2:].reset_index(drop=True), expected)
    method = "corrected resampled t-tests over the repeats or paired tests over the test rows of each"
    assert f"by {method}" in " ".join(str(both).split())


def test_the_verdict_on_60_checked_rows(shared_scores):
    """Deterministic models that repeat themselves: three repeats are no more evidence than one."""
    rng = np.random.default_rng(0)
    base = rng.random((1, 4, 60)) < np.array([0.77, 0.70, 0.68, 0.3])[:, None]
    base[0, 0, :46], base[0, 0, 46:] = True, False
    correct = np.repeat(base, 3, axis=0)
    (text,) = verdict(shared_scores(correct))
    assert text.startswith(
        "At 30 % uniform noise m0 has the best accuracy of four models on d0 (0.767, 95 % interval 0.656 to 0.877 "
        "over 60 test rows). Over its 60 test rows, by paired tests with Holm's correction over all pairs of models, "
        "m0 beats m3 (p < 0.001); no difference from m1 and m2 is shown"
    )
    lacking = shared_scores(np.array([~correct, correct]))  # the first set is not compared
    lacking.loc[lacking["dataset"].eq("d0") & lacking["model"].eq("m1"), "accuracy"] = np.nan
    assert "on d1 (0.767, 95 % interval 0.656 to 0.877 over 60 test rows)" in verdict(lacking)[0]
    (text,) = verdict(shared_scores(correct[:1]))
    assert "(0.767, 95 % interval 0.656 to 0.877 over 60 test rows). One repeat is too few" in text


@pytest.mark.parametrize("n", [10, 60, 1000])
@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_the_interval_of_one_repeat_is_near_wilsons(n, share):
    rows = (np.arange(n) < share * n).astype(float)
    low, high = row_interval(rows, np.array([rows.mean()]), are_shares=True, confidence=0.95)
    wilson = binomtest(int(rows.sum()), n).proportion_ci(method="wilson")
    assert high - low > 0.9 * (wilson.high - wilson.low)
    assert low == pytest.approx(wilson.low, abs=1.3 / n)
