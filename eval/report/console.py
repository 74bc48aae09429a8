"""Displays of the progress of a run: bar on a terminal, plain lines, notebook."""

from __future__ import annotations

import html
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from .._wording import numbered
from ..errors import printable
from .display import Display, location_of, output_console, print_out
from .events import Events

if TYPE_CHECKING:  # these take long to load, and an error in the config should show at once
    from ..execution.forecast import Forecast
    from ..execution.plan import Plan, Progress
    from ..execution.run import Run
    from ..papers.published_comparison import PublishedComparison
    from .leaders import Leaders

SECONDS_BETWEEN_LEADERS = 1.0
SECONDS_BETWEEN_BARS = 0.25


class Lines(Display):
    """Display without a terminal: a line per tenth of the cells, and tables at the end."""

    _tenth = -1

    def show_step(self, name: str) -> None:
        """Print a line."""
        self._write_line(f"noisyeval: {name}")

    def __call__(self, progress: Progress) -> None:
        """Print a line when another tenth of the cells is done."""
        done, total = progress.done, progress.total
        tenth = 10 * done // total if total else 10
        if tenth > self._tenth:
            self._tenth = tenth
            self._write_line(f"{self.name}: {done} of {total} cells done, {progress.failed} failed")

    def show_warning(self, message: str) -> None:
        """Show a warning."""
        self._write_line(f"noisyeval: warning: {message}")

    def show_merge(self, n_cells: int) -> None:
        """Show how many cells were merged from other stores."""
        self._write_line(f"noisyeval: {numbered(n_cells, 'cell')} merged")

    def show_forecast(self, plan: Plan, forecast: Forecast) -> None:
        """Show the data sets, a row for each data set and model, and the total."""
        from ..execution.repeats import repeats_by_dataset
        from .forecast_text import dataset_line, forecast_table, repeats_table

        for dataset in plan.datasets.values():
            print_out(Text(dataset_line(dataset)))
        print_out(forecast_table(forecast))
        print_out(repeats_table(repeats_by_dataset(plan)))
        super().show_forecast(plan, forecast)

    def show_results(self, run: Run, files: list[Path]) -> None:
        """Show what the models were tested on, the tables and the failures."""
        from .text_tables import summary

        print_out(Text(f"{run.config.test_labels}\n"))
        print_out(summary(run.config, run.scores, output_console().width))
        print_out(location_of(run))

    def show_published(self, comparison: PublishedComparison) -> None:
        """Show how many cells are as published, which claims hold, and where all of it is."""
        location = "They are in published.md; published.csv also has the cells that the run lacks"
        if comparison.cells.empty:
            location = "They are in published.md"
        print_out(Text(f"\n{comparison.summary}\n{location}"))


class Bar(Lines):
    """Terminal display: a progress bar with the remaining time, and the leading models."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._bar = _BarWithLeaders(
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("cells, {task.fields[failed]} failed, {task.fields[cached]} cached", markup=False),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            # Cells differ much in time, so the whole run predicts better than the last half minute.
            bars.TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
            speed_estimate_period=3600,
        )
        self._task = self._bar.add_task(self.name, total=None, failed=0, cached=0)
        self._leaders: Leaders | None = None
        self._last_update = -SECONDS_BETWEEN_LEADERS

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Move the bar, and update the leading models from time to time."""
        from .leaders import Leaders

        state: Any = {"completed": progress.done, "failed": progress.failed, "cached": progress.cached}
        if self._leaders is None:
            self._leaders = Leaders(progress)
            # Cached cells do not count towards the speed.
            self._bar.reset(self._task, total=progress.total, **state)
        elif progress.key is not None and progress.outcome is not None:
            self._leaders.add(progress.key, progress.outcome)
        self._bar.update(self._task, **state)
        now = time.monotonic()
        if progress.done == progress.total or now - self._last_update >= SECONDS_BETWEEN_LEADERS:
            self._last_update = now
            best = printable(", ".join(f"{model} {loss:.3f}" for model, loss in self._leaders.best()))
            self._bar.leaders = f"lowest mean ELA so far: {best}" if best else ""


class _BarWithLeaders(bars.Progress):
    leaders = ""

    def get_renderables(self) -> Any:
        yield from super().get_renderables()
        if self.leaders:
            yield Text(self.leaders, no_wrap=True, overflow="ellipsis")


class Notebook(Display):
    """Notebook display: a progress bar in HTML, since rich would need ipywidgets."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._output: Any = None
        self._last_update = 0.0

    def __call__(self, progress: Progress) -> None:
        """Draw the bar from time to time."""
        from IPython.display import display

        now, done = time.monotonic(), progress.done == progress.total
        if self._output is None and done:  # all cells were cached
            return
        if self._output is not None and not done and now - self._last_update < SECONDS_BETWEEN_BARS:
            return
        self._last_update = now
        text = f"{self.name}: {progress.done} of {progress.total} cells done, {progress.failed} failed"
        bar = f'<progress value="{progress.done}" max="{progress.total}"></progress> {html.escape(text)}'
        content = {"text/plain": text, "text/html": bar}
        if self._output is None:
            self._output = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._output.update(content, raw=True)


def create_display(name: str, *, quiet: bool = False, as_json: bool = False) -> Display:
    """Create the display of the command: JSON lines, quiet, a bar on a terminal, or plain lines."""
    if as_json:
        return Events(name)
    if quiet:
        return Display(name)
    return Bar(name) if Console(stderr=True).is_terminal else Lines(name)


def create_python_display(name: str) -> Display:
    """Create the display of a run in Python: a bar in a notebook or on a terminal, otherwise quiet."""
    console = Console(stderr=True)
    if console.is_jupyter:
        return Notebook(name)
    return Bar(name) if console.is_terminal else Display(name)
