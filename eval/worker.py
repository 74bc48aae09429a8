"""A worker: a process that fits one cell after the other, for the process that started it."""

from __future__ import annotations

import os
import signal
import threading
import time
from multiprocessing.connection import Connection

from .cell import run_cell
from .shared_data import open_shared

SECONDS_BETWEEN_LOOKS = 1.0


def main(connection: int, file: int, parent: int) -> None:
    """Fit what comes through a connection, until it is closed.

    First come the layout of the shared data sets and the packages that models may come from, then jobs.
    Back go, for each of them, None when all is prepared and the fit begins, and the outcome.

    Parameters
    ----------
    connection, file : int
        Descriptors of the connection and of the file of the data sets.
    parent : int
        The process that started this one.
    """
    _prepare(parent)
    for descriptor in (connection, file):
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


def _prepare(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it does."""
    # A batch system may send it to every process; the one that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process, in the middle of a fit too, when `parent` was killed and could not say so."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    # With it go the processes that a model has started.
    os.killpg(os.getpgrp(), signal.SIGKILL)
