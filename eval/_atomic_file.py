"""Atomic file writes."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from .errors import ConfigError

# Names of temporary files.  SQLite adds suffixes for its journals.
TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp(-journal|-wal|-shm)?")
STALE_SECONDS = 3_600.0  # after which a temporary file belongs to a process that was killed


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces the file at `path` on success.  On failure, that file is unchanged.

    The temporary file is hidden, in the same folder and under a random name.  No existing file is opened and no
    link followed: in a folder from someone else, a file may be a link to one of the user's files.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file
    """
    temporary, descriptor = _open_temporary(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_create(path: Path) -> Iterator[Path]:
    """Make a temporary file that becomes the file at `path` on success, unless there is one by then.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        The temporary file, empty and closed, in the same folder and under a random name.
    """
    temporary, descriptor = _open_temporary(path.parent)
    os.close(descriptor)
    try:
        yield temporary
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _open_temporary(folder: Path) -> tuple[Path, int]:
    """Path and file descriptor of a new file in a folder."""
    _remove_stale(folder.absolute())
    temporary = folder / f".{secrets.token_hex(8)}.tmp"
    return temporary, os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
    )


@cache  # once per process and folder
def _remove_stale(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS:
                    Path(entry.path).unlink()


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, and its folder.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def check_folder(folder: Path) -> None:
    """Check that a results folder is not a symbolic link, whose target may be any folder of the user.

    Raises
    ------
    ConfigError
        If the folder is a symbolic link.
    """
    if folder.is_symlink():
        raise ConfigError(f"{folder} is a symbolic link to {folder.readlink()}; results need a real folder")
