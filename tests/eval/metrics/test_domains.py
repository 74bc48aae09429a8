import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boostnoise.eval import confidence_band, mean_curve, score_table, verdict
from boostnoise.eval.metrics.correct_rows import pack_rows
from boostnoise.eval.metrics.domains import averaged_over, count_units, domain_means, domain_shares
from boostnoise.eval.statistics.friedman_nemenyi import friedman_nemenyi
from boostnoise.eval.statistics.score_tables import rank_table
from boostnoise.eval.statistics.wilcoxon_holm import wilcoxon_holm

DOMAINS = {
    "a": "software/jira",
    "b": "software/jira",
    "c": "software/szz",
    "d": "medicine",
    "e": "text",
    "f": "text",
}
WEIGHTS = {"a": 1 / 12, "b": 1 / 12, "c": 1 / 6, "d": 1 / 3, "e": 1 / 6, "f": 1 / 6}


def make_scores(domains=DOMAINS, repeats=4, models=("x", "y", "z")):
    rng = np.random.default_rng(0)
    rows = [
        (name, "uniform", rate, repeat, model, domain)
        for name, domain in domains.items()
        for rate in (0.0, 0.3)
        for repeat in range(repeats)
        for model in models
    ]
    columns = ["dataset", "noise_kind", "noise_rate", "repeat", "model", "domain"]
    scores = pd.DataFrame(rows, columns=columns)
    return scores.assign(accuracy=rng.uniform(0.4, 0.9, len(rows)), error=None)


@pytest.fixture
def scores():
    return make_scores()


def test_each_part_of_a_domain_counts_alike():
    shares = domain_shares(
        {"one": "software/jira", "two": "software/jira", "three": "software/szz", "four": "medicine"}
    )
    assert shares["domain"].to_dict() == dict(
        zip(("one", "two", "three", "four"), ["software"] * 3 + ["medicine"], strict=True)
    )
    assert shares["share"].tolist() == [0.25, 0.25, 0.5, 1]


@pytest.mark.parametrize(
    ("domains", "found"),
    [
        ({"one": "software/jira", "two": "software/szz"}, ["jira", "szz"]),
        ({"one": "software", "two": "software"}, ["one", "two"]),
        ({"one": "software", "two": "software/szz"}, ["one", "szz"]),
        ({"szz": "software", "two": "software/szz", "three": "software/szz"}, ["szz", "szz", "szz"]),
        ({"one": "software"}, ["software"]),
    ],
)
def test_what_all_domains_begin_with_tells_nothing(domains, found):
    assert domain_shares(domains)["domain"].tolist() == found


@pytest.mark.parametrize("metric", ["accuracy", "ela", "area_under_ela"])
def test_means_weigh_domains_alike(scores, metric):
    means = mean_curve(scores, metric)
    if metric == "area_under_ela":
        means["noise_rate"] = None
    for rate, at_rate in means.groupby("noise_rate", dropna=False):
        rate = None if pd.isna(rate) else rate
        table = score_table(scores, metric, noise_rate=rate)
        expected = table.mul(pd.Series(WEIGHTS), axis=0).sum()
        np.testing.assert_allclose(at_rate.set_index("model")[metric], expected)


def test_a_missing_score_of_one_data_set_leaves_no_mean(scores):
    lost = (scores["dataset"] == "c") & (scores["model"] == "y") & (scores["repeat"] == 2)
    scores.loc[lost & (scores["noise_rate"] == 0.3), "accuracy"] = np.nan
    means = mean_curve(scores, "accuracy").set_index(["model", "noise_rate"])["accuracy"]
    assert np.isnan(means["y", 0.3])
    assert means.drop(("y", 0.3)).notna().all()


def test_the_band_over_repeats_is_that_of_the_weighted_mean(scores):
    band = confidence_band(scores, "accuracy")
    means = mean_curve(scores, "accuracy")
    pd.testing.assert_frame_equal(band[list(means.columns[:4])], means[list(means.columns[:4])])
    of_line = scores[(scores["model"] == "x") & (scores["noise_rate"] == 0)]
    wide = of_line.pivot(index="dataset", columns="repeat", values="accuracy")
    parts = wide.var(axis=1) / 4 * pd.Series(WEIGHTS) ** 2
    freedom = parts.sum() ** 2 / (parts**2 / 3).sum()  # Welch and Satterthwaite
    half = stats.t.ppf(0.975, freedom) * np.sqrt(parts.sum())
    row = band[(band["model"] == "x") & (band["noise_rate"] == 0)].iloc[0]
    assert row["high"] - row["low"] == pytest.approx(2 * half)


def test_the_band_over_data_sets_is_over_domains(scores):
    band = confidence_band(scores, "accuracy", over="datasets").set_index(["model", "noise_rate"])
    units = domain_means(score_table(scores, noise_rate=0.3), DOMAINS)
    assert list(units.index) == ["software", "medicine", "text"]
    interval = stats.ttest_1samp(units["z"], 0).confidence_interval()
    assert (band.loc[("z", 0.3), "low"], band.loc[("z", 0.3), "high"]) == pytest.approx(interval)
    few = confidence_band(scores[scores["dataset"] < "e"], "accuracy", over="datasets")
    assert few.attrs["remark"].startswith("Two domains are too few for a band over domains")


def test_the_variance_over_shared_test_rows_is_weighted(scores):
    hits = np.array([True, True, False, True])
    scores = scores.assign(accuracy=hits.mean(), correct_rows=pack_rows(hits))
    shared = confidence_band(scores, "accuracy")
    # The repeats are equal, so only the rows vary.  Without domains each data set has the weight 1/6.
    plain = confidence_band(scores.drop(columns="domain"), "accuracy")
    variances = np.array([weight**2 for weight in WEIGHTS.values()])
    freedom = [variances.sum() ** 2 / (variances**2 / 3).sum(), 18]
    expected = np.sqrt(variances.sum() * 6) * stats.t.ppf(0.975, freedom[0]) / stats.t.ppf(0.975, freedom[1])
    ratio = (shared["accuracy"] - shared["low"]) / (plain["accuracy"] - plain["low"])
    np.testing.assert_allclose(ratio, expected)


def test_ranks_and_tests_are_over_domains(scores):
    table = score_table(scores, noise_rate=0.3)
    by_hand = domain_means(table, DOMAINS).rename_axis(index="dataset")
    by_hand.attrs = {}
    ranks = rank_table(table, higher_is_better=True)
    assert ranks.index.name == "domain"
    np.testing.assert_array_equal(ranks, rank_table(by_hand, higher_is_better=True))
    for test in (friedman_nemenyi, wilcoxon_holm):
        found, expected = (test(of, higher_is_better=True) for of in (table, by_hand))
        assert (found.n_datasets, found.unit, expected.unit) == (3, "domain", "data set")
        assert found.summary == expected.summary.replace("data set", "domain")


def test_a_data_set_with_a_failure_does_not_count_in_its_domain(scores, fail):
    rest = score_table(scores[scores["dataset"] != "a"], noise_rate=0.3)
    fail(scores, dataset="a", model="x", noise_rate=0.3)
    table = score_table(scores, noise_rate=0.3)
    ranks = rank_table(table, higher_is_better=True)
    np.testing.assert_array_equal(ranks, rank_table(rest, higher_is_better=True))
    assert "Data set a was dropped" in friedman_nemenyi(table, higher_is_better=True).exclusions


def test_the_verdict_counts_domains():
    domains = {f"d{i}": f"domain {i // 2}" for i in range(20)}
    scores = make_scores(domains, models=("good", "bad"))
    scores["accuracy"] -= 0.4 * (scores["model"] == "bad")
    (text,) = verdict(scores, noise_rate=0.3)
    assert "over ten domains" in text
    assert "bad (on 10 of 10 domains" in text


def test_what_is_averaged():
    scores = make_scores()
    assert averaged_over(scores) == "mean over 6 data sets of 3 domains"
    assert averaged_over(scores.drop(columns="domain")) == "mean over 6 data sets"
    assert averaged_over(scores[scores["dataset"] == "a"]) == "one data set"
    some = scores[scores["dataset"] < "d"].assign(noise_kind="given")
    assert averaged_over(pd.concat([scores, some])) == "mean over 3 to 6 data sets of 2 to 3 domains"
    assert count_units(scores) == (3, "domain")
    assert count_units(scores.assign(domain=scores["dataset"])) == (6, "data set")


def test_without_domains_or_with_one_set_each_nothing_changes(scores):
    plain = scores.drop(columns="domain")
    for other in (scores.assign(domain=scores["dataset"]), scores.assign(domain="software")):
        table = score_table(other, noise_rate=0.3)
        assert rank_table(table, higher_is_better=True).index.name == "dataset"
        pd.testing.assert_frame_equal(mean_curve(other, "ela"), mean_curve(plain, "ela"))
