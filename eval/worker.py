"""What a worker process does beside fitting: leave Ctrl-C to its parent, and end when its parent does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

SECONDS_BETWEEN_LOOKS = 1.0

_prepared = False


def prepare() -> None:
    """Prepare this process for cells, once; nothing where it is not a worker."""
    global _prepared
    parent = multiprocessing.parent_process()
    if _prepared or parent is None:
        return
    _prepared = True
    # Ctrl-C reaches every process of the terminal; the one that started the workers ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Not getppid(): the parent may have been killed already.
    threading.Thread(target=_end_with, args=(parent.pid,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process, in the middle of a fit too, when `parent` was killed and could not say so."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
