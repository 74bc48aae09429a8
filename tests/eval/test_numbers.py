import numpy as np
import pytest

from boostnoise.eval._numbers import check_fraction, is_integer, is_real


def test_numbers_of_python_and_numpy():
    assert all(map(is_integer, (0, -3, np.int64(2), np.uint8(1))))
    assert all(map(is_real, (0, 0.5, np.nan, np.float32(1), np.int8(1))))
    assert not any(map(is_integer, (True, np.True_, 1.0, "1", None)))
    assert not any(map(is_real, (True, np.True_, 1j, "1", None)))


def test_fractions():
    check_fraction("alpha", 0.01)
    for alpha in (0, 1, "0.05", True):
        with pytest.raises(ValueError, match=f"^alpha must lie between 0 and 1, got {alpha!r}$"):
            check_fraction("alpha", alpha)
