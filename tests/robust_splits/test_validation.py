import numpy as np
import pytest

from robust_splits import RobustDecisionTreeClassifier
from robust_splits._validation import check_count, check_max_features


@pytest.mark.parametrize(
    ("max_features", "n_features", "expected"),
    [(None, 9, 9), ("sqrt", 10, 3), ("log2", 10, 3), ("log2", 1, 1), (4, 9, 4), (np.int64(4), 9, 4),
     (0.5, 9, 4),
     (1.0, 9, 9), (0.01, 9, 1)],
)  # fmt: skip
def test_max_features(max_features, n_features, expected):
    assert check_max_features(max_features, n_features) == expected


@pytest.mark.parametrize("max_features", [0, 10, -1, 0.0, 1.5, "all", True, [3]])
def test_bad_max_features(max_features):
    with pytest.raises(ValueError, match=r"max_features must be an integer in \[1, n_features\]"):
        check_max_features(max_features, 9)


def test_counts():
    assert check_count("max_depth", np.int32(3), low=1) == 3
    with pytest.raises(ValueError, match="max_depth must be an integer of at least 1, got 0"):
        check_count("max_depth", 0, low=1)
    for value in (1.5, "3", True):
        with pytest.raises(TypeError, match="max_depth must be an integer"):
            check_count("max_depth", value, low=1)


def test_more_rows_than_nodes_can_be_numbered():
    X = np.broadcast_to(np.float32(0), (2**30 + 1, 1))
    with pytest.raises(ValueError, match="X must have at most 1073741824 rows"):
        RobustDecisionTreeClassifier().fit(X, np.broadcast_to(0, 2**30 + 1))
