import dataclasses
import hashlib
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution import store as store_module
from boostnoise.eval.execution.store import Store
from boostnoise.eval.metrics import outcome as outcome_module
from boostnoise.eval.metrics.correct_rows import pack_rows
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.metrics.registry import MEASURES, RANGES


class StubJob:
    """As much of a job as the store reads."""

    dataset, noise_kind, noise_rate, repeat = "iris", "uniform", 0.1, 0

    class model:
        name = "tree"

    def __init__(self, key):
        self.key = key


def key(i):
    return hashlib.sha256(str(i).encode()).hexdigest()


GOOD = Outcome({"accuracy": 0.9, "balanced_accuracy": 0.85, "macro_f1": 0.8, "roc_auc": 0.95, "log_loss": 0.2, "leaves": 3.5, "depth": 2.0, "realised_rate": 0.1, "fit_seconds": 1.5, "predict_seconds": 0.5})  # fmt: skip


def scored(**changes):
    return Outcome({**GOOD.scores, **changes})


OTHER = scored(accuracy=0.8)
BAD = Outcome(error="ValueError: no", traceback="Traceback ...")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def filled(path):
    with Store(path) as store:
        for i in range(300):
            store.put(StubJob(key(i)), scored(accuracy=i / 300))
    return path


def test_outcomes_are_there_for_the_next_run(tmp_path):
    path = tmp_path / "deep" / "store.sqlite"
    with Store(path) as store:
        assert store.outcomes(["a"]) == {}
        store.put(StubJob("a"), GOOD)
        store.put(StubJob("b"), BAD)
    with Store(path) as store:
        assert store.outcomes(["a", "b", "c"]) == {"a": GOOD, "b": BAD}
        assert store.outcomes(["b"]) == {"b": BAD}
        store.put(StubJob("b"), GOOD)
        assert store.outcomes(["b"]) == {"b": GOOD}


def test_outcomes_are_on_disk_at_once(path):
    with Store(path) as store:
        store.put(StubJob("a"), GOOD)
        with Store(path) as other, Store(path, read_only=True) as third:
            assert other.outcomes(["a"]) == third.outcomes(["a"]) == {"a": GOOD}


def test_an_error_does_not_take_the_place_of_scores(path):
    with Store(path) as store:
        for outcome, kept in ((BAD, BAD), (GOOD, GOOD), (OTHER, OTHER), (BAD, OTHER)):
            store.put(StubJob("a"), outcome)
            assert store.outcomes(["a"]) == {"a": kept}


def test_values_that_sqlite_would_change(path):
    odd = Outcome({"accuracy": 1, "balanced_accuracy": 0.0, "roc_auc": -0.0, "log_loss": math.nan, "leaves": 1e90, "fit_seconds": 5e-324})  # fmt: skip
    failed = Outcome(error="a\ud800b\0c", traceback="x" * 10**6)
    with Store(path) as store:
        store.put(StubJob("a"), odd)
        store.put(StubJob("b"), failed)
        kept, error = store.outcomes(["a", "b"]).values()
    assert kept.scores == {
        "accuracy": 1.0, "balanced_accuracy": 0.0, "roc_auc": 0.0, "leaves": 1e90, "fit_seconds": 5e-324,
    }  # fmt: skip
    assert error.error == "a?b\N{REPLACEMENT CHARACTER}c"
    assert len(error.traceback) == 20_000


def test_scores_that_cannot_be():
    assert GOOD.is_score
    assert Outcome({"accuracy": 0.5}).is_score
    impossible = {
        name: (least - 0.1, 1.1 * largest + 0.1, math.nan, "0.9") for name, (least, largest) in RANGES.items()
    }
    assert {*impossible} == {*MEASURES, "realised_rate"}
    for name, values in impossible.items():
        for value in values:
            assert not scored(**{name: value}).is_score, (name, value)
    assert not BAD.is_score
    assert not Outcome().is_score


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_files_that_are_no_database_are_not_changed(path, content):
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"is damaged .*move it away"):
        Store(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("version", [0, 1, 2, 7])
def test_the_database_of_another_program_is_left_alone(path, version):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="is not a store of noisyeval"):
        Store(path)
    assert path.read_bytes() == before


def test_stores_of_other_versions_are_left_alone(path):
    with Store(path):
        pass
    first = path.with_name("first.sqlite")
    with closing(sqlite3.connect(first)) as connection:
        connection.execute("CREATE TABLE cells (key TEXT PRIMARY KEY, accuracy REAL) STRICT")
    for other, version in ((path, 99), (first, 1)):
        with closing(sqlite3.connect(other)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(ConfigError, match=f"has format {version}, but this version reads format 3"):
            Store(other)


def read_all(path):
    with Store(path) as store:
        return store.outcomes(key(i) for i in range(300))


def test_a_measure_that_is_new_gets_a_column(filled, monkeypatch):
    whole, before = read_all(filled), filled.read_bytes()
    better = Outcome({**GOOD.scores, "brier": 0.25})
    with monkeypatch.context() as patch:
        patch.setitem(RANGES, "brier", (0.0, 2.0))
        with Store(filled, read_only=True) as store:
            assert store.outcomes([*whole]) == whole
        assert filled.read_bytes() == before
        with Store(filled) as store:
            assert store.outcomes([*whole]) == whole
            store.put(StubJob(key(0)), better)
        assert read_all(filled) == whole | {key(0): better}
    # A version without the measure reads and writes the others.
    with Store(filled) as store:
        assert store.outcomes([key(0)]) == {key(0): GOOD}
        store.put(StubJob(key(1)), GOOD)
    assert read_all(filled) == whole | {key(0): GOOD, key(1): GOOD}


def test_records_of_runs(path):
    with Store(path) as store:
        assert store.run_names() == []
        assert store.run_record("b") is None
        store.change_run("b", lambda record: f"{record}1")
        store.change_run("a", lambda _: '{"µ": "\ud7ff"}')
        store.change_run("b", lambda record: f"{record}2")
        assert store.run_names() == ["a", "b"]
        assert (store.run_record("a"), store.run_record("b")) == ('{"µ": "\ud7ff"}', "None12")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET record = '3' WHERE name = 'b'")
    with Store(path) as store, pytest.raises(ConfigError, match="the record of the run 'b' was changed"):
        store.run_record("b")


def test_changed_bytes_are_detected(filled):
    """Wherever they are: what is read is right, or there is an error."""
    whole, content, n_noticed = read_all(filled), filled.read_bytes(), 0
    assert len(whole) == 300
    draw = random.Random(0)
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(draw.choice([1, 1, 1, 50])):
            damaged[draw.randrange(len(damaged))] ^= draw.randrange(1, 256)
        filled.write_bytes(damaged)
        message = ""
        try:
            found = read_all(filled)
        except ConfigError as error:
            message = str(error)
        if message:
            n_noticed += 1
            assert str(filled) in message
            assert "\n" not in message
            assert filled.read_bytes() == damaged
        else:  # a damaged key hides its cell, which is fitted again
            assert found.items() <= whole.items()
            assert len(found) >= 250
    assert n_noticed > 75


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_that_was_cut_off(filled, share):
    content = filled.read_bytes()
    filled.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ConfigError, match="is damaged"):
        read_all(filled)


def test_a_score_that_was_changed_by_hand(filled):
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("UPDATE cells SET accuracy = 1.0 WHERE accuracy < 0.9")
    with pytest.raises(ConfigError, match="a cell was changed"):
        read_all(filled)


def test_paths_where_no_store_can_be(path, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Store(tmp_path / "file" / "store.sqlite")
    path.mkdir()
    with pytest.raises(ConfigError, match=r"store.sqlite is not a file"):
        Store(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_may_not_be_written(filled):
    filled.chmod(0o444)
    filled.parent.chmod(0o555)
    try:
        with pytest.raises(ConfigError, match="cannot be read or written"):
            Store(filled)
        with Store(filled, read_only=True) as store:
            assert len(store.outcomes([key(0)])) == 1
    finally:
        filled.parent.chmod(0o755)


def test_a_read_only_store_changes_nothing(filled):
    before = filled.read_bytes()
    with Store(filled, read_only=True) as store:
        assert len(store.outcomes([key(0)])) == 1
        with pytest.raises(ConfigError, match="readonly"):
            store.put(StubJob(key(0)), GOOD)
    assert filled.read_bytes() == before
    assert list(filled.parent.iterdir()) == [filled]
    with pytest.raises(ConfigError, match=r"there is no store .*other.sqlite"):
        Store(filled.with_name("other.sqlite"), read_only=True)


@pytest.mark.parametrize("content", [b"", b"\n", "a database"])
def test_an_empty_file_is_not_replaced(path, content):
    """It may be what a full disk has left of a store, and SQLite takes it for a new database."""
    if content == "a database":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(ConfigError, match=r"is damaged \(it is empty\); move it away"):
            Store(path, read_only=read_only)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_another_process_creates_the_store_first(path, monkeypatch):
    """Between the check that there is none and the moment when this process has written its own."""
    create = store_module.create

    def create_late(late):
        monkeypatch.undo()
        with Store(late) as first:
            first.put(StubJob("a"), GOOD)
        create(late)

    monkeypatch.setattr(store_module, "create", create_late)
    with Store(path) as store:
        assert store.outcomes(["a"]) == {"a": GOOD}
    assert not [*path.parent.glob(".*")]


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_store_that_is_moved_away(tmp_path, how):
    path = tmp_path / "results" / "store.sqlite"
    with Store(path) as store:
        store.put(StubJob("d"), GOOD)
        assert store.is_in_place()
        if how == "deleted":
            shutil.rmtree(path.parent)
        else:
            path.parent.rename(tmp_path / "moved")
        if how == "replaced":
            with Store(path) as other:
                other.put(StubJob("b"), OTHER)
        assert not store.is_in_place()
        store.reopen()
        assert store.is_in_place()
        store.put_all([(StubJob("a"), GOOD), (StubJob("c"), BAD)])
    with Store(path, read_only=True) as store:
        expected = {"a": GOOD, "c": BAD} | ({"b": OTHER} if how == "replaced" else {})
        assert store.outcomes(["a", "b", "c", "d"]) == expected


def test_a_lock_that_another_process_holds(filled, monkeypatch):
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.05)
    with Store(filled) as store, closing(sqlite3.connect(filled)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert len(store.outcomes([key(0)])) == 1
        with pytest.raises(ConfigError, match="has been locked by another process"):
            store.put(StubJob("a"), GOOD)
        other.execute("ROLLBACK")
        store.put(StubJob("a"), GOOD)
    with closing(sqlite3.connect(filled)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ConfigError, match="has been locked by another process"):
            Store(filled)


def test_a_full_disk(filled):
    with Store(filled) as store:
        (n_pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {n_pages + 2}")
        stored = []

        def put_until_full():
            for i in range(300, 400):
                store.put(StubJob(key(i)), BAD)
                stored.append(key(i))

        with pytest.raises(ConfigError, match="cannot be read or written: database or disk is full"):
            put_until_full()
        assert stored
        assert store.outcomes(stored) == dict.fromkeys(stored, BAD)
    assert len(read_all(filled)) == 300


PUT_MANY = """
import hashlib, sys
from pathlib import Path
from types import SimpleNamespace
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.execution.store import Store

path, first = Path(sys.argv[1]), int(sys.argv[2])
job = SimpleNamespace(dataset="iris", noise_kind="uniform", noise_rate=0.1, repeat=0, model=SimpleNamespace(name="a"))
with Store(path) as store:
    for i in range(first, first + 60):
        job.key = hashlib.sha256(str(i).encode()).hexdigest()
        store.put(job, Outcome({"accuracy": 0.5}))
"""


@pytest.mark.release
def test_many_processes_at_once(path):
    processes = [subprocess.Popen([sys.executable, "-c", PUT_MANY, path, str(30 * i)]) for i in range(2)]
    assert [process.wait(120) for process in processes] == [0] * 2
    with Store(path) as store:
        assert set(store.outcomes(key(i) for i in range(300))) == {key(i) for i in range(90)}


def test_merging_adds_what_is_finished_and_replaces_no_score(path, tmp_path):
    other = tmp_path / "other" / "store.sqlite"
    with Store(other) as store:
        for name, outcome in (("new", GOOD), ("failed", BAD), ("both", GOOD), ("mended", GOOD)):
            store.put(StubJob(key(name)), outcome)
    before = other.read_bytes()
    with Store(path) as store:
        store.put(StubJob(key("both")), OTHER)
        store.put(StubJob(key("mended")), BAD)
        assert store.merge(other) == 2
        assert store.merge(other.parent) == 0
        expected = {"new": GOOD, "both": OTHER, "mended": GOOD}
        keys = [key(name) for name in ("new", "failed", "both", "mended")]
        assert store.outcomes(keys) == {key(name): outcome for name, outcome in expected.items()}
        assert store.merge(path) == 0
    assert other.read_bytes() == before


def test_merging_a_store_that_is_in_use(path, tmp_path):
    with Store(path) as store, Store(tmp_path / "other.sqlite") as other:
        other.put(StubJob(key(0)), GOOD)
        assert store.merge(other.path) == 1


@pytest.mark.parametrize(
    ("job", "outcome"),
    [
        (StubJob("a"), GOOD),
        (StubJob(key(0)), scored(accuracy=1.5)),
        (StubJob(key(0)), scored(accuracy=math.inf)),
        (StubJob(key(0)), Outcome()),
    ],
)
def test_merging_what_cannot_be(path, tmp_path, job, outcome):
    with Store(tmp_path / "other.sqlite") as other:
        other.put(StubJob(key(1)), GOOD)
        other.put(job, outcome)
    with Store(path) as store:
        with pytest.raises(ConfigError, match=r"other.sqlite is damaged \(it has an invalid cell\)"):
            store.merge(tmp_path / "other.sqlite")
        assert store.outcomes([key(0), key(1), "a"]) == {}


def test_merging_what_is_no_store(path, tmp_path):
    (tmp_path / "text.sqlite").write_text("no database" * 1000)
    with Store(path) as store:
        for source, message in (
            (tmp_path / "none", "there is no store"),
            (tmp_path / "folder", r"there is no store .*folder.store.sqlite"),
            (tmp_path / "text.sqlite", "is damaged"),
        ):
            (tmp_path / "folder").mkdir(exist_ok=True)
            with pytest.raises(ConfigError, match=message):
                store.merge(source)


ROWS = dataclasses.replace(scored(accuracy=0.75), correct_rows=pack_rows(np.array([1, 0, 1, 1], bool)))


def test_correct_rows_are_kept(path, tmp_path):
    with Store(path) as store:
        store.put(StubJob(key(0)), GOOD)
        assert "correct_rows" not in tables(path)  # as in stores without such data sets
        store.put(StubJob(key(1)), ROWS)
        store.put(StubJob(key(1)), BAD)
        assert store.outcomes([key(0), key(1)]) == {key(0): GOOD, key(1): ROWS}
    for name in ("merged", "merged_again"):
        with Store(tmp_path / f"{name}.sqlite") as store:
            store.merge(path)
            assert store.outcomes([key(0), key(1)]) == {key(0): GOOD, key(1): ROWS}
    with Store(path, read_only=True) as store:
        assert store.outcomes([key(1)]) == {key(1): ROWS}


def tables(path):
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}


OWN = dataclasses.replace(GOOD, scores={**GOOD.scores, "lift": 2.5, "gain": None})


def test_metrics_of_users_are_kept(path, tmp_path):
    with Store(path) as store:
        store.put(StubJob(key(0)), GOOD)
        assert "own_scores" not in tables(path)
        store.put(StubJob(key(1)), OWN)
        store.put(StubJob(key(1)), BAD)
        assert store.outcomes([key(0), key(1)]) == {key(0): GOOD, key(1): OWN}
        store.put(StubJob(key(1)), GOOD)
        assert store.outcomes([key(1)]) == {key(1): GOOD}
        store.put(StubJob(key(1)), OWN)
    with Store(tmp_path / "merged.sqlite") as store:
        store.merge(path)
        assert store.outcomes([key(0), key(1)]) == {key(0): GOOD, key(1): OWN}


def test_a_new_measure_keeps_metrics_of_users(path, monkeypatch):
    with Store(path) as store:
        store.put(StubJob(key(1)), OWN)
    for module in (store_module, outcome_module):
        monkeypatch.setattr(module, "RANGES", RANGES | {"new": (0.0, 1.0)})
    with Store(path) as store:
        assert store.outcomes([key(1)]) == {key(1): OWN}


@pytest.mark.parametrize("text", ["[1]", "{", '{"lift": "high"}', '{"lift": 1e999}', '{"lift": true}'])
def test_metrics_of_users_that_cannot_be(path, text):
    with Store(path) as store:
        store.put(StubJob(key(1)), OWN)
        row = [key(1), text]
        with store._connection:
            store._connection.execute(
                "UPDATE own_scores SET scores = ?, checksum = ?", [text, store_module._checksum(row)]
            )
        with pytest.raises(
            ConfigError, match=r"is damaged \((the metrics of a cell cannot be read|it has an invalid cell)"
        ):
            store.outcomes([key(1)])


def test_a_new_measure_keeps_correct_rows(path, monkeypatch):
    with Store(path) as store:
        store.put(StubJob(key(1)), ROWS)
    for module in (store_module, outcome_module):
        monkeypatch.setattr(module, "RANGES", RANGES | {"new": (0.0, 1.0)})
    with Store(path) as store:
        assert store.outcomes([key(1)]) == {key(1): ROWS}


def test_correct_rows_that_were_changed_by_hand(path):
    with Store(path) as store:
        store.put(StubJob(key(1)), ROWS)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE correct_rows SET correct = ?", [pack_rows(np.ones(4, bool))])
    with Store(path) as store, pytest.raises(ConfigError, match="the rows of a cell were changed"):
        store.outcomes([key(1)])


@pytest.mark.parametrize("text", ["", "4", "4 oA", "4 oA==", "3 sA==", "40 sA==", "x sA==", "0 ", "4 Ű"])
def test_correct_rows_that_cannot_be(text):
    assert ROWS.is_score
    assert not dataclasses.replace(ROWS, correct_rows=text).is_score
    assert not dataclasses.replace(BAD, correct_rows=ROWS.correct_rows).is_error
