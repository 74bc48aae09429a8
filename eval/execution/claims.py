"""Claims of cells, so that processes with the same store do not fit the same cell at the same time."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from ..errors import ConfigError

OFFSET_DIGITS = 15  # hexadecimal digits of a key that select its byte, within the range of file offsets


class Claims:
    """Claims of the cells that this process is fitting.  Use it as a context manager.

    A claim is a lock of one byte in an empty file beside the store.  The operating system releases it when the
    process ends, in whatever way.

    Parameters
    ----------
    store_path : Path
        The store, whose folder exists.

    Raises
    ------
    ConfigError
        If the file cannot be opened.
    """

    def __init__(self, store_path: Path) -> None:
        self._path = store_path.with_name(f"{store_path.name}-claims")
        self._held: set[str] = set()
        self._file = self._open()

    def _open(self) -> int:
        try:
            return os.open(
                self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666
            )
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be opened: {error.strerror}") from None

    def claim(self, key: str) -> bool:
        """Claim a cell; return whether no other process has done so."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                return False
            raise ConfigError(f"{self._path} cannot be locked: {error.strerror}") from None
        self._held.add(key)
        return True

    def release(self, key: str) -> None:
        """Release a cell, once its outcome is stored."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _offset(key))
        self._held.discard(key)

    def keep_in_place(self) -> None:
        """If the file was moved or deleted, claim the same cells in a new one."""
        with suppress(OSError):
            if os.path.samestat(self._path.stat(), os.fstat(self._file)):
                return
        os.close(self._file)
        self._file = self._open()
        for key in list(self._held):
            self.claim(key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _offset(key: str) -> int:
    return int(key[:OFFSET_DIGITS], 16)
