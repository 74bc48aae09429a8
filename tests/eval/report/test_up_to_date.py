import dataclasses
import json
import os

import matplotlib as mpl
import pytest

from boostnoise.eval.execution.run import Run
from boostnoise.eval.report import up_to_date
from boostnoise.eval.report.up_to_date import find_written, remember_written


@pytest.fixture
def run(small_config, made_scores):
    config = small_config()
    config.output_dir.mkdir(parents=True)
    return Run(config, made_scores(("a", "b"), rates=(0.0, 0.25), repeats=2))


@pytest.fixture
def files(run):
    paths = [run.config.output_dir / name for name in ("scores.csv", "report.html")]
    for path in paths:
        path.write_text(path.name)
    return paths


def test_files_are_found_until_one_changes(run, files):
    assert find_written(run) is None
    remember_written(run, files)
    assert find_written(run) == files
    files[1].write_text("report.htm_")
    assert find_written(run) is None
    remember_written(run, files)
    files[0].unlink()
    assert find_written(run) is None
    os.mkfifo(files[0])  # reading it would wait forever
    assert find_written(run) is None


def test_what_the_files_show_must_be_the_same(run, files, monkeypatch):
    remember_written(run, files)
    scores = run.scores.assign(accuracy=run.scores["accuracy"] + 1e-12)
    others = {
        "scores": dataclasses.replace(run, scores=scores),
        "config": dataclasses.replace(run, config=run.config.model_copy(update={"metric": "macro_f1"})),
        "settings": dataclasses.replace(run, settings=("a",)),
        "remarks": dataclasses.replace(run, remarks=("Some scores are old.",)),
    }
    assert [name for name, other in others.items() if find_written(other)] == []
    with mpl.rc_context({"font.size": 20}):
        assert find_written(run) is None
    with mpl.rc_context({"backend": "pdf"}):  # of windows alone
        assert find_written(run) == files
    monkeypatch.setattr(up_to_date, "_own_files", lambda: [("page.py", 1, 2)])
    assert find_written(run) is None


def test_a_folder_cannot_claim_it_itself(run, files, tmp_path, monkeypatch):
    remember_written(run, files)
    theirs = tmp_path / "theirs"
    monkeypatch.setenv("BOOSTNOISE_CACHE", str(theirs))
    assert find_written(run) is None
    assert not any(path.name.endswith(".json") for path in run.config.output_dir.iterdir())


@pytest.mark.parametrize("damaged", [b"", b"[]", b"\xff", b'{"content": 1}', b'{"files": {}, "content": "x"}'])
def test_damaged_records(run, files, damaged, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOSTNOISE_CACHE", str(tmp_path / "cache"))
    remember_written(run, files)
    (record,) = (tmp_path / "cache" / "results").iterdir()
    content = json.loads(record.read_text())["content"]
    record.write_bytes(damaged)
    assert find_written(run) is None
    record.write_text(json.dumps({"content": content, "files": {"scores.csv": 3}}))
    assert find_written(run) is None


def test_a_cache_that_cannot_be_written_is_none(run, files, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BOOSTNOISE_CACHE", str(tmp_path / "file" / "cache"))
    remember_written(run, files)
    assert find_written(run) is None
