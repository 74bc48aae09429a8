import threading
from collections import Counter

import numpy as np
import pytest

from boostnoise.eval import ConfigError
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.execution.cell import run_cell
from boostnoise.eval.execution.jobs import make_jobs
from boostnoise.eval.execution.local_pool import fit_locally, worker_count
from boostnoise.eval.execution.worker_handle import DIED, Limits
from boostnoise.eval.models.resolved_model import resolve_all

MODULE = """
import os, signal, subprocess, sys, threading, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Good(ClassifierMixin, BaseEstimator):
    def __init__(self, log=None):
        self.log = log

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.write(type(self).__name__)
        self.misbehave()
        return self

    def write(self, what):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write(f"{what}\\n")

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def misbehave(self): ...

class Sleeps(Good):
    def misbehave(self):
        self.write(subprocess.Popen(["sleep", "600"]).pid)
        time.sleep(600)

class HoldsTheLock(Good):
    def misbehave(self):
        7 ** 10**9  # one call of compiled code, which lets no other thread of Python run

class Eats(Good):
    def misbehave(self):
        eaten = np.ones(2**26)  # half a GiB
        time.sleep(600)

class Exits(Good):
    def misbehave(self):
        os._exit(3)

class IsKilled(Good):
    def misbehave(self):
        self.write(subprocess.Popen(["sleep", "600"]).pid)
        os.kill(os.getpid(), signal.SIGKILL)

class KillsLater(Good):
    def misbehave(self):
        subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -9 {os.getpid()}"])

class ThreadExitsLater(Good):
    def misbehave(self):
        threading.Timer(0.2, os._exit, [3]).start()

class TakesHalfASecond(Good):
    def misbehave(self):
        time.sleep(0.5)

class ClosesOutput(Good):
    def misbehave(self):
        sys.stdout.close()

class Leaks(Good):
    def misbehave(self):
        kept.append(np.ones(2**23))  # 64 MiB

kept = []

class Fails(Good):
    def misbehave(self):
        raise ValueError(f"no {os.getpid()}")

class Quits(Good):
    def misbehave(self):
        sys.exit("enough")

class Prints(Good):
    def misbehave(self):
        print("printed by a model", flush=True)
        print("written by a model", file=sys.stderr, flush=True)

class LeavesAChild(Good):
    def misbehave(self):
        self.write(subprocess.Popen(["sleep", "600"]).pid)

class TidiesUp(Good):
    def misbehave(self):
        import atexit
        atexit.register(self.write, "tidied up")

class Asks(Good):
    def misbehave(self):
        input()

class Threads(Good):
    def __init__(self, n_jobs=None, log=None):
        self.n_jobs = n_jobs
        self.log = log

    def misbehave(self):
        from threadpoolctl import threadpool_info
        self.write([self.n_jobs, os.environ["OMP_NUM_THREADS"], *{pool["num_threads"] for pool in threadpool_info()}])
"""

DATA = Dataset("data", np.arange(80.0).reshape(40, 2), np.arange(40) % 2, np.arange(2))


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def jobs(tmp_path, monkeypatch, log):
    (tmp_path / "own_models.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def jobs(*names, repeats=1, **keys):
        models = [{"name": n, "module": "own_models", "model": n, "params": {"log": str(log)}} for n in names]
        noise = [{"kind": "uniform", "rates": [0.0]}]
        content = {"datasets": ["iris"], "models": models, "noise": noise, "repeats": repeats, **keys}
        config = parse_config(content, "run")
        resolved = resolve_all(config.models, ["own_models"])
        return {job.key: job for job in make_jobs(config, resolved, [DATA])}

    return jobs


def fit(jobs, n_workers=2, **options):
    come = list(fit_locally(jobs.items(), {"data": DATA}, n_workers=n_workers, **options))
    outcomes = dict(come)
    assert sorted(outcomes) == sorted(key for key, _ in come) == sorted(jobs)
    return [(jobs[key].model.name, outcomes[key]) for key in jobs]


@pytest.mark.release
def test_models_that_exceed_a_limit_or_crash_affect_no_other_cell(jobs, log, all_end):
    # Quits and a good fit use up no process; each of the others takes one down.
    cells = jobs("Good", "Quits", "Sleeps", "HoldsTheLock", "IsKilled", "Exits")
    outcomes = []

    def fit_here():
        outcomes.extend(fit(cells, n_workers=2, limits=Limits(seconds=1.5)))

    # Fits run next to other threads of the caller.
    thread = threading.Thread(target=fit_here)
    thread.start()
    thread.join()
    errors = {name: outcome.error for name, outcome in outcomes}
    assert errors == {
        "Good": None,
        "Quits": "SystemExit: enough",
        "Sleeps": "exceeded the time limit of 1.5 s",
        "HoldsTheLock": "exceeded the time limit of 1.5 s",
        "IsKilled": DIED,
        "Exits": DIED,
    }
    assert all(("accuracy" not in outcome.scores) == (name != "Good") for name, outcome in outcomes)
    lines = log.read_text().split()
    fits = Counter(line for line in lines if not line.isdigit())
    assert set(fits) == {name for name, _ in outcomes}
    assert (fits["Good"], fits["Sleeps"], fits["HoldsTheLock"]) == (1, 1, 1)
    # What they had started has ended with them.
    children = [line for line in lines if line.isdigit()]
    assert len(children) == 1 + fits["IsKilled"]
    assert all_end(children)


@pytest.mark.release
@pytest.mark.parametrize(
    ("guilty", "victim"),
    [("KillsLater", "TakesHalfASecond"), ("ThreadExitsLater", "TakesHalfASecond"), ("ClosesOutput", "Prints")],
)
def test_no_model_fails_for_what_an_earlier_one_has_done(jobs, guilty, victim):
    outcomes = fit(jobs(guilty, victim, repeats=2), n_workers=1)
    assert [outcome.error for _, outcome in outcomes] == [None] * 4


@pytest.mark.release
def test_memory_that_earlier_cells_have_left_does_not_count(jobs):
    outcomes = fit(jobs("Leaks", repeats=10), n_workers=1, limits=Limits(gib=0.6))
    assert [outcome.error for _, outcome in outcomes] == [None] * 10


@pytest.mark.release
def test_a_model_that_fails_again_is_not_tried_twice_each_time(jobs, log):
    outcomes = fit(jobs("Good", "Fails", repeats=3), n_workers=1)
    assert [outcome.error is None for _, outcome in outcomes] == [True, False] * 3
    assert Counter(log.read_text().split()) == {"Good": 3, "Fails": 4}


@pytest.mark.release
def test_a_model_that_takes_too_much_memory(jobs):
    # The second limit is there to end the test.
    outcomes = dict(fit(jobs("Good", "Eats"), n_workers=1, limits=Limits(seconds=60, gib=0.4)))
    assert outcomes["Eats"].error == "exceeded the memory limit of 0.4 GiB"
    assert outcomes["Good"].error is None


@pytest.mark.release
def test_cells_are_taken_when_a_worker_is_free_and_no_process_is_left_when_the_generator_is_closed(
    jobs, log, all_end
):
    taken = []

    def cells():
        for key, job in jobs("LeavesAChild", "Sleeps", repeats=3).items():
            taken.append(key)
            yield key, job

    come = fit_locally(cells(), {"data": DATA}, n_workers=2)
    assert taken == []
    next(come)
    # One for each worker, and one for the worker that is done; both may be.
    assert 3 <= len(taken) <= 4
    come.close()
    children = [line for line in log.read_text().split() if line.isdigit()]
    assert children
    assert all_end(children)


@pytest.mark.release
def test_side_effects_of_models(jobs, log, capfd, all_end):
    """One process fits all of them: it asks, prints, starts threads, leaves a child behind and cleans up."""
    names = ["Asks", "Prints", "Threads", "LeavesAChild", "TidiesUp"]
    # The clock begins with the fit: this is much less than a process takes to start.
    outcomes = dict(fit(jobs(*names, threads=2), n_workers=1, threads=2, limits=Limits(seconds=0.5)))
    asks = outcomes.pop("Asks")
    assert {name: outcome.error for name, outcome in outcomes.items()} == dict.fromkeys(outcomes)
    assert asks.error.startswith("EOFError")
    printed = capfd.readouterr()
    assert printed.out == ""
    assert {"printed by a model", "written by a model"} <= set(printed.err.splitlines())
    lines = log.read_text().splitlines()
    child = lines[5]
    assert lines == [*names[:3], "[2, '2', 2]", "LeavesAChild", child, "TidiesUp", "tidied up"]
    assert all_end([child])


@pytest.mark.release
def test_workers_give_the_scores_of_this_process(jobs):
    models = [
        {
            "name": "forest",
            "module": "sklearn.ensemble",
            "model": "RandomForestClassifier",
            "params": {"n_estimators": 3},
        },
        {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"},
    ]
    cells = jobs(models=models, noise=[{"kind": "uniform", "rates": [0.1, 0.2]}], repeats=2)
    # In another order: no cell depends on those that its process has fitted before.
    here = {key: run_cell(job, DATA) for key, job in reversed(cells.items())}

    def what_counts(outcome):
        return outcome.scores.get("accuracy"), outcome.scores.get("realised_rate"), outcome.error

    found = [what_counts(outcome) for _, outcome in fit(cells, n_workers=2)]
    assert found == [what_counts(here[key]) for key in cells]
    assert {error for *_, error in found} == {None}


def test_there_are_never_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    asked = [(-1, 1), (-1, 3), (2, 1), (16, 1), (16, 2), (1, 8)]
    assert [worker_count(*each) for each in asked] == [8, 2, 2, 8, 4, 1]
    with pytest.raises(
        ConfigError, match=r"^threads: must be at most 8, the number of cores of this machine, got 9$"
    ):
        worker_count(-1, 9)
    for n_jobs in (0, -2, True, 1.0, None, "x"):
        with pytest.raises(ConfigError, match=f"^n_jobs must be -1 or at least 1, got {n_jobs!r}$"):
            worker_count(n_jobs, 1)
