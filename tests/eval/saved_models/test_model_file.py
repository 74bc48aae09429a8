import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boostnoise import RobustClassifier, RobustLGBMClassifier, load_model
from boostnoise.ensemble.tree_mixture import TreeMixture
from boostnoise.eval import ConfigError
from boostnoise.eval.datasets.encoding import Encoding, FeatureEncoder
from boostnoise.eval.saved_models.model_file import write_model
from boostnoise.eval.saved_models.saved_model import SavedModel
from boostnoise.eval.saved_models.table_form import TableForm
from robust_splits import RobustForestClassifier

COSTS = np.array([[0.0, 20.0], [1.0, 0.0]])


class Touch:
    """Its pickle creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


@pytest.fixture(scope="module")
def trained():
    """A classifier, the same as a saved model, and its training rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "colour": rng.choice(["red", "blue"], 120)})
    labels = np.where((frame["x"] > 0) ^ (frame["colour"] == "red"), "spam", "ham")
    X = FeatureEncoder("numbers", Encoding(categorical="ordinal", missing="keep")).fit(frame).transform(frame)
    models = [RobustForestClassifier(3), RobustLGBMClassifier(n_estimators=3, verbose=-1)]
    classifier = RobustClassifier(models, passes=1, decision=COSTS).fit(X, labels)
    form = TableForm.of(frame, others=("label",))
    return classifier, SavedModel(classifier.classes_, form, TreeMixture.of(classifier), COSTS, "id"), frame, X


@pytest.fixture
def file(trained, tmp_path):
    write_model(trained[1], tmp_path / "m.npz")
    return tmp_path / "m.npz"


def rewrite(file, **changes):
    """Replace arrays in a file, or keys of its JSON."""
    with np.load(file) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["model"].tobytes())
    header |= {key: value for key, value in changes.items() if key in header or key == "new"}
    arrays |= {key: value for key, value in changes.items() if key in arrays}
    arrays["model"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(file, **arrays)


def test_a_loaded_model_predicts_the_same(trained, file):
    classifier, _, frame, X = trained
    loaded = load_model(file)
    np.testing.assert_allclose(loaded.predict_proba(frame), classifier.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(loaded.predict(frame[["colour", "x"]]), classifier.predict(X))
    assert loaded.classes_.tolist() == ["ham", "spam"]
    assert loaded.id_column == "id"


def test_no_code_of_a_file_is_run(file, tmp_path):
    trap = tmp_path / "trap"
    content = pickle.dumps(Touch(str(trap)))
    pickle.loads(content)
    assert trap.exists()  # the trap works
    trap.unlink()
    objects = np.array([Touch(str(trap))], dtype=object)
    np.save(tmp_path / "objects.npy", objects, allow_pickle=True)
    for name in ("model", "0_left", "0_values"):
        bad = tmp_path / f"{name}.npz"
        bad.write_bytes(file.read_bytes())
        rewrite(bad, **{name: objects}) if name != "model" else np.savez(bad, model=objects)
        with pytest.raises(ConfigError, match="is damaged: Object arrays cannot be loaded"):
            load_model(bad)
    for plain in (content, (tmp_path / "objects.npy").read_bytes(), b""):
        (tmp_path / "plain").write_bytes(plain)
        with pytest.raises(ConfigError, match="is not a model that noisyaudit has saved"):
            load_model(tmp_path / "plain")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "of another version: version: Input should be 1"),
        ({"new": 1}, "new: Extra inputs are not permitted"),
        ({"classes": ["ham", 1]}, "classes must differ and be of one type"),
        ({"classes": ["ham", "ham"]}, "classes must differ"),
        ({"costs": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, "costs has costs for 3 classes, but there are 2"),
        ({"members": []}, "members: Tuple should have at least 1 item"),
        ({"members": [{"kind": "forest", "share": 0.5, "classes": [0, 1]}]}, "shares do not sum to 1"),
        ({"members": [{"kind": "forest", "share": 1.0, "classes": [0, 7]}]}, "classes are damaged"),
        ({"members": [{"kind": "forest", "share": 1.0, "classes": [0]}]}, "values must be finite, one for each class"),
        ({"0_left": np.zeros(3, dtype=np.int32)}, "the arrays of the trees differ in length"),
        ({"form": {"columns": [{"name": "x", "kind": "number"}]}}, "a node of a tree is damaged"),
        ({"form": {"columns": [{"name": "x", "kind": "code"}]}}, "form.columns.0.kind: Input should be"),
    ],
)  # fmt: skip
def test_manipulated_files(file, changes, message):
    rewrite(file, **changes)
    with pytest.raises(ConfigError, match=message):
        load_model(file)


def test_damaged_files(trained, file, tmp_path):
    content, rng = file.read_bytes(), np.random.default_rng(0)
    bad = tmp_path / "bad.npz"
    messages = []
    for trial in range(60):
        changed = bytearray(content[: rng.integers(len(content))] if trial % 3 == 0 else content)
        for at in rng.integers(max(1, len(changed)), size=3):
            changed[at : at + 1] = bytes([rng.integers(256)])
        bad.write_bytes(changed)
        try:
            load_model(bad).predict_proba(trained[2])
        except ConfigError as error:
            messages.append(str(error))
    assert len(messages) > 40
    assert all(message.startswith(str(bad)) for message in messages)
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("../evil.npy", b"")
    with pytest.raises(ConfigError, match="is damaged"):
        load_model(bad)
    with pytest.raises(ConfigError, match="no such file"):
        load_model(tmp_path / "none.npz")


def test_a_write_that_fails_leaves_the_earlier_file(trained, file, tmp_path, monkeypatch):
    content = file.read_bytes()

    def full(*_):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(ConfigError, match=r"m\.npz cannot be written: No space left on device"):
            write_model(trained[1], file)
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]
    assert file.read_bytes() == content
    with pytest.raises(ConfigError, match=r"cannot be written: (Not a directory|File exists)"):
        write_model(trained[1], file / "m.npz")
