"""What a command of ours ends with, whatever becomes of its output."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

DONE, SOME_CELLS_FAILED, BAD_USAGE, INTERRUPTED, NOBODY_READS = 0, 1, 2, 130, 141


class Command(click.Command):
    """A command whose output may end in a full disk or a closed pipe."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the command line, and answer --help and the like."""
        with _one_line_for_output():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Do what is asked for."""
        with _one_line_for_output():
            return super().invoke(ctx)


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
