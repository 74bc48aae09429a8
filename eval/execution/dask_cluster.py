"""Fits on the machines of a Dask cluster."""

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
from . import dask_worker
from .jobs import Job
from .worker_handle import DIED, POLL_SECONDS, Limits

CONNECT_SECONDS = 30.0
ANSWER_SECONDS = 10.0  # for a connected scheduler or worker
CLOSE_SECONDS = 2.0
COUNT_SECONDS = 5.0  # between counts of the workers

# At least as many cells are submitted, so that an adaptive cluster grows, or twice as many as it has threads.
# The rest is left to other processes with the same store.
CELLS_AHEAD = 100

NO_ANSWER = "scheduler: no worker is left that answered; finished cells are kept"


def check_scheduler(scheduler: object) -> None:
    """Raise a ConfigError if `scheduler` cannot be an address.  Whether it answers is checked on connecting."""
    if scheduler is not None and not (isinstance(scheduler, str) and scheduler.strip()):
        raise ConfigError(
            f"scheduler must be an address, such as 'tcp://10.0.0.1:8786', or None, got {scheduler!r:.60}"
        )


def fit_on_cluster(
    cells: Iterable[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    *,
    scheduler: str,
    threads: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[tuple[str, Outcome], None, None]:
    """Fit cells on a Dask cluster, each in a separate process on one of its machines.

    If a machine is lost, its cells are fitted on another one.

    Parameters
    ----------
    cells : iterable of (str, Job)
        Keys and jobs.  Some are submitted ahead; see `CELLS_AHEAD`.
    datasets : mapping of str to Dataset
        Data sets of the jobs, by name.
    scheduler : str
        Address of the cluster's scheduler, such as ``"tcp://10.0.0.1:8786"``.
    threads : int, default=1
        Threads per cell.
    limits : Limits, default=Limits()
        A cell that exceeds a limit fails; other cells are not affected.

    Yields
    ------
    (str, Outcome)
        Key and outcome of each job, in order of completion.

    Raises
    ------
    ConfigError
        If Dask is not installed, the scheduler does not answer or is lost, or at the start a worker has other
        versions of the packages that affect the scores.  If a worker is left out, also if all others are lost.

    Warns
    -----
    UserWarning
        If the run waits because the cluster has no worker, its scheduler stops answering, or a worker does not
        answer and is left out.
    """
    with _connected(scheduler) as client:
        yield from _fit(client, iter(cells), datasets, threads, limits)


def _fit(
    client: Any,
    cells: Iterator[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    threads: int,
    limits: Limits,
) -> Iterator[tuple[str, Outcome]]:
    from distributed import as_completed

    run = uuid.uuid4().hex  # two runs may be fitting the same cell
    sent: dict[str, Any] = {}
    checked: set[tuple[str, str]] = set()
    left_out: set[str] = set()
    answering: list[str] = []  # workers that fit the cells if others are left out
    futures: dict[str, str] = {}
    completed = as_completed(loop=client.loop)

    def submit(key: str, job: Job) -> None:
        if not checked.issuperset(job.model.versions):
            left_out.update(_check_workers(client, job.model.versions, left_out))
            checked.update(job.model.versions)
            if left_out:
                # No worker that comes later, because cells that were sent earlier could not go there.
                answering[:] = set(answering or _addresses(client)) - left_out
                if not answering:
                    raise ConfigError(NO_ANSWER)
        where: dict[str, Any] = {"workers": answering} if left_out else {}
        if job.dataset not in sent:
            # A task, not scattered data: the scheduler recomputes a task if its machine is lost.
            name = f"noisyeval-data-{job.fingerprint}-{run}"
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Sending large graph")
                sent[job.dataset] = client.submit(_identity, datasets[job.dataset], key=name, **where)
        future = client.submit(
            dask_worker.fit,
            key,
            job,
            sent[job.dataset],
            threads,
            limits,
            key=f"noisyeval-cell-{key}-{run}",
            pure=False,
            **where,
        )
        futures[future.key] = key
        completed.add(future)

    monitor = _StallMonitor(client)
    while True:
        n_ahead = max(CELLS_AHEAD, 2 * sum((monitor.addresses or {}).values()))
        for cell in islice(cells, max(0, n_ahead - completed.count())):
            submit(*cell)
        if completed.is_empty():
            return
        if not completed.has_ready():
            monitor.check()
            if left_out and monitor.addresses is not None and not set(answering) & set(monitor.addresses):
                raise ConfigError(NO_ANSWER)
            time.sleep(POLL_SECONDS)
            continue
        future = next(completed)
        outcome = _outcome(future)
        if outcome is None:
            completed.add(future)
            continue
        monitor.note_workers()
        yield futures.pop(future.key), outcome


def _identity(dataset: Dataset) -> Dataset:
    return dataset


def _outcome(future: Any) -> Outcome | None:
    """Outcome of a cell; None if its worker was lost, in which case the future completes again."""
    from distributed import KilledWorker

    match future.status:
        case "finished":
            with suppress(OSError, CancelledError, KilledWorker):
                outcome: Outcome = future.result(ANSWER_SECONDS)
                return outcome
        case "error":
            error = future.exception()
            return Outcome(error=DIED if isinstance(error, KilledWorker) else one_line(error))
        case "cancelled":
            raise ConfigError("scheduler: lost the connection to the cluster; finished cells are kept")
    return None


class _StallMonitor:
    """Warn once whenever a run starts to wait for workers or for the scheduler.

    Attributes
    ----------
    addresses : dict of str to int or None
        Numbers of threads of the workers, when they were last counted; None before that.
    """

    def __init__(self, client: Any) -> None:
        self.addresses: dict[str, int] | None = None
        self._client = client
        self._had_workers = False
        self._last_warning = ""
        self._next_check = 0.0

    def note_workers(self) -> None:
        """Record that there are workers, so that their loss causes a new warning."""
        self._had_workers = True
        self._last_warning = ""

    def check(self) -> None:
        """Count the workers, at most once in `COUNT_SECONDS`."""
        if time.monotonic() < self._next_check:
            return
        try:
            self.addresses = self._client.nthreads(callback_timeout=ANSWER_SECONDS)
            if self.addresses:
                self.note_workers()
            elif self._had_workers:
                self._warn("the cluster has lost all its workers; the run waits for a new one")
            else:
                self._warn("the cluster has no worker yet; the run waits for one")
        except OSError:
            if self._client.status == "running":  # a lost connection cancels the futures, which ends the run
                self._warn("the cluster's scheduler does not answer; the run waits for it")
        self._next_check = time.monotonic() + COUNT_SECONDS

    def _warn(self, message: str) -> None:
        if message != self._last_warning:
            # This context resets Python's record of warnings already shown, so that a message can be repeated.
            with warnings.catch_warnings():
                warnings.warn(message, stacklevel=2)
        self._last_warning = message


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise ConfigError(
            "scheduler: requires Dask, which is not installed; install boostnoise with the extra 'dask'"
        ) from None
    # These loggers print tracebacks of errors that are reported below in one line.
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    clients: list[Any] = []

    async def connect() -> None:
        # Fails at once if nothing listens; Dask would retry until the timeout.  Blocking the loop does no harm,
        # because it has nothing else to do yet.
        socket.create_connection(get_address_host_port(scheduler), CONNECT_SECONDS).close()
        await asyncio.sleep(0)  # lets a cancellation after the timeout take effect
        clients.append(Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False, asynchronous=True))
        await clients[0]

    # Dask's timeout covers the connection, but not the handshake, so the client connects in a separate thread.
    # This thread stops waiting after the timeout or on Ctrl-C.
    with _event_loop() as loop:
        connecting = asyncio.run_coroutine_threadsafe(connect(), loop)
        try:
            try:
                connecting.result(CONNECT_SECONDS)
            except Exception as error:  # noqa: BLE001 - reading another protocol may raise anything
                raise ConfigError(f"scheduler: {_connection_error(scheduler, error)}") from None
            yield clients[0]
        finally:
            connecting.cancel()
            for client in clients:
                with suppress(TimeoutError):
                    client.close(CLOSE_SECONDS)
                client.status = "closed"  # otherwise its finalizer waits again


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
        thread.join(CLOSE_SECONDS)


def _connection_error(scheduler: str, error: Exception) -> str:
    uses_tls = scheduler.startswith("tls:")
    match error:
        case TimeoutError():
            found = f"no answer within {CONNECT_SECONDS:g} s"
        case TypeError() if uses_tls:
            found = "no CA file or no certificate is configured"
        case OSError() | ValueError() | TypeError() | RuntimeError() | ImportError():
            found = one_line(error.__cause__ or error)
        case _:
            # For example a MemoryError, if the first bytes of another protocol are read as a message length.
            found = "the answer does not come from Dask"
    expected = "tcp://HOST:PORT, or tls://HOST:PORT, of a running scheduler"
    if uses_tls:
        expected = (
            "tls://HOST:PORT of a running scheduler, and certificates that it accepts in Dask's configuration: "
            "distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and distributed.comm.tls.client.key"
        )
    return f"no Dask scheduler answers at {scheduler!r}: {found}; expected {expected}"


def _addresses(client: Any) -> list[str]:
    """Addresses of all workers; none if the scheduler does not answer."""
    with suppress(OSError):
        return list(client.nthreads(callback_timeout=ANSWER_SECONDS))
    return []


def _check_workers(client: Any, versions: tuple[tuple[str, str], ...], left_out: Collection[str]) -> set[str]:
    """Compare the package versions of the workers, and return the addresses of those that do not answer.

    Workers of `left_out` are not asked again.
    """

    async def ask(address: str) -> Any:
        # All are asked at once, each with a timeout of its own: one may have died or be frozen.
        asked = client.run(dask_worker.version_differences, versions, workers=[address])
        return (await asyncio.wait_for(asked, ANSWER_SECONDS))[address]

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*map(ask, addresses), return_exceptions=True)

    addresses = [address for address in _addresses(client) if address not in left_out]
    answers = asyncio.run_coroutine_threadsafe(ask_all(), client.loop.asyncio_loop).result()
    silent = set()
    for address, answer in zip(addresses, answers, strict=True):
        match answer:
            case "":
                continue
            case str():
                raise ConfigError(f"scheduler: worker {address} has other package versions: {answer}")
            case OSError() | KeyError():  # a TimeoutError is an OSError
                warnings.warn(
                    f"worker {address} of the cluster does not answer; its cells go to others", stacklevel=2
                )
                silent.add(address)
            case _:  # for example an ImportError of the worker
                what = f"worker {address} of the cluster cannot be used: {one_line(answer)}"
                raise ConfigError(f"scheduler: {what}")
    return silent
