import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import compare_with_published
from boostnoise.eval.papers.published_comparison import PublishedComparison


@pytest.fixture
def scores():
    """Two repeats of three models at two rates; one repeat of the last model failed at the higher rate."""
    rows = [
        ("wine", model, "uniform", rate, repeat, accuracy - 0.2 * rate + 0.02 * repeat)
        for model, accuracy in (("a", 0.90), ("b", 0.92), ("c", 0.95))
        for rate in (0.0, 0.1 + 0.2)
        for repeat in range(2)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "model", "noise_kind", "noise_rate", "repeat", "accuracy"])
    table.loc[len(table) - 1, "accuracy"] = np.nan
    return table


def published(*rows, **columns):
    cells = pd.DataFrame(rows, columns=["model", "noise_rate", "accuracy"])
    return cells.assign(dataset="wine", noise_kind="uniform", **columns)


def test_cells_by_hand(scores):
    found = compare_with_published(
        scores, published(("a", 0.0, 0.95), ("b", 0.0, 0.96), ("c", 0.3, 0.9), ("d", 0.0, 0.5), sd=0.005)
    )
    assert isinstance(found, PublishedComparison)
    cells = found.cells.set_index(["model", "noise_rate"])
    a = cells.loc[("a", 0.0)]
    assert a["ours"] == pytest.approx(0.91)
    assert a["ours_sd"] == pytest.approx(np.sqrt(2) * 0.01)
    assert a["difference"] == pytest.approx(-0.04)
    assert a["band"] == pytest.approx(2 * (0.005 + np.sqrt(2) * 0.01))
    assert cells["within"].tolist()[:2] == [False, True]
    assert np.isnan(cells.loc[("c", 0.3), "ours"])  # a repeat is missing
    assert np.isnan(cells.loc[("d", 0.0), "ours"])
    assert found.share_within == 0.5
    assert len(found.reproduced) == 2
    text = str(found)
    assert "1 of 2 cells (50 %) are within the bands around the published accuracy" in text
    assert "The run lacks 2 published cells, among them all of models c and d; uniform noise at 0.3." in text
    assert a[["ours_repeats", "published_repeats"]].tolist() == pytest.approx([2, np.nan], nan_ok=True)


def test_single_repeats(scores):
    single = scores[scores["repeat"] == 0]
    table = published(("a", 0.0, 0.9), ("b", 0.0, 0.9), ("c", 0.0, 0.9))
    assert compare_with_published(single, table).cells["within"].tolist() == [True, False, False]
    found = compare_with_published(single, table.assign(test_rows=100)).cells
    assert found["band"].tolist() == pytest.approx([0.06] * 3)
    assert found["within"].tolist() == [True, True, True]


def test_rank_agreement(scores):
    table = published(("a", 0.0, 0.7), ("b", 0.0, 0.6), ("c", 0.0, 0.8), ("a", 0.3, 0.1), ("b", 0.3, 0.2))
    found = compare_with_published(scores, table).rank_agreement
    assert found[["noise_kind", "noise_rate", "datasets"]].to_numpy().tolist() == [["uniform", 0.0, 1]]
    assert found["kendall_tau"].tolist() == pytest.approx([1 / 3])  # two of three pairs agree
    none = compare_with_published(scores, published(("x", 0.0, 0.7)))
    assert none.rank_agreement.empty
    assert np.isnan(none.share_within)
    assert str(none) == "The run has none of the 1 published cell."


def test_noise_rates_are_compared_as_printed(scores):
    assert compare_with_published(scores, published(("a", 0.3, 0.85))).cells["ours"].notna().all()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (published(("a", 0.0, 0.9)).drop(columns="dataset"), "'dataset' is missing"),
        (published(("a", 0.0, 90.0)), r"accuracy must be from 0 to 1, got 90; divide percentages by 100"),
        (published(("a", 0.0, 0.9), ("b", 0.0, np.nan)), "accuracy is missing in row 2; it must have a value"),
        (published((None, 0.0, 0.9)), "model is missing in row 1"),
        (published(("a", np.nan, 0.9)), "noise_rate is missing in row 1"),
        (published(), "the table has no rows"),
        (published(("a", 20, 0.9)), "noise_rate must be from 0 to 1, got 20; divide percentages by 100"),
        (published(("a", -0.1, 0.9)), "noise_rate must be from 0 to 1, got -0.1$"),
        (published(("a", 0.0, 0.9), sd=-0.01), "sd must be 0 or more, got -0.01$"),
        (published(("a", 0.0, 0.9), ("a", 0.0, 0.8)), "a cell occurs twice: wine, a, uniform, 0.0"),
        (published(("a", "much", 0.9)), "could not convert"),
    ],
)
def test_errors(scores, table, message):
    with pytest.raises(ValueError, match=message):
        compare_with_published(scores, table)
