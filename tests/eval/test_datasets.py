import numpy as np
import pandas as pd
import pytest
from boostnoise.eval.dataset_spec import DatasetSpec
from boostnoise.eval.datasets import load_dataset
from boostnoise.eval.errors import ConfigError
from sklearn.datasets import load_wine


def load(path, target="y"):
    return load_dataset(DatasetSpec.model_validate({"path": str(path), "target": target}))


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_bundled(name):
    dataset = load_dataset(DatasetSpec.model_validate(name))
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert dataset.X.shape[0] == dataset.y.size
    assert np.unique(dataset.y).tolist() == list(range(dataset.classes.size))


def test_bundled_is_scikit_learns():
    X, y = load_wine(return_X_y=True)
    dataset = load_dataset(DatasetSpec.model_validate("wine"))
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files(tmp_path, suffix):
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
    assert sorted(map(tuple, dataset.X.T)) == [(0, 1, 0, 0), (1, 0, 1, 0), (1, 0, 1, 1), (1, 2, 3, 4)]


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
        ("a,y\n", "data set 'table': holds no row"),
        ("a,b\n1,2\n", "target 'y' is not a column; columns are a, b"),
        ("a,y\n1,0\n2,0\n", "needs two classes at least, found only 0"),
        ("a,y\n1,0\n2,\n3,1\n4,1\n", "1 labels in column 'y' are missing"),
        ("a,y\n1,0\n2,inf\n3,1\n4,1\n", "labels in column 'y' are infinite"),
        ("a,y\n,0\n2,1\n3,0\n4,1\n", "1 columns have missing values, the first 'a'"),
        ("a,y\ninf,0\n2,1\n3,0\n4,1\n", "has infinite values"),
        ("y\n0\n1\n0\n1\n", "has no column but the target"),
        ("a,y\n1,0.1\n2,0.2\n3,0.3\n4,0.4\n", "holds 4 different labels in 4 rows; is it the right target"),
        ("a,y\n1,2,3\n1\n1,2,3,4\n", "cannot be read"),
    ],
)
def test_unusable_files(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        load(path)
    assert "\n" not in str(error.value)


def test_text_with_too_many_values(tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame({"id": [f"row {i}" for i in range(300)], "y": [0, 1] * 150}).to_csv(path, index=False)
    with pytest.raises(ConfigError, match="column 'id' holds text with 300 different values"):
        load(path)


def test_columns_of_lists(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": [[1], [2], [3], [4]], "y": [0, 1, 0, 1]}).to_parquet(path)
    with pytest.raises(ConfigError, match="column 'a' holds neither numbers nor text"):
        load(path)
    with pytest.raises(ConfigError, match="column 'a' holds"):
        load(path, "a")


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
