"""A run that is killed again and again comes to the same end, and no work that was stored is done again."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pandas as pd

COMMAND = [
    Path(sys.executable).with_name("noisyeval"),
    "study.json",
    "--allow-module",
    "own_model",
    "--jobs",
    "2",
]
KILLS = 20
CELLS = 60

MODULE = """
import time
from sklearn.tree import DecisionTreeClassifier

class Counted(DecisionTreeClassifier):
    def fit(self, X, y):
        with open("fits", "a") as file:
            file.write(f"{self.max_leaf_nodes}\\n")
        time.sleep(0.05)
        return super().fit(X, y)
"""


def prepare(folder):
    folder.mkdir()
    (folder / "own_model.py").write_text(MODULE)
    X = np.random.default_rng(0).normal(size=(200, 3))
    noisy = np.where(np.arange(200) % 5 == 0, X[:, 1], X[:, 0]) > 0
    pd.DataFrame(X).assign(y=noisy).to_csv(folder / "data.csv", index=False)
    models = [
        {"name": str(n), "module": "own_model", "model": "Counted", "params": {"max_leaf_nodes": n}}
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


def start(folder):
    return subprocess.Popen(COMMAND, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fits(folder):
    path = folder / "fits"
    return path.read_text().split() if path.exists() else []


def stored(folder):
    """Models, one for each cell, in the store."""
    for path in folder.glob("results/**/store.sqlite"):
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path)) as connection:
            return {model for (model,) in connection.execute("SELECT model FROM cells WHERE error IS NULL")}
    return set()


def tables(folder):
    results = folder / "results" / "study"
    scores = pd.read_csv(results / "scores.csv").drop(columns=["fit_seconds", "predict_seconds"])
    return {"scores": scores, **{path.name: pd.read_csv(path) for path in results.glob("?la*.csv")}}


def test_killed_at_twenty_random_moments(tmp_path):
    whole, killed = prepare(tmp_path / "whole"), prepare(tmp_path / "killed")
    uninterrupted = start(whole)
    assert uninterrupted.wait() == 0, uninterrupted.communicate()
    uninterrupted.communicate()
    draw = random.Random(5)
    for life in range(KILLS):
        before, n_before = stored(killed), len(fits(killed))
        process = start(killed)
        if life % 2 == 0:
            time.sleep(draw.uniform(0, 1.5))  # while it starts
        else:
            more = n_before + draw.randint(1, 8)
            while len(fits(killed)) < more and process.poll() is None:
                time.sleep(0.005)
            time.sleep(draw.uniform(0, 0.06))
        process.kill()
        # The command alone is killed; this waits until the last of its workers has ended too.
        process.communicate(timeout=60)
        assert process.returncode == -9
        assert before <= stored(killed)
        assert before.isdisjoint(fits(killed)[n_before:])
    before, n_before = stored(killed), len(fits(killed))
    assert 10 < len(before) < CELLS
    last = start(killed)
    _, stderr = last.communicate()
    assert last.returncode == 0, stderr
    assert sorted(fits(killed)[n_before:]) == sorted({str(n) for n in range(2, CELLS + 2)} - before)
    expected, found = tables(whole), tables(killed)
    assert list(found) == list(expected)
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)
    assert sorted(fits(whole)) == sorted(stored(whole))
