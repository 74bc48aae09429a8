"""Decorators that compile the package's kernels and cache them on disk."""

import gc
import hashlib
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

NOTICE_SECONDS = 2.0
_first_warning = threading.Lock()  # acquired by the first warning, never released


@contextmanager
def _warn_on_error(action):
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


class _Compiling(event.Listener):
    """Pauses garbage collection while Numba compiles kernels of this package, and tells the user to wait.

    Garbage collection would take a tenth of the time.  The message appears at a terminal once a process has
    compiled for `NOTICE_SECONDS`.
    """

    def __init__(self):
        self._n_compiling = 0  # a kernel, and the kernels that it calls
        self._seconds = 0.0
        self._began = 0.0
        self._timer = None
        self._collects = False

    def on_start(self, event):
        """A kernel is not on disk and will be compiled."""
        if not _is_kernel(event):
            return
        self._n_compiling += 1
        if self._n_compiling > 1:
            return
        self._collects = gc.isenabled()
        gc.disable()
        if self._seconds < NOTICE_SECONDS and sys.stderr.isatty():
            self._began = time.monotonic()
            self._timer = threading.Timer(NOTICE_SECONDS - self._seconds, self._print)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event):
        """A kernel has been compiled, or could not be."""
        if not _is_kernel(event):
            return
        self._n_compiling -= 1
        if self._n_compiling > 0:
            return
        if self._collects:
            gc.enable()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds += time.monotonic() - self._began

    def _print(self):
        print("Compiling robust_splits for this computer, once. This takes some seconds.", file=sys.stderr)  # noqa: T201


_functions: set[Callable[..., Any]] = set()  # of all kernels


def _is_kernel(event):
    return getattr(event.data["dispatcher"], "py_func", None) in _functions


_compiling = _Compiling()
# Numba holds a lock while it compiles, so these events come from one thread at a time.
event.register("numba:compile", _compiling)


class _KernelFiles(IndexDataCacheFile):
    """Cache files of one kernel.  A damaged index counts as missing, so the next save replaces it."""

    def _load_index(self):
        with _warn_on_error(f"read {self._index_path}"):
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


class _KernelCache(FunctionCache):
    """Numba's cache on disk.  If it fails, the kernel is compiled and a warning gives the cause."""

    def __init__(self, function):
        super().__init__(function)
        stamp = source_stamp(Path(function.__code__.co_filename).parent)
        self._cache_file = _KernelFiles(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        with _warn_on_error(f"read the compiled code in {self.cache_path}"):
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig, data):
        with _warn_on_error(f"write compiled code to {self.cache_path}"):
            super().save_overload(sig, data)


def _enable_caching(compiled, function):
    """Cache a kernel on disk if there is a writable folder."""
    with _warn_on_error("cache compiled code on disk"):
        compiled._cache = _KernelCache(function)


def kernel(**options):
    """Decorate a kernel that Python calls.

    The disk cache lets a second process start in a fraction of a second.  Kernels release the GIL, so threads
    run them in parallel.  With NumPy's error model a division compiles to a plain division.
    """

    def decorate(function):
        compiled = njit(nogil=True, error_model="numpy", **options)(function)
        _functions.add(function)
        _enable_caching(compiled, function)
        return compiled

    return decorate


# For kernels that allocate nothing.  They are compiled without reference counting, which makes up most of the
# code of a short function, and for which threads sharing an array would contend.
outer_kernel = partial(kernel, _nrt=False, no_cfunc_wrapper=True)

# For kernels called only by other kernels.
inner_kernel = partial(outer_kernel, no_cpython_wrapper=True)

# For kernels inlined into their callers.  A call would pass every field of every array, which takes longer than
# the work on a few rows.
inlined_kernel = partial(inner_kernel, forceinline=True)

# For kernels with few callers that mainly pass arrays on.  Their statements become the caller's before types
# are inferred, which saves an eighth of the compile time.  For kernels with loops it would take longer.
merged_kernel = partial(inner_kernel, inline="always")


def callback(signature):
    """Decorate a C callback and compile it immediately."""

    def decorate(function):
        compiled = CFunc(function, normalize_signature(signature), locals={}, options={})
        _enable_caching(compiled, function)
        compiled.compile()
        return compiled

    return decorate
