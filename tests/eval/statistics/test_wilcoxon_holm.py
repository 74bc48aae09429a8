import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm, rankdata, wilcoxon

from boostnoise.eval import score_table, wilcoxon_holm


def test_the_example_of_demsar(demsar):
    """Table 2 of Demsar 2006: R+ = 93, R- = 12, below the critical 21 of 14 data sets."""
    table = demsar[["C4.5", "C4.5+m"]]
    result = wilcoxon_holm(table, higher_is_better=True)
    assert result.control == "C4.5+m"
    row = result.table.iloc[0]
    assert (row["rank_sum_won"], row["rank_sum_lost"]) == (93, 12)
    assert (row["wins"], row["ties"], row["losses"]) == (10, 2, 2)
    assert row["effect_size"] == pytest.approx((93 - 12) / 105)
    assert row["difference"] == pytest.approx((table["C4.5+m"] - table["C4.5"]).mean())
    assert row["significant"]
    assert row["p_value"] == row["p_holm"] == pytest.approx(brute_force(table["C4.5+m"] - table["C4.5"]))
    other = wilcoxon_holm(table, "C4.5", higher_is_better=True).table.iloc[0]
    assert (other["rank_sum_won"], other["rank_sum_lost"], other["p_value"]) == (12, 93, row["p_value"])
    assert (other["effect_size"], other["difference"]) == (-row["effect_size"], -row["difference"])


def brute_force(differences):
    """The share of all signs whose sum of ranks is as far from the middle."""
    d = np.round(np.asarray(differences, dtype=float), 9)
    ranks = rankdata(np.abs(d))[d != 0]
    signs = np.array(list(itertools.product([0, 1], repeat=len(ranks)))).reshape(2 ** len(ranks), len(ranks))
    distance = np.abs(signs @ ranks - ranks.sum() / 2)
    observed = abs(rankdata(np.abs(d))[d > 0].sum() - ranks.sum() / 2)
    return (distance >= observed - 1e-9).mean()


@settings(max_examples=15)
@given(arrays(float, (8, 2), elements=st.integers(0, 4).map(float)))
def test_ties_are_exact(values):
    table = pd.DataFrame(values, columns=["a", "b"])
    result = wilcoxon_holm(table, "a", higher_is_better=True)
    assert result.table["p_value"].iat[0] == pytest.approx(brute_force(table["a"] - table["b"]))


@pytest.mark.parametrize("n", [6, 14, 30, 50, 51, 80])
def test_without_ties_it_is_scipys(n):
    table = pd.DataFrame(np.random.default_rng(n).normal([0, 0.4], size=(n, 2)), columns=["a", "b"])
    result = wilcoxon_holm(table, "b", higher_is_better=True)
    assert result.table["p_value"].iat[0] == pytest.approx(wilcoxon(table["a"], table["b"]).pvalue)


def test_many_ties_come_near_the_normal_distribution():
    """Where there are too many data sets to try all signs, the exact and the normal distribution agree."""
    table = pd.DataFrame(np.random.default_rng(0).integers([0, 1], [8, 9], (50, 2)), columns=["a", "b"])
    result = wilcoxon_holm(table, "b", higher_is_better=True).table["p_value"].iat[0]
    differences = table["b"] - table["a"]
    ranks = rankdata(np.abs(differences))
    # Each rank but those of zeros is added or not, half of the time.
    spread = math.sqrt((ranks[differences != 0] ** 2).sum() / 4)
    middle = ranks[differences != 0].sum() / 2
    normal = 2 * norm.sf(abs(ranks[differences > 0].sum() - middle) / spread)
    assert 1e-4 < normal < 0.5
    assert result == pytest.approx(normal, rel=0.1)


def test_holms_correction(noisy_table):
    table = noisy_table(20, 5, step=0.5)
    result = wilcoxon_holm(table, "m4", higher_is_better=True).table
    assert list(result["model"]) == ["m0", "m1", "m2", "m3"]
    expected = {}
    highest = 0.0
    for i, (p, name) in enumerate(
        sorted((wilcoxon(table["m4"], table[name]).pvalue, name) for name in result["model"])
    ):
        highest = max(highest, min(1.0, p * (4 - i)))
        expected[name] = highest
    np.testing.assert_allclose(result["p_holm"], [expected[name] for name in result["model"]])
    assert list(result["significant"]) == [p <= 0.05 for p in result["p_holm"]]
    assert 0 < result["significant"].sum() < 4


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("m", [1, 2, 6])
@pytest.mark.parametrize("n", range(1, 12))
def test_power_requires_that_winning_everywhere_is_significant(n, m, alpha):
    # Differences of all sizes, all in favour of the last model.
    values = np.arange(1, n + 1)[:, None] * np.arange(m + 1)
    table = pd.DataFrame(values, columns=[f"m{j}" for j in range(m + 1)])
    for control, n_tests in ((f"m{m}", m), (None, m * (m + 1) / 2)):
        result = wilcoxon_holm(table, control, higher_is_better=True, alpha=alpha)
        assert result.control == f"m{m}"
        assert result.n_tests == n_tests
        assert result.has_power == (n_tests * wilcoxon(np.arange(1.0, n + 1)).pvalue <= alpha)
        assert result.table["significant"].all() == result.has_power
        assert (result.table["wins"] == n).all()
        assert result.table["p_value"].isna().all() != result.has_power
        assert ("p_value" in str(result)) == result.has_power


def test_how_many_data_sets_it_takes(noisy_table):
    few = "Three data sets are too few for Wilcoxon's signed-rank test"
    given_one, chosen = (wilcoxon_holm(noisy_table(3, 7), name, higher_is_better=True) for name in ("m3", None))
    assert given_one.remark == f"{few} against six models; at least eight data sets are needed."
    assert chosen.remark == f"{few} of all pairs of seven models; at least ten data sets are needed."


@pytest.mark.parametrize("n", [20, 60])
def test_a_control_chosen_by_the_same_data_is_corrected_for_all_pairs(noisy_table, n):
    table = noisy_table(n, 4, step=0.4)
    chosen = wilcoxon_holm(table, higher_is_better=True)
    given_one = wilcoxon_holm(table, "m3", higher_is_better=True)
    assert chosen.control == "m3"
    pd.testing.assert_frame_equal(chosen.table.loc[:, :"p_value"], given_one.table.loc[:, :"p_value"])
    pairs = list(itertools.combinations(table.columns, 2))
    p = pd.Series({pair: wilcoxon(table[pair[0]], table[pair[1]]).pvalue for pair in pairs}).sort_values()
    holm = np.minimum(1, p * np.arange(6, 0, -1)).cummax()
    np.testing.assert_allclose(chosen.table["p_holm"], [holm[name, "m3"] for name in chosen.table["model"]])
    assert (chosen.table["p_holm"] > given_one.table["p_holm"]).any()
    assert "with Holm's correction over all pairs of models; wins" in " ".join(str(chosen).split())
    assert "with Holm's correction; wins" in " ".join(str(given_one).split())


@pytest.mark.release
@pytest.mark.parametrize("n_bad", [0, 2])
def test_the_best_of_equal_models_is_rarely_significantly_ahead(n_bad):
    """Models that are plainly worse, which let any gate on all models pass, change nothing."""
    rng = np.random.default_rng(0)
    n_false = 0
    for _ in range(80):
        values = rng.normal(0, 1, (15, 1)) + rng.normal(0, 1, (15, 19))
        values[:, :9] += rng.normal(0, 1, (15, 1))  # these resemble one another
        table = pd.DataFrame(values - 10 * (np.arange(19) >= 19 - n_bad), columns=[f"m{j}" for j in range(19)])
        result = wilcoxon_holm(table, higher_is_better=True).table
        assert result["significant"].iloc[19 - n_bad - 1 :].all()  # of 18 rows, the last are the bad models
        n_false += result["significant"].iloc[: 19 - n_bad - 1].any()
    assert n_false <= 4  # 5 %; corrected for 18 tests only, 20 %


def test_lower_is_better(noisy_table):
    table = noisy_table(20, 3)
    high = wilcoxon_holm(table, "m1", higher_is_better=True).table
    low = wilcoxon_holm(table, "m1", higher_is_better=False).table
    np.testing.assert_array_equal(high["wins"], low["losses"])
    np.testing.assert_array_equal(high["rank_sum_won"], low["rank_sum_lost"])
    np.testing.assert_allclose(high["p_value"], low["p_value"])
    assert wilcoxon_holm(table, higher_is_better=False).control == "m0"


def test_models_that_tie_everywhere_do_not_differ():
    for n in (8, 60):
        result = wilcoxon_holm(pd.DataFrame(0.5, range(n), ["a", "b"]), higher_is_better=True).table.iloc[0]
        assert (result["wins"], result["ties"], result["losses"], result["p_value"]) == (0, n, 0, 1)
        assert not result["significant"]


def test_the_last_digit_is_a_tie():
    table = pd.DataFrame({"a": [0.1 + 0.2] * 10, "b": [0.3] * 10})
    assert wilcoxon_holm(table, higher_is_better=True).table["ties"].iat[0] == 10


def test_nothing_to_compare(noisy_table):
    one = wilcoxon_holm(noisy_table(20, 1), higher_is_better=True)
    assert (one.control, len(one.table), one.has_power) == ("m0", 0, False)
    assert str(one) == "There is no other model to compare with."
    holes = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 1.0]}, index=["x", "y"])
    for control in (None, "a"):
        none = wilcoxon_holm(holes, control, higher_is_better=True)
        assert none.remark == "No data set has values of all models."
        assert not none.has_power
        assert "Data set x was dropped: b has no value." in str(none)
    assert wilcoxon_holm(holes[[]], higher_is_better=True).control is None


def test_missing_cells_drop_a_data_set(noisy_table):
    table = noisy_table(12, 3).reset_index(drop=True)  # data sets may have numbers for names
    holes = table.assign(broken=np.nan)
    holes.loc[5, "m1"] = np.nan
    result = wilcoxon_holm(holes, "m2", higher_is_better=True)
    pd.testing.assert_frame_equal(
        result.table, wilcoxon_holm(table.drop(index=5), "m2", higher_is_better=True).table
    )
    assert result.dropped == {"5": "m1 has no value"}
    assert result.left_out == {"broken": "has no value"}


def test_the_control_must_be_there(noisy_table):
    table = noisy_table(12, 3).assign(broken=np.nan)
    with pytest.raises(ValueError, match=r"^control must be one of m0, m1, m2, broken, got 'm9'$"):
        wilcoxon_holm(table, "m9", higher_is_better=True)
    with pytest.raises(ValueError, match=r"^control 'broken' cannot be compared: has no value$"):
        wilcoxon_holm(table, "broken", higher_is_better=True)
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, got 5"):
        wilcoxon_holm(table, higher_is_better=True, alpha=5)


def test_the_order_of_data_sets_and_models_changes_nothing(noisy_table):
    table = noisy_table(15, 4)
    first = wilcoxon_holm(table, "m2", higher_is_better=True).table.set_index("model")
    second = wilcoxon_holm(table.iloc[::-1, ::-1], "m2", higher_is_better=True).table.set_index("model")
    pd.testing.assert_frame_equal(first, second.loc[first.index])


def test_the_published_accuracies_of_2020(study_2020):
    table = score_table(study_2020("50stumps"), noise_rate=0.3)
    row = wilcoxon_holm(table, "gboost1", higher_is_better=True).table.set_index("model").loc["adaboost1"]
    differences = table["gboost1"] - table["adaboost1"]
    assert row["p_value"] == pytest.approx(wilcoxon(differences, method="exact").pvalue)
    assert (row["wins"], row["ties"], row["losses"]) == ((differences > 0).sum(), 0, (differences < 0).sum())
    assert math.isclose(row["rank_sum_won"] + row["rank_sum_lost"], 16 * 17 / 2)
