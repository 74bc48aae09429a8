"""What a command of ours ends with, whatever becomes of its output."""

from __future__ import annotations

import errno
import faulthandler
import io
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

DONE, SOME_CELLS_FAILED, BAD_USAGE, OUT_OF_TIME, INTERRUPTED, NOBODY_READS = 0, 1, 2, 124, 130, 141

SECONDS_TO_STOP = 10.0  # that a run takes at most to come to its end in order

# Files of the working directory that libraries read without being asked, and from which they run code.
READ_BY = {".numba_config.yaml": "Numba", "matplotlibrc": "Matplotlib"}


class Command(click.Command):
    """A command whose output may end in a full disk or a closed pipe, or be closed from the start."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command."""
        _open_closed_streams()
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the command line, and answer --help and the like."""
        with _one_line_for_output():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Do what is asked for."""
        check_working_directory()
        with _one_line_for_output():
            return super().invoke(ctx)


def _open_closed_streams() -> None:
    """Connect standard streams that are closed to nothing, so that no other file gets their descriptor."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


class OutOfTime(KeyboardInterrupt):
    """The time is up that the command was given; it ends as if it were interrupted."""


@contextmanager
def stopped_after(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` after so many seconds; again later, for a library may have swallowed it."""

    def stop(*_: object) -> None:
        raise OutOfTime

    if seconds is None:
        yield
        return
    signal.signal(signal.SIGALRM, stop)
    with Path(os.devnull).open("w") as nowhere:
        # Compiled code may never return to Python, or not for long.  Then this ends the process all the same.
        faulthandler.dump_traceback_later(seconds + 2 * SECONDS_TO_STOP, exit=True, file=nowhere)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, SECONDS_TO_STOP)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()


def limit_memory(gib: float) -> None:
    """Limit the memory of this process, and of each that it starts; Linux then refuses them more."""
    limit, (_, hard) = int(gib * 2**30), resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def check_working_directory() -> None:
    """Refuse a working directory in which a library would find code to run.

    Raises
    ------
    click.UsageError
    """
    for name, library in READ_BY.items():
        if os.path.lexists(name):
            raise click.UsageError(
                f"the working directory holds {name}, from which {library} takes settings that can run code; "
                "move it away, or run noisyeval in another directory"
            )


@contextmanager
def _one_line_for_output() -> Iterator[None]:
    """End with one line where the output, or anything else of the system, fails."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the encoding of the output lacks must not end a run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
    except OSError as error:
        what = "nobody reads the output" if error.errno == errno.EPIPE else error.strerror or str(error)
        if error.filename is not None:
            what += f": {error.filename}"
        with suppress(OSError):
            click.echo(f"noisyeval: error: {what}; what was finished is kept", err=True)
        # At its end Python would try again to write what is left of the output, and complain.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(NOBODY_READS if error.errno == errno.EPIPE else BAD_USAGE)
