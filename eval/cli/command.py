"""Base class of the command, exit statuses, and limits of time and memory."""

from __future__ import annotations

import errno
import faulthandler
import io
import math
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import click

DONE, SOME_CELLS_FAILED, BAD_USAGE, OUT_OF_TIME, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 124, 130, 141

STOP_SECONDS = 10.0  # for a run to stop in good order

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# Files that libraries read from the working directory, and that can execute code.
READ_BY = {".numba_config.yaml": "Numba", "matplotlibrc": "Matplotlib"}


class Command(click.Command):
    """Command that handles full disks, broken pipes and closed standard streams."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command."""
        _open_closed_streams()
        return super().main(*args, **options)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse the command line, and handle --help and similar options."""
        with _output_errors_in_one_line(self.name):
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the function of the command."""
        check_working_directory()
        with _output_errors_in_one_line(self.name):
            return super().invoke(ctx)


class NumberRange(click.FloatRange):
    """Numbers of a range, without NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a value; NaN is in any range for click."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def echo(text: str, *, is_error: bool = False) -> None:
    """Print text of users and libraries with visible control characters."""
    from ..errors import printable

    for line in text.splitlines():
        click.echo(printable(line), err=is_error)


def _open_closed_streams() -> None:
    """Connect closed standard streams to the null device, so that no other file gets their descriptors."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


@contextmanager
def reraise_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt again if a library has replaced it by another error, as some do on import."""
    handlers = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(handler := signal.getsignal(number))  # neither ignored nor the system's
    }
    seen = []

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, note)
    try:
        yield
    except Exception:
        if seen:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def limit_options(memory_help: str, time_help: str) -> Callable[[Any], Any]:
    """Decorator that adds the options --max-memory and --max-time; see `limit_memory` and `time_limit`."""
    memory, seconds = NumberRange(min=0.5, max=1e6), NumberRange(min=0, min_open=True, max=1e8)
    add_memory = click.option("--max-memory", type=memory, metavar="GIB", help=memory_help)
    add_time = click.option("--max-time", type=seconds, metavar="SECONDS", help=time_help)
    return lambda command: add_memory(add_time(command))


def out_of_memory(max_memory: float | None) -> str:
    """Message for a MemoryError."""
    return "out of memory" + (f"; --max-memory is {max_memory:g} GiB" if max_memory else "")


class OutOfTime(KeyboardInterrupt):
    """The command has reached its time limit.  It ends as if interrupted."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` after a time, and repeatedly after that, because a library may swallow it."""

    def stop(*_: object) -> None:
        raise OutOfTime

    if seconds is None:
        yield
        return
    signal.signal(signal.SIGALRM, stop)
    with Path(os.devnull).open("w") as devnull:
        # Ends the process even if compiled code does not return to Python.
        faulthandler.dump_traceback_later(seconds + 2 * STOP_SECONDS, exit=True, file=devnull)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, STOP_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()


def limit_memory(gib: float) -> None:
    """Limit the memory of this process and of each process that it starts.  Only Linux enforces the limit."""
    limit, (_, hard) = int(gib * 2**30), resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


@contextmanager
def within_limits(
    command: str, max_memory: float | None, max_time: float | None, hint: str = ""
) -> Iterator[None]:
    """Run a command within its limits; report errors and interrupts in one line, and exit.

    Parameters
    ----------
    command : str
        Beginning of error messages.
    max_memory : float or None
        In GiB.
    max_time : float or None
        In seconds.
    hint : str, default=""
        End of the message after an interrupt.
    """
    from ..errors import ConfigError

    if max_memory is not None:
        limit_memory(max_memory)
    try:
        with time_limit(max_time), reraise_interrupts():
            yield
    except ConfigError as error:
        for line in str(error).splitlines():
            echo(f"{command}: error: {line}", is_error=True)
        sys.exit(BAD_USAGE)
    except MemoryError:
        echo(f"{command}: error: {out_of_memory(max_memory)}", is_error=True)
        sys.exit(BAD_USAGE)
    except OutOfTime:
        echo(f"Stopped after {max_time:g} s", is_error=True)
        sys.exit(OUT_OF_TIME)
    except KeyboardInterrupt:
        echo(f"Interrupted{hint}", is_error=True)
        sys.exit(INTERRUPTED)


def check_working_directory() -> None:
    """Reject a working directory with a file from which a library would execute code.

    Raises
    ------
    click.UsageError
    """
    for name, library in READ_BY.items():
        if os.path.lexists(name):
            raise click.UsageError(
                f"the working directory contains {name}, which {library} reads and which can execute code; "
                "move the file away, or run the command in another directory"
            )


@contextmanager
def _output_errors_in_one_line(command: str | None) -> Iterator[None]:
    """Report errors of the output, other errors of the system, and an interrupt in one line and exit."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the output's encoding lacks must not stop a run.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with reraise_interrupts():
            yield
    except KeyboardInterrupt:  # before the command handles it
        click.echo("Interrupted", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        is_closed = error.errno == errno.EPIPE
        message = "output closed (broken pipe)" if is_closed else error.strerror or str(error)
        if error.filename is not None:
            message += f": {error.filename}"
        keeps_cells = command == "noisyeval"
        if keeps_cells or not is_closed:  # else quietly, as a command before `head` should
            with suppress(OSError):
                hint = "; finished cells are kept" if keeps_cells else ""
                click.echo(f"{command}: error: {message}{hint}", err=True)
        # At exit, Python flushes the rest of the output, which would print another error.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE if is_closed else BAD_USAGE)
