"""Handle of a worker process, which fits one cell at a time and is killed if it exceeds a limit."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait

import psutil

from ..metrics.outcome import Outcome
from ..models.own_modules import own_module_finders
from .jobs import Job
from .shared_data import SharedData

DIED = "the process that fitted this cell died (a crash, or out of memory)"
TOO_LONG = "exceeded the time limit"
GIB = 2**30
POLL_SECONDS = 0.1  # between checks of the limits
STOP_SECONDS = 2.0  # for a worker to exit by itself
GROWN_SHARE = 0.25  # of the memory limit, by which a process that has grown is replaced

# Environment variables that limit the threads of compiled code.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


@dataclass(frozen=True)
class Limits:
    """Time and memory limits of a cell.

    Attributes
    ----------
    seconds : float or None
        Time from the start of the fit to the last score; None for no limit.
    gib : float or None
        Memory of the process in GiB, without the data sets that processes share; None for no limit.
    """

    seconds: float | None = None
    gib: float | None = None


class WorkerHandle:
    """Handle of a worker process that fits one cell at a time.

    The process starts with the first cell and fits the following ones too.  If a cell exceeds a limit, the
    process is killed together with the processes that the model started, and the next cell gets a new one.  A
    process whose memory has grown by a quarter of its limit, or in which a model has left threads, is replaced.

    An error may be due to what an earlier cell has done to the process.  Except after the time limit, the cell
    is fitted once more in a new process before it is blamed.

    Parameters
    ----------
    shared : SharedData
    threads : int
        Threads of compiled code.
    limits : Limits
    confirmed : set of (str, str, str) or None, default=None
        Models, data sets and errors that a new process has confirmed, shared by the workers of a run.  Such an
        error is not tried again.

    Attributes
    ----------
    key : str
        Key of the cell submitted last.
    connection : Connection
        Readable when the worker has sent something for `poll`.
    """

    key: str

    def __init__(
        self,
        shared: SharedData,
        threads: int,
        limits: Limits,
        confirmed: set[tuple[str, str, str]] | None = None,
    ) -> None:
        self._shared = shared
        self._threads = threads
        self._limits = limits
        self._confirmed = set() if confirmed is None else confirmed
        self._process: subprocess.Popen[bytes] | None = None
        self._fit_started: float | None = None

    def submit(self, key: str, job: Job) -> None:
        """Start fitting a cell.  The previous cell must be finished."""
        if self._process is None:
            self._start_process()
        self.key, self._job, self._fit_started = key, job, None
        with suppress(OSError):  # poll() notices that the process is gone
            self.connection.send(job)

    def poll(self) -> Outcome | None:
        """Return the outcome of the cell, or None if it is still running; kill it if it exceeds a limit."""
        outcome = self._received()
        if outcome is None or outcome.error is None:
            return outcome
        blame = self._job.model.name, self._job.dataset, outcome.error.partition(":")[0]
        if self._n_finished == 1:
            self._confirmed.add(blame)
        elif blame not in self._confirmed and not outcome.error.startswith(TOO_LONG):
            self.kill()
            self.submit(self.key, self._job)
            return None
        return outcome

    def _received(self) -> Outcome | None:
        """Receive the outcome of the cell, if there is one, and end a process that is not to be reused."""
        assert self._process is not None  # noqa: S101 - for the type checker: submit() comes first
        is_alive = self._process.poll() is None
        try:
            while self.connection.poll():
                message: tuple[Outcome, bool] | None = self.connection.recv()
                if message is not None:
                    outcome, has_left_threads = message
                    self._n_finished += 1
                    if self._n_finished == 1:  # with all libraries loaded
                        self._first_bytes = self._private_bytes()
                    if has_left_threads or self._has_grown():
                        self.kill()
                    return outcome
                self._fit_started = time.monotonic()
        except (EOFError, OSError):
            is_alive = False
        error = DIED if not is_alive else self._limit_error()
        if error is None:
            return None
        self._n_finished += 1
        self.kill()
        return Outcome(error=error)

    def fit(self, key: str, job: Job) -> Outcome:
        """Fit a cell and wait for its outcome."""
        self.submit(key, job)
        while (outcome := self.poll()) is None:
            wait([self.connection], POLL_SECONDS)
        return outcome

    def stop(self) -> None:
        """Let the idle process exit by itself, so that libraries can clean up; kill it if it does not."""
        if self._process is None:
            return
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process and the processes that a model started in it."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):  # macOS: if only a zombie is left in the group
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        self.connection.close()
        os.close(self._lifeline)

    def _start_process(self) -> None:
        self.connection, worker_end = multiprocessing.Pipe()
        lifeline, self._lifeline = os.pipe()
        files = (worker_end.fileno(), self._shared.fileno(), lifeline)
        # Processes of multiprocessing would run the user's script again, and have no process group.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            "from boostnoise.eval.models.own_modules import OwnModuleFinder; "
            f"sys.meta_path += {own_module_finders()!r}; "
            f"from boostnoise.eval.execution.worker import main; main(*{files}, {os.getpid()})"
        )
        threads = dict.fromkeys(THREAD_VARIABLES, str(self._threads))
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the current interpreter
                [sys.executable, "-c", code],
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=2,  # keeps the output of models apart from the results
                # Modules in the working directory shadow no others.  A fixed hash seed prints sets in the same
                # order in every process, so that equal errors have equal messages.
                env=os.environ | threads | {"PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
                process_group=0,
            )
        finally:
            worker_end.close()
            os.close(lifeline)
        self._n_finished, self._first_bytes = 0, 0
        self._memory = psutil.Process(self._process.pid)
        with suppress(OSError):
            self.connection.send(self._shared.layout)

    def _limit_error(self) -> str | None:
        limits = self._limits
        if (
            limits.seconds is not None
            and self._fit_started is not None
            and time.monotonic() - self._fit_started > limits.seconds
        ):
            return f"{TOO_LONG} of {limits.seconds:g} s"
        if limits.gib is not None and self._private_bytes() > limits.gib * GIB:
            return f"exceeded the memory limit of {limits.gib:g} GiB"
        return None

    def _has_grown(self) -> bool:
        """Whether the memory of the process has grown much since its first cell."""
        if self._limits.gib is None:
            return False
        return self._private_bytes() - self._first_bytes > GROWN_SHARE * self._limits.gib * GIB

    def _private_bytes(self) -> int:
        """Memory of the process, without shared memory: the data sets and libraries."""
        try:
            memory = self._memory.memory_info()
        except psutil.NoSuchProcess:
            return 0
        return int(memory.rss - getattr(memory, "shared", 0))
