import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_splits._kernels.coding import Column, encode, read_code
from robust_splits._kernels.compile import outer_kernel
from robust_splits._kernels.partition import copy_codes


@outer_kernel()
def read_codes(codes, mask, j, out):
    column = Column(codes.data, codes.first[j], codes.step[j], mask[j])
    for i in range(out.size):
        out[i] = read_code(column, i)


@outer_kernel()
def copy_rows(columns, rows, words):
    copy_codes(columns.rows, rows, 0, rows.size, words)


def codes_of(columns, j):
    """Codes of a column, from the array by column and from a copy of all rows."""
    n = len(columns.rows)
    by_column, by_row = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    read_codes(columns.codes, columns.mask, j, by_column)
    words, local = columns.allocate_local(n)
    copy_rows(columns, np.arange(n) << 32, words)
    read_codes(local, columns.mask, j, by_row)
    np.testing.assert_array_equal(by_column, by_row)
    return by_column


@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.floats(-3, 3, width=16))
)
def test_comparing_codes_is_comparing_values(X):
    columns = encode(X)
    for j in range(X.shape[1]):
        values = columns.values[columns.offsets[j] : columns.offsets[j + 1]]
        assert (np.diff(values) > 0).all()
        np.testing.assert_array_equal(values[codes_of(columns, j)], X[:, j])


@given(
    arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.floats(width=64)),
    st.sampled_from([np.float32, np.float64]),
)
def test_floats_of_any_size_and_missing_values(X, dtype):
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    X[np.isinf(X)] = np.nan
    columns = encode(X)
    for j in range(X.shape[1]):
        values = columns.values[columns.offsets[j] : columns.offsets[j + 1]]
        np.testing.assert_array_equal(values, np.unique(X[~np.isnan(X[:, j]), j].astype(float)))
        np.testing.assert_array_equal(np.append(values, np.nan)[codes_of(columns, j)], X[:, j])


@pytest.mark.parametrize(("n_distinct", "width"), [(256, 1), (257, 2), (65536, 2), (65537, 4)])
def test_codes_are_as_narrow_as_they_can_be(n_distinct, width):
    X = np.column_stack([np.zeros(n_distinct), np.arange(n_distinct) / 3, np.arange(n_distinct) % 3])
    columns = encode(X)
    assert columns.codes.step.tolist() == [1, width, 1]
    assert columns.mask.tolist() == [255, 256**width - 1, 255]
    np.testing.assert_array_equal(codes_of(columns, 1), np.arange(n_distinct))
    assert columns.offsets.tolist() == [0, 1, 1 + n_distinct, 4 + n_distinct]


def test_a_missing_value_takes_a_code():
    X = np.append(np.arange(256.0), np.nan)[:, None]
    assert encode(X).codes.step.tolist() == [2]
    assert encode(X[1:]).codes.step.tolist() == [1]


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_any_number_of_threads_and_any_layout(n_threads):
    X = np.random.default_rng(0).normal(size=(300, 40)).round(1)
    expected = encode(X)
    for same in (X, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        columns = encode(same, n_threads)
        for a, b in zip(expected, columns, strict=True):
            for part, same_part in zip(*[x if isinstance(x, tuple) else [x] for x in (a, b)], strict=True):
                np.testing.assert_array_equal(part, same_part)
