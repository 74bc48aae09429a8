"""Cells on the machines of a Dask cluster."""

from __future__ import annotations

import logging
import socket
import uuid
import warnings
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from . import cluster_worker
from .datasets import Dataset
from .errors import ConfigError, one_line
from .jobs import Job
from .outcome import Outcome
from .slot import DIED, Limits

SECONDS_TO_CONNECT = 30

# So many cells are known to the scheduler at once: enough to keep many machines busy, and to show a cluster
# that adapts to its load how much there is.
CELLS_AHEAD = 2_000


def check_scheduler(scheduler: object) -> None:
    """Refuse what cannot be an address with a ConfigError; whether one answers is known when it is called."""
    if scheduler is not None and not (isinstance(scheduler, str) and scheduler.strip()):
        raise ConfigError(
            f"scheduler must be an address, such as 'tcp://10.0.0.1:8786', or None, got {scheduler!r:.60}"
        )


def fit_on_cluster(
    cells: Iterable[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    allowed: Collection[str],
    *,
    scheduler: str,
    threads: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[tuple[str, Outcome], None, None]:
    """Fit cells on a Dask cluster, each of them in a process of its own on one of the machines.

    A cell whose machine is lost is fitted on another one.

    Parameters
    ----------
    cells : iterable of (str, Job)
        Jobs with their keys.  Some thousands are taken ahead.
    datasets : mapping of str to Dataset
        Those of the jobs, by name.
    allowed : collection of str
        Packages that models may come from, on the cluster's machines.
    scheduler : str
        Address of the cluster's scheduler, such as ``"tcp://10.0.0.1:8786"``.
    threads : int, default=1
        Of each cell.
    limits : Limits, default=Limits()
        A cell that breaks one fails; no other is touched.

    Yields
    ------
    (str, Outcome)
        The key of each job and what came of it, as they come.

    Raises
    ------
    ConfigError
        If Dask is not installed, the scheduler does not answer or is lost, or a worker that is there at the
        start has other versions of the packages that make the scores.
    """
    with _connected(scheduler) as client:
        yield from _fit(client, iter(cells), datasets, frozenset(allowed), threads, limits)


def _fit(
    client: Any,
    cells: Iterator[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    allowed: frozenset[str],
    threads: int,
    limits: Limits,
) -> Iterator[tuple[str, Outcome]]:
    from distributed import as_completed

    run = uuid.uuid4().hex  # two runs may have the same cell under way
    sent: dict[str, Any] = {}
    checked: set[tuple[str, str]] = set()
    futures: dict[str, str] = {}
    completed = as_completed(loop=client.loop)

    def submit(key: str, job: Job) -> None:
        if not checked.issuperset(job.versions):
            _check_workers(client, job.versions)
            checked.update(job.versions)
        if job.dataset not in sent:
            # As a task, not scattered: so the scheduler brings it back when the machine that has it is lost.
            name = f"noisyeval-data-{job.fingerprint}-{run}"
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")
                sent[job.dataset] = client.submit(_same, datasets[job.dataset], key=name)
        future = client.submit(
            cluster_worker.fit,
            key,
            job,
            sent[job.dataset],
            allowed,
            threads,
            limits,
            key=f"noisyeval-cell-{key}-{run}",
            pure=False,
        )
        futures[future.key] = key
        completed.add(future)

    for cell in islice(cells, CELLS_AHEAD):
        submit(*cell)
    for future in completed:
        outcome = _outcome(future)
        for cell in islice(cells, 1):
            submit(*cell)
        yield futures.pop(future.key), outcome


def _same(dataset: Dataset) -> Dataset:
    return dataset


def _outcome(future: Any) -> Outcome:
    from distributed import KilledWorker

    match future.status:
        case "finished":
            outcome: Outcome = future.result()
            return outcome
        case "error":
            error = future.exception()
            return Outcome(error=DIED if isinstance(error, KilledWorker) else one_line(error))
    raise ConfigError("the cluster's scheduler is gone; what was finished is kept")


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise ConfigError(
            "scheduler: needs Dask, which is not installed; the extra 'dask' of boostnoise brings it"
        ) from None
    # They tell with tracebacks what is told below in a line, also after the connection was lost.
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # A client that is never connected would wait for its own end.
        socket.create_connection(get_address_host_port(scheduler), SECONDS_TO_CONNECT).close()
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"scheduler: none answers at {scheduler!r}: {one_line(error)}") from None
    with client:
        if not client.nthreads():
            warnings.warn("the cluster has no worker yet; the run waits for one", stacklevel=2)
        yield client


def _check_workers(client: Any, versions: tuple[tuple[str, str], ...]) -> None:
    try:
        differences = client.run(cluster_worker.differences, versions)
    except Exception as error:  # noqa: BLE001 - such as the ImportError of a worker
        raise ConfigError(f"scheduler: a worker of the cluster cannot be used: {one_line(error)}") from None
    for address, different in differences.items():
        if different:
            raise ConfigError(f"scheduler: worker {address} has other packages: {different}")
