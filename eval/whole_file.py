"""Files that are there as a whole or not at all, whoever else writes them at the time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write what then takes the place of a file; if writing fails, the file stays as it was.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        In the same folder, hidden, and this process's own.
    """
    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
