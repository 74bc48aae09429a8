"""Worker process: fits cells for the process that started it."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from .cell import run_cell
from .shared_data import open_shared

PARENT_CHECK_SECONDS = 1.0


def main(connection: int, file: int, lifeline: int, parent: int) -> None:
    """Fit the jobs received through a connection, until it is closed.

    The first message holds the layout of the shared data sets; all others are jobs.  For each job, the worker
    sends None when the fit begins, and then the outcome, and whether the model has left threads behind.

    Parameters
    ----------
    connection, file : int
        File descriptors of the connection and of the file with the data sets.
    lifeline : int
        File descriptor of a pipe whose other end is open only in `parent`, which never writes to it.
    parent : int
        Process ID of the process that started this one in a process group of its own.
    """
    # A batch system may send SIGINT to all processes.  The parent stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _exit_with_parent(parent, lifeline)
    for descriptor in (connection, file, lifeline):
        os.set_inheritable(descriptor, False)
    pipe = Connection(connection)
    try:
        datasets = open_shared(file, pipe.recv())
        while True:
            job = pipe.recv()
            n_threads = threading.active_count()
            outcome = run_cell(job, datasets[job.dataset], begin=lambda: pipe.send(None))
            pipe.send((outcome, threading.active_count() > n_threads))
    except (EOFError, OSError):
        return  # the parent is gone


def _exit_with_parent(parent: int, lifeline: int) -> None:
    """End this process group if `parent` is killed, even during a fit."""
    with suppress(OSError):  # no such signal on this system
        # Linux ends the group when the pipe breaks, even while compiled code keeps Python from running.
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        # The parent may already be gone, and other systems send no signal.
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK_SECONDS)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
