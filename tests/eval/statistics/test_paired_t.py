import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_rel

from boostnoise.eval import paired_t_tests


@pytest.fixture
def accuracy():
    return np.random.default_rng(0).uniform([0.5, 0.5, 0.54], [0.6, 0.6, 0.64], (6, 5, 3))


def test_each_test_is_scipys(accuracy, scores_of):
    result = paired_t_tests(scores_of(accuracy))
    assert list(result.table[["dataset", "model", "other"]].iloc[4]) == ["d1", "m0", "m2"]
    rows = iter(result.table.itertuples())
    for i, (a, b) in itertools.product(range(6), itertools.combinations(range(3), 2)):
        expected, row = ttest_rel(accuracy[i, :, a], accuracy[i, :, b]), next(rows)
        assert (row.dataset, row.model, row.other) == (f"d{i}", f"m{a}", f"m{b}")
        assert row.difference == pytest.approx((accuracy[i, :, a] - accuracy[i, :, b]).mean())
        assert row.p_value == pytest.approx(expected.pvalue)
        outcome = "tie" if expected.pvalue > 0.05 else "win" if expected.statistic > 0 else "loss"
        assert row.outcome == outcome
    assert set(result.table["outcome"]) == {"tie", "loss"}


def test_outcomes_are_counted(accuracy, scores_of):
    result = paired_t_tests(scores_of(accuracy))
    for a, b in itertools.combinations(["m0", "m1", "m2"], 2):
        outcomes = result.table.query("model == @a and other == @b")["outcome"].value_counts()
        won, tied, lost = (int(outcomes.get(name, 0)) for name in ("win", "tie", "loss"))
        assert result.matrix.loc[a, b] == f"{won}/{tied}/{lost}"
        assert result.matrix.loc[b, a] == f"{lost}/{tied}/{won}"
        assert result.wins.loc[a, b] == won
    assert (np.diag(result.matrix) == "").all()
    assert result.matrix.loc["m2", "m0"] in str(result)


def test_lower_is_better(accuracy, scores_of):
    scores = scores_of(accuracy)
    high = paired_t_tests(scores)
    low = paired_t_tests(scores.assign(log_loss=scores["accuracy"]), "log_loss")
    pd.testing.assert_frame_equal(high.wins, low.wins.T)
    assert high.wins.to_numpy().sum() > 0


def test_ela_pairs_within_the_repeat(accuracy, scores_of):
    noisy = accuracy - np.random.default_rng(1).uniform(0, 0.1, accuracy.shape)
    both = pd.concat([scores_of(accuracy), scores_of(noisy).assign(noise_rate=0.3)])
    row = paired_t_tests(both, "ela", noise_rate=0.3).table.iloc[0]
    ela = (1 - noisy[0]) / accuracy[0]
    assert row["p_value"] == pytest.approx(ttest_rel(ela[:, 0], ela[:, 1]).pvalue)


def test_a_hand_computed_example(scores_of):
    scores = scores_of([[[0.51, 0.50], [0.52, 0.50], [0.53, 0.50]]])
    plain = paired_t_tests(scores)
    # Mean 0.02, standard deviation 0.01, three repeats.
    assert plain.table["p_value"].iat[0] == pytest.approx(2 * t.sf(0.02 / (0.01 / math.sqrt(3)), 2))
    corrected = paired_t_tests(scores, test_fraction=0.2)
    statistic = 0.02 / (0.01 * math.sqrt(1 / 3 + 0.2 / 0.8))
    assert corrected.table["p_value"].iat[0] == pytest.approx(2 * t.sf(statistic, 2))
    assert "not independent" in plain.remark
    assert corrected.remark == ""


def test_no_spread(scores_of):
    same = [[0.5, 0.5, 0.6]] * 4
    result = paired_t_tests(scores_of([same, same]))
    assert list(result.table["p_value"].head(3)) == [1, 0, 0]
    assert list(result.table["outcome"].head(3)) == ["tie", "loss", "loss"]
    assert result.matrix.loc["m2", "m0"] == "2/0/0"


def test_the_last_digit_is_no_spread(scores_of):
    scores = scores_of([[[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]]])
    assert list(paired_t_tests(scores).table["outcome"]) == ["tie"]


@pytest.mark.parametrize(("n", "words"), [(1, "One repeat is"), (2, "Two repeats are")])
def test_few_repeats(accuracy, n, words, scores_of):
    result = paired_t_tests(scores_of(accuracy[:, :n]))
    assert not result.has_power
    assert result.table["p_value"].isna().all()
    assert result.table["outcome"].isna().all()
    assert result.wins.isna().all(axis=None)
    assert (result.matrix == "").all(axis=None)
    assert result.remark == f"{words} too few for paired t-tests; at least three repeats are needed."
    assert str(result).replace("\n", " ") == result.remark


def test_missing_cells_drop_a_data_set(accuracy, scores_of, fail):
    scores = scores_of(accuracy)
    broken = scores[scores["model"] == "m0"].assign(model="broken", accuracy=np.nan, error="E: no")
    holes = pd.concat([scores, broken])
    fail(holes, None, dataset="d2", repeat=3, model="m1")
    result = paired_t_tests(holes)
    without = paired_t_tests(scores[scores["dataset"] != "d2"])
    pd.testing.assert_frame_equal(result.table, without.table)
    assert result.n_datasets == 5
    assert "Data set d2 was dropped: m1 has no accuracy in 1 of 5 repeats." in str(result)
    assert "Model broken failed in 5 of 5 repeats: E: no; it was left out." in str(result)


def test_nothing_to_compare(accuracy, scores_of):
    one = paired_t_tests(scores_of(accuracy[:, :, :1]))
    assert one.remark == "Paired t-tests compare two or more models; there is one model."
    assert len(one.table) == 0
    scores = scores_of(accuracy[:1])
    scores.loc[0, "accuracy"] = np.nan
    none = paired_t_tests(scores)
    assert none.remark == "No data set has values of all models."
    assert len(none.table) == 0
    nothing = paired_t_tests(scores.assign(accuracy=np.nan))
    assert nothing.remark == "Paired t-tests compare two or more models; there are no models."


def test_arguments(accuracy, scores_of):
    for value in (0, 1, 5, -0.2, math.nan):
        with pytest.raises(ValueError, match=r"^test_fraction must lie between 0 and 1, got"):
            paired_t_tests(scores_of(accuracy), test_fraction=value)
        with pytest.raises(ValueError, match=r"^alpha must lie between 0 and 1, got"):
            paired_t_tests(scores_of(accuracy), alpha=value)


def test_repeats_that_share_test_rows_are_not_tested_without_these(accuracy, scores_of):
    """Deterministic models would give p = 0, whatever their difference."""
    accuracy[:2] = accuracy[:2, :1]
    scores = scores_of(accuracy)
    result = paired_t_tests(scores, fixed=["d0", "d1"])
    fixed = result.table["dataset"].isin(["d0", "d1"])
    assert result.table.loc[fixed, ["p_value", "outcome"]].isna().all(axis=None)
    assert result.table.loc[fixed, "difference"].abs().gt(0).all()
    others = scores[~scores["dataset"].isin(["d0", "d1"])]
    expected = paired_t_tests(others)
    pd.testing.assert_frame_equal(result.table[~fixed].reset_index(drop=True), expected.table)
    pd.testing.assert_frame_equal(result.wins, expected.wins)
    assert result.n_datasets == 4
    assert "The repeats of d0 and d1 share their test rows" in result.remark
    nothing = paired_t_tests(scores[scores["dataset"] == "d0"], fixed=["d0"])
    assert not nothing.has_power
    assert nothing.wins.isna().all(axis=None)
    assert nothing.summary == nothing.remark.replace("\n", " ")
