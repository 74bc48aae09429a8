import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier
from robust_splits.frames import to_numbers


@pytest.mark.parametrize("estimator", [RobustDecisionTreeClassifier(), RobustForestClassifier(n_estimators=5)])
def test_names_of_categories_must_be_unique(estimator):
    frame = pd.concat(
        [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": pd.Categorical(["u", "v"])})], axis=1
    )
    with pytest.raises(ValueError, match="unique column names"):
        clone(estimator).fit(frame, [0, 1])


def test_columns_that_are_not_numbers_are_named():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0], "town": ["Rome", "Oslo", None], "size": ["3", "4", "5"]})
    X = X.assign(
        born=pd.Timestamp("2020-01-01"), size=X["size"].astype(object), kind=pd.Categorical(["a", "b", "a"])
    )
    y = [0, 1, 0]
    model = RobustDecisionTreeClassifier()
    expected = r"^X has columns that are not numbers: 'town' \(text\), 'born' \(dates\); make text a category"
    with pytest.raises(ValueError, match=expected):
        model.fit(X, y)
    numbers = X[["age", "size", "kind"]]
    model.fit(numbers, y)
    with pytest.raises(ValueError, match=r"'age' \(text\)"):
        model.predict(numbers.assign(age="old"))
    wide = pd.DataFrame({f"c{i}": ["a", "b", "c"] for i in range(7)})
    with pytest.raises(ValueError, match=r"'c4' \(text\) and 2 more; "):
        model.fit(wide, y)


def test_missing_labels_are_named():
    y = np.array(["a", None, "b", None], dtype=object)
    with pytest.raises(ValueError, match=r"^y contains 2 missing labels$"):
        RobustDecisionTreeClassifier().fit([[0], [1], [2], [3]], y)


def test_categories_are_ranked_in_their_order():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200)
    frame = pd.DataFrame(
        {"size": pd.Categorical.from_codes(codes, list("xcamb")), "noise": rng.normal(size=200)}
    )
    y = codes > 2
    frame.loc[::20, "size"] = np.nan
    ranks = frame.assign(size=np.where(frame["size"].isna(), np.nan, codes))
    model = RobustForestClassifier(5, random_state=0, categorical_features=None).fit(frame, y)
    plain = RobustForestClassifier(5, random_state=0).fit(ranks, y)
    expected = plain.predict_proba(ranks)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    assert model.feature_names_in_.tolist() == ["size", "noise"]
    trees = [tree.predict_proba(ranks.to_numpy()) for tree in model.estimators_]
    np.testing.assert_allclose(np.mean(trees, axis=0), expected)
    # The categories are those of the training rows, whatever the order or type of later ones.
    reordered = frame.assign(size=frame["size"].cat.reorder_categories(list("abcmx")))
    text = frame.assign(size=frame["size"].astype(object))
    for same in (reordered, text):
        np.testing.assert_array_equal(model.predict_proba(same), expected)
    unknown = frame.assign(size="unheard of")
    missing = ranks.assign(size=np.nan)
    np.testing.assert_array_equal(model.predict_proba(unknown), plain.predict_proba(missing))
    again = clone(model).set_params(warm_start=True).fit(frame, y).set_params(n_estimators=8).fit(reordered, y)
    assert len(again.estimators_) == 8


def test_dictionaries_of_arrow_are_categories():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    size = rng.choice(["small", "medium", "large", None], size=200).tolist()
    frame = pd.DataFrame(
        {"size": pd.Categorical(size, ["small", "medium", "large"]), "x": rng.normal(size=200)}
    )
    y = (frame["size"].cat.codes > 0).to_numpy() ^ (frame["x"].to_numpy() > 0)
    codes = pa.array(frame["size"].cat.codes, mask=frame["size"].isna().to_numpy())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["small", "medium", "large"]))
    of_arrow = frame.assign(size=pd.Series(column, dtype=pd.ArrowDtype(column.type)))
    expected = RobustForestClassifier(5, random_state=0).fit(frame, y)
    model = RobustForestClassifier(5, random_state=0).fit(of_arrow, y)
    for X in (frame, of_arrow):
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        np.testing.assert_array_equal(expected.predict_proba(X), model.predict_proba(X))


NUMBERS = pd.DataFrame(
    {
        "single": np.random.default_rng(0).normal(size=200).astype(np.float32),
        "integer": np.arange(200) * (1 << 40),
        "flag": np.arange(200) % 3 == 0,
    }
)
NULLABLE = {"single": "Float32", "integer": "Int64", "flag": "boolean"}
ARROW = {"single": "float[pyarrow]", "integer": "int64[pyarrow]", "flag": "bool[pyarrow]"}


def nullable_frame(dtypes):
    if dtypes is ARROW:
        pytest.importorskip("pyarrow")
    return NUMBERS.astype(dtypes)


@pytest.mark.parametrize("dtypes", [NULLABLE, ARROW], ids=["nullable", "arrow"])
@pytest.mark.parametrize(("names", "precision"), [(["single"], "f4"), (["single", "integer", "flag"], "f8")])
def test_nullable_numbers_keep_their_precision(dtypes, names, precision):
    is_missing = np.arange(200)[:, None] % 7 == np.arange(3)
    values = to_numbers(nullable_frame(dtypes).mask(is_missing)[names], {})
    assert values.dtype == precision
    np.testing.assert_array_equal(values, NUMBERS.astype("f8").mask(is_missing)[names])


@pytest.mark.parametrize("dtypes", [NULLABLE, ARROW], ids=["nullable", "arrow"])
def test_nullable_numbers_fit_and_predict_as_plain_ones(dtypes):
    nullable = nullable_frame(dtypes)
    y = NUMBERS["single"] > 0.5
    expected = RobustForestClassifier(5, random_state=0).fit(NUMBERS, y)
    model = RobustForestClassifier(5, random_state=0).fit(nullable, y)
    assert model.feature_names_in_.tolist() == NUMBERS.columns.tolist()
    for X in (NUMBERS, nullable):
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(NUMBERS))


def test_frames_and_arrays_of_dask():
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    X, y = NUMBERS[["single", "integer"]], NUMBERS["single"] > 0.5
    X = X.assign(category=pd.Categorical(np.where(y, "b", "a"), categories=["b", "a"]))
    expected = RobustForestClassifier(5, random_state=0).fit(X, y)
    model = RobustForestClassifier(5, random_state=0).fit(dd.from_pandas(X, npartitions=2), y)
    assert model.feature_names_in_.tolist() == ["single", "integer", "category"]
    for rows in (X, dd.from_pandas(X, npartitions=3)):
        np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(X))
    numbers = NUMBERS[["single", "integer"]].to_numpy()
    expected.fit(numbers, y)
    model.fit(da.from_array(numbers, chunks=(7, 1)), da.from_array(y.to_numpy(), chunks=7))
    rows = da.from_array(numbers, chunks=(5, 2))
    np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(numbers))


def test_frames_of_numpy_numbers_are_not_copied():
    assert to_numbers(NUMBERS, {}) is NUMBERS
