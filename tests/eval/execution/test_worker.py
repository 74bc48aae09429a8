"""What becomes of workers when the process that started them is killed and can end nothing itself."""

import subprocess
import sys

import pytest

MODELS = """
import os, signal, subprocess, time
from sklearn.base import BaseEstimator, ClassifierMixin

class Sleeps(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        child = subprocess.Popen(["sleep", "600"]).pid
        ignores = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        os.write(1, f"{os.getpid()} {child} {ignores}\\n".encode())
        self.go_on()

    def go_on(self):
        time.sleep(600)

    def predict(self, X): ...

class HoldsTheLock(Sleeps):
    def go_on(self):
        7 ** 10**9  # one call of compiled code, which lets no other thread of Python run
"""

PARENT = """
import os, signal, sys, time
import numpy as np
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.execution.jobs import make_jobs
from boostnoise.eval.execution.shared_data import SharedData
from boostnoise.eval.execution.worker_handle import Limits, WorkerHandle
from boostnoise.eval.models.resolved_model import resolve_all

# No guard of __main__: this script is not run again by workers.
data = Dataset("data", np.zeros((20, 1)), np.arange(20) % 2, np.arange(2))
models = [{"module": "own_models", "model": name} for name in ("Sleeps", "HoldsTheLock")]
noise = [{"kind": "uniform", "rates": [0.0]}]
content = {"datasets": ["iris"], "models": models, "noise": noise, "repeats": 1}
config = parse_config(content, "run")
jobs = make_jobs(config, resolve_all(config.models, ["own_models"]), [data])
with SharedData({"data": data}) as shared:
    def start(job):
        handle = WorkerHandle(shared, 1, Limits())
        handle.submit(job.key, job)
        return handle

    handles = [start(job) for job in jobs]
    sys.stdin.readline()
    # Others are killed with it while they start.
    for seconds in (0.5, 0.25, 0.0):
        handles.append(start(jobs[0]))
        time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.release
def test_workers_end_with_their_parent_and_leave_ctrl_c_to_it(tmp_path, all_end):
    (tmp_path / "own_models.py").write_text(MODELS)
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, "parent.py"], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # They hold this pipe too, and write to it.
    lines = [parent.stderr.readline().split() for _ in range(2)]
    # All that comes now is what those say that are only starting; the end comes when the last has ended.
    _, errors = parent.communicate("\n", timeout=60)
    assert "Traceback" not in errors
    assert [ignores for *_, ignores in lines] == ["True", "True"]
    assert all_end([process for pid, child, _ in lines for process in (pid, child)])
