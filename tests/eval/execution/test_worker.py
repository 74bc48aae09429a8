"""What becomes of workers when the process that started them is killed and can end nothing itself."""

import os
import subprocess
import sys
import time

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
import sys
from boostnoise.eval import run
from boostnoise.eval.config.run import parse_config

# No guard of __main__: this script is not run again by workers.
model = {"module": "own_models", "model": sys.argv[1]}
noise = [{"kind": "uniform", "rates": [0.0]}]
run(parse_config({"datasets": ["iris"], "models": [model], "noise": noise}, "run"), allow_modules=["own_models"])
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def start(tmp_path):
    (tmp_path / "own_models.py").write_text(MODELS)
    (tmp_path / "parent.py").write_text(PARENT)

    def start(model):
        return subprocess.Popen(
            [sys.executable, "parent.py", model], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )

    return start


@pytest.mark.parametrize("model", ["Sleeps", "HoldsTheLock"])
def test_workers_end_with_their_parent_and_leave_ctrl_c_to_it(start, model):
    parent = start(model)
    pid, child, ignores = parent.stderr.readline().split()
    parent.kill()
    parent.wait()
    parent.stderr.close()
    assert ignores == "True"
    deadline = time.monotonic() + 30
    while (is_alive(int(pid)) or is_alive(int(child))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(int(pid))
    assert not is_alive(int(child))


def test_a_worker_ends_whenever_its_parent_is_killed(start):
    for seconds in (1.0, 1.5, 2.0):
        parent = start("Sleeps")
        time.sleep(seconds)
        parent.kill()
        # All that comes is what the processes say that hold this pipe, and the last of them has ended.
        assert "Traceback" not in parent.communicate(timeout=60)[1]
