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
    # At once, for both write to one pipe.
    os.write(1, f"{os.getpid()} {signal.getsignal(signal.SIGINT) is signal.SIG_IGN}\\n".encode())
    time.sleep(600)

joblib.Parallel(n_jobs=2, initializer=worker.prepare)(joblib.delayed(busy)() for _ in range(2))
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


ORPHAN = """
import multiprocessing, os, time
from boostnoise.eval import worker

def late(pipe):
    pipe.send(os.getpid())
    while os.getppid() == multiprocessing.parent_process().pid:
        time.sleep(0.01)
    worker.prepare()
    time.sleep(600)

if __name__ == "__main__":
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.get_context("fork").Process(target=late, args=(theirs,)).start()
    print(ours.recv(), flush=True)
    os._exit(0)
"""


def test_a_worker_that_starts_after_the_end_of_its_parent_ends_too():
    parent = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_alive(pid)


def test_nothing_changes_outside_of_workers():
    before = signal.getsignal(signal.SIGINT)
    worker.prepare()
    assert signal.getsignal(signal.SIGINT) is before
