"""Atomic file writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import ConfigError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces the one at `path` at the end; if writing fails, that one stays as it was.

    The new file lies in the same folder, hidden, under a random name.  Nothing that is there already is opened
    or followed: a file of a stranger's folder may be a link to one of the user's.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file
    """
    unfinished = path.with_name(f".{secrets.token_hex(8)}.tmp")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def check_folder(folder: Path) -> None:
    """Check that a folder of results is no link, whose target may be any folder of the user.

    Raises
    ------
    ConfigError
        If it is one.
    """
    if folder.is_symlink():
        raise ConfigError(f"{folder} is a link to {folder.readlink()}; results go into folders only")
