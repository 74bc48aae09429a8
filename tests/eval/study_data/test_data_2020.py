import hashlib
import json

import pandas as pd
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.study_data import data_2020
from boostnoise.eval.study_data.data_2020 import FILES, fetch_data_2020

ROWS = {"one.csv": b"x,y\n1,a\n2,b\n", "two.csv": b"x,y\n3,c\n"}


@pytest.fixture
def served(server, monkeypatch):
    """Two files in place of all; the paths that were asked for."""
    files = {name: server.add(f"data/csv_clean/{name}", rows).sha256 for name, rows in ROWS.items()}
    monkeypatch.setattr(data_2020, "FILES", files)
    monkeypatch.setattr(data_2020, "REPOSITORY", "owner/name")
    monkeypatch.setattr(data_2020, "COMMIT", "abc")
    return server.requests


def test_files_as_they_are(served, tmp_path):
    steps = []
    paths = fetch_data_2020(tmp_path / "a" / "b", progress=steps.append)
    assert [path.name for path in paths] == ["one.csv", "two.csv"]
    assert served == [f"/owner/name/abc/data/csv_clean/{name}" for name in ROWS]
    assert steps == ["one", "two"]
    assert [path.read_bytes() for path in paths] == list(ROWS.values())
    paths[0].write_bytes(b"changed")
    fetch_data_2020(tmp_path / "a" / "b", only=["one"])
    assert paths[0].read_bytes() == ROWS["one.csv"]
    assert len(served) == 2  # copied from the cache


def test_mistakes(served, tmp_path):
    with pytest.raises(ConfigError, match=r"only: 'twoo' is no data set of the 2020 study.*two"):
        fetch_data_2020(tmp_path, only=["twoo"])
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"one\.csv cannot be written"):
        fetch_data_2020(tmp_path / "file")


def test_the_command(served, noisyeval, tmp_path):
    done = noisyeval(tmp_path, "data", "--fetch", "data_2020")
    assert (done.exit_code, done.stdout.split()) == (0, ["data/one.csv", "data/two.csv"])
    done = noisyeval(tmp_path, "data", "--fetch", "data_2020", "--only", "two", "--json")
    assert json.loads(done.stdout.splitlines()[-1]) == {"event": "written", "file": "data/two.csv"}
    assert noisyeval(tmp_path, "data", "--fetch", "other").exit_code == 2


def test_the_files_are_those_of_the_studies(data_root, root):
    folder = data_root / "data" / "boosting_with_label_noise"
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.csv")}
    assert found == FILES
    reference = json.loads((root / "configs" / "reference.json").read_text())
    read = [spec["path"] for spec in reference["datasets"] if isinstance(spec, dict)]
    assert {path.rpartition("/")[2] for path in read} <= set(FILES)
    assert pd.read_csv(folder / "yeast.csv").shape[0] > 1_000
