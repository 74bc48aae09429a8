"""Task of a Dask worker: fit a cell in a separate process, as on a single machine."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from ..datasets.dataset import Dataset
from ..extensions.versions import version_of
from ..metrics.outcome import Outcome
from .jobs import Job
from .shared_data import SharedData
from .worker_handle import Limits, WorkerHandle

IDLE_SECONDS = 30.0  # before an unused process is stopped


@dataclass(eq=False)
class _ReusableWorker:
    """A worker process that is kept for further cells of the same data set."""

    settings: tuple[object, ...]
    shared: SharedData
    handle: WorkerHandle

    def close(self) -> None:
        self.handle.kill()
        self.shared.__exit__(None, None, None)


_idle: dict[_ReusableWorker, threading.Timer] = {}
_lock = threading.Lock()


def fit(key: str, job: Job, dataset: Dataset, threads: int, limits: Limits) -> Outcome:
    """Fit a cell on this machine.

    Parameters
    ----------
    key : str
        Key of the job.
    job : Job
    dataset : Dataset
    threads : int
    limits : Limits

    Returns
    -------
    Outcome
        An error if package versions on this machine differ from those of the job.
    """
    differences = version_differences((*job.model.versions, *job.own.versions))
    if differences:
        return Outcome(error=f"a worker of the cluster has other package versions: {differences}")
    # Includes the name, because the process looks up its data set by name.
    settings = (job.fingerprint, job.dataset, threads, limits)
    worker = _take_idle(settings)
    if worker is None:
        shared = SharedData({job.dataset: dataset})
        worker = _ReusableWorker(settings, shared, WorkerHandle(shared, threads, limits))
    try:
        outcome = worker.handle.fit(key, job)
    except BaseException:
        worker.close()
        raise
    _keep_idle(worker)
    return outcome


def version_differences(versions: Iterable[tuple[str, str]]) -> str:
    """Describe the packages whose versions on this machine differ; empty if there are none."""
    installed = ((package, expected, version_of(package)) for package, expected in versions)
    return ", ".join(
        f"{package} {found[:20] or 'is missing'} (expected {expected[:20]})"
        for package, expected, found in installed
        if found != expected
    )


def _take_idle(settings: tuple[object, ...]) -> _ReusableWorker | None:
    with _lock:
        worker = next((worker for worker in _idle if worker.settings == settings), None)
        if worker is not None:
            _idle.pop(worker).cancel()
        return worker


def _keep_idle(worker: _ReusableWorker) -> None:
    """Keep a worker for further cells.  It is closed after some time, because a run does not report its end."""
    timer = threading.Timer(IDLE_SECONDS, _close_idle, [worker])
    timer.daemon = True
    with _lock:
        _idle[worker] = timer
    timer.start()


def _close_idle(worker: _ReusableWorker) -> None:
    with _lock:
        if _idle.pop(worker, None) is None:
            return  # in use again
    worker.close()
