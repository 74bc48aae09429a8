"""Processes that answer requests, so that libraries do not meet, and may have environments of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

Record = dict[str, Any]


def serve(answer: Callable[[Record], Record]) -> None:
    """Answer each line of JSON on standard input with another on standard output."""
    for line in sys.stdin:
        say(json.dumps(answer(json.loads(line))))


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def worker(*command: str, python: str = sys.executable, **environment: str) -> Iterator[Callable[..., Record]]:
    """Start a process that calls `serve`; what it gives sends keywords as a request and returns the answer."""
    with subprocess.Popen(  # noqa: S603
        [python, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    ) as process:
        requests, answers = cast(IO[str], process.stdin), cast(IO[str], process.stdout)

        def ask(**request: Any) -> Record:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            if answer := answers.readline():
                return cast(Record, json.loads(answer))
            raise RuntimeError(f"{' '.join(command)} ended; its error is above")

        yield ask
