"""Cells side by side, on the cores of this machine."""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterable, Mapping
from multiprocessing.connection import wait

import numpy as np

from ..datasets.dataset import Dataset
from ..errors import ConfigError
from ..metrics.outcome import Outcome
from .jobs import Job
from .shared_data import SharedData
from .worker_handle import Limits, Slot

SECONDS_BETWEEN_LOOKS = 0.1


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what is neither -1 nor a positive whole number with a ConfigError."""
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or not (n_jobs == -1 or n_jobs >= 1):  # type: ignore[operator]
        raise ConfigError(f"n_jobs must be -1 or at least 1, got {n_jobs!r:.60}")


def slots_for(n_jobs: int, threads: int) -> int:
    """How many cells of so many threads may be under way at once.

    Parameters
    ----------
    n_jobs : int
        How many are asked for; -1 for as many as there is room for.
    threads : int
        Of each.

    Returns
    -------
    int
        At most `n_jobs`, and never so many that there are more threads than cores.

    Raises
    ------
    ConfigError
        If `n_jobs` is none of these, or there are too few cores for a single cell.
    """
    check_n_jobs(n_jobs)
    import joblib

    cores: int = joblib.cpu_count()
    if threads > cores:
        raise ConfigError(f"threads: must be at most {cores}, the cores of this machine, got {threads}")
    room = cores // threads
    return room if n_jobs == -1 else min(n_jobs, room)


def fit_here(
    cells: Iterable[tuple[str, Job]],
    datasets: Mapping[str, Dataset],
    allowed: Collection[str],
    *,
    n_slots: int,
    threads: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Generator[tuple[str, Outcome], None, None]:
    """Fit cells on this machine.

    Parameters
    ----------
    cells : iterable of (str, Job)
        Jobs with their keys.  One is taken when there is room for it, not earlier.
    datasets : mapping of str to Dataset
        Those of the jobs, by name.
    allowed : collection of str
        Packages that models may come from.
    n_slots : int
        How many cells are under way at once.
    threads : int, default=1
        Of each cell.
    limits : Limits, default=Limits()
        A cell that breaks one fails; no other is touched.

    Yields
    ------
    (str, Outcome)
        The key of each job and what came of it, as they come.  All processes end when the generator is
        closed, at whatever moment.
    """
    waiting = iter(cells)
    with SharedData(datasets) as shared:
        slots = [Slot(shared, allowed, threads, limits) for _ in range(n_slots)]
        busy: list[Slot] = []
        next_look = 0.0
        try:
            for slot, cell in zip(slots, waiting, strict=False):
                slot.begin(*cell)
                busy.append(slot)
            while busy:
                ready = wait([slot.connection for slot in busy], SECONDS_BETWEEN_LOOKS)
                if time.monotonic() >= next_look:
                    ready = [slot.connection for slot in busy]
                    next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
                finished = []
                for slot in [slot for slot in busy if slot.connection in ready]:
                    outcome = slot.look()
                    if outcome is None:
                        continue
                    finished.append((slot.key, outcome))
                    # The next cell is on its way before anything is done with this one.
                    if (following := next(waiting, None)) is None:
                        busy.remove(slot)
                        slot.end()
                    else:
                        slot.begin(*following)
                yield from finished
        finally:
            for slot in slots:
                slot.kill()
