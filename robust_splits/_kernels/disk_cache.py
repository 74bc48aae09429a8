"""Numba's cache on disk for the package's kernels, shared by processes that compile at the same time."""

import errno
import hashlib
import os
import sys
import threading
import time
import warnings
import zlib
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from numba.core.caching import FunctionCache, IndexDataCacheFile

if sys.platform != "win32":
    import fcntl

LOCK_FILE = "compiling.lock"
LOCK_SECONDS = 60.0  # how long to wait for another process, which may be stuck
POLL_SECONDS = 0.002
_first_warning = threading.Lock()  # acquired by the first warning, never released


@contextmanager
def warn_on_error(action):
    """Turn cache errors into one warning per process."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - reading a damaged pickle may raise anything
        if _first_warning.acquire(blocking=False):
            warnings.warn(
                f"cannot {action}: {type(error).__name__}: {error}; compiling robust_splits in this process. "
                "If this warning appears in every process, set NUMBA_CACHE_DIR to a writable folder with free "
                "space",
                RuntimeWarning,
                stacklevel=3,
            )


class _KernelFiles(IndexDataCacheFile):
    """Cache files of one kernel.  A damaged index counts as missing, so the next save replaces it."""

    def _load_index(self):
        with warn_on_error(f"read {self._index_path}"):
            return super()._load_index()
        return {}

    def _save_data(self, name, data):
        try:
            super()._save_data(name, data)
        except BaseException:
            # The index already names this file, which may hold code compiled from an older source.
            Path(self._data_path(name)).unlink(missing_ok=True)
            raise


@lru_cache
def source_stamp(folder):
    """Names and hashes of the source files in a folder.

    Compiled code holds the kernels that it calls, so it is out of date if any of their files changes.  Numba
    itself compares the time and size of the kernel's own file only, and every installation changes the time.
    """
    files = sorted(folder.glob("*.py"))
    return tuple((file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files)


class _KernelLock:
    """Lock of a kernel, so that one process compiles it while others wait.

    All kernels share one file, and each has a byte of it.  The system releases the locks of a process that
    ends.  Where files cannot be locked, and on Windows, each process compiles for itself.
    """

    def __init__(self, folder, name):
        self._folder = folder
        self._byte = zlib.crc32(name.encode())

    def acquire(self):
        """Wait for other processes to release the lock, but not longer than `LOCK_SECONDS`."""
        end = time.monotonic() + LOCK_SECONDS
        while self._is_taken() and time.monotonic() < end:
            time.sleep(POLL_SECONDS)

    def _is_taken(self):
        """Whether another process has the lock.  Otherwise, takes it if files can be locked."""
        file = _open_lock_file(self._folder)
        if file is not None:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._byte)
            except OSError as error:
                return error.errno in (errno.EACCES, errno.EAGAIN)
        return False

    def release(self):
        """Release the lock, if this process has it."""
        file = _open_lock_file(self._folder)
        if file is not None:
            with suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_UN, 1, self._byte)


@lru_cache
def _open_lock_file(folder):
    """Open the lock file of a folder for the rest of the process; return None if that is not possible.

    Closing it would release all locks of the process.
    """
    if sys.platform == "win32":
        return None
    try:
        return os.open(Path(folder, LOCK_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


class KernelCache(FunctionCache):
    """Numba's cache on disk.  If it fails, the kernel is compiled and a warning gives the cause."""

    def __init__(self, function):
        super().__init__(function)
        stamp = source_stamp(Path(function.__code__.co_filename).parent)
        self._cache_file = _KernelFiles(self.cache_path, self._impl.filename_base, stamp)
        self._lock = _KernelLock(self.cache_path, self._impl.filename_base)

    def load_overload(self, sig, target_context):
        """Load a compiled kernel, or return None and lock it until it is saved or `release_lock` is called.

        A process with locked kernels only waits for kernels that these call.  No kernel calls itself, so
        processes do not wait for each other in a circle.
        """
        found = self._load(sig, target_context)
        if found is not None:
            return found
        self._lock.acquire()
        try:
            found = self._load(sig, target_context)  # another process may have compiled it meanwhile
        except BaseException:
            self.release_lock()
            raise
        if found is not None:
            self.release_lock()
        return found

    def _load(self, sig, target_context):
        with warn_on_error(f"read the compiled code in {self.cache_path}"):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig, data):
        """Save a compiled kernel, and release its lock."""
        try:
            with warn_on_error(f"write compiled code to {self.cache_path}"):
                super().save_overload(sig, data)
        finally:
            self.release_lock()

    def release_lock(self):
        """Let other processes compile the kernel."""
        self._lock.release()

    def is_empty(self):
        """Whether there is no compiled code of the kernel on disk."""
        return not self._cache_file._load_index()
