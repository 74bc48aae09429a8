import numpy as np
import pandas as pd
import pytest

from boostnoise.label_noise.dask_rows import DaskRows, count, draw, shares_to_draw

da = pytest.importorskip("dask.array")


def test_rare_classes_are_drawn_more_often_and_count_less():
    codes = np.repeat([0, 1, 2], [90_000, 9_990, 10])
    shares = shares_to_draw(np.bincount(codes), 10_000)
    np.testing.assert_allclose(shares, [0.1, 0.1, 1.0])
    drawn = draw(codes, [0, 1], shares)
    np.testing.assert_array_equal(drawn, draw(codes, [0, 1], shares))
    assert (codes[drawn] == 2).sum() == 10
    counts = count(codes[drawn], shares)
    totals = np.bincount(codes[drawn], counts)
    np.testing.assert_allclose(totals / totals.sum(), [0.9, 0.0999, 0.0001], rtol=0.1)
    assert count(codes, shares_to_draw(np.array([500, 400]), 100)[[0, 0, 0]]) is None


def test_all_rows_are_drawn_if_there_are_few():
    shares = shares_to_draw(np.array([50, 3]), 53)
    np.testing.assert_array_equal(shares, [1.0, 1.0])
    assert draw(np.zeros(50, dtype=int), [0], shares).size == 50


@pytest.mark.release
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_collections(dask_client, weighted):
    random = np.random.default_rng(0)
    y = random.permutation(np.repeat(["a", "b", "c"], [2_700, 250, 50]))
    X = np.column_stack([np.arange(3_000.0), random.random(3_000)])
    weight = da.from_array(X[:, 1], chunks=1_000) if weighted else None
    rows = DaskRows.read(
        dask_client, da.from_array(X, chunks=(1_000, 1)), da.from_array(y, chunks=1_000), weight
    )
    sample = rows.sample(300, seed=0)
    numbers = sample.X[:, 0].astype(int)
    assert np.unique(numbers).size == numbers.size == pytest.approx(270 + 100 + 50, rel=0.15)
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[sample.codes], y[numbers])
    np.testing.assert_allclose(sample.counts, np.array([1.0, 0.25, 0.1])[sample.codes])
    np.testing.assert_array_equal(np.concatenate(sample.positions), numbers % 1_000)
    expected = sample.counts * X[numbers, 1] if weighted else sample.counts
    np.testing.assert_array_equal(sample.counted_weight, expected)
    everything = rows.sample(3_000, seed=0)
    assert everything.codes.size == 3_000
    assert everything.counts is None
    assert (everything.counted_weight is None) == (not weighted)


@pytest.mark.release
def test_parquet_files_have_as_many_parts_for_labels_as_for_features(dask_client, tmp_path):
    """Dask would join the parts of the labels, which are one column of many."""
    frame = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(np.arange(800.0).reshape(80, 10), columns=list("abcdefghij"))
    table["y"] = np.arange(80) % 2
    for part in range(4):
        table[20 * part : 20 * (part + 1)].to_parquet(tmp_path / f"{part}.parquet")
    read = frame.read_parquet(tmp_path)
    rows = DaskRows.read(dask_client, read.drop(columns="y"), read["y"])
    assert rows.lengths == [20] * 4
    assert rows.X.npartitions == 4
    pd.testing.assert_frame_equal(rows.X.compute(), table.drop(columns="y"))
    X, codes, _ = rows.take([np.array([0])] * 4)
    assert (X["a"].tolist(), codes.tolist()) == ([0, 200, 400, 600], [0, 0, 0, 0])
