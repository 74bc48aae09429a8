"""What a run says while it goes on and when it ends: to somebody at a terminal, or to a script."""

from __future__ import annotations

import html
import json
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich import progress as bars
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from ..errors import printable

if TYPE_CHECKING:  # to say that a file is no config must not take as long as to load all this
    from ..config.run import Config
    from ..execution.forecast import Forecast
    from ..execution.plan import Progress
    from ..execution.run_record import Run
    from .leaders import Leaders

SECONDS_BETWEEN_LEADERS = 1.0
SECONDS_BETWEEN_BARS = 0.25


class Display:
    """Says nothing but what went wrong and where results are; the base of those that say more.

    Use it as a context manager while a run goes on, and call it with the run's `Progress`.

    Parameters
    ----------
    name : str
        Of the run.
    """

    def __init__(self, name: str) -> None:
        self.name = printable(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        pass

    def __call__(self, progress: Progress) -> None:
        """Take notice of the start of a run, or of a cell."""

    def warn(self, message: str) -> None:
        """What may be a mistake of the user."""

    def took_over(self, n_cells: int) -> None:
        """So many cells came from other stores."""

    def refuse(self, message: str) -> None:
        """Why nothing was run, or not all: one line per problem."""
        for line in message.splitlines():
            self._say(f"noisyeval: error: {line}")

    def interrupted(self, again: str, what: str = "Interrupted") -> None:
        """The run was stopped, by `what`; `again` is the command that goes on."""
        self._say("")
        self._say(f"{what}. What was finished is kept; go on with: {again}")

    def wrote(self, path: Path, hint: str) -> None:
        """A starter config was written; `hint` says what to do with it."""
        _print(f"Wrote {path}; {hint}")

    def foretell(self, config: Config, forecast: Forecast) -> None:
        """What would run."""
        from .forecast_text import in_one_line

        _print(in_one_line(forecast, self.name))

    def end(self, run: Run, files: list[Path]) -> None:
        """The run is over."""
        from ..metrics.outcome import lacking

        if cells := lacking(run.scores):
            self._say(f"noisyeval: {cells.told()}; scores.csv says why")
        _print(_where(run))

    def _say(self, line: str) -> None:
        sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()


class Lines(Display):
    """A line for each tenth of the cells, for where there is no terminal; at the end the tables."""

    _tenth = -1

    def __call__(self, progress: Progress) -> None:
        """Say it when a tenth more is done."""
        done, total = progress.done, progress.total
        tenth = 10 * done // total if total else 10
        if tenth > self._tenth:
            self._tenth = tenth
            self._say(f"{self.name}: {done} of {total} cells done, {progress.failed} failed")

    def warn(self, message: str) -> None:
        """What may be a mistake of the user."""
        self._say(f"noisyeval: warning: {message}")

    def took_over(self, n_cells: int) -> None:
        """So many cells came from other stores."""
        self._say(f"noisyeval: {n_cells} cells taken over")

    def foretell(self, config: Config, forecast: Forecast) -> None:
        """A line for each model and data set, and the whole."""
        from .forecast_text import rendered

        _print(rendered(forecast))
        super().foretell(config, forecast)

    def end(self, run: Run, files: list[Path]) -> None:
        """The tables, and what failed."""
        from .text_tables import summary

        _print(summary(run.config, run.scores, _console().width))
        _print(_where(run))


class Bar(Lines):
    """A bar with the time that is left, and the leaders; for a terminal."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._bar = _BarWithLeaders(
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TextColumn("cells, {task.fields[failed]} failed, {task.fields[cached]} cached", markup=False),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left"),
            # Cells differ much in length; the whole run tells more than the last half minute.
            bars.TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False),
            speed_estimate_period=3600,
        )
        self._task = self._bar.add_task(self.name, total=None, failed=0, cached=0)
        self._leaders: Leaders | None = None
        self._last_look = -SECONDS_BETWEEN_LEADERS

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Move the bar, and now and then look who leads."""
        from .leaders import Leaders

        state: Any = {"completed": progress.done, "failed": progress.failed, "cached": progress.cached}
        if self._leaders is None:
            self._leaders = Leaders(progress)
            # Cells found finished say nothing of the speed.
            self._bar.reset(self._task, total=progress.total, **state)
        elif progress.key is not None and progress.outcome is not None:
            self._leaders.add(progress.key, progress.outcome)
        self._bar.update(self._task, **state)
        now = time.monotonic()
        if progress.done == progress.total or now - self._last_look >= SECONDS_BETWEEN_LEADERS:
            self._last_look = now
            best = printable(", ".join(f"{model} {loss:.3f}" for model, loss in self._leaders.best()))
            self._bar.leaders = f"lowest mean ELA so far: {best}" if best else ""


class _BarWithLeaders(bars.Progress):
    leaders = ""

    def get_renderables(self) -> Any:
        yield from super().get_renderables()
        if self.leaders:
            yield Text(self.leaders, no_wrap=True, overflow="ellipsis")


class Notebook(Display):
    """A bar in the output of a notebook's cell; rich would need ipywidgets for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._output: Any = None
        self._last_look = 0.0

    def __call__(self, progress: Progress) -> None:
        """Draw the bar, now and then."""
        from IPython.display import display

        now, done = time.monotonic(), progress.done == progress.total
        if self._output is None and done:  # all was there before
            return
        if self._output is not None and not done and now - self._last_look < SECONDS_BETWEEN_BARS:
            return
        self._last_look = now
        text = f"{self.name}: {progress.done} of {progress.total} cells done, {progress.failed} failed"
        bar = f'<progress value="{progress.done}" max="{progress.total}"></progress> {html.escape(text)}'
        content = {"text/plain": text, "text/html": bar}
        if self._output is None:
            self._output = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._output.update(content, raw=True)


class Events(Display):
    """A JSON object on a line of its own for each event, for scripts."""

    def __call__(self, progress: Progress) -> None:
        """The events start and cell."""
        counts = {"done": progress.done, "failed": progress.failed, "total": progress.total}
        from ..metrics.registry import RANGES

        job, outcome = progress.job, progress.outcome
        if job is None or outcome is None:
            self._write("start", run=self.name, cached=progress.cached, **counts)
            return
        self._write(
            "cell",
            **counts,
            dataset=job.dataset,
            noise_kind=job.noise_kind,
            noise_rate=job.noise_rate,
            realised_rate=outcome.scores.get("realised_rate"),
            repeat=job.repeat,
            model=job.model.name,
            **{name: outcome.scores.get(name) for name in RANGES if name != "realised_rate"},
            error=outcome.error,
        )

    def warn(self, message: str) -> None:
        """The event warning."""
        self._write("warning", message=message)

    def took_over(self, n_cells: int) -> None:
        """The event merged."""
        self._write("merged", cells=n_cells)

    def refuse(self, message: str) -> None:
        """The event error, one for each problem."""
        for line in message.splitlines():
            self._write("error", message=line)

    def interrupted(self, again: str, what: str = "Interrupted") -> None:
        """The event interrupted."""
        self._write("interrupted", resume_with=again)

    def wrote(self, path: Path, hint: str) -> None:
        """The event written."""
        self._write("written", file=str(path))

    def foretell(self, config: Config, forecast: Forecast) -> None:
        """The event plan."""
        pairs = [vars(pair) for pair in forecast.pairs]
        whole = {"seconds": forecast.seconds, "at_least": forecast.at_least}
        self._write("plan", run=self.name, **whole, jobs=forecast.n_jobs, pairs=pairs)

    def end(self, run: Run, files: list[Path]) -> None:
        """The event end."""
        from ..metrics.outcome import lacking
        from .text_tables import table_of

        config, scores = run.config, run.scores
        tables = {
            name: json.loads(table_of(name, config, scores).to_json(orient="records")) for name in config.tables
        }
        cells = lacking(scores)
        self._write(
            "end",
            failed=cells.n_failed,
            not_fitted=cells.n_not_fitted,
            results_dir=str(config.output_dir),
            report=str(run.report_path),
            files=list(map(str, files)),
            tables=tables,
        )

    def _write(self, event: str, **content: Any) -> None:
        _print(json.dumps({"event": event, **content}, allow_nan=False))


def display(name: str, *, quiet: bool = False, as_json: bool = False) -> Display:
    """The display of a run: JSON lines, nothing but the needful, a bar on a terminal, or plain lines."""
    if as_json:
        return Events(name)
    if quiet:
        return Display(name)
    return Bar(name) if Console(stderr=True).is_terminal else Lines(name)


def display_in_python(name: str) -> Display:
    """The display of a run in Python: a bar in a notebook or on a terminal, otherwise nothing."""
    console = Console(stderr=True)
    if console.is_jupyter:
        return Notebook(name)
    return Bar(name) if console.is_terminal else Display(name)


def _where(run: Run) -> str:
    """The last line: where results are, and the page that shows them."""
    return f"Results are in {run.config.output_dir}; to look at them, open {run.report_path}"


def _console() -> Console:
    # Where the output is no terminal, nothing limits a line.
    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)


def _print(what: str | RenderableType) -> None:
    """Print text, or what rich draws: but for the styles and the ends of lines, only printable characters.

    Names and errors come from configs, data files and stores, which may hold what controls a terminal.
    """
    if isinstance(what, str):
        text = f"{_printable_lines(what)}\n"
    else:
        console = _console()
        segments = (Segment(_printable_lines(text), style) for text, style, _ in console.render(what))
        # Printed by itself, the console would end the process where nobody reads the output.
        with console.capture() as capture:
            console.print(Segments(segments), end="")
        text = capture.get()
    sys.stdout.write(text)
    sys.stdout.flush()


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))
