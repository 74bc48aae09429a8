"""The second process that compiles kernels during a first fit."""

import json
import os
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest

from robust_splits import _helper_process
from robust_splits._helper_process import PROGRAM

FIT = """
import json, sys
import numpy as np
from numba.core import event
import robust_splits
from robust_splits import _helper_process

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("robust_splits."):
            self.names.append(function.__name__)
    def on_end(self, event):
        pass

if not eval(sys.argv[4]):
    _helper_process._first_call.acquire()
X = np.random.default_rng(0).normal(size=(400, 3)).astype(sys.argv[3])
with event.install_listener("numba:compile", Compiled()):
    model = getattr(robust_splits, sys.argv[1])(criterion=sys.argv[2], bootstrap=True, random_state=0)
    probabilities = model.fit(X, X[:, 0] > 0).predict_proba(X)
print(json.dumps([Compiled.names, probabilities.tolist()]))
"""
# Kernels that are left to the process that fits, because it needs them first or they call all others.
LEFT = {
    "_number_words", "_write_ranks", "_write_codes", "count_draws", "next_uint64", "_write_rows",
    "fill_table", "expand", "search_node", "count_classes",
}  # fmt: skip


@pytest.fixture
def environment(tmp_path):
    return os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}


def fit(environment, estimator, criterion, dtype, *options, helper):
    """Fit and predict in a new process; return the names of the compiled kernels, and the probabilities."""
    command = [sys.executable, *options, "-W", "error", "-c", FIT, estimator, criterion, dtype, str(helper)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.release
@pytest.mark.parametrize(
    ("search", "estimator", "criterion", "dtype"),
    [
        ("gini", "RobustForestClassifier", "gini", "float32"),
        ("other", "RobustForestClassifier", "entropy", "float64"),
        ("random", "RobustExtraTreesClassifier", "gini", "float64"),
    ],
)
def test_a_fit_needs_what_the_helper_compiles(environment, tmp_path, search, estimator, criterion, dtype):
    command = [sys.executable, "-P", "-m", PROGRAM, search, dtype]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as helper:
        assert helper.wait() == 0
    saved = {path.name.partition("-")[0].rpartition(".")[2] for path in tmp_path.rglob("*.nbi")}
    assert {"partition", "add_smoothed", "_walk"} <= saved
    compiled, _ = fit(environment, estimator, criterion, dtype, "-P", helper=False)
    assert set(compiled) <= LEFT
    assert not saved & set(compiled)  # for other types than those of the helper


@pytest.mark.release
@pytest.mark.skipif(joblib.cpu_count() == 1, reason="no helper on one core")
def test_both_processes_share_the_work_of_a_first_fit(environment):
    shared, probabilities = fit(environment, "RobustForestClassifier", "gini", "float64", helper=True)
    assert "expand" in shared
    assert {"find_only_class", "partition", "scan_gini"} - set(shared)
    again, same = fit(environment, "RobustForestClassifier", "gini", "float64", helper=True)
    assert again == []
    assert same == probabilities


def test_the_helper_ends_with_its_parent(environment):
    command = [sys.executable, "-P", "-m", PROGRAM, "gini", "float64"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE) as helper:
        helper.stdin.close()
        assert helper.wait(60) == 1


@pytest.mark.parametrize("executable", [None, "", "/usr/bin/uwsgi"])
def test_no_other_program_is_started(executable, monkeypatch):
    monkeypatch.setattr(_helper_process, "_first_call", threading.Lock())
    monkeypatch.setattr(_helper_process, "may_be_saved", lambda _: True)
    monkeypatch.setattr(_helper_process.joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(_helper_process.sys, "executable", executable)
    monkeypatch.setattr(_helper_process.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    _helper_process.start_helper("gini", np.dtype(np.float32))
