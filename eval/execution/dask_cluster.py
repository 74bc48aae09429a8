"""Cells on the machines of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from ..datasets.dataset import Dataset
from ..errors import ConfigError, one_line
from ..metrics.outcome import Outcome
from . import dask_worker as cluster_worker
from .jobs import Job
from .local_pool import SECONDS_BETWEEN_LOOKS
from .worker_handle import DIED, Limits

SECONDS_TO_CONNECT = 30.0
SECONDS_TO_ANSWER = 10.0  # for a scheduler or worker that is connected
SECONDS_TO_CLOSE = 2.0
SECONDS_BETWEEN_COUNTS = 5.0  # of the workers

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

    Warns
    -----
    UserWarning
        If the run waits because the cluster has no worker, or its scheduler stops answering.
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
    watch = _Watch(client)
    while not completed.is_empty():
        if not completed.has_ready():
            watch.look()
            time.sleep(SECONDS_BETWEEN_LOOKS)
            continue
        future = next(completed)
        outcome = _outcome(future)
        if outcome is None:
            completed.add(future)
            continue
        watch.has_workers()
        for cell in islice(cells, 1):
            submit(*cell)
        yield futures.pop(future.key), outcome


def _same(dataset: Dataset) -> Dataset:
    return dataset


def _outcome(future: Any) -> Outcome | None:
    """Outcome of a cell; None if a worker was lost with it, which lets the future complete again."""
    from distributed import KilledWorker

    match future.status:
        case "finished":
            with suppress(OSError, CancelledError, KilledWorker):
                outcome: Outcome = future.result(SECONDS_TO_ANSWER)
                return outcome
        case "error":
            error = future.exception()
            return Outcome(error=DIED if isinstance(error, KilledWorker) else one_line(error))
        case "cancelled":
            raise ConfigError("the cluster's scheduler is gone; what was finished is kept")
    return None


class _Watch:
    """Warn when a run waits for workers or the scheduler: once each time, not as long as it waits."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._had_workers = False
        self._waits_for = ""
        self._next_look = 0.0

    def has_workers(self) -> None:
        """Take note that workers are there: the next loss is a new one."""
        self._had_workers = True
        self._waits_for = ""

    def look(self) -> None:
        """Count the workers, every few seconds at most."""
        if time.monotonic() < self._next_look:
            return
        try:
            if self._client.nthreads(callback_timeout=SECONDS_TO_ANSWER):
                self.has_workers()
            elif self._had_workers:
                self._warn("the cluster has lost all its workers; the run waits for a new one")
            else:
                self._warn("the cluster has no worker yet; the run waits for one")
        except OSError:
            if self._client.status == "running":  # a lost connection cancels the futures, which ends the run
                self._warn("the cluster's scheduler does not answer; the run waits for it")
        self._next_look = time.monotonic() + SECONDS_BETWEEN_COUNTS

    def _warn(self, waits_for: str) -> None:
        if waits_for != self._waits_for:
            # Entering this context makes Python forget that it has shown the same warning before.
            with warnings.catch_warnings():
                warnings.warn(waits_for, stacklevel=2)
        self._waits_for = waits_for


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
    clients: list[Any] = []

    async def connect() -> None:
        # Fails at once where nothing listens; Dask would try again until its time is up.  This blocks the loop,
        # which has nothing else to do yet.
        socket.create_connection(get_address_host_port(scheduler), SECONDS_TO_CONNECT).close()
        await asyncio.sleep(0)  # ends here if time was up in the meantime
        clients.append(Client(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False, asynchronous=True))
        await clients[0]

    # Dask limits the time to connect, but not the handshake.  So it connects in the thread of a loop of ours.
    # This thread stops waiting when time is up or on Ctrl-C, whatever the other one is doing.
    with _event_loop() as loop:
        connecting = asyncio.run_coroutine_threadsafe(connect(), loop)
        try:
            try:
                connecting.result(SECONDS_TO_CONNECT)
            except Exception as error:  # noqa: BLE001 - bytes that are not Dask's may raise anything
                raise ConfigError(f"scheduler: {_connection_error(scheduler, error)}") from None
            yield clients[0]
        finally:
            connecting.cancel()
            for client in clients:
                with suppress(TimeoutError):
                    client.close(SECONDS_TO_CLOSE)
                client.status = "closed"  # else its finalizer waits again


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a daemon thread."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="noisyeval cluster", daemon=True)
    thread.start()
    loop, stop = started.result()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS_TO_CLOSE)


def _connection_error(scheduler: str, error: Exception) -> str:
    uses_tls = scheduler.startswith("tls:")
    match error:
        case TimeoutError():
            found = f"no answer within {SECONDS_TO_CONNECT:g} s"
        case TypeError() if uses_tls:
            found = "no CA file or no certificate is configured"
        case OSError() | ValueError() | TypeError() | RuntimeError() | ImportError():
            found = one_line(error.__cause__ or error)
        case _:
            # Such as a MemoryError: the first bytes of another protocol, read as the length of a message.
            found = "what answers is not Dask"
    expected = "tcp://HOST:PORT, or tls://HOST:PORT, of a running scheduler"
    if uses_tls:
        expected = (
            "tls://HOST:PORT of a running scheduler, and certificates that it accepts in Dask's configuration: "
            "distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and distributed.comm.tls.client.key"
        )
    return f"no Dask scheduler answers at {scheduler!r}: {found}; expected {expected}"


def _check_workers(client: Any, versions: tuple[tuple[str, str], ...]) -> None:
    try:
        differences = client.run(cluster_worker.differences, versions)
    except Exception as error:  # noqa: BLE001 - such as the ImportError of a worker
        raise ConfigError(f"scheduler: a worker of the cluster cannot be used: {one_line(error)}") from None
    for address, different in differences.items():
        if different:
            raise ConfigError(f"scheduler: worker {address} has other packages: {different}")
