"""What a worker of a Dask cluster does: fit a cell in a process of its own, as on one machine."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait

from ..datasets.dataset import Dataset
from ..metrics.outcome import Outcome
from ..models.packages import version_of
from .jobs import Job
from .local_pool import SECONDS_BETWEEN_LOOKS
from .shared_data import SharedData
from .worker_handle import Limits, Slot

SECONDS_IDLE = 30.0


@dataclass(eq=False)
class _Place:
    """A slot that outlives its cell, for another one of the same data set may follow."""

    kind: tuple[object, ...]
    shared: SharedData
    slot: Slot

    def close(self) -> None:
        self.slot.kill()
        self.shared.__exit__(None, None, None)


_idle: dict[_Place, threading.Timer] = {}
_lock = threading.Lock()


def fit(
    key: str, job: Job, dataset: Dataset, allowed: Collection[str], threads: int, limits: Limits
) -> Outcome:
    """Fit a cell on this machine.

    Parameters
    ----------
    key : str
        Of the job.
    job : Job
    dataset : Dataset
    allowed : collection of str
        Packages that models may come from.
    threads : int
    limits : Limits

    Returns
    -------
    Outcome
        An error, if this machine has other versions of the packages than the job was made for.
    """
    different = differences(job.versions)
    if different:
        return Outcome(error=f"a worker of the cluster has other packages: {different}")
    # The name too: by it the process finds its data set.
    kind = (job.fingerprint, job.dataset, frozenset(allowed), threads, limits)
    place = _take(kind)
    if place is None:
        shared = SharedData({job.dataset: dataset})
        place = _Place(kind, shared, Slot(shared, allowed, threads, limits))
    try:
        place.slot.begin(key, job)
        while (outcome := place.slot.look()) is None:
            wait([place.slot.connection], SECONDS_BETWEEN_LOOKS)
    except BaseException:
        place.close()
        raise
    _leave(place)
    return outcome


def differences(versions: Iterable[tuple[str, str]]) -> str:
    """Which packages are here in another version, in words; empty if none is."""
    found = ((package, version, version_of(package)) for package, version in versions)
    return ", ".join(
        f"{package} {here[:20] or 'is missing'}, not {wanted[:20]}"
        for package, wanted, here in found
        if here != wanted
    )


def _take(kind: tuple[object, ...]) -> _Place | None:
    with _lock:
        place = next((place for place in _idle if place.kind == kind), None)
        if place is not None:
            _idle.pop(place).cancel()
        return place


def _leave(place: _Place) -> None:
    """Keep a slot for a while; nobody may be there to tell this process when the run is over."""
    timer = threading.Timer(SECONDS_IDLE, _close_idle, [place])
    timer.daemon = True
    with _lock:
        _idle[place] = timer
    timer.start()


def _close_idle(place: _Place) -> None:
    with _lock:
        if _idle.pop(place, None) is None:
            return  # just taken
    place.close()
