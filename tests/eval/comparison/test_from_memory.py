from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from boostnoise.eval.comparison.from_memory import data_file
from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError

FRAME = pd.DataFrame(
    {
        "a": [1.5, np.nan, 3.0, 4.0, 5.0, 6.0],
        "size": pd.Categorical(["small", "large"] * 3, categories=["small", "large", "huge"], ordered=True),
        "town": ["x", "y", None, "x", "y", "x"],
        "flag": [True, False] * 3,
        "n": pd.array([1, 2, None, 4, 5, 6], dtype="Int64"),
        "label": ["no", "yes"] * 3,
    }
)
X, Y = FRAME.drop(columns="label"), FRAME["label"]


def read(file, target, **keys):
    file.write()
    spec = {"path": str(file.path), "target": target, "missing": "keep", **keys}
    return load_dataset(DatasetSpec.model_validate(spec))


def made(tmp_path, data, target=None, name="mine"):
    return data_file(name, data, target, tmp_path / "data", "datasets['mine']")


def test_types_are_kept(tmp_path):
    file, target = made(tmp_path, FRAME, "label")
    assert target == "label"
    assert (file.path.parent, file.path.suffix) == (tmp_path / "data", ".parquet")
    file.write()
    pd.testing.assert_frame_equal(pd.read_parquet(file.path), FRAME)
    data = read(file, target)
    assert data.classes.tolist() == ["no", "yes"]
    assert data.X["size"].equals(FRAME["size"])
    assert data.X["flag"].equals(FRAME["flag"])
    np.testing.assert_array_equal(data.X["n"], [1, 2, np.nan, 4, 5, 6])


def test_a_pair_equals_the_frame(tmp_path):
    whole = read(*made(tmp_path, FRAME, "label"))
    strange = Y.set_axis(list("fedcba"))  # rows go together by their order
    parts = read(*made(tmp_path, (X, strange)))
    assert parts.fingerprint == whole.fingerprint
    assert parts.classes.tolist() == whole.classes.tolist()


def test_any_index_is_accepted(tmp_path):
    whole = read(*made(tmp_path, FRAME, "label")).fingerprint
    for order in ([5, 3, 1, 0, 2, 4], [0, 0, 1, 1, 1, 2]):
        same = (X.set_axis(order), Y.set_axis(order))
        assert read(*made(tmp_path, same)).fingerprint == whole
    assert read(*made(tmp_path, (X, Y.set_axis(range(1, 7))))).fingerprint == whole


@pytest.mark.parametrize("labels", [list, np.array, pd.Series, pd.Categorical])
def test_arrays(tmp_path, labels):
    values = np.arange(12.0).reshape(6, 2)
    file, target = made(tmp_path, (values, labels(["u", "v", "u", "v", "u", "v"])))
    data = read(file, target)
    np.testing.assert_array_equal(data.X, values)
    np.testing.assert_array_equal(data.y, [0, 1] * 3)
    assert target == "target"


def test_arrays_of_objects_have_columns_of_numbers_and_text(tmp_path):
    values = np.array([[1, "x"], [2, "y"], [3, "x"], [4, "y"]], dtype=object)
    data = read(*made(tmp_path, (values, [0, 1, 0, 1])))
    assert data.X.to_numpy().tolist() == values.tolist()
    assert data.X.dtypes.iloc[0] == np.int64


def test_a_feature_may_be_named_as_the_labels(tmp_path):
    frame = pd.DataFrame({"target": [1.0, 2.0, 3.0, 4.0]})
    file, target = made(tmp_path, (frame, pd.Series([0, 1, 0, 1], name="target")))
    assert target == "target_"
    np.testing.assert_array_equal(read(file, target).X[:, 0], [1, 2, 3, 4])


def test_the_frame_stays_as_it_is(tmp_path):
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [0, 1]}, index=["r", "s"])
    before = frame.copy()
    made(tmp_path, frame, "1")
    pd.testing.assert_frame_equal(frame, before)


def test_one_file_for_the_same_data(tmp_path):
    file, _ = made(tmp_path, FRAME, "label")
    file.write()
    before = file.path.stat()
    made(tmp_path, FRAME.copy(), "label")[0].write()
    after = file.path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    file.path.write_bytes(b"half of")
    file.write()
    assert file.path.read_bytes() == file.content
    changed = FRAME.assign(a=range(6))
    assert made(tmp_path, changed, "label")[0].path != file.path
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


@pytest.mark.parametrize("name", ["../../etc/passwd", "<script>", "..", "a" * 500, "Größe $\\alpha$", "/"])
def test_names_cannot_leave_the_folder(tmp_path, name):
    file, _ = made(tmp_path, FRAME, "label", name)
    assert file.path.parent == tmp_path / "data"
    file.write()
    assert set(Path(tmp_path).rglob("*.parquet")) == {file.path}


@pytest.mark.parametrize(
    ("data", "target", "message"),
    [
        (FRAME, None, "a frame needs the name of its label column"),
        (FRAME, "z", "unknown column 'z'; columns: a, size, town, flag, n, label"),
        (X, "label", "unknown column 'label'"),
        ((X, Y, Y), None, "data must be a pair"),
        ((X, Y), "q", "target must be left out for a pair (X, y), whose y holds the labels, got 'q'"),
        ((X, Y[::-1]), None, "X and y must have the same row order"),
        ("iris", None, "data must be a pair"),
        ((X, Y[:5]), None, "X has 6 rows, but y has 5"),
        ((X, X), None, "y must be a vector of labels"),
        ((X.to_numpy(), "text"), None, "y must be a vector of labels"),
        ((np.ones(6), Y), None, "X must have two dimensions, rows and columns, got 1"),
        (([[1, 2], [3]], [0, 1]), None, "X must be a matrix"),
        ((csr_matrix(np.eye(6)), Y), None, "X is a sparse matrix; use X.toarray()"),
        (
            FRAME.assign(a=[1, "x", 2.0, None, 3, 4]),
            "label",
            "column 'a' must hold values of one type, got float, int, str",
        ),
        (FRAME.assign(a=[1j] * 6), "label", "cannot be written to Parquet"),
        ((FRAME, "label"), "size", "two label columns, 'label' and 'size'; give one"),
        (FRAME, "lable", "unknown column 'lable' (did you mean 'label'?)"),
        (FRAME.set_axis(list("aabcde"), axis=1), "e", "several columns are named 'a'"),
    ],
)
def test_invalid_data(tmp_path, data, target, message):
    with pytest.raises(ConfigError, match=r"^datasets\['mine'\]: ") as caught:
        made(tmp_path, data, target)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_without_write_access(tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigError, match=r"^results_dir: .* cannot be written"):
        made(tmp_path, FRAME, "label")[0].write()


def test_a_frame_and_its_label_column(tmp_path):
    file, target = made(tmp_path, (FRAME, "label"))
    assert (file, target) == made(tmp_path, FRAME, "label") == made(tmp_path, (FRAME, "label"), "label")
