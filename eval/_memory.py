"""Memory that is available, checked before much of it is needed."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

import psutil

from .errors import ConfigError

GIB = 2**30
CONTAINER = Path("/sys/fs/cgroup")  # Linux writes the limits of a container here
FOREST_BYTES = 1_000  # per row and class, of a forest that judges labels: 100 trees with a node per row


def available_bytes() -> int:
    """Bytes of memory that this process can still allocate: on this machine, in its container, by its limit."""
    available = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # no container, or no limit: "max"
        limit, used = (int((CONTAINER / f"memory.{name}").read_text()) for name in ("max", "current"))
        statistics = dict(line.split() for line in (CONTAINER / "memory.stat").read_text().splitlines())
        unneeded = int(statistics.get("inactive_file", 0))  # files that Linux keeps in memory while it is free
        available = min(available, max(0, limit - used + unneeded))
    used_now = psutil.Process().memory_info()
    for kind, used in (
        (resource.RLIMIT_DATA, getattr(used_now, "data", used_now.rss)),
        (resource.RLIMIT_AS, used_now.vms),
    ):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY:
            available = min(available, max(0, limit - int(used)))
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
    """Check that the forests that judge the labels of `name` fit into the available memory.

    Parameters
    ----------
    n_rows : int
    n_classes : int or None
        None if it is not known yet; it is at least two.
    name : str

    Raises
    ------
    ConfigError
        If they do not.
    """
    labels, advice = "", "use fewer rows"
    if n_classes is not None:
        labels, advice = f"{n_classes:,} different labels in ", "join rare labels or use fewer rows"
    what = f"{name} has {labels}{n_rows:,} rows, for which forests need"
    check_memory(n_rows * ((n_classes or 2) + 1) * FOREST_BYTES, what, advice)
