"""A run that is killed again and again comes to the same end, and no work that was stored is done again."""

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import load_run

OPTIONS = ["study.json", "--allow-module", "counted_model"]
CELLS = 30
AT_WORK = 4  # cells that two workers have begun, or finished and not handed over yet

MODULE = """
import time
from sklearn.tree import DecisionTreeClassifier

class Counted(DecisionTreeClassifier):
    def fit(self, X, y):
        with open("fits", "a") as file:
            file.write(f"{self.max_leaf_nodes}\\n")
        time.sleep(0.02)
        return super().fit(X, y)
"""

# The command, which kills itself when a statement of SQL or an audit event comes for the n-th time.  What it imports
# takes seconds, so one process loads that, and forks for each line of its input, which holds the arguments.
KILLED = """
import json, os, signal, sqlite3, sys

import boostnoise.eval.config.reader, boostnoise.eval.execution.runner, boostnoise.eval.report.files
import sklearn.tree
from boostnoise.eval.cli.main import main

def run(moment, n, arguments):
    def comes(what):
        nonlocal n
        if moment in what:
            n -= 1
            if n == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def connect(*arguments, original=sqlite3.connect, **options):
        connection = original(*arguments, **options)
        connection.set_trace_callback(comes)
        return connection

    sqlite3.connect = connect
    sys.addaudithook(lambda event, _: comes(event))
    main(arguments)

for line in sys.stdin:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.close(reader)
        os.close(writer)
        try:
            run(*json.loads(line))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as said:
        printed = said.read()  # until the last of the workers has ended too
    _, status = os.waitpid(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), printed]), flush=True)
"""

# Each comes before what it names is done, and the commit after all that belongs to it.  The last number is that of workers.
MOMENTS = [
    ("BEGIN IMMEDIATE", 1, 1),  # of the tables
    ("CREATE TABLE runs", 1, 1),
    ("INTO runs", 1, 1),
    ("subprocess.Popen", 2, 2),  # of the second worker
    ("INTO cells", 1, 1),
    ("COMMIT", 3, 1),  # of the second cell: the first one is that of the record of the run
    ("INTO cells", 8, 2),
    ("os.rename", 5, 1),  # of the fifth table
]


def prepare(folder):
    folder.mkdir()
    (folder / "counted_model.py").write_text(MODULE)
    X = np.random.default_rng(0).normal(size=(200, 3))
    noisy = np.where(np.arange(200) % 5 == 0, X[:, 1], X[:, 0]) > 0
    pd.DataFrame(X).assign(y=noisy).to_csv(folder / "data.csv", index=False)
    models = [
        {"name": str(n), "module": "counted_model", "model": "Counted", "params": {"max_leaf_nodes": n}}
        for n in range(2, CELLS + 2)
    ]
    study = {
        "datasets": [{"path": "data.csv", "target": "y"}],
        "models": models,
        "noise": [{"kind": "uniform", "rates": [0.0]}],
        "repeats": 1,
        "ela_fig": {"save_fig": False},
        "rla_fig": {"save_fig": False},
    }
    (folder / "study.json").write_text(json.dumps(study))
    return folder


def fits(folder):
    path = folder / "fits"
    return path.read_text().split() if path.exists() else []


def stored(folder):
    """Models, one for each cell, in the store, which is in order."""
    path = folder / "results" / "store.sqlite"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if connection.execute("SELECT name FROM sqlite_schema WHERE name = 'cells'").fetchall() == []:
            return set()
        return {model for (model,) in connection.execute("SELECT model FROM cells WHERE error IS NULL")}


def tables(folder):
    results = folder / "results" / "study"
    scores = pd.read_csv(results / "scores.csv").drop(columns=["fit_seconds", "predict_seconds"])
    return {"scores": scores, **{path.name: pd.read_csv(path) for path in results.glob("?la*.csv")}}


@pytest.fixture
def killed(tmp_path):
    return prepare(tmp_path / "killed")


@pytest.fixture
def run_killed(killed):
    """Runs the command, which is killed at a moment; its exit status and what it printed."""
    line = [sys.executable, "-c", KILLED]
    with subprocess.Popen(
        line, cwd=killed, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(*what):
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run


@pytest.mark.release
@pytest.mark.parametrize("is_killed", [False, True])
def test_two_processes_share_the_cells(killed, command, is_killed):
    line = [command, *OPTIONS, "--jobs", "1", "-q"]
    processes = [subprocess.Popen(line, cwd=killed, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    if is_killed:
        while len(fits(killed)) < CELLS // 2:
            time.sleep(0.01)
        processes[0].kill()
    errors = [process.communicate()[1] for process in processes]
    statuses = [process.returncode for process in processes]
    assert statuses == [-9 if is_killed else 0, 0], errors
    assert len(stored(killed)) == CELLS
    assert len(fits(killed)) - CELLS <= is_killed
    sessions = [session.fitted for session in load_run(killed / "results").sessions]
    assert len(sessions) == 2
    assert is_killed or sum(sessions) == CELLS


@pytest.mark.release
def test_killed_at_every_step(tmp_path, killed, run_killed, noisyeval):
    all_models = {str(n) for n in range(2, CELLS + 2)}
    n_stored = []
    for moment, n, n_workers in MOMENTS:
        before, n_before = stored(killed), len(fits(killed))
        status, printed = run_killed(moment, n, [*OPTIONS, "--jobs", str(n_workers)])
        assert status == -9, (moment, printed)
        after, fitted = stored(killed), fits(killed)[n_before:]
        assert before <= after
        assert before.isdisjoint(fitted)
        assert after - before <= set(fitted)
        assert len(fitted) - len(after - before) <= AT_WORK
        n_stored.append(len(after))
    assert n_stored == [0, 0, 0, 0, 0, 1, 8, CELLS]
    n_fits = len(fits(killed))
    last = noisyeval(killed, *OPTIONS)
    assert last.exit_code == 0, last.stderr
    assert len(fits(killed)) == n_fits
    whole = prepare(tmp_path / "whole")
    uninterrupted = noisyeval(whole, *OPTIONS)
    assert uninterrupted.exit_code == 0, uninterrupted.stderr
    assert stored(killed) == stored(whole) == all_models
    assert sorted(fits(whole)) == sorted(all_models)
    expected, found = tables(whole), tables(killed)
    assert list(found) == list(expected)
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)
