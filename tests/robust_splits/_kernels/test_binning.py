import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_splits._kernels.coding import encode


def binned(column, max_bins):
    columns = encode(column[:, None], 1, max_bins)
    assert columns.codes.step == 1
    return columns.codes.data[: column.size], columns.values, columns.highest


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.floats(-4, 4, width=16) | st.just(np.nan)),
    st.integers(2, 12),
)
def test_bins_are_in_order_and_hold_what_they_say(column, max_bins):
    codes, lowest, highest = binned(column, max_bins)
    missing = np.isnan(column)
    assert lowest.size <= max_bins
    assert (codes[missing] == lowest.size).all()
    for b in range(lowest.size):
        inside = column[codes == b]
        assert (lowest[b], highest[b]) == (inside.min(), inside.max())
    assert (highest[:-1] < lowest[1:]).all()
    distinct = np.unique(column[~missing])
    assert lowest.size == min(max_bins, distinct.size)
    if distinct.size <= max_bins:
        np.testing.assert_array_equal(lowest, distinct)


def test_bins_have_equal_numbers_of_rows():
    column = np.random.default_rng(0).normal(size=10_000)
    codes, *_ = binned(column, 100)
    assert set(np.bincount(codes)) == {100}


def test_values_after_the_frequent_ones_belong_to_the_last_bin():
    codes, lowest, highest = binned(np.repeat([0.0, 1.0, 2.0, 3.0], [50, 50, 1, 1]), 2)
    assert np.bincount(codes).tolist() == [50, 52]
    assert (lowest.tolist(), highest.tolist()) == ([0, 1], [0, 3])


def test_a_frequent_value_leaves_bins_for_the_others():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(10_000) < 0.9, 0.0, rng.normal(size=10_000))
    codes, lowest, highest = binned(column, 50)
    assert lowest.size == 50
    rows = np.bincount(codes)
    zero = np.flatnonzero((lowest <= 0) & (highest >= 0))
    assert rows[zero].sum() == pytest.approx(9_000, rel=0.05)
    assert np.delete(rows, zero).max() < 60


@pytest.mark.parametrize("n_threads", [1, 3])
def test_columns_of_bins(n_threads):
    X = np.random.default_rng(0).normal(size=(2_000, 20)).astype(np.float32)
    X[:, 1] = X[:, 1].round()
    X[::7, 2] = np.nan
    columns = encode(X, n_threads, 255)
    assert set(columns.codes.step) == {1}
    for j in range(X.shape[1]):
        codes, lowest, highest = binned(X[:, j].astype(float), 255)
        part = slice(columns.offsets[j], columns.offsets[j + 1])
        np.testing.assert_array_equal(columns.codes.data[columns.codes.first[j] :][: len(X)], codes)
        np.testing.assert_array_equal(columns.rows.view(np.uint8)[:, j], codes)
        np.testing.assert_array_equal(columns.values[part], lowest)
        np.testing.assert_array_equal(columns.highest[part], highest)
