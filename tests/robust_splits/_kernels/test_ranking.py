import numpy as np
import pytest

from robust_splits._kernels.ranking import (
    MAX_NUMBERED,
    _sort_ties,
    _sorted_rows,
    rank_by_numbers,
    rank_by_sorting,
)


def codes_of(ranked):
    """The codes of all columns, and how many are 0 in each."""
    n_columns, n_samples = ranked.numbers.shape
    width = np.full(n_columns, 4 if ranked.code_of is None else 2)
    data = np.zeros(width.sum() * n_samples, dtype=np.uint8)
    first = np.arange(n_columns) * width * n_samples
    n_zeros = ranked.write_codes(data, first, width)
    return data.view("<u4" if ranked.code_of is None else "<u2").reshape(n_columns, n_samples), n_zeros


def expected(column):
    values, codes = np.unique(column, return_inverse=True)
    return values[~np.isnan(values)], codes, values.size


def assert_ranked(ranked, i, column):
    values, codes, n_codes = expected(column)
    found, n_zeros = codes_of(ranked)
    np.testing.assert_array_equal(found[i], codes)
    np.testing.assert_array_equal(ranked.lowest[i], values)
    np.testing.assert_array_equal(ranked.highest[i], values)
    assert ranked.n_codes[i] == n_codes
    assert n_zeros[i] == np.sum(codes == 0)


@pytest.fixture(params=[np.float32, np.float64])
def X(request):
    """Columns with 2, MAX_NUMBERED, one more, and many values, in more rows than are read at once."""
    rng = np.random.default_rng(0)
    n = 60_000
    few = rng.integers(2, size=n)
    most, too_many = ((rng.permutation(n) % size - size / 3) / 7 for size in (MAX_NUMBERED, MAX_NUMBERED + 1))
    many = rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, size=n)
    return np.column_stack([few, most, too_many, many]).astype(request.param)


def test_numbered_columns(X):
    ranked = rank_by_numbers(X, slice(1, 4), None)
    assert ranked.columns.tolist() == [1]
    assert_ranked(ranked, 0, X[:, 1])
    ranked = rank_by_numbers(X, slice(0, 2), None)
    assert ranked.columns.tolist() == [0, 1]
    for j in range(2):
        assert_ranked(ranked, j, X[:, j])


@pytest.mark.parametrize("j", range(4))
def test_sorted_columns(X, j):
    ranked = rank_by_sorting(X, j, None)
    assert ranked.columns.tolist() == [j]
    assert_ranked(ranked, 0, X[:, j])


@pytest.mark.parametrize("missing", [0, 1, 50, 5_000])
def test_zeros_of_both_signs_and_all_kinds_of_nan_are_the_same(X, missing):
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = -0.0
    X[rng.random(X.shape) < 0.1] = 0.0
    words = X.view(f"u{X.itemsize}")
    quiet = np.full(1, np.nan, dtype=X.dtype).view(words.dtype)
    sign = words.dtype.type(1) << words.dtype.type(8 * X.itemsize - 1)
    for j in range(4):
        rows = rng.choice(len(X), size=missing, replace=False)
        words[rows, j] = quiet | rng.integers(missing + 1, size=missing).astype(words.dtype)
        words[rows[::2], j] |= sign
    if missing < 1000:
        ranked = rank_by_numbers(X, slice(0, 1), None)
        assert_ranked(ranked, 0, X[:, 0])
        assert not np.signbit(ranked.lowest[0][0])
    for j in range(4):
        assert_ranked(rank_by_sorting(X, j, None), 0, X[:, j])


def test_both_ways_find_the_same_bins(X):
    X[::9] = np.nan
    X[:, 1] = X[:, 1].round()
    max_bins = np.array([100, 100])
    numbered = rank_by_numbers(X, slice(0, 2), max_bins)
    codes, n_zeros = codes_of(numbered)
    for j in range(2):
        by_sorting = rank_by_sorting(X, j, max_bins)
        np.testing.assert_array_equal(by_sorting.numbers[0], codes[j])
        np.testing.assert_array_equal(by_sorting.lowest[0], numbered.lowest[j])
        np.testing.assert_array_equal(by_sorting.highest[0], numbered.highest[j])
        assert by_sorting.n_codes[0] == numbered.n_codes[j] == [3, 101][j]
        assert n_zeros[j] == np.sum(codes[j] == 0)


@pytest.mark.parametrize("max_bins", [None, np.array([10])], ids=["exact", "bins"])
def test_only_missing_values(max_bins):
    X = np.full((5, 1), np.nan)
    for ranked in (rank_by_numbers(X, slice(0, 1), max_bins), rank_by_sorting(X, 0, max_bins)):
        assert ranked.lowest[0].size == 0
        assert ranked.n_codes.tolist() == [1]
        assert not codes_of(ranked)[0].any()


@pytest.mark.parametrize(
    ("column", "few_ties"),
    [
        (np.random.default_rng(0).normal(size=100_000), True),
        (np.random.default_rng(1).permutation(10_000) * 1e300, False),  # infinite in single precision
        (1.7e9 + np.random.default_rng(2).permutation(10_000), False),
        (np.append(np.random.default_rng(3).normal(size=1000) * 1e-46, [np.nan, 0.0, -0.0]), False),
    ],
    ids=["normal", "huge", "seconds", "tiny"],
)
def test_values_that_are_equal_in_single_precision(column, few_ties):
    with np.errstate(over="ignore"):
        by_singles = np.argsort(column.astype(np.float32))
    assert _sort_ties(column, by_singles) == few_ties
    rows = _sorted_rows(column) & 0xFFFFFFFF
    np.testing.assert_array_equal(column[rows], np.sort(column))
    np.testing.assert_array_equal(np.sort(rows), np.arange(column.size))
    assert_ranked(rank_by_sorting(column[:, None], 0, None), 0, column)
