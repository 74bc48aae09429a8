"""The command: in this process, and in one of its own where signals, pipes or its start are tested."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest

from boostnoise.eval.cli.main import _redraw
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.runner import run
from boostnoise.eval.report.display import Display

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAD = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}
REPORT = "results/study/report.html"  # which the last line of the output names
NO_PICTURE = {"save_fig": False}
QUICK = {
    "datasets": ["iris"],
    "models": [TREE, {"name": "nb", "module": "sklearn.naive_bayes", "model": "GaussianNB"}],
    "noise": [{"kind": "uniform", "rates": [0.0, 0.2]}],
    "repeats": 2,
    "random_state": 7,
    "ela_fig": NO_PICTURE,
    "rla_fig": NO_PICTURE,
}
ONE = {**QUICK, "models": [TREE], "repeats": 1}


@pytest.fixture(autouse=True)
def empty_page(request, monkeypatch):
    """Runs in this process write an empty page, as a real one takes longer than their fits."""

    def write(_, path, published=None):
        path.write_text("")
        return path

    if request.function is not test_a_run:
        monkeypatch.setattr("boostnoise.eval.report.files.write_html", write)


def test_a_run(study, tmp_path, scores):
    rows = [f"{i % 7},{i % 5},{'ab'[i % 7 > 3]}\n" for i in range(150)]
    (tmp_path / "mine.csv").write_text("x,z,y\n" + "".join(rows))
    models = [TREE, {"model": "robust_forest", "params": {"n_estimators": 2}}]
    datasets = [{"path": "mine.csv", "target": "y"}]
    content = {**QUICK, "models": models, "datasets": datasets, "ela_fig": {"fig_dpi": 30}}
    done = study(content)
    assert done.exit_code == 0, done.stderr
    assert "mean over" not in done.stdout
    assert "ELA, equalised loss of accuracy" in done.stdout
    assert REPORT in done.stdout.splitlines()[-1]
    assert "study: 8 of 8 cells done, 0 failed" in done.stderr
    folder = tmp_path / "results" / "study"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert files.keys() == {
        "scores.parquet", "scores.csv", "ela.csv", "ela_mean.csv", "ela.png", "ela.svg", "ela.pdf", "rla.csv",
        "rla_mean.csv", "retention.csv", "retention_mean.csv",
        "area_under_ela.csv", "area_under_ela_mean.csv", "tables.tex", "report.html",
    }  # fmt: skip
    assert len(scores(tmp_path)) == 8
    written = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = study(content)
    assert again.stdout == done.stdout
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == written
    (folder / "ela.csv").write_text("mine")
    assert study(content).stdout == done.stdout
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    # All of it comes from the store: neither the config nor the data are there any more.
    for path in [tmp_path / "study.json", tmp_path / "mine.csv", *folder.iterdir()]:
        path.unlink()
    redrawn = study(None, "--redraw", name="results/study")
    assert (redrawn.exit_code, redrawn.stderr) == (0, "")
    assert redrawn.stdout == done.stdout
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.usefixtures("fits_in_this_process")
def test_a_run_that_was_stopped_has_no_folder_yet(small_config):
    config = small_config(repeats=1, ela_fig=NO_PICTURE, rla_fig=NO_PICTURE)
    run(config, n_jobs=1)
    assert not config.output_dir.exists()
    assert _redraw(config.output_dir, Display("run")) == 0
    assert config.output_dir.joinpath("report.html").is_file()
    with pytest.raises(ConfigError, match="has no run 'other'; its runs are run"):
        _redraw(config.output_dir.with_name("other"), Display("run"))
    with pytest.raises(ConfigError, match="must be the folder of a run for --redraw"):
        _redraw(config.store_path, Display("run"))


def test_help_is_quick(noisyeval, slow_imports, tmp_path):
    code = """
from contextlib import redirect_stdout, suppress
from io import StringIO
from boostnoise.eval.cli.main import main
with suppress(SystemExit), redirect_stdout(StringIO()):
    main(["--help"])"""
    assert slow_imports(code) == set()
    shown = noisyeval(tmp_path, "--help")
    assert shown.exit_code == 0
    assert "Usage:" in shown.stdout
    for exit_code in (
        "0 done",
        "1 some cells or trials of --dry-run failed",
        "2 bad config or usage",
        "130 interrupted",
    ):
        assert exit_code in " ".join(shown.stdout.split())


def test_version(noisyeval, tmp_path):
    assert metadata.version("boostnoise") in noisyeval(tmp_path, "--version").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.json", "b.json"],
        ["a.json", "--jobs", "0"],
        ["a.json", "--max-time", "nan"],
        ["--nonsense", "a.json"],
        ["--redraw", "results", "--fresh"],
        ["--redraw", "a.json", "--dry-run"],
        ["--redraw", "nowhere"],
        ["--redraw"],
    ],
)
def test_bad_usage(arguments, noisyeval, tmp_path):
    shown = noisyeval(tmp_path, *arguments)
    assert shown.exit_code == 2
    assert shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"repets": 1}, ["repets", "datasets"]),
        ({"datasets": [{"path": "empty.csv", "target": "y"}]}, ["data set 'empty'", "empty"]),
        ({"models": [{"module": "os", "model": "system"}]}, ["models[0]", "'os'", "not allowed"]),
        ({"results_dir": "empty.csv/results"}, ["empty.csv/results"]),
        ({"ela_fig": {"fig_cmap": "nonsense"}}, ["ela_fig.fig_cmap", "'nonsense'"]),
        ("{", ["not valid JSON"]),
    ],
)
def test_a_mistake_gives_one_line_and_no_file(study, tmp_path, changes, named):
    (tmp_path / "empty.csv").write_text("")
    if isinstance(changes, str):
        (tmp_path / "study.json").write_text(changes)
    done = study({**QUICK, **changes} if isinstance(changes, dict) else None)
    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    start = "noisyeval: error: study.json: "
    assert line.startswith(start)
    assert [text for text in named if text not in line.removeprefix(start)] == []
    assert {path.name for path in tmp_path.iterdir()} == {"empty.csv", "study.json"}


def test_failed_cells_make_the_exit_code_one(study, tmp_path, scores):
    done = study({**QUICK, "models": [TREE, BAD]})
    assert done.exit_code == 1
    assert "4 of 8 cells failed" in done.stdout
    assert "bad on iris, 4 cells: InvalidParameterError: The 'max_depth' parameter" in done.stdout
    assert scores(tmp_path)["accuracy"].notna().sum() == 4


def test_own_models(study, tmp_path):
    (tmp_path / "own_model.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\nclass Own(DecisionTreeClassifier): ..."
    )
    config = {**QUICK, "models": [{"module": "own_model", "model": "Own"}]}
    refused = study(config)
    assert refused.exit_code == 2
    assert "'own_model'" in refused.stderr
    assert "--allow-module NAME" in refused.stderr
    allowed = study(config, "--allow-module", "own_model")
    assert allowed.exit_code == 0, allowed.stdout + allowed.stderr


@pytest.mark.usefixtures("fits_in_this_process")
def test_a_quick_form(study, tmp_path, stored):
    done = study(QUICK | {"datasets": ["iris", "wine"]}, "--quick")
    assert done.exit_code == 0, done.stderr
    assert "8 of 8 cells done, 0 failed" in done.stderr
    assert (tmp_path / "results" / "study_quick" / "scores.csv").exists()
    assert not (tmp_path / "results" / "study").exists()
    assert len(stored(tmp_path)) == 8


@pytest.mark.usefixtures("fits_in_this_process")
def test_published_numbers(study, noisyeval, tmp_path, stored):
    cells = {
        "dataset": ["iris", "wine"],
        "model": "nb",
        "noise_kind": "uniform",
        "noise_rate": 0.0,
        "accuracy": 0.95,
    }
    pd.DataFrame(cells).assign(sd=0.03).to_csv(tmp_path / "paper.csv", index=False)
    done = study(QUICK, "--published", "paper.csv")
    assert done.exit_code == 0, done.stderr
    assert "1 of 1 cell (100 %) are within the bands around the published accuracy" in done.stdout
    assert "warning: published numbers 'paper.csv': the config does not have data set wine" in done.stderr
    folder = tmp_path / "results" / "study"
    assert pd.read_csv(folder / "published.csv")["within"].tolist() == ["yes", "–"]
    done = noisyeval(tmp_path, "results/study", "--redraw", "--published", "paper.csv", "--json")
    event = json.loads(done.stdout.splitlines()[-1])
    assert event == {
        "event": "published",
        "cells": 2,
        "found": 1,
        "share_within": 1.0,
        "rank_agreement": [],
        "claims": [],
    }
    pd.DataFrame(cells).assign(noise_kind="symmetric").to_csv(tmp_path / "paper.csv", index=False)
    done = noisyeval(tmp_path, "results/study", "--redraw", "--published", "paper.csv")
    assert done.exit_code == 2
    assert "no kind of noise of the run is among theirs, symmetric; the run has uniform" in done.stderr
    assert "Results" in done.stdout  # they are written all the same
    pd.DataFrame(cells).assign(accuracy=95).to_csv(tmp_path / "paper.csv", index=False)
    done = study(QUICK | {"repeats": 5}, "--published", "paper.csv")
    assert done.exit_code == 2
    assert "accuracy must be from 0 to 1, got 95; divide percentages by 100" in done.stderr
    assert len(stored(tmp_path)) == 8  # nothing was fitted


def test_results_that_cannot_be_written(study, tmp_path, stored):
    (tmp_path / "results" / "study" / "ela.csv").mkdir(parents=True)
    done = study(QUICK)
    assert done.exit_code == 2
    assert "results/study" in done.stderr
    assert "cannot be written" in done.stderr
    assert len(stored(tmp_path)) == 8


@pytest.mark.release
def test_files_in_the_working_directory_are_not_run(process, tmp_path):
    for name in ("random", "numpy", "catboost"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this file was run')")
    (tmp_path / "study.json").write_text(json.dumps(ONE | {"ela_fig": {"fig_dpi": 30}}))
    done = process(tmp_path, "study.json", "-j", "1")
    assert done.returncode == 0, done.stderr
    # Nor by `python -m`, which puts the working directory on the module path.
    command = [sys.executable, "-m", "boostnoise"]
    done = subprocess.run([*command, "--schema"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["title"]
    shown = subprocess.run([*command, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert shown.stdout.startswith("Usage: noisyeval [OPTIONS] CONFIG")


def test_finished_cells_of_another_machine_are_merged(study, noisyeval, tmp_path, stored):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "study.json").write_text(json.dumps(QUICK))
    assert noisyeval(elsewhere, "study.json").exit_code == 0
    done = study(QUICK, "--merge", "elsewhere/results")
    assert done.exit_code == 0, done.stderr
    assert "noisyeval: 8 cells" in done.stderr
    assert "study: 8 of 8 cells done" in done.stderr
    assert stored(tmp_path) == stored(elsewhere)
    refused = study(QUICK, "--merge", "elsewhere")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("noisyeval: error: study.json: ")
    assert "elsewhere/store.sqlite" in refused.stderr


def test_a_damaged_store_is_named(study, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "store.sqlite").write_bytes(b"x" * 5000)
    done = study(QUICK)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "results/store.sqlite is damaged" in line
    assert "file is not a database" in line
    assert (tmp_path / "results" / "store.sqlite").read_bytes() == b"x" * 5000


CSV = "x,z,label\n" + "".join(f"{i % 7},{i % 5},{'ham' if i % 7 > 3 else 'spam'}\n" for i in range(70))


@pytest.mark.usefixtures("trials_in_this_process")
@pytest.mark.release
def test_from_data_to_results(study, tmp_path):
    """A starter config, a dry run, the run, and once more with other displays."""
    (tmp_path / "spam.csv").write_text(CSV)
    started = study(None, "--init", "spam.csv", name="study.jsonc")
    assert started.exit_code == 0
    assert "noisyeval study.jsonc" in started.stdout
    guess, leak, copies = started.stderr.splitlines()
    assert guess.startswith("noisyeval: warning: guessed the target: column 'label', because of its name; ")
    assert guess.endswith("use --target COLUMN to change it")
    assert "column 'x' alone tells nearly all labels" in leak
    assert "35 of 70 rows are copies of others" in copies
    text = (tmp_path / "study.jsonc").read_text()
    (tmp_path / "study.jsonc").write_text(re.sub('"models": .*', '"models": ["decision_tree"],', text))
    dry = study(None, "--dry-run", "-j", "2", name="study.jsonc")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert dry.stdout.startswith("spam: ")
    assert re.search(r"^spam: \d+ rows, \d+ features?; rows by class: .+ \d+, .+ \d+$", dry.stdout, re.M)
    assert re.search(r"spam +decision_tree +15 +0 +0 +15 +[\d.]+ s", dry.stdout)
    assert re.search(r"^study: 15 cells, 0 finished, 15 .*[\d.]+ s .*2 cells", dry.stdout, re.M)
    assert {path.name for path in tmp_path.iterdir()} == {"spam.csv", "study.jsonc"}
    done = study(None, "--quiet", name="study.jsonc")
    assert (done.exit_code, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert REPORT in line
    again = study(None, "--json", name="study.jsonc")
    start, end = map(json.loads, again.stdout.splitlines())
    assert (start["event"], start["cached"], start["total"]) == ("start", 15, 15)
    assert (end["event"], end["failed"], end["results_dir"]) == ("end", 0, "results/study")
    assert all((tmp_path / file).exists() for file in end["files"])
    assert again.stderr == ""


def test_a_dry_run_finds_mistakes(study):
    done = study({**QUICK, "models": [{"module": "sklearn.tree", "model": "Tree"}]}, "--dry-run")
    assert done.exit_code == 2
    assert "sklearn.tree.Tree" in done.stderr


def test_a_dry_run_in_which_a_model_fails(study):
    done = study({**QUICK, "models": [BAD]}, "--dry-run")
    assert done.exit_code == 1
    assert "fails" in done.stdout or "failed" in done.stdout


def test_errors_as_json(study):
    done = study({**QUICK, "repets": 1, "repeats": 0}, "--json")
    assert (done.exit_code, done.stderr) == (2, "")
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["error", "error"]
    assert json.loads(done.stdout.splitlines()[0])["message"].startswith("study.json: ")


def test_the_schema(noisyeval, tmp_path):
    shown = noisyeval(tmp_path, "--schema")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_a_target_is_for_init(study):
    done = study(QUICK, "--target", "y")
    assert done.exit_code == 2
    assert "--target requires --init" in done.stderr


@pytest.mark.release
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("arguments", [["--schema"], ["study.json"]], ids=" ".join)
def test_no_disk_space_for_the_output(process, study, tmp_path, arguments, scores):
    if arguments == ["study.json"]:
        study(ONE)  # so that no cell is left to fit
        shutil.rmtree(tmp_path / "results" / "study")
    with Path("/dev/full").open("w") as full:
        done = process(tmp_path, *arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "cells done" not in line]
    assert said == ["noisyeval: error: No space left on device; finished cells are kept"]
    if arguments == ["study.json"]:
        assert len(scores(tmp_path)) == 2


@pytest.mark.release
@pytest.mark.parametrize("arguments", [["--schema"], ["study.json", "--json"]], ids=" ".join)
def test_a_broken_pipe(process, tmp_path, arguments):
    (tmp_path / "study.json").write_text(json.dumps(ONE))
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as closed:  # noqa: PTH123 - a pipe has no path
        done = process(tmp_path, *arguments, capture_output=False, stdout=closed, stderr=subprocess.PIPE)
    assert done.returncode == 141
    said = [line for line in done.stderr.splitlines() if "cells done" not in line]
    assert said == ["noisyeval: error: output closed (broken pipe); finished cells are kept"]


def test_an_output_with_a_small_character_set(study):
    content = {**ONE, "models": [{**TREE, "name": "bäume"}], "results_dir": "größe"}
    done = study(content, charset="ascii")
    assert done.exit_code == 0, done.stderr
    assert "b\\xe4ume" in done.stdout


def test_fresh_fits_everything_again(study, tmp_path, scores, stored):
    study(QUICK)
    before, table = stored(tmp_path), scores(tmp_path)
    assert study(QUICK).exit_code == 0
    assert stored(tmp_path) == before
    assert study(QUICK, "--fresh").exit_code == 0
    assert all(stored(tmp_path)[key] != seconds for key, seconds in before.items())
    pd.testing.assert_frame_equal(scores(tmp_path), table)
