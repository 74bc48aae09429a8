"""The progress of a run on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


@contextmanager
def show_progress(console: Console, name: str) -> Iterator[Callable[[int, int, int], None]]:
    """A live bar with the time left; plain lines, one for each tenth, where there is no terminal.

    Yields
    ------
    callable
        ``progress(done, failed, total)``.
    """
    if not console.is_terminal:
        shown = -1

        def print_line(done: int, failed: int, total: int) -> None:
            nonlocal shown
            tenth = 10 * done // total if total else 10
            if tenth > shown:
                shown = tenth
                console.print(Text(f"{name}: {done} of {total} cells done, {failed} failed"))

        yield print_line
        return

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cells, {task.fields[failed]} failed", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        # Cells differ much in length; the whole run tells more than the last half minute.
        TimeRemainingColumn(),
        console=console,
        speed_estimate_period=3600,
    )
    with bar:
        task = bar.add_task(name, total=None, failed=0)

        def update(done: int, failed: int, total: int) -> None:
            if bar.tasks[0].total is None:
                # Cells found finished say nothing of the speed.
                bar.reset(task, total=total, completed=done, failed=failed)
            bar.update(task, total=total, completed=done, failed=failed)

        yield update
