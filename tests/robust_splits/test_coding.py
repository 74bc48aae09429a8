import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_splits._coding import encode


@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.floats(-3, 3, width=16))
)
def test_comparing_codes_is_comparing_values(X):
    columns = encode(X)
    for j in range(X.shape[1]):
        values = columns.values[columns.offsets[j] : columns.offsets[j + 1]]
        assert (np.diff(values) > 0).all()
        np.testing.assert_array_equal(values[columns.codes[j]], X[:, j])


@pytest.mark.parametrize(
    ("n_distinct", "dtype"), [(256, np.uint8), (257, np.uint16), (65536, np.uint16), (65537, np.uint32)]
)
def test_codes_are_as_narrow_as_they_can_be(n_distinct, dtype):
    X = np.column_stack([np.zeros(n_distinct), np.arange(n_distinct), np.arange(n_distinct) % 3])
    columns = encode(X)
    assert columns.codes.dtype == dtype
    np.testing.assert_array_equal(columns.codes[2], X[:, 2])
    assert columns.offsets.tolist() == [0, 1, 1 + n_distinct, 4 + n_distinct]
