import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.dataset import take_rows
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError


def load(path, target="y"):
    return load_dataset(DatasetSpec.model_validate({"path": str(path), "target": target}))


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_bundled(name):
    dataset = load_dataset(DatasetSpec.model_validate(name))
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert dataset.X.shape[0] == dataset.y.size
    assert np.unique(dataset.y).tolist() == list(range(dataset.classes.size))


def test_bundled_data_are_those_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    dataset = load_dataset(DatasetSpec.model_validate("wine"))
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files(tmp_path, suffix, numbers):
    frame = pd.DataFrame(
        {
            "a": [1, 2, 3, 4],
            "y": ["n", "p", "n", "p"],
            "colour": ["red", "blue", "red", "red"],
            "b": [True, False] * 2,
        }
    )
    path = tmp_path / f"table.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    dataset = load(path)
    assert dataset.name == "table"
    assert dataset.classes.tolist() == ["n", "p"]
    assert dataset.y.tolist() == [0, 1, 0, 1]
    assert sorted(map(tuple, numbers(dataset).T)) == [(0, 1, 0, 0), (1, 0, 1, 0), (1, 0, 1, 1), (1, 2, 3, 4)]


def test_the_target_may_be_a_position(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("y,a,z\n0,5,1\n1,6,1\n0,7,2\n1,8,2\n")
    assert load(path, 0).y.tolist() == [0, 1, 0, 1]
    assert load(path, -1).y.tolist() == [0, 0, 1, 1]


def test_fingerprints(tmp_path):
    path, other = tmp_path / "table.csv", tmp_path / "copy.csv"
    path.write_text("a,y\n1,0\n2,1\n3,0\n4,1\n")
    other.write_text(path.read_text())
    assert load(path).fingerprint == load(other).fingerprint
    fingerprints = {load(path).fingerprint}
    for text in ("a,y\n1,0\n2,1\n3,1\n4,1\n", "a,y\n1,0\n2,1\n3,0\n5,1\n", "a,y\n2,1\n1,0\n3,0\n4,1\n"):
        path.write_text(text)
        fingerprints.add(load(path).fingerprint)
    assert len(fingerprints) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "data set 'table': the file is empty"),
        ("a,y\n", "data set 'table': has no rows"),
        ("a,b\n1,2\n", "target 'y' is not a column; columns are a, b"),
        ('"a\nb",\x1bc\n1,2\n', r"columns are 'a\\nb', '\\x1bc'"),
        ("a,y\n1,0\n2,0\n", "needs at least two classes, found only 0"),
        ("a,y\n1,\n2,\n3,\n", "column 'y' has no labels"),
        ("a,y\n1,0\n2,inf\n3,1\n4,1\n", "column 'y' has infinite labels"),
        (
            "a,y\n1,0.1\n2,0.2\n3,0.3\n4,0.4\n",
            "column 'y' has 4 different labels in 4 rows.*is it the right target",
        ),
        (
            "a,y\n" + "".join(f"{i},{i % 30 / 4}\n" for i in range(90)),
            "column 'y' has 30 different numbers from 0 to 7.25, but labels must be classes",
        ),
        ("a,Y\n1,2\n", r"target 'y' is not a column \(did you mean 'Y'\?\); columns are a, Y"),
        ("a,y\n1,2,3\n1\n1,2,3,4\n", "cannot be read"),
    ],
)
def test_unusable_files(refusal, tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert re.search(message, refusal(load, path))


MIXED = pd.DataFrame({"town": list("abcb"), "n": [1, 2, 3, 4], "y": [0, 1, 0, 1]})
ROWS = np.arange(4)


@pytest.mark.parametrize(
    ("features", "columns", "form", "expected"),
    [
        (None, ["town", "n"], "frame", "frame"),
        (None, ["town", "n"], "categories", "categories"),
        (None, ["town", "n"], "numbers", "numbers"),
        ("numbers", ["town", "n"], "frame", "numbers"),
        ("numbers", ["town", "n"], "categories", "numbers"),
        # With numbers alone, models other than pipelines get an array, as they always did.
        (None, ["n"], "categories", "numbers"),
        (None, ["n"], "frame", "frame"),
        ("frame", ["n"], "categories", "frame"),
        ("frame", ["n"], "numbers", "numbers"),
    ],
)
def test_forms(tmp_path, features, columns, form, expected):
    MIXED[[*columns, "y"]].to_csv(tmp_path / "a.csv", index=False)
    dataset = describe(path=str(tmp_path / "a.csv"), target="y", features=features)
    encoded = dataset.encode(form, ROWS[:3])
    train, test = take_rows(encoded, ROWS[:3]), take_rows(encoded, ROWS[3:])
    if expected == "numbers":
        assert (len(train), len(test)) == (3, 1)
        assert train.dtype == test.dtype == np.float64
    else:
        assert train.columns.tolist() == columns
        assert isinstance(train.dtypes.iloc[0], pd.CategoricalDtype) == (expected == "categories")
        assert test["n"].tolist() == [4]


def test_rows_of_a_frame(tmp_path):
    MIXED.to_csv(tmp_path / "a.csv", index=False)
    dataset = load(tmp_path / "a.csv")
    part = dataset.take(np.array([3, 0]))
    assert (part.X["town"].tolist(), part.y.tolist()) == (["b", "a"], [1, 0])
    assert part.fingerprint != dataset.fingerprint == dataset.take(ROWS).fingerprint


def test_fingerprints_of_encodings(tmp_path):
    MIXED.to_csv(tmp_path / "a.csv", index=False)
    keys = {"path": str(tmp_path / "a.csv"), "target": "y"}
    encodings = [{}, {"features": "numbers"}, {"categorical": "ordinal"}, {"missing": "keep"}]
    assert len({describe(**keys, **encoding).fingerprint for encoding in encodings}) == len(encodings)
    numbers_only = [describe(**keys, drop=["town"], **encoding).fingerprint for encoding in encodings]
    assert len(set(numbers_only)) == 1


def test_columns_of_lists(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": [[1], [2], [3], [4]], "y": [0, 1, 0, 1], "x": range(4)}).to_parquet(path)
    with pytest.raises(ConfigError, match="column 'a' has lists in place of numbers, text or dates"):
        load(path, "a")
    for key in ("group", "weight", "split", "dates", "noisy"):
        value = {"dates": ["a"], "noisy": {"b": "a"}}.get(key, "a")
        spec = DatasetSpec.model_validate({"path": str(path), "target": "y", key: value})
        with pytest.raises(ConfigError, match="column 'a' has lists"):
            load_dataset(spec)
    spec = DatasetSpec.model_validate({"path": str(path), "target": "y", "drop": ["a"]})
    assert load_dataset(spec).columns == ("x",)


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load(tmp_path / "table.csv")
    (tmp_path / "table.parquet").write_bytes(b"not parquet")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "table.parquet")
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "bytes.csv")
    (tmp_path / "two.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(ConfigError, match="target is column 7, but there are 2 columns"):
        load(tmp_path / "two.csv", 7)


def describe(**keys):
    return load_dataset(DatasetSpec.model_validate(keys))


@pytest.fixture
def table(tmp_path):
    """Rows 0 to 39: labels a to d in turn, a quarter of test rows, and a missing value in the last row."""
    n = np.arange(40)
    frame = pd.DataFrame(
        {"id": n, "y": list("abcd" * 10), "x": n * 0.5, "part": np.where(n % 4 == n // 10, "test", "train")}
    )
    frame.loc[39, "x"] = np.nan
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return {"path": str(path), "target": "y"}


def test_dropped_columns(table):
    by_name = describe(**table, drop=["id", "part"], missing="keep")
    by_position = describe(**table, drop=[0, -1], missing="keep")
    np.testing.assert_array_equal(by_name.X[:39, 0], np.arange(39) * 0.5)
    assert by_name.X.shape == (40, 1)
    assert by_name.fingerprint == by_position.fingerprint


def test_dropped_rows(table):
    dataset = describe(**table, split="part", drop=["id"], missing="drop_rows")
    np.testing.assert_array_equal(dataset.X[:, 0], np.arange(39) * 0.5)
    assert dataset.y.size == dataset.is_test.size == 39
    # Dropped columns may be incomplete.
    assert describe(**table, drop=["x", "part"], missing="drop_rows").y.size == 40


def test_rows_without_a_label_are_dropped(tmp_path, numbers):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,\n3,1\n,0\n5,1\n6,1\n")
    spec = {"path": str(tmp_path / "a.csv"), "target": "y"}
    warning = "data set 'a': column 'y' has 1 missing label; the other 5 rows are used"
    for missing, expected in (("drop_rows", [1, 3, 5, 6]), ("impute", [1, 3, 4, 5, 6])):
        with pytest.warns(UserWarning, match=f"^{warning}$"):
            dataset = describe(**spec, missing=missing)
        assert numbers(dataset).ravel().tolist() == expected
        assert dataset.classes.tolist() == [0, 1]


def test_columns_most_like_a_wrong_name_are_listed_first(tmp_path):
    columns = [f"feature {i}" for i in range(40)]
    pd.DataFrame(np.eye(40), columns=columns).assign(outcome=[0, 1] * 20).to_csv(
        tmp_path / "a.csv", index=False
    )
    with pytest.raises(ConfigError, match=r"'out' is not a column; columns are outcome, .*, \.\.\.$"):
        describe(path=str(tmp_path / "a.csv"), target="out")


def test_grouped_labels(table):
    dataset = describe(**table, positive=["b", "d"], drop=["x"])
    assert dataset.y.tolist() == [0, 1] * 20
    assert dataset.classes.tolist() == ["negative", "positive"]
    assert describe(set="iris", positive=[2]).y.tolist() == [0] * 100 + [1] * 50


def test_a_given_split(table, tmp_path):
    by_column = describe(**table, split="part", missing="keep")
    rows = np.arange(40)
    np.testing.assert_array_equal(by_column.is_test, rows % 4 == rows // 10)
    assert by_column.X.shape == (40, 2)
    frame = pd.read_csv(table["path"])
    tested = frame.pop("part") == "test"
    paths = tmp_path / "first.csv", tmp_path / "second.csv"
    for path, chosen in zip(paths, (~tested, tested), strict=True):
        frame[chosen].to_csv(path, index=False)
    by_file = describe(path=str(paths[0]), test_path=str(paths[1]), target="y", missing="keep")
    for is_test in (False, True):
        one, other = (d.X[d.is_test == is_test] for d in (by_column, by_file))
        np.testing.assert_array_equal(one, other)
    without = describe(**table, drop=["part"], missing="keep")
    assert without.is_test is None
    assert without.fingerprint != by_column.fingerprint
    np.testing.assert_array_equal(without.X, by_column.X)


def test_svmlight_with_its_test_file(tmp_path):
    (tmp_path / "a1a").write_text("-1 1:1 3:1\n+1 2:1\n-1 3:1\n+1 1:0.5\n")
    (tmp_path / "a1a.t").write_text("+1 4:1\n-1 1:1\n")
    dataset = describe(
        path=str(tmp_path / "a1a"), test_path=str(tmp_path / "a1a.t"), format="svmlight", drop=[2]
    )
    assert dataset.X.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0.5, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert dataset.classes.tolist() == [-1, 1]
    assert dataset.y.tolist() == [0, 1, 0, 1, 1, 0]
    assert dataset.is_test.tolist() == [False] * 4 + [True] * 2


def test_drawn_rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 1000
    frame = pd.DataFrame({"x": np.arange(n), "y": rng.choice(["a", "b", "c"], n, p=[0.7, 0.29, 0.01])})
    frame["part"] = np.where(rng.random(n) < 0.3, "test", "train")
    frame.to_parquet(tmp_path / "table.parquet")
    keys = {"path": str(tmp_path / "table.parquet"), "target": "y"}
    dataset = describe(**keys, drop=["part"], max_rows=100)
    rows = dataset.X[:, 0].astype(int)
    assert rows.size == 100
    assert (np.diff(rows) > 0).all()  # no row twice, and in order
    assert dataset.classes[dataset.y].tolist() == frame["y"][rows].tolist()
    expected = frame["y"].value_counts().sort_index() / 10
    assert abs(np.bincount(dataset.y) - expected).max() <= 1
    assert describe(**keys, drop=["part"], max_rows=100).fingerprint == dataset.fingerprint
    assert describe(**keys, drop=["part"], max_rows=n).X.shape[0] == n
    both = describe(**keys, split="part", max_rows=100)
    drawn = pd.crosstab(both.y, both.is_test).to_numpy()
    shares = pd.crosstab(frame["y"], frame["part"] == "test").to_numpy() / 10
    assert abs(drawn - shares).max() <= 1
    # No class is lost if few rows are drawn.
    assert np.unique(describe(**keys, drop=["part"], max_rows=4).y).size == 3


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"drop": ["z"]}, "drop 'z' is not a column; columns are id, y, x, part"),
        ({"drop": [4]}, "drop is column 4, but there are 4 columns"),
        ({"drop": ["y"]}, "drop names the target 'y'"),
        ({"drop": ["id", "x", "part"]}, "has no columns except the target"),
        ({"split": "z"}, "split 'z' is not a column"),
        ({"split": "id"}, "column 'id' must contain 'train' or 'test', found 0"),
        ({"split": "y"}, "split names the target 'y'"),
        ({"positive": ["e"]}, "positive contains 'e', .* labels are 'a', 'b', 'c', 'd'"),
        ({"positive": [0]}, "positive contains 0, which is not a label"),
        ({"positive": ["a", "b", "c", "d"]}, "positive contains all labels"),
        ({"max_rows": 7, "split": "part"}, "max_rows is 7, too few for 8 classes"),
    ],
)
def test_keys_that_do_not_fit_the_data(refusal, table, keys, message):
    assert re.search(message, refusal(describe, **{**table, "missing": "impute", **keys}))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("train train train train", "the split has no test rows"),
        ("test test test test", "the split has no training rows"),
        ("train test train test", "the training rows of the split have only one class"),
        ("train train test valid", "must contain 'train' or 'test', found 'valid'"),
        ("train train test ", "must contain 'train' or 'test', found nan"),
    ],
)
def test_invalid_splits(tmp_path, part, message):
    rows = "".join(f"{i},{i % 2},{p}\n" for i, p in enumerate(part.split(" ")))
    (tmp_path / "table.csv").write_text("x,y,part\n" + rows)
    with pytest.raises(ConfigError, match=message):
        describe(path=str(tmp_path / "table.csv"), target="y", split="part")


def test_only_incomplete_rows(tmp_path):
    (tmp_path / "table.csv").write_text("a,b,y\n,1,0\n2,,1\n,3,0\n4,,1\n")
    with pytest.raises(ConfigError, match="every row has a missing value"):
        describe(path=str(tmp_path / "table.csv"), target="y", missing="drop_rows")
