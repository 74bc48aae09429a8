import hashlib
import re

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval.datasets.encoding import (
    MAX_CATEGORIES,
    Encoding,
    FeatureEncoder,
    check_features,
    update_with_frame,
)

NAN = np.nan
FRAME = pd.DataFrame(
    {
        "number": [1.0, NAN, 3.0, 9.0],
        "text": ["red", "blue", None, "red"],
        "size": pd.Categorical(["small", "large", None, "large"], categories=["small", "large"]),
        "count": pd.array([1, 2, None, 2], dtype="Int64"),
    }
)
OTHERS = pd.DataFrame(
    {
        "day": pd.to_datetime(["1970-01-02", None, "1970-01-04", "1970-01-11"]),
        "flag": [True, None, False, True],
        "mixed": pd.Series([1, "b", None, "b"], dtype=object),
        "span": pd.to_timedelta([1, 2, 3, None], unit="D"),
    }
)


def encode(frame=FRAME, categorical="onehot", missing="error", form="numbers", train=None):
    frame = check_features(frame, missing, "data set 'x'")
    encoder = FeatureEncoder(form, Encoding("frame", categorical, missing))
    return encoder.fit(frame if train is None else frame.iloc[train]).transform(frame)


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


def test_statistics_are_those_of_the_training_rows():
    frame = pd.DataFrame({"x": [1.0, 3.0, NAN, 100.0], "t": ["a", "a", None, "z"], "e": [NAN, NAN, NAN, 5.0]})
    imputed = encode(frame, "ordinal", "impute", train=[0, 1])
    assert imputed.tolist() == [[1, 0, 0], [3, 0, 0], [2, 0, 0], [100, -1, 5]]
    onehot = encode(frame, "onehot", "keep", train=[0, 1])
    np.testing.assert_array_equal(onehot, [[1, NAN, 1], [3, NAN, 1], [NAN, NAN, 0], [100, 5, 0]])
    native = encode(frame, missing="keep", form="categories", train=[0, 1])
    assert native["t"].cat.categories.tolist() == ["a"]
    assert native["t"].isna().tolist() == [False, False, True, True]


def test_dates_truth_values_and_spans_are_numbers():
    X = encode(OTHERS, "ordinal", "keep")
    np.testing.assert_array_equal(X, [[1, 1, 0, 1], [NAN, NAN, 1, 2], [3, 0, NAN, 3], [10, 1, 1, NAN]])
    imputed = encode(OTHERS, "ordinal", "impute")
    assert imputed.tolist() == [[1, 1, 0, 1], [3, 1, 1, 2], [3, 0, 1, 3], [10, 1, 1, 2]]
    assert encode(pd.DataFrame({"b": [True, False]})).tolist() == [[1], [0]]


def test_frames():
    kept = encode(pd.concat([FRAME, OTHERS], axis=1), missing="keep", form="frame")
    assert [str(dtype)[:8] for dtype in kept.dtypes] == [
        "float64", "str", "category", "float64", "datetime", "float64", str(kept["mixed"].dtype), "float64",
    ]  # fmt: skip
    assert kept["mixed"].dropna().tolist() == ["1", "b", "b"]
    imputed = encode(FRAME, missing="impute", form="frame")
    assert imputed["text"].tolist() == ["red", "blue", "red", "red"]
    assert imputed["size"].dtype == FRAME["size"].dtype
    assert imputed["number"].tolist() == [1, 3, 3, 9]


def test_native_categories():
    frame = encode(pd.concat([FRAME, OTHERS], axis=1), missing="keep", form="categories")
    assert frame["size"].cat.categories.tolist() == ["small", "large"]
    assert frame["text"].cat.categories.tolist() == ["blue", "red"]
    assert frame["text"].astype(object).where(frame["text"].notna(), None).tolist() == [
        "red",
        "blue",
        None,
        "red",
    ]
    assert frame["day"].tolist()[::3] == [1.0, 10.0]
    assert frame.columns.tolist() == [*FRAME, *OTHERS]


def test_many_values():
    values = [f"row {i:03}" for i in range(300)]
    frame = pd.DataFrame({"id": [*values, *values[50:]]})
    ranks = encode(frame, "ordinal")
    assert ranks[:300, 0].tolist() == list(range(300))
    onehot = encode(frame)
    assert onehot.shape == (550, MAX_CATEGORIES)
    assert onehot.sum(axis=1)[50:].tolist() == [1] * 500  # the most frequent values
    assert onehot.sum() == 2 * 250 + 5
    assert len(encode(frame, form="categories")["id"].cat.categories) == 300
    few = encode(frame.assign(town=["a", "b"] * 275), form="few_categories")
    np.testing.assert_array_equal(few[["id"]], ranks)
    assert isinstance(few["town"].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize(
    ("columns", "missing", "message"),
    [
        ({}, "error", "data set 'x': has no columns except the target"),
        ({"a": [1.0, NAN], "b": [None, "x"]}, "error", r"missing values in 2 columns \(first: 'a'\)"),
        ({"a": [NAN, NAN]}, "impute", "column 'a' has no values"),
        ({"a": [1, np.inf]}, "error", "has infinite values"),
        ({"a": [1, -np.inf]}, "keep", "has infinite values"),
        ({"a": [[1], [2]]}, "error", "column 'a' has neither numbers nor text"),
    ],
)
def test_invalid_features(refusal, columns, missing, message):
    assert re.search(message, refusal(check_features, pd.DataFrame(columns), missing, "data set 'x'"))


def test_equal_frames_have_equal_hashes():
    def digest(frame):
        found = hashlib.sha256()
        update_with_frame(found, check_features(frame, "keep", "x"))
        return found.hexdigest()

    both = pd.concat([FRAME, OTHERS], axis=1)
    other_order = pd.Categorical(["small", "large", None, "large"], categories=["large", "small"])
    changed = [
        both, both.rename(columns={"text": "word"}), both.assign(text=["red", "blue", None, "blue"]),
        both.assign(size=other_order), both.assign(size=both["size"].astype(object)),
        both.assign(day=both["day"] + pd.Timedelta(hours=1)), both.assign(number=both["number"] + 1),
    ]  # fmt: skip
    assert len({digest(frame) for frame in changed}) == len(changed)
    assert digest(both) == digest(both.copy()) == digest(both.assign(text=both["text"].astype(object)))
