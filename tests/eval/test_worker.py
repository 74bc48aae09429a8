import os
import signal
import subprocess
import sys
import time

from boostnoise.eval import worker

CODE = """
import os, signal, time, joblib
from boostnoise.eval import worker

def busy():
    worker.prepare()
    print(os.getpid(), signal.getsignal(signal.SIGINT) is signal.SIG_IGN, flush=True)
    time.sleep(600)

joblib.Parallel(n_jobs=2)(joblib.delayed(busy)() for _ in range(2))
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_leave_ctrl_c_to_their_parent_and_end_with_it():
    parent = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True)
    lines = [parent.stdout.readline().split() for _ in range(2)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert [ignores for _, ignores in lines] == ["True", "True"]
    workers = [int(pid) for pid, _ in lines]
    deadline = time.monotonic() + 30
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, workers))


def test_nothing_changes_outside_of_workers():
    before = signal.getsignal(signal.SIGINT)
    worker.prepare()
    assert signal.getsignal(signal.SIGINT) is before
