"""The command when it is killed or interrupted, and two commands at once."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pandas as pd
import pytest

pytestmark = pytest.mark.release

LONG = {
    "datasets": ["iris"],
    "models": [{"module": "slow", "model": "Slow"}],
    "noise": [{"kind": "uniform", "rates": [0.0, 0.2]}],
    "repeats": 10,
    "ela_fig": {"save_fig": False},
    "rla_fig": {"save_fig": False},
}
# They take a while in a process of their own, and no time in this one.
SLOW = """
import os, time
from sklearn.tree import DecisionTreeClassifier

class Slow(DecisionTreeClassifier):
    def fit(self, X, y):
        time.sleep(float(os.environ.get("SECONDS_OF_A_FIT", 0)))
        return super().fit(X, y)
"""

N_LONG = 2 * 10

OWN = ["--allow-module", "slow"]


@pytest.fixture(autouse=True)
def empty_page(monkeypatch):
    """Runs in this process write an empty page, as a real one takes longer than their fits."""
    monkeypatch.setattr("boostnoise.eval.report.files.write_html", lambda _, path, published=None: path)


@pytest.fixture
def start(command):
    """Starts the command on slow cells in a process of its own, with one worker."""
    processes = []

    def start_command(folder, **changes):
        folder.mkdir(exist_ok=True)
        (folder / "slow.py").write_text(SLOW)
        (folder / "study.json").write_text(json.dumps(LONG | changes))
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "SECONDS_OF_A_FIT": "0.2"}
        processes.append(
            subprocess.Popen(
                [command, "study.json", "-j", "1", *OWN], cwd=folder, env=environment, text=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip
        return processes[-1]

    yield start_command
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def wait_for_cells(stored):
    """Waits until a process has stored some cells in a folder."""

    def wait(process, folder, n):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            if (folder / "results" / "store.sqlite").exists():
                try:
                    if len(stored(folder)) >= n:
                        return
                except sqlite3.OperationalError:
                    pass  # the table is yet to be made
            time.sleep(0.02)
        pytest.fail(f"no {n} cells were stored: {process.communicate()}")

    return wait


def test_a_killed_run_resumes(noisyeval, start, tmp_path, scores, stored, wait_for_cells):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(killed)
    wait_for_cells(process, killed, 4)
    # The command alone: its workers have to notice.
    process.kill()
    process.communicate(timeout=60)  # ends when the last process that holds its output does
    before = stored(killed)
    assert 4 <= len(before) < N_LONG
    resumed = noisyeval(killed, "study.json", *OWN)
    assert resumed.exit_code == 0
    assert f"study: {len(before)} of {N_LONG} cells done" in resumed.stderr
    # The times of the cells that were stored show that they were not fitted again.
    assert before.items() <= stored(killed).items()
    whole.mkdir()
    for name in ("slow.py", "study.json"):
        shutil.copy(killed / name, whole)
    assert noisyeval(whole, "study.json", *OWN).exit_code == 0
    pd.testing.assert_frame_equal(scores(killed), scores(whole))
    for name in ("ela.csv", "rla.csv", "ela_mean.csv"):
        files = [folder / "results" / "study" / name for folder in (killed, whole)]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("stop", ["SIGINT to all, as Ctrl-C", "SIGTERM to the command"])
def test_an_interrupted_run_prints_how_to_resume(study, start, tmp_path, stop, scores, stored, wait_for_cells):
    process = start(tmp_path)
    wait_for_cells(process, tmp_path, 2)
    if stop.startswith("SIGINT"):
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in stderr
    assert "noisyeval study.json -j 1 --allow-module slow" in stderr
    assert "Traceback" not in stderr
    assert 2 <= len(stored(tmp_path)) < N_LONG
    assert study(None, *OWN).exit_code == 0
    assert len(scores(tmp_path)) == N_LONG


@pytest.mark.filterwarnings("ignore:another process")
def test_two_commands_at_once(start, study, tmp_path, scores, stored, wait_for_cells):
    other = start(tmp_path)
    wait_for_cells(other, tmp_path, 1)
    before = len(stored(tmp_path))
    done = study(None, *OWN)
    assert done.exit_code == 0
    # This one found cells to fit, and the other one was not done.
    assert f" {N_LONG} of {N_LONG} cells done" in done.stderr
    assert before < N_LONG
    _, errors = other.communicate(timeout=120)
    assert other.returncode == 0, errors
    assert len(stored(tmp_path)) == len(scores(tmp_path)) == N_LONG
