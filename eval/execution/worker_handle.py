"""A slot: fits one cell at a time in a process of its own, and kills that if it takes too much."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

import psutil

from ..metrics.outcome import Outcome
from .jobs import Job
from .shared_data import SharedData

DIED = "the process that fitted this cell died (a crash, or out of memory)"
TOO_LONG = "ran longer than the time limit"
GIB = 2**30
SECONDS_TO_END = 2.0

# What compiled code asks for how many threads it may start.
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
    """What one cell may take.

    Attributes
    ----------
    seconds : float or None
        From the start of the fit to the last score; None for as long as it likes.
    gib : float or None
        Memory of the process, without the data sets that processes share, in GiB; None for any.
    """

    seconds: float | None = None
    gib: float | None = None


class Slot:
    """Place for one cell at a time.

    Its process is started when there is a cell for it, and fits one after the other.  It is killed, together
    with all that a model started in it, when a cell breaks a limit; the next cell then gets a new one.

    Parameters
    ----------
    shared : SharedData
    allowed : collection of str
        Packages that models may come from.
    threads : int
        Threads of compiled code.
    limits : Limits

    Attributes
    ----------
    key : str
        Of the cell that was begun last.
    connection : Connection
        Readable when `look` has something to tell.
    """

    key: str

    def __init__(self, shared: SharedData, allowed: Collection[str], threads: int, limits: Limits) -> None:
        self._shared = shared
        self._allowed = frozenset(allowed)
        self._threads = threads
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._began: float | None = None

    def begin(self, key: str, job: Job) -> None:
        """Fit a cell; the one before must have come to an end."""
        if self._process is None:
            self._start()
        self.key, self._began = key, None
        with suppress(OSError):  # a process that is gone is found by look()
            self.connection.send(job)

    def look(self) -> Outcome | None:
        """What came of the cell, or None while it is under way."""
        assert self._process is not None  # noqa: S101 - for the type checker: begin() comes first
        is_alive = self._process.poll() is None
        try:
            while self.connection.poll():
                outcome: Outcome | None = self.connection.recv()
                if outcome is not None:
                    return outcome
                self._began = time.monotonic()
        except (EOFError, OSError):
            is_alive = False
        error = DIED if not is_alive else self._broken_limit()
        if error is None:
            return None
        self.kill()
        return Outcome(error=error)

    def end(self) -> None:
        """End the process, which has nothing left to do: by itself, so that libraries can tidy up."""
        if self._process is None:
            return
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        """End the process, whatever it is doing, and those that a model started in it."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):  # macOS: of a group of which only a zombie is left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        self.connection.close()
        os.close(self._lifeline)

    def _start(self) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        lifeline, self._lifeline = os.pipe()
        files = (theirs.fileno(), self._shared.fileno(), lifeline)
        # Not multiprocessing's own processes: they would run the user's script again, and have no group.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from boostnoise.eval.execution.worker import main; main(*{files}, {os.getpid()})"
        )
        threads = dict.fromkeys(THREAD_VARIABLES, str(self._threads))
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this very Python
                [sys.executable, "-c", code],
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=2,  # what models print does not belong among the results
                # No module of the working directory takes the place of another; and the order of a set in an
                # error message is that of every process, so that equal errors read the same.
                env=os.environ | threads | {"PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
                process_group=0,
            )
        finally:
            theirs.close()
            os.close(lifeline)
        self._memory = psutil.Process(self._process.pid)
        with suppress(OSError):
            self.connection.send((self._shared.layout, self._allowed))

    def _broken_limit(self) -> str | None:
        limits = self._limits
        if (
            limits.seconds is not None
            and self._began is not None
            and time.monotonic() - self._began > limits.seconds
        ):
            return f"{TOO_LONG} of {limits.seconds:g} s"
        if limits.gib is not None and self._private_bytes() > limits.gib * GIB:
            return f"took more than the memory limit of {limits.gib:g} GiB"
        return None

    def _private_bytes(self) -> int:
        """Memory of the process without what it shares with others: the data sets, and libraries."""
        try:
            memory = self._memory.memory_info()
        except psutil.NoSuchProcess:
            return 0
        return int(memory.rss - getattr(memory, "shared", 0))
