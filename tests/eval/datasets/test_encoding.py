import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.datasets.encoding import encode_features
from boostnoise.eval.errors import ConfigError

NAN = np.nan
FRAME = pd.DataFrame(
    {
        "number": [1.0, NAN, 3.0, 9.0],
        "text": ["red", "blue", None, "red"],
        "size": pd.Categorical(["small", "large", None, "large"], categories=["small", "large"]),
        "count": pd.array([1, 2, None, 2], dtype="Int64"),
    }
)


def encode(frame=FRAME, categorical="onehot", missing="error"):
    return encode_features(frame, categorical, missing, "data set 'x'")


def test_one_column_per_value():
    # Numeric columns first, then the sorted values of each text column.
    X = encode(FRAME.iloc[[0, 3]])
    assert X.tolist() == [[1, 1, 1, 1, 0], [9, 2, 1, 0, 1]]
    assert X.dtype == np.float64
    assert X.flags.c_contiguous


def test_ranks():
    # Text is sorted; categories keep the order of the file.
    X = encode(FRAME.iloc[[0, 1, 3]].fillna({"number": 0}), "ordinal")
    assert X.tolist() == [[1, 1, 0, 1], [0, 0, 1, 2], [9, 1, 1, 2]]


def test_missing_values_are_kept():
    np.testing.assert_array_equal(
        encode(FRAME, "ordinal", "keep"), [[1, 1, 0, 1], [NAN, 0, 1, 2], [3, NAN, NAN, NAN], [9, 1, 1, 2]]
    )
    np.testing.assert_array_equal(encode(FRAME, "onehot", "keep")[2], [3, NAN, 0, 0, 0, 0])


def test_missing_values_are_imputed():
    before = FRAME.copy()
    X = encode(FRAME, "ordinal", "impute")
    assert X.tolist() == [[1, 1, 0, 1], [3, 0, 1, 2], [3, 1, 1, 2], [9, 1, 1, 2]]
    pd.testing.assert_frame_equal(FRAME, before)
    halves = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64")})
    assert encode(halves, missing="impute").tolist() == [[1], [2], [1.5]]


@pytest.mark.parametrize("categorical", ["onehot", "ordinal"])
@pytest.mark.parametrize(
    ("columns", "missing", "message"),
    [
        ({}, "error", "data set 'x': has no columns except the target"),
        (
            {"a": [1.0, NAN], "b": [None, "x"]},
            "error",
            r"missing values in 2 columns \(first: 'a'\)",
        ),
        ({"a": [NAN, NAN]}, "impute", "column 'a' has no values"),
        ({"a": [1, np.inf]}, "error", "has infinite values"),
        ({"a": [1, -np.inf]}, "keep", "has infinite values"),
        ({"a": [[1], [2]]}, "error", "column 'a' has neither numbers nor text"),
    ],
)
def test_invalid_features(categorical, columns, missing, message):
    with pytest.raises(ConfigError, match=message) as error:
        encode(pd.DataFrame(columns), categorical, missing)
    assert "\n" not in str(error.value)


def test_many_values_can_only_be_ranked():
    frame = pd.DataFrame({"id": [f"row {i:03}" for i in range(300)]})
    with pytest.raises(
        ConfigError, match=r"300 different text values, more than 255; .* set .categorical. to .ordinal."
    ):
        encode(frame)
    assert encode(frame, "ordinal")[:, 0].tolist() == list(range(300))
