"""Quiet display of the command `noisyeval`, and what all displays print with."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

from .._wording import numbered
from ..errors import printable

if TYPE_CHECKING:  # these take long to load, and an error in the config should show at once
    import pandas as pd

    from ..bundles.verification import Verification
    from ..execution.forecast import Forecast
    from ..execution.plan import Plan, Progress
    from ..execution.run import Run
    from ..papers.published_comparison import PublishedComparison


class Display:
    """Quiet display: prints errors and the location of the results only.  Base class of the other displays.

    It is a context manager around a run, and the run calls it with its `Progress`.

    Parameters
    ----------
    name : str
        Name of the run.
    """

    def __init__(self, name: str) -> None:
        self.name = printable(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def __call__(self, progress: Progress) -> None:
        """Show the start of a run, or a finished cell."""

    def show_warning(self, message: str) -> None:
        """Show a warning."""

    def show_merge(self, n_cells: int) -> None:
        """Show how many cells were merged from other stores."""

    def show_error(self, message: str) -> None:
        """Show why the run failed, one problem per line."""
        for line in message.splitlines():
            self._write_line(f"noisyeval: error: {line}")

    def show_interruption(self, command: str, reason: str = "Interrupted", kept: str = "cells") -> None:
        """Show that the command was stopped, why, what is kept, and the command that resumes it."""
        self._write_line("")
        self._write_line(f"{reason}. Finished {kept} are kept; resume with: {command}")

    def show_starter(self, path: Path, hint: str) -> None:
        """Show the path of a new starter config, and a hint on how to use it."""
        print_out(f"Wrote {path}; {hint}")

    def show_step(self, name: str) -> None:
        """Show what is being made."""

    def show_fetched(self, folder: Path, datasets: pd.DataFrame) -> None:
        """Show how many data sets with real noise are in a folder."""
        n_open = (datasets["licence"] == "not stated").sum()
        columns = numbered(sum(map(len, datasets["noisy"])), "column")
        sets, domains = numbered(len(datasets), "data set"), numbered(datasets["domain"].nunique(), "domain")
        print_out(
            f"{sets} of {domains}, with {columns} of noisy labels, are in {folder}; SOURCES.md there says "
            f"who gave the labels, and what to cite. The sources of {n_open} state no licence."
        )

    def show_file(self, path: Path) -> None:
        """Show the path of a file."""
        print_out(str(path))

    def show_bundle(self, path: Path) -> None:
        """Show the path of a bundle."""
        print_out(f"Wrote {path}; others can verify it with: noisyeval --verify {path.name}")

    def show_verification(self, verification: Verification) -> None:
        """Show whether the scores of a bundle could be reproduced."""
        print_out(str(verification))

    def show_forecast(self, plan: Plan, forecast: Forecast) -> None:
        """Show what would run."""
        from .forecast_text import summary_line

        print_out(summary_line(forecast, self.name))

    def show_results(self, run: Run, files: list[Path]) -> None:
        """Show the results of a finished run, or where they are."""
        from ..metrics.outcome import missing_cells

        if cells := missing_cells(run.scores):
            self._write_line(f"noisyeval: {cells.describe()}; see the errors in scores.csv")
        print_out(location_of(run))

    def show_published(self, comparison: PublishedComparison) -> None:
        """Show a comparison with published numbers."""

    def _write_line(self, line: str) -> None:
        sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()


def location_of(run: Run) -> str:
    """The last line of the output: where the results and the report are."""
    return f"Results are in {run.config.output_dir}; open {run.report_path} to view them"


def output_console() -> Console:
    """Console of the standard output, whose lines are unlimited if it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)


def print_out(content: str | RenderableType) -> None:
    """Print text or a rich renderable, without control characters except styles and line ends.

    Names and errors come from configs, data files and stores, which may contain terminal control sequences.
    """
    if isinstance(content, str):
        text = f"{_printable_lines(content)}\n"
    else:
        console = output_console()
        segments = (Segment(_printable_lines(text), style) for text, style, _ in console.render(content))
        # Captured, since rich ends the process if the output is a closed pipe.
        with console.capture() as capture:
            console.print(Segments(segments), end="")
        text = capture.get()
    sys.stdout.write(text)
    sys.stdout.flush()


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
