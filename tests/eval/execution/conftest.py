import os
import time

import pytest


def _is_alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def _all_end(pids):
    deadline = time.monotonic() + 30
    while any(map(_is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(_is_alive, pids))


@pytest.fixture(scope="session")
def all_end():
    """Waits for the end of processes; whether all have ended within half a minute."""
    return _all_end
