"""Parallel fits on the cores of this machine."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from multiprocessing.connection import wait
from typing import Any

from .._numbers import is_integer
from ..datasets.dataset import Dataset
from ..errors import ConfigError
from ..metrics.outcome import Outcome
from .jobs import Job
from .shared_data import SharedData
from .worker_handle import POLL_SECONDS, Limits, WorkerHandle


def check_n_jobs(n_jobs: Any) -> None:
    """Raise a ConfigError unless `n_jobs` is -1 or a positive integer."""
    if not is_integer(n_jobs) or not (n_jobs == -1 or n_jobs >= 1):
        raise ConfigError(f"n_jobs must be -1 or at least 1, got {n_jobs!r:.60}")


def worker_count(n_jobs: int, threads: int) -> int:
    """Number of workers for cells with `threads` threads each.

    Parameters
    ----------
    n_jobs : int
        Maximum number of workers; -1 for as many as the cores allow.
    threads : int
        Threads per cell.

    Returns
    -------
    int
        At most `n_jobs`, with no more threads in total than there are cores.

    Raises
    ------
    ConfigError
        If `n_jobs` is neither -1 nor positive, or a single cell has more threads than there are cores.
    """
    check_n_jobs(n_jobs)
    import joblib

    cores: int = joblib.cpu_count()
    if threads > cores:
        raise ConfigError(
            f"threads: must be at most {cores}, the number of cores of this machine, got {threads}"
        )
    maximum = cores // threads
    return maximum if n_jobs == -1 else min(n_jobs, maximum)


def fit_locally(
    cells: Iterable[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    *,
    n_workers: int,
    threads: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[tuple[str, Outcome], None, None]:
    """Fit cells on this machine.

    Parameters
    ----------
    cells : iterable of (str, Job)
        Keys and jobs.  A cell is taken from the iterable only when a worker is free for it.
    datasets : mapping of str to Dataset
        Data sets of the jobs, by name.
    n_workers : int
        Number of cells fitted in parallel.
    threads : int, default=1
        Threads per cell.
    limits : Limits, default=Limits()
        A cell that exceeds a limit fails; other cells are not affected.

    Yields
    ------
    (str, Outcome)
        Key and outcome of each job, in order of completion.  Closing the generator ends all processes.
    """
    waiting = iter(cells)
    with SharedData(datasets) as shared:
        confirmed: set[tuple[str, str, str]] = set()
        workers = [WorkerHandle(shared, threads, limits, confirmed) for _ in range(n_workers)]
        busy: list[WorkerHandle] = []
        next_poll = 0.0
        try:
            for worker, cell in zip(workers, waiting, strict=False):
                worker.submit(*cell)
                busy.append(worker)
            while busy:
                ready = wait([worker.connection for worker in busy], POLL_SECONDS)
                if time.monotonic() >= next_poll:
                    ready = [worker.connection for worker in busy]
                    next_poll = time.monotonic() + POLL_SECONDS
                finished = []
                for worker in [worker for worker in busy if worker.connection in ready]:
                    outcome = worker.poll()
                    if outcome is None:
                        continue
                    finished.append((worker.key, outcome))
                    # Submit the next cell before yielding, so that the worker does not wait for the caller.
                    if (following := next(waiting, None)) is None:
                        busy.remove(worker)
                        worker.stop()
                    else:
                        worker.submit(*following)
                yield from finished
        finally:
            for worker in workers:
                worker.kill()
