import re

import numpy as np
import pytest

from robust_splits._checks import check_integer, check_max_features, check_number


@pytest.mark.parametrize(
    ("max_features", "n_features", "expected"),
    [(None, 9, 9), ("sqrt", 10, 3), ("log2", 10, 3), ("log2", 1, 1), (4, 9, 4), (np.int64(4), 9, 4),
     (0.5, 9, 4), (10, 9, 9), ("auto", 1, 1), ("auto", 9, 4), ("auto", 100, 32), ("auto", 2_500, 50),
     (1.0, 9, 9), (0.01, 9, 1)],
)  # fmt: skip
def test_max_features(max_features, n_features, expected):
    assert check_max_features(max_features, n_features) == expected


@pytest.mark.parametrize("max_features", [0, -1, 0.0, 1.5, "all", True, [3]])
def test_bad_max_features(max_features):
    with pytest.raises(ValueError, match="max_features must be an integer of at least 1"):
        check_max_features(max_features, 9)


def test_integers():
    assert check_integer("max_depth", np.int32(3), low=1) == 3
    with pytest.raises(ValueError, match="max_depth must be an integer of at least 1, got 0"):
        check_integer("max_depth", 0, low=1)
    with pytest.raises(ValueError, match=r"max_bins must be an integer in \[2, 255\], got 256"):
        check_integer("max_bins", 256, low=2, high=255)
    for value in (1.5, "3", True):
        with pytest.raises(TypeError, match="max_depth must be an integer"):
            check_integer("max_depth", value, low=1)


@pytest.mark.parametrize(
    ("low", "high", "closed", "allowed", "values", "others"),
    [
        (0, 1, "both", "a number in [0, 1]", [0, 0.5, np.float32(0.5), np.int64(1)], [-1e-9, 2, np.nan, np.inf]),
        (0, 1, "left", "a number in [0, 1)", [0, 0.5], [1, -1]),
        (0, 1, "right", "a number in (0, 1]", [0.5, 1], [0, 2]),
        (0, 1, "neither", "a number in (0, 1)", [0.5], [0, 1]),
        (2, np.inf, "both", "a finite number of at least 2", [2, 1e300], [1, 10**400, np.inf, np.nan]),
        (2, np.inf, "right", "a finite number above 2", [3], [2, np.inf]),
    ],
)  # fmt: skip
def test_numbers(low, high, closed, allowed, values, others):
    for value in values:
        number = check_number("size", value, low=low, high=high, closed=closed)
        assert type(number) is float
        assert number == value
    for value in others:
        with pytest.raises(ValueError, match=re.escape(f"size must be {allowed}, got {value!r}")):
            check_number("size", value, low=low, high=high, closed=closed)
    for value in ("1", True, np.True_, None, [1]):
        with pytest.raises(TypeError, match=re.escape(f"size must be {allowed}, got {value!r}")):
            check_number("size", value, low=low, high=high, closed=closed)
