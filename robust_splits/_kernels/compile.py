"""Decorators that compile the package's kernels and cache them on disk."""

import gc
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core import config, event
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

from .disk_cache import KernelCache, warn_on_error

NOTICE_SECONDS = 2.0

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("robust_splits needs Numba's compiler; unset NUMBA_DISABLE_JIT")


class _Compiling(event.Listener):
    """Pauses garbage collection while Numba compiles kernels of this package, and tells the user to wait.

    Garbage collection would take a tenth of the time.  The message appears at a terminal once a process has
    compiled for `NOTICE_SECONDS`.  Kernels that cannot be compiled are unlocked.
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
        dispatcher = event.data["dispatcher"]
        is_compiled = (
            tuple(event.data["args"]) in dispatcher.overloads
        )  # `is_failed` of Numba says the opposite
        if not is_compiled and isinstance(dispatcher._cache, KernelCache):
            dispatcher._cache.release_lock()
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


class _OptimisationLevel(event.Listener):
    """Sets LLVM's optimisation level while Numba compiles a kernel with a level of its own.

    The functions that the kernel calls are compiled meanwhile, before it is optimised itself.
    """

    def __init__(self):
        self._settings = []  # those of the user, then those of each function that waits for another

    def on_start(self, event):
        """A function is not on disk and will be compiled."""
        if not self._settings and not _is_kernel(event):
            return
        self._settings.append((config.OPT, config.LOOP_VECTORIZE))
        level = _levels.get(getattr(event.data["dispatcher"], "py_func", None))
        config.OPT, config.LOOP_VECTORIZE = self._settings[0]
        if level is not None and level < config.OPT:
            config.OPT, config.LOOP_VECTORIZE = type(config.OPT)(level), 0

    def on_end(self, _):
        """A function has been compiled, or could not be."""
        if self._settings:
            config.OPT, config.LOOP_VECTORIZE = self._settings.pop()


_levels: dict[Callable[..., Any], int | None] = {}  # of all kernels; None is Numba's default


def _is_kernel(event):
    return getattr(event.data["dispatcher"], "py_func", None) in _levels


_compiling = _Compiling()
# Numba holds a lock while it compiles, so these events come from one thread at a time.
event.register("numba:compile", _compiling)
event.register("numba:compile", _OptimisationLevel())


def _enable_caching(compiled, function):
    """Cache a kernel on disk if there is a writable folder."""
    with warn_on_error("cache compiled code on disk"):
        compiled._cache = KernelCache(function)


def may_be_saved(compiled):
    """Whether a kernel is not on disk, but can be saved there and shared with other processes."""
    cache = getattr(compiled, "_cache", None)
    return sys.platform != "win32" and isinstance(cache, KernelCache) and cache.is_empty()


def kernel(level=None, **options):
    """Decorate a kernel that Python calls.

    The disk cache lets a second process start in a fraction of a second.  Kernels release the GIL, so threads
    run them in parallel.  With NumPy's error model a division compiles to a plain division.

    `level` is LLVM's optimisation level, by default Numba's.  For a kernel that mainly inlines others, which
    have been optimised, level 1 takes less time to compile and gives faster code.
    """

    def decorate(function):
        compiled = njit(nogil=True, error_model="numpy", **options)(function)
        _levels[function] = level
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
# are inferred, which saves an eighth of the compile time.  For kernels that loop over rows it would take
# longer.
merged_kernel = partial(inner_kernel, inline="always")


def callback(signature):
    """Decorate a C callback and compile it immediately."""

    def decorate(function):
        compiled = CFunc(function, normalize_signature(signature), locals={}, options={})
        _enable_caching(compiled, function)
        compiled.compile()
        return compiled

    return decorate
