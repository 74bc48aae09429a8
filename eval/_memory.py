"""Memory that is available, checked before much of it is needed."""

from __future__ import annotations

import resource

import psutil

from .errors import ConfigError

GIB = 2**30
FOREST_BYTES = 1_000  # per row and class, of a forest that judges labels: 100 trees with a node per row


def available_bytes() -> int:
    """Bytes of memory that this process can still allocate: those of the machine, or of the process's limit."""
    available = int(psutil.virtual_memory().available)
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit != resource.RLIM_INFINITY:
        available = min(available, max(0, limit - int(psutil.Process().memory_info().rss)))
    return available


def check_memory(n_bytes: float, what: str, advice: str) -> None:
    """Check an estimate of the memory that something needs.

    Parameters
    ----------
    n_bytes : float
    what : str
        Beginning of the message, with its verb: "... needs".
    advice : str
        End of the message.

    Raises
    ------
    ConfigError
        If that much memory is not available.
    """
    available = available_bytes()
    if n_bytes > available:
        gib = f"{n_bytes / GIB:.1f} GiB of memory, and {available / GIB:.1f} GiB are available"
        raise ConfigError(f"{what} about {gib}; {advice}")


def check_forests(n_rows: int, n_classes: int | None, name: str) -> None:
    """Check that the forests that judge the labels of `name` have room in memory.

    Parameters
    ----------
    n_rows : int
    n_classes : int or None
        None if it is not known yet; it is at least two.
    name : str

    Raises
    ------
    ConfigError
        If they have not.
    """
    labels, advice = "", "use fewer rows"
    if n_classes is not None:
        labels, advice = f"{n_classes:,} different labels in ", "join rare labels or use fewer rows"
    what = f"{name} has {labels}{n_rows:,} rows, for which forests need"
    check_memory(n_rows * ((n_classes or 2) + 1) * FOREST_BYTES, what, advice)
