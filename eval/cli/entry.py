"""Entry points of the commands.

Ctrl-C while modules are imported ends a command in one line.  This module imports almost nothing itself.
"""

import importlib
import os
import signal

INTERRUPTED = 130  # exit status, as in `command`, which imports click


def noisyeval() -> None:
    """Run `noisyeval`."""
    _run("noisyeval", "main")


def noisyaudit() -> None:
    """Run `noisyaudit`."""
    _run("noisyaudit", "audit")


def _run(name: str, module: str) -> None:
    handler = signal.getsignal(signal.SIGINT)
    is_usual = handler is signal.default_int_handler  # not ignored, as nohup sets it
    if is_usual:
        # An exception in the middle of an import could be replaced by one of the library.
        signal.signal(signal.SIGINT, _exit)
    command = importlib.import_module(f".{module}", __package__).main
    if is_usual:
        signal.signal(signal.SIGINT, handler)
    command(prog_name=name)


def _exit(*_: object) -> None:
    os.write(2, b"Interrupted\n")
    os._exit(INTERRUPTED)
