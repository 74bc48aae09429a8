"""Stores and records that somebody made are refused with one line, or read as what they are."""

import json
import math
import sqlite3
from contextlib import closing

import pytest

from boostnoise import Comparison
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution.run_record import RunRecord
from boostnoise.eval.metrics.registry import RANGES

ESCAPES = "a\x1b[2Jb\x07c\u202ed\x9b31m\u2066"


def first_cell(**changes):
    def change(record):
        record["cells"][0] |= changes

    return change


def config_too(**changes):
    """Changes of the first cell that the config asks for as well."""

    def change(record):
        record["cells"][0] |= changes
        for key in changes.keys() & {"noise_rate"}:
            record["config"]["noise"][0]["rates"] = [changes[key], 0.2]

    return change


CRAFTED = {
    "rate NaN": config_too(noise_rate=math.nan),
    "rate inf": config_too(noise_rate=math.inf),
    "rate 1e308": config_too(noise_rate=1e308),
    "rate negative": config_too(noise_rate=-0.1),
    "rate other than the config's": first_cell(noise_rate=0.3),
    "repeat 2**63": first_cell(repeat=2**63),
    "repeat negative": first_cell(repeat=-1),
    "repeat other than the config's": first_cell(repeat=1),
    "no cells": lambda record: record["cells"].clear(),
    "a cell twice": lambda record: record["cells"].append(record["cells"][0]),
    "a cell less": lambda record: record["cells"].pop(),
    "cells in another order": lambda record: record["cells"].reverse(),
    "unknown model": first_cell(model="other"),
    "unknown data set": first_cell(dataset="other"),
    "unknown noise": first_cell(noise_kind="other"),
    "name with escapes": first_cell(model=ESCAPES),
    "key": first_cell(key="x"),
    "rows negative": lambda record: record["datasets"]["iris"].update(rows=-1),
    "rows 2**64": lambda record: record["datasets"]["iris"].update(rows=2**64),
    "no facts of the data set": lambda record: record["datasets"].clear(),
    "facts of another": lambda record: record["datasets"].update(x=record["datasets"]["iris"]),
    "seconds NaN": lambda record: record["sessions"][0].update(seconds=math.nan),
    "seconds negative": lambda record: record["sessions"][0].update(seconds=-1.0),
    "start with escapes": lambda record: record["sessions"][0].update(started=ESCAPES),
    "python with escapes": lambda record: record["sessions"][0].update(python=ESCAPES),
    "versions with escapes": lambda record: record["sessions"][0].update(versions={ESCAPES: "1"}),
    "many sessions": lambda record: record.update(sessions=record["sessions"] * 1000),
    "unknown key": lambda record: record.update(more=1),
    "unknown key of the config": lambda record: record["config"].update(other=0.2),
    "repeat as text": first_cell(repeat="x"),
    "data set with a null character": lambda record: record["config"]["datasets"][0].update(set="\0"),
    "deep": lambda record: record["config"]["models"][0]["params"].update(a=json.loads("[" * 500 + "]" * 500)),
    "unknown colour map": lambda record: record["config"]["ela_fig"].update(fig_cmap="nonsense"),
    "surrogate": lambda record: record["config"]["ela_fig"].update(fig_title="\ud800"),
    "infinite parameter": lambda record: record["config"]["models"][0]["params"].update(a=math.inf),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_records(folder, edit_record, refused, name):
    edit_record(CRAFTED[name])
    results = folder / "results" / "study"
    before = {path: path.stat().st_mtime_ns for path in results.iterdir()}
    refused(folder, "--redraw", "results/study")
    assert {path: path.stat().st_mtime_ns for path in results.iterdir()} == before


def test_the_record_of_a_run_is_read_without_a_look_at_its_data(folder, edit_record, tmp_path, noisyeval):
    """A path of a record may be a folder on the machine of whoever looks at it."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret.csv").write_text("a,b\n1,0\n")

    def change(record):
        record["config"]["datasets"] = [
            record["config"]["datasets"][0]
            | {"set": None, "path": str(tmp_path / "private"), "target": 0, "format": "csv"}
        ]

    edit_record(change)
    done = noisyeval(folder, "--redraw", "results/study")
    assert done.exit_code == 0, done.stderr
    assert "secret" not in done.stderr + (folder / "results" / "study" / "report.html").read_text()


def test_figures_of_a_record_are_checked_wherever_it_is_opened(folder, edit_record):
    edit_record(
        lambda record: record["config"]["ela_fig"].update(plot_kwargs=[{"url": "javascript:alert(1)"}, {}])
    )
    with pytest.raises(ConfigError, match="url"):
        Comparison.load(folder / "results" / "study")


def test_names_of_runs_do_not_control_the_terminal(folder, edit_store):
    edit_store("runs", lambda row: [ESCAPES, row[1]])
    with pytest.raises(ConfigError) as caught:
        Comparison.load(folder / "results", "other")
    assert str(caught.value).isprintable()


def test_the_shown_config_is_that_which_was_run(folder, edit_record, noisyeval):
    edit_record(lambda record: record["config"]["datasets"][0].update(positive=["\u202egnp.exe"]))
    assert noisyeval(folder, "--redraw", "results/study").exit_code == 0
    page = (folder / "results" / "study" / "report.html").read_text()
    assert "\u202e" not in page
    assert "\\u202egnp.exe" in page


OUTCOME = 6  # the column of the accuracy; see the table in store.py
ERROR = OUTCOME + len(RANGES)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *((OUTCOME, value) for value in (math.inf, -math.inf, 1e308, -0.1, 1.5, None)),
        (OUTCOME + 4, 1.7e308),
        (OUTCOME + 4, -1.0),
        (OUTCOME + 5, math.inf),
        (OUTCOME + 8, -1e300),
        (ERROR, "both scores and an error"),
    ],
)
def test_crafted_cells(folder, edit_store, refused, column, value):
    edit_store("cells", lambda row: [*row[:column], value, *row[column + 1 :]])
    assert "store.sqlite" in refused(folder, "--redraw", "results/study")
    assert "store.sqlite" in refused(folder, "study.json")


def test_errors_of_a_store_are_cut_and_do_not_control_the_terminal(folder, edit_store, noisyeval):
    error = f"ValueError: {ESCAPES} " + "x " * 500_000
    edit_store("cells", lambda row: [*row[:OUTCOME], *[None] * len(RANGES), error, None])
    for options in (["--json"], []):
        done = noisyeval(folder, "--redraw", "results/study", *options)
        assert done.exit_code == 1
        assert all(line.isprintable() for line in (done.stdout + done.stderr).splitlines()), ascii(done.stdout)
    assert "ValueError: a" in done.stdout
    assert (folder / "results" / "study" / "scores.csv").stat().st_size < 100_000


def test_no_name_controls_the_terminal(folder, noisyeval):
    """Names of files come from whoever made the folder."""
    for name in (f"{ESCAPES}.json", f"{ESCAPES}/study.json"):
        done = noisyeval(folder, name)
        assert done.exit_code == 2
        assert all(line.isprintable() for line in done.stderr.splitlines())
    (folder / f"{ESCAPES}.json").write_text((folder / "study.json").read_text())
    done = noisyeval(folder, f"{ESCAPES}.json")
    assert all(line.isprintable() for line in (done.stdout + done.stderr).splitlines())


SCHEMAS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM cells; END",
    "a view": "CREATE VIEW v AS SELECT * FROM cells",
    "an index": "CREATE INDEX i ON cells (abs(repeat))",
    "a table": "CREATE TABLE more (a)",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_of_somebody_elses(folder, refused, name):
    with closing(sqlite3.connect(folder / "results" / "store.sqlite")) as connection:
        connection.execute(SCHEMAS[name])
    assert "store.sqlite is damaged" in refused(folder, "study.json")


def test_the_schema_is_checked_before_a_check_that_runs_it(folder, refused, monkeypatch):
    """SQLite's own check evaluates the expressions of indexes and constraints."""
    with closing(sqlite3.connect(folder / "results" / "store.sqlite")) as connection:
        connection.execute("CREATE TABLE slow (a CHECK (a = randomblob(10)))")
        connection.execute("INSERT INTO slow SELECT NULL FROM cells")
    assert "tables" in refused(folder, "--redraw", "results/study")


def test_the_smallest_accuracy_of_all_makes_no_infinite_loss(folder, edit_store, noisyeval):
    edit_store("cells", lambda row: [*row[:OUTCOME], 5e-324, *row[OUTCOME + 1 :]])
    assert noisyeval(folder, "--redraw", "results/study").exit_code == 0
    Comparison.load(folder / "results" / "study").tests(metric="area_under_ela")


def test_the_given_labels_of_a_record_differ_from_the_true_ones(folder, edit_record, refused):
    """Two rates of one kind of noise that are the same would be two rows for one cell of a table."""

    def change(record):
        record["config"]["noise"] = [{"kind": "given", "labels": ["b"], "name": "uniform"}]
        for dataset in record["config"]["datasets"]:
            dataset["noisy"] = {"b": "b"}
        for cell in record["cells"]:
            cell["noise_rate"] = 0.0

    edit_record(change)
    assert "do not match its config" in refused(folder, "--redraw", "results/study")


@pytest.mark.release
def test_records_of_large_runs_are_read(folder):
    """The limit on the values of a config is none on the cells of a run."""
    with closing(sqlite3.connect(folder / "results" / "store.sqlite")) as connection:
        ((text,),) = connection.execute("SELECT record FROM runs")
    record = RunRecord.loads(text)
    many = record.model_copy(update={"cells": record.cells[:1] * 170_000})
    assert len(RunRecord.loads(many.dumps()).cells) == 170_000
