import dataclasses
import json
import os
import re
import signal
import threading
import time

import pandas as pd
import pytest

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.execution import dask_cluster, dask_worker
from boostnoise.eval.execution.cell import run_cell
from boostnoise.eval.execution.dask_cluster import fit_on_cluster
from boostnoise.eval.execution.jobs import make_jobs
from boostnoise.eval.execution.worker_handle import DIED, Limits
from boostnoise.eval.models.resolved_model import resolve_all

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.release,
    pytest.mark.filterwarnings("ignore:the cluster has (no worker|lost all its workers)"),
]

# Told apart by its tag, it writes down that it is fitted.
COUNTED = """
import os, time
from pathlib import Path
from sklearn.tree import DecisionTreeClassifier

class Counted(DecisionTreeClassifier):
    def __init__(self, tag=0, seconds=0.0, dies=False, random_state=None):
        super().__init__(random_state=random_state)
        self.tag, self.seconds, self.dies = tag, seconds, dies

    def fit(self, X, y):
        with open(Path(__file__).with_name("fits.txt"), "a") as file:
            file.write(f"{self.tag}\\n")
        if self.dies:
            os._exit(3)
        time.sleep(self.seconds)
        return super().fit(X, y)
"""


@pytest.fixture
def fits(tmp_path, monkeypatch):
    """Tells the tags that were fitted; their model is known to the cluster of the test."""
    (tmp_path / "counted.py").write_text(COUNTED)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "fits.txt"
    return lambda: path.read_text().split() if path.exists() else []


@pytest.fixture(scope="module")
def small_cluster(tmp_path_factory):
    """The address of a scheduler that has one worker, both in this process: they load nothing anew."""
    with distributed.LocalCluster(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        host="127.0.0.1",
        protocol="tcp://",
        dashboard_address=None,
        memory_limit=0,  # of this process, which holds more than the cluster
        local_directory=tmp_path_factory.mktemp("cluster"),
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def end_idle_processes():
    yield
    while dask_worker._idle:
        worker, timer = dask_worker._idle.popitem()
        timer.cancel()
        worker.close()


def work(models, datasets=("iris",)):
    """Pending jobs and data sets."""
    content = {
        "datasets": list(datasets),
        "models": models,
        "noise": [{"kind": "uniform", "rates": [0]}],
        "repeats": 1,
    }
    config = parse_config(content, "run")
    loaded = {spec.name: load_dataset(spec) for spec in config.datasets}
    models = resolve_all(config.models, {"counted"})
    return {job.key: job for job in make_jobs(config, models, list(loaded.values()))}, loaded


def counted(tag, **params):
    return {"name": f"m{tag}", "module": "counted", "model": "Counted", "params": {"tag": tag, **params}}


def test_a_cluster_that_starts_late_loses_a_machine_and_stops(fits, cluster):
    pending, datasets = work([counted(tag, seconds=0.05) for tag in range(24)])
    outcomes, before = {}, []

    def fit():
        for key, outcome in fit_on_cluster(pending.items(), datasets, scheduler=cluster.address):
            assert key not in outcomes
            outcomes[key] = outcome
            if len(outcomes) == 8:
                before.extend(outcomes)
                cluster.add_worker()
                cluster.lose_worker(0)

    threading.Timer(1.0, cluster.add_worker).start()
    with pytest.warns(UserWarning, match="the cluster has no worker yet; the run waits for one"):
        fit()
    fitted = fits()
    alone = {key: run_cell(job, datasets[job.dataset]) for key, job in pending.items()}
    assert {key: outcome.scores["accuracy"] for key, outcome in outcomes.items()} == {
        key: outcome.scores["accuracy"] for key, outcome in alone.items()
    }
    # Fitted again is only what the lost machine had under way, and what the scheduler did not know to be told:
    # at most the last two.
    assert len(pending) <= len(fitted) <= len(pending) + 3
    for key in before[:-2]:
        assert fitted.count(str(pending[key].model.spec.params["tag"])) == 1

    cells = fit_on_cluster(pending.items(), datasets, scheduler=cluster.address)
    next(cells)
    cluster.scheduler.kill()
    with pytest.raises(
        ConfigError, match="scheduler: lost the connection to the cluster; finished cells are kept"
    ):
        list(cells)


@pytest.mark.usefixtures("fits")
def test_limits_and_crashes_fail_a_cell_alone(small_cluster):
    pending, datasets = work([counted(0), counted(1, seconds=60), counted(2), counted(3, dies=True)])
    limits = Limits(seconds=0.5)
    cells = fit_on_cluster(pending.items(), datasets, scheduler=small_cluster, limits=limits)
    found = dict(cells)
    assert [found[key].error for key in pending] == [None, "exceeded the time limit of 0.5 s", None, DIED]


def test_other_versions(fits, small_cluster):
    pending, datasets = work([counted(0)])
    ((key, job),) = pending.items()
    versions = (("nowhere_to_be_found", "2.0"), ("numpy", "1.0"))
    other = dataclasses.replace(job, model=dataclasses.replace(job.model, versions=versions))
    difference = r"has other package versions: nowhere_to_be_found is missing \(expected 2\.0\), numpy \S+ \(expected 1\.0\)"
    with pytest.raises(ConfigError, match=f"worker tcp://.* {difference}"):
        list(fit_on_cluster([(key, other)], datasets, scheduler=small_cluster))
    # A worker may come later.
    late = dask_worker.fit(key, other, datasets[job.dataset], 1, Limits())
    assert re.search(f"a worker of the cluster {difference}", late.error)
    assert fits() == []


@pytest.mark.usefixtures("fits")
def test_a_worker_that_does_not_answer_is_left_out(cluster, monkeypatch):
    monkeypatch.setattr(dask_cluster, "ANSWER_SECONDS", 3.0)
    pending, datasets = work([counted(tag) for tag in range(6)])
    for _ in range(2):
        cluster.add_worker()
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        frozen = client.run(os.getpid)
    address, pid = frozen.popitem()
    os.kill(pid, signal.SIGSTOP)
    with pytest.warns(
        UserWarning, match=f"worker {address} of the cluster does not answer; its cells go to others"
    ):
        outcomes = dict(fit_on_cluster(pending.items(), datasets, scheduler=cluster.address))
    assert [outcome.error for outcome in outcomes.values()] == [None] * 6
    cells = fit_on_cluster(pending.items(), datasets, scheduler=cluster.address)
    with pytest.warns(UserWarning, match="does not answer"):
        next(cells)
    for worker in cluster.workers:
        if worker.pid != pid:
            worker.kill()
    cluster.add_worker()  # to which the cells cannot go
    with pytest.raises(ConfigError, match="no worker is left that answered"):
        for _ in cells:
            pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "scheduler: no Dask scheduler answers at 'tcp://127.0.0.1:1'"),
        ("here", "scheduler: no Dask scheduler answers at 'here': missing port number"),
    ],
)
def test_no_scheduler(address, message):
    pending, datasets = work(["gbm"])
    with pytest.raises(ConfigError, match=message):
        list(fit_on_cluster(pending.items(), datasets, scheduler=address))


@pytest.mark.usefixtures("fits")
def test_a_process_serves_the_cells_of_a_data_set_and_ends_when_no_more_come(monkeypatch):
    monkeypatch.setattr(dask_worker, "IDLE_SECONDS", 2.0)
    pending, datasets = work([counted(0), counted(1)])
    processes = set()
    for key, job in pending.items():
        assert dask_worker.fit(key, job, datasets[job.dataset], 1, Limits()).error is None
        (worker,) = dask_worker._idle
        processes.add(worker.handle._process)
    (process,) = processes
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is not None
    assert not dask_worker._idle
    assert not any(
        isinstance(thread, threading.Timer) and thread.is_alive() for thread in threading.enumerate()
    )


def test_the_command(small_cluster, noisyeval, tmp_path, without_times):
    study = {
        "datasets": ["iris"],
        "models": ["decision_tree"],
        "noise": [{"kind": "uniform", "rates": [0.2]}],
        "ela_fig": {"save_fig": False},
        "rla_fig": {"save_fig": False},
    }
    tables = []
    for folder, options in (("there", ["--scheduler", small_cluster]), ("here", [])):
        (tmp_path / "study.json").write_text(json.dumps({**study, "results_dir": folder}))
        done = noisyeval(tmp_path, "study.json", "--quiet", *options)
        assert (done.exit_code, done.stderr) == (0, "")
        tables.append(without_times(pd.read_parquet(tmp_path / folder / "study" / "scores.parquet")))
    pd.testing.assert_frame_equal(*tables)


def test_mistakes_at_the_command(tmp_path, noisyeval):
    (tmp_path / "study.json").write_text(
        json.dumps({"datasets": ["iris"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0]}]})
    )
    for options, named in (
        (["--scheduler", "tcp://127.0.0.1:1"], ["error: study.json: scheduler: ", "'tcp://127.0.0.1:1'"]),
        (["--scheduler", "tcp://127.0.0.1:1", "-j", "2"], ["Error: --jobs", "--scheduler"]),
    ):
        done = noisyeval(tmp_path, "study.json", *options)
        assert done.exit_code == 2
        assert all(text in done.stderr.splitlines()[-1] for text in named)
