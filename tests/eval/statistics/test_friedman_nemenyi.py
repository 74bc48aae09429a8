import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2, friedmanchisquare, studentized_range

from boostnoise.eval import friedman_nemenyi, rank_table, score_table
from boostnoise.eval.statistics.friedman_nemenyi import critical_difference


def test_the_example_of_demsar(demsar):
    # The paper ranks the last two of voting, printed as 0.975 both, as 2 and 3.
    result = friedman_nemenyi(demsar, higher_is_better=True)
    ranks = result.mean_ranks
    assert list(ranks.index) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    np.testing.assert_allclose(ranks, [1.964, 2.0, 2.893, 3.143], atol=5e-4)
    # The paper's 9.28 is without the correction for ties: 5 pairs and all four on mushroom.
    n, k = 14, 4
    plain = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    ties = 3 * (2**3 - 2) + (4**3 - 4)
    assert result.statistic == pytest.approx(plain / (1 - ties / (n * (k**3 - k))))
    assert result.p_value == pytest.approx(chi2.sf(result.statistic, 3))
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    # "the post-hoc test is not powerful enough to detect any significant differences": 3.143 - 1.964 < 1.25
    assert result.groups == [list(ranks.index)]
    assert (result.p_values.to_numpy() > 0.05).all()
    assert result.n_datasets == 14
    assert result.has_power
    assert result.remark == "The models differ, but no two mean ranks differ by the critical difference."


@pytest.mark.parametrize(
    ("k", "q"), [*enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], 2)]
)
def test_the_critical_values_of_demsar(k, q):
    """Table 5a there, at 5 %."""
    assert critical_difference(6, k) == pytest.approx(q * math.sqrt(k * (k + 1) / 36), rel=3e-4)


def test_nothing_to_differ():
    assert math.isnan(critical_difference(0, 3))
    assert math.isnan(critical_difference(5, 1))


def test_statistic_p_values_and_groups(noisy_table):
    table = noisy_table(20, 5)
    result = friedman_nemenyi(table, higher_is_better=True)
    statistic, p_value = friedmanchisquare(*table.to_numpy().T)
    assert result.statistic == pytest.approx(statistic)
    assert result.p_value == pytest.approx(p_value)
    assert p_value < 0.001
    ranks = rank_table(table, higher_is_better=True).mean()
    for a, b in itertools.combinations(table.columns, 2):
        q = abs(ranks[a] - ranks[b]) / math.sqrt(5 * 6 / (6 * 20)) * math.sqrt(2)
        expected = studentized_range.sf(q, 5, np.inf)
        assert result.p_values.loc[a, b] == result.p_values.loc[b, a] == pytest.approx(expected, abs=1e-9)
        together = any({a, b} <= set(group) for group in result.groups)
        assert together == (abs(ranks[a] - ranks[b]) <= result.critical_difference) == (expected > 0.05)
    # No group lies within another.
    assert not any(set(a) < set(b) for a, b in itertools.permutations(result.groups, 2))
    assert len(result.groups) > 1


def test_lower_is_better(noisy_table):
    table = noisy_table(20, 4)
    high, low = friedman_nemenyi(table, higher_is_better=True), friedman_nemenyi(table, higher_is_better=False)
    assert high.mean_ranks.index[0] == "m3"
    assert low.mean_ranks.index[0] == "m0"
    assert high.statistic == pytest.approx(low.statistic)
    pd.testing.assert_series_equal(low.mean_ranks.sort_index(), (5 - high.mean_ranks).sort_index())


@pytest.mark.parametrize("k", [3, 4, 7, 20])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.0001])
def test_power_requires_that_the_same_order_everywhere_is_significant(n, k, alpha):
    extreme = pd.DataFrame([range(k)] * n, columns=[f"m{j}" for j in range(k)])
    result = friedman_nemenyi(extreme, higher_is_better=True, alpha=alpha)
    p_value = chi2.sf(n * (k - 1), k - 1)  # the statistic is at most that
    q = (k - 1) / math.sqrt(k * (k + 1) / (6 * n)) * math.sqrt(2)
    by_chance = math.factorial(k) ** -(n - 1.0)
    possible = max(p_value, studentized_range.sf(q, k, np.inf), by_chance) <= alpha
    assert result.has_power == (n > 1 and possible)
    if result.has_power:
        assert result.p_value == pytest.approx(p_value)
        assert result.p_values.loc["m0", f"m{k - 1}"] <= alpha
    else:
        assert math.isnan(result.statistic)
        assert math.isnan(result.p_value)
        assert result.p_values.isna().all(axis=None)
        assert result.groups == [list(result.mean_ranks.index)]
        assert "too few" in result.remark
        assert "p =" not in str(result)


def test_how_many_data_sets_it_takes(noisy_table):
    result = friedman_nemenyi(noisy_table(2, 3), higher_is_better=True)
    assert result.remark == (
        "Two data sets are too few for Friedman's and Nemenyi's tests of three models; at least three data sets are needed."
    )
    one = friedman_nemenyi(noisy_table(1, 3), higher_is_better=True)
    assert one.remark.startswith("One data set is too few")


def test_few_data_sets_make_a_remark(noisy_table):
    assert "fewer than ten data sets" in friedman_nemenyi(noisy_table(9, 3), higher_is_better=True).remark
    assert "fewer than ten data sets" not in friedman_nemenyi(noisy_table(10, 3), higher_is_better=True).remark


def test_two_models_are_not_for_friedman(noisy_table):
    result = friedman_nemenyi(noisy_table(20, 2), higher_is_better=True)
    assert not result.has_power
    assert result.remark == "Friedman's test compares three or more models; there are two models."


def test_models_that_tie_everywhere_do_not_differ():
    result = friedman_nemenyi(pd.DataFrame(0.5, range(10), list("abc")), higher_is_better=True)
    assert (result.statistic, result.p_value) == (0, 1)
    assert (result.mean_ranks == 2).all()
    assert result.groups == [["a", "b", "c"]]
    assert result.remark == "Friedman's test finds no difference, so pairs of models are not compared."


def test_no_data_set_is_left():
    table = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 1.0], "c": [1.0, 1.0]}, index=["x", "y"])
    result = friedman_nemenyi(table, higher_is_better=True)
    assert result.n_datasets == 0
    assert result.remark == "No data set has values of all models."
    assert list(result.dropped) == ["x", "y"]
    nothing = friedman_nemenyi(table[[]], higher_is_better=True)
    assert nothing.groups == []
    assert nothing.remark.endswith("there are no models.")


def test_missing_cells_drop_a_data_set_and_say_so(noisy_table):
    table = noisy_table(12, 4)
    holes = table.assign(broken=np.nan)
    holes.loc["d3", "m1"] = np.nan
    result = friedman_nemenyi(holes, higher_is_better=True)
    without = friedman_nemenyi(table.drop(index="d3"), higher_is_better=True)
    assert result.statistic == without.statistic
    pd.testing.assert_series_equal(result.mean_ranks, without.mean_ranks)
    assert result.n_datasets == 11
    assert "Data set d3 was dropped: m1 has no value." in str(result)
    assert "Model broken has no value; it was left out." in str(result)


def test_alpha_is_a_probability(noisy_table):
    for alpha in (0, 1, 5, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"^alpha must lie between 0 and 1, got"):
            friedman_nemenyi(noisy_table(5, 3), higher_is_better=True, alpha=alpha)


@settings(max_examples=12)
@given(arrays(float, (8, 4), elements=st.integers(0, 5).map(float)), st.randoms(use_true_random=False))
def test_the_order_of_data_sets_and_models_changes_nothing(values, random):
    table = pd.DataFrame(values, columns=list("abcd"))
    rows, columns = list(table.index), list(table.columns)
    random.shuffle(rows)
    random.shuffle(columns)
    first = friedman_nemenyi(table, higher_is_better=True)
    second = friedman_nemenyi(table.loc[rows, columns], higher_is_better=True)
    assert second.statistic == pytest.approx(first.statistic)
    assert second.p_value == pytest.approx(first.p_value)
    pd.testing.assert_series_equal(second.mean_ranks.sort_index(), first.mean_ranks.sort_index())
    pd.testing.assert_frame_equal(
        second.p_values.loc[first.mean_ranks.index, first.mean_ranks.index], first.p_values
    )


def test_the_published_accuracies_of_2020(study_2020):
    table = score_table(study_2020("depth6trees50"), "ela", noise_rate=0.3)
    assert table.shape == (16, 3)
    result = friedman_nemenyi(table, higher_is_better=False)
    # The study's claim: XGBoost has the lowest ELA, then GBM, then AdaBoost.
    assert [name[:4] for name in result.mean_ranks.index] == ["xgbo", "gboo", "adab"]
    assert result.p_value == pytest.approx(friedmanchisquare(*table.to_numpy().T).pvalue)
    assert len(result.groups) == 1
    assert len(result.groups[0]) == 2
