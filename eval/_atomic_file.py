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
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
