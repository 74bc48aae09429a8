import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from boostnoise.eval import load_run, run, write_bundle
from boostnoise.eval.bundles import bundle as module
from boostnoise.eval.bundles.bundle import read_bundle
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
NOISE = [{"kind": "uniform", "rates": [0.2]}]


@pytest.fixture
def finished(small_config, fits_in_this_process):
    return run(small_config("study"), n_jobs=1)


def change(path, **changes):
    """Copy of a bundle with other values in its JSON."""
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("bundle.json"))
    for key, value in changes.items():
        content[key] = value(content[key]) if callable(value) else value
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as archive:
        archive.writestr("bundle.json", json.dumps(content))
    return changed


def test_a_bundle_holds_the_run(finished, tmp_path):
    path = write_bundle(finished, tmp_path / "study.zip")
    bundle = read_bundle(path)
    assert bundle.name == "study"
    assert [cell.model for cell in bundle.record.cells] == finished.scores["model"].tolist()
    scores = [bundle.outcomes[cell.key].scores["accuracy"] for cell in bundle.record.cells]
    assert scores == finished.scores["accuracy"].tolist()
    assert bundle.record.sessions == [*finished.sessions]
    assert bundle.record.config["results_dir"] == "results"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["README.txt", "scores.parquet", "bundle.json"]
        assert b"noisyeval --verify study.zip" in archive.read("README.txt")
        pd.testing.assert_frame_equal(
            pd.read_parquet(io.BytesIO(archive.read("scores.parquet"))), finished.scores
        )
        assert str(tmp_path).encode() not in archive.read("bundle.json")


def test_the_same_run_has_the_same_bundle(finished, tmp_path):
    one = write_bundle(finished, tmp_path / "one.zip").read_bytes()
    again = load_run(finished.config.results_dir, "study")
    assert write_bundle(again, tmp_path / "one.zip").read_bytes() == one


@pytest.mark.usefixtures("fits_in_this_process")
def test_paths_tell_nothing_of_the_machine(tmp_path, monkeypatch):
    rows = "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20))
    for folder in ("work/data", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{Path(folder).name}.csv").write_text(rows)
    monkeypatch.chdir(tmp_path / "work")
    inside, outside = tmp_path / "work/data/data.csv", tmp_path / "elsewhere/elsewhere.csv"
    sets = [{"path": str(path), "target": "y"} for path in (inside, outside, Path("data/../data/data.csv"))]
    sets[-1]["name"] = "again"
    config = parse_config({"datasets": sets, "models": [TREE], "noise": NOISE, "repeats": 1}, "study")
    bundle = read_bundle(write_bundle(run(config, n_jobs=1), "study.zip"))
    paths = [dataset["path"] for dataset in bundle.record.config["datasets"]]
    assert paths == ["data/data.csv", "elsewhere.csv", "data/data.csv"]


def test_no_bundle(tmp_path):
    text = tmp_path / "text.zip"
    text.write_text("no zip file")
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    for path, message in ((text, "File is not a zip file"), (empty, "it has no bundle.json")):
        with pytest.raises(ConfigError, match=f"is no bundle: {message}"):
            read_bundle(path)
    with pytest.raises(ConfigError, match=r"missing\.zip cannot be read: No such file"):
        read_bundle(tmp_path / "missing.zip")


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"format": 1}', '{"format": 2, "name": "a", "record": {}, "cells": {}}', "[" * 9999]
)
def test_invalid_content(tmp_path, text):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bundle.json", text)
    with pytest.raises(ConfigError, match="is no bundle"):
        read_bundle(path)


def test_size_is_limited_whatever_the_header_says(finished, tmp_path, monkeypatch):
    path = write_bundle(finished, tmp_path / "study.zip")
    monkeypatch.setattr(module, "MAX_BYTES", 1_000)
    with pytest.raises(ConfigError, match="larger than"):
        read_bundle(path)


def test_invalid_scores(finished, tmp_path):
    path = write_bundle(finished, tmp_path / "study.zip")

    def with_accuracy(value):
        def changed(cells):
            key = next(iter(cells))
            return cells | {key: cells[key] | {"scores": cells[key]["scores"] | {"accuracy": value}}}

        return changed

    for value in (1.5, float("nan"), float("inf"), -0.1, None):
        with pytest.raises(ConfigError, match=r"has invalid scores|must be"):
            read_bundle(change(path, cells=with_accuracy(value)))


@pytest.mark.parametrize(
    "path", ["/etc/passwd.csv", "../up.csv", "a/../../up.csv", "C:\\data.csv", "\\\\host\\a.csv", 7]
)
@pytest.mark.parametrize("key", ["path", "test_path", "annotators"])
def test_paths_below_the_working_directory_only(finished, tmp_path, path, key):
    bundle = write_bundle(finished, tmp_path / "study.zip")
    sets = [{"path": "a.csv", "target": "y", key: {"path": path} if key == "annotators" else path}]

    def changed(record):
        return record | {"config": record["config"] | {"datasets": sets}}

    with pytest.raises(ConfigError, match="not below the working directory"):
        read_bundle(change(bundle, record=changed))


def test_files_that_cannot_be_written(finished, tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write_bundle(finished, tmp_path)
    finished.config.store_path.unlink()
    with pytest.raises(ConfigError):
        write_bundle(finished, tmp_path / "a.zip")
