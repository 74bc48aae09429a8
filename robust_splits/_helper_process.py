"""A second process that compiles kernels during the first fit.

Both processes save what they compile on disk, and each waits for a kernel that the other is compiling.  The
helper begins with the kernels that the fit needs last, so they meet in the middle.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np

from ._kernels import grower
from ._kernels.compile import may_be_saved

# The kernels that a fit needs depend on whether it searches all thresholds by gini, all by another criterion,
# or draws them at random.
Search = Literal["gini", "other", "random"]

PROGRAM = f"{__package__}._compile_ahead"
_first_call = threading.Lock()  # acquired by the first call, never released


def start_helper(search: Search, dtype: np.dtype[Any]) -> None:
    """Start a process that compiles kernels for a fit, unless they are on disk or this was called before.

    Parameters
    ----------
    search : {"gini", "other", "random"}
    dtype : dtype
        That of the rows, float32 or float64.
    """
    if not _first_call.acquire(blocking=False) or not may_be_saved(grower.expand):
        return
    if joblib.cpu_count() == 1 or not _is_interpreter(sys.executable):
        return
    with suppress(OSError):  # this process will compile all kernels
        # '' is this working directory.  Both processes must import the same files.
        folders = [folder or str(Path.cwd()) for folder in sys.path if isinstance(folder, str)]
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", PROGRAM, search, dtype.name],
            stdin=subprocess.PIPE,  # closed when this process ends, which ends the other
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
        )
        threading.Thread(target=_wait, args=[process], daemon=True).start()


def _is_interpreter(executable: str | None) -> bool:
    """Whether a program is Python's interpreter, and not one in which Python is embedded or frozen."""
    return executable is not None and Path(executable).name.startswith("python") and not hasattr(sys, "frozen")


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process to end, so that no zombie is left, and close its pipe."""
    with process:
        process.wait()
