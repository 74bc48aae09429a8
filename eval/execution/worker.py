"""A worker: a process that fits one cell after the other, for the process that started it."""

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

SECONDS_BETWEEN_LOOKS = 1.0


def main(connection: int, file: int, lifeline: int, parent: int) -> None:
    """Fit what comes through a connection, until it is closed.

    First come the layout of the shared data sets and the packages that models may come from, then jobs.
    Back go, for each of them, None when all is prepared and the fit begins, and the outcome.

    Parameters
    ----------
    connection, file : int
        Descriptors of the connection and of the file of the data sets.
    lifeline : int
        Descriptor of a pipe whose other end `parent` alone has open and never writes to.
    parent : int
        The process that started this one, in a process group of its own.
    """
    # A batch system may send Ctrl-C to every process; the one that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(parent, lifeline)
    for descriptor in (connection, file, lifeline):
        os.set_inheritable(descriptor, False)
    pipe = Connection(connection)
    try:
        layout, allowed = pipe.recv()
        datasets = open_shared(file, layout)
        while True:
            job = pipe.recv()
            pipe.send(run_cell(job, datasets[job.dataset], allowed, begin=lambda: pipe.send(None)))
    except (EOFError, OSError):
        return  # nobody is there any more


def _end_with(parent: int, lifeline: int) -> None:
    """End when `parent` was killed and could not say so: in the middle of a fit, with what a model started."""
    with suppress(OSError):  # no such signal on this system
        # Linux ends the whole group when the pipe breaks, even while compiled code keeps Python from running.
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        # The parent may have been killed before, and other systems take no notice of the pipe.
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
