import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from boostnoise.eval import rank_table, score_table
from boostnoise.eval.metrics.outcome import NOT_FITTED
from boostnoise.eval.statistics.score_tables import complete

RATES = (0.0, 0.2)


@pytest.fixture
def scores(scores_of):
    return scores_of(np.random.default_rng(0).uniform(0.5, 1, (2, 3, 2, 2)), RATES)


def test_means_over_repeats(scores):
    accuracy = scores["accuracy"].to_numpy().reshape(2, 3, 2, 2)
    table = score_table(scores, noise_rate=0.2)
    assert list(table.index) == ["d0", "d1", "d2"]
    assert list(table.columns) == ["m0", "m1"]
    np.testing.assert_allclose(table, accuracy[1].mean(axis=1))
    ela = ((1 - accuracy[1]) / accuracy[0]).mean(axis=1)
    np.testing.assert_allclose(score_table(scores, "ela", noise_rate=0.2), ela)
    # The area under two points is their mean.
    areas = (((1 - accuracy) / accuracy[0]).mean(axis=0)).mean(axis=1)
    np.testing.assert_allclose(score_table(scores, "area_under_ela"), areas)


def test_the_order_of_the_scores_is_kept(scores):
    backwards = scores.iloc[::-1].reset_index(drop=True)
    table = score_table(backwards, noise_rate=0.2)
    assert list(table.index) == ["d2", "d1", "d0"]
    assert list(table.columns) == ["m1", "m0"]
    pd.testing.assert_frame_equal(
        table.loc[["d0", "d1", "d2"], ["m0", "m1"]], score_table(scores, noise_rate=0.2)
    )


def test_a_rate_that_is_a_sum_is_found(scores_of):
    scores = scores_of(np.full((2, 1, 1, 1), 0.5), rates=(0.0, 0.1 + 0.2))
    assert score_table(scores, noise_rate=0.3).iat[0, 0] == 0.5


def test_missing_runs_are_refused(scores):
    both = pd.concat([scores, scores.assign(noise_kind="pair_flip")])
    twice = pd.concat([scores, scores])
    for table, metric, options, message in [
        (scores, "accuracy", {"noise_rate": 0.3}, "^noise_rate must be one of 0, 0.2, got 0.3$"),
        (scores, "accuracy", {}, "^noise_rate must be one of 0, 0.2, got None$"),
        (scores, "area_under_ela", {"noise_rate": 0.2}, "^noise_rate must be None for area_under_ela, which has no noise rate, got 0.2$"),
        (both, "accuracy", {"noise_rate": 0.2}, "^there are several kinds of noise; noise_kind must be one of uniform, pair_flip$"),
        (scores, "accuracy", {"noise_rate": 0.2, "noise_kind": "label"}, "^noise_kind must be one of uniform, got 'label'$"),
        (twice, "accuracy", {"noise_rate": 0.2}, "more than one row for the same data set"),
        (scores, "roc_auc", {"noise_rate": 0.2}, "^measure 'roc_auc' is not in the scores; available measures: accuracy$"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            score_table(table, metric, **options)
    assert score_table(both, noise_rate=0.2, noise_kind="pair_flip").equals(score_table(scores, noise_rate=0.2))


def test_missing_cells_have_reasons(scores, fail):
    fail(scores, dataset="d1", model="m0", repeat=1, noise_rate=0.2)
    table = score_table(scores, noise_rate=0.2)
    assert table.isna().to_numpy().tolist() == [[False, False], [True, False], [False, False]]
    whole, dropped, left_out = complete(table)
    assert list(whole.index) == ["d0", "d2"]
    assert dropped == {"d1": "m0 failed in 1 of 2 repeats: E: no"}
    assert left_out == {}
    assert not score_table(scores, noise_rate=0.0).isna().any(axis=None)


def test_unfitted_cells_have_not_failed(scores, fail):
    fail(scores, NOT_FITTED, dataset="d1", model="m0", repeat=1, noise_rate=0.2)
    assert complete(score_table(scores, noise_rate=0.2))[1] == {"d1": "m0 is not fitted yet in 1 of 2 repeats"}
    fail(scores, dataset="d1", model="m0", repeat=0, noise_rate=0.2)
    assert complete(score_table(scores, noise_rate=0.2))[1] == {
        "d1": "m0 is not fitted yet in 1 of 2 repeats, and failed in 1 of 2 repeats: E: no"
    }
    one = scores[scores["repeat"] == 1]
    assert complete(score_table(one, noise_rate=0.2))[1] == {"d1": "m0 is not fitted yet"}


def test_without_a_baseline_there_is_no_ela(scores, fail):
    fail(scores, dataset="d1", model="m0", repeat=1, noise_rate=0.0)
    assert complete(score_table(scores, "ela", noise_rate=0.2))[1] == {
        "d1": "m0 failed in 1 of 2 repeats: E: no"
    }
    assert complete(score_table(scores, noise_rate=0.2))[1] == {}


def test_a_cell_without_a_row_is_missing(scores, scores_of):
    scores = scores.drop(
        scores.index[(scores["dataset"] == "d2") & (scores["repeat"] == 0) & (scores["model"] == "m1")]
    )
    assert complete(score_table(scores, noise_rate=0.2))[1] == {"d2": "m1 has no accuracy in 1 of 2 repeats"}
    one = scores_of(np.full((2, 2, 1, 2), 0.5), RATES)
    one.loc[len(one) - 1, "accuracy"] = np.nan
    assert complete(score_table(one.drop(columns="error"), noise_rate=0.2))[1] == {"d1": "m1 has no accuracy"}


def test_a_model_without_any_value_drops_no_data_set(scores, fail):
    fail(scores, "x" * 500, model="m0")
    whole, dropped, left_out = complete(score_table(scores, noise_rate=0.2))
    assert list(whole.columns) == ["m1"]
    assert len(whole) == 3
    assert dropped == {}
    assert left_out == {"m0": f"failed in 2 of 2 repeats: {'x' * 119}…"}


def test_a_plain_table_has_reasons_too():
    table = pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2.0], "c": [np.nan, np.nan]}, index=["x", "y"])
    whole, dropped, left_out = complete(table)
    assert (list(whole.index), list(whole.columns)) == (["x"], ["a", "b"])
    assert dropped == {"y": "a has no value"}
    assert left_out == {"c": "has no value"}


def test_ranks():
    table = pd.DataFrame({"a": [0.9, 0.5, 0.7], "b": [0.8, 0.5, np.nan], "c": [0.7, 0.6, 0.8], "d": np.nan})
    best_high = rank_table(table, higher_is_better=True)
    expected = [[1, 2, 3, np.nan], [2.5, 2.5, 1, np.nan], [np.nan] * 4]
    np.testing.assert_array_equal(best_high, expected)
    low = rank_table(table, higher_is_better=False)
    np.testing.assert_array_equal(low.iloc[:2, :3], 4 - best_high.iloc[:2, :3])


def test_sums_in_another_order_tie():
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    table = pd.DataFrame({"a": [0.1 + 0.2 + 0.3], "b": [0.3 + 0.2 + 0.1], "c": [0.5]})
    np.testing.assert_array_equal(rank_table(table, higher_is_better=True), [[1.5, 1.5, 3]])


@settings(max_examples=30)
@given(arrays(float, (4, 3), elements=st.integers(-50, 50).map(float)), st.booleans())
def test_ranks_stay_under_monotone_transformations(values, high):
    table = pd.DataFrame(values)
    ranks = rank_table(table, higher_is_better=high)
    pd.testing.assert_frame_equal(ranks, rank_table(np.exp(table / 10), higher_is_better=high))
    pd.testing.assert_frame_equal(ranks, rank_table(-table, higher_is_better=not high))
    np.testing.assert_allclose(ranks.sum(axis=1), 6)
