"""What a run would do, and about how long it would take, without running it."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .cell import run_cell
from .datasets import Dataset, draw_rows
from .jobs import Job
from .noise_spec import NO_NOISE
from .planning import Plan
from .store import Outcome

FEWEST_ROWS = 250
# A trial on a part of the rows is telling when it takes so long; after some time of trials there are no more.
TELLING_SECONDS = 0.3
PATIENCE_SECONDS = 30.0
KNOWN_FROM = {
    "store": "the times of earlier cells",
    "trial": "quick fits on a part of the rows",
    "others": "what the other models take",
}


@dataclass(frozen=True)
class Pair:
    """The cells of one model on one data set.

    Attributes
    ----------
    dataset, model : str
    cells, finished, failed, pending : int
        All; those that are used again; those of the pending ones that failed before; those to be fitted.
    seconds : float or None
        Of a cell, about; None if there is none to be fitted, or if nothing tells.
    known_from : {"store", "trial", "others"} or None
        Earlier cells, a fit on a part of the rows, or the mean of the other pairs, where time was short.
    error : str or None
        What the trial ended in.
    """

    dataset: str
    model: str
    cells: int
    finished: int
    failed: int
    pending: int
    seconds: float | None = None
    known_from: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Forecast:
    """All pairs of a run, in its order, and how many cells are fitted side by side."""

    pairs: list[Pair]
    n_jobs: int

    @property
    def seconds(self) -> float | None:
        """Of the whole run, about; None if nothing tells."""
        pending = [(pair.pending, pair.seconds) for pair in self.pairs if pair.pending]
        known = [(cells, seconds) for cells, seconds in pending if seconds is not None]
        if not known:
            return None if pending else 0.0
        work = sum(cells * seconds for cells, seconds in known)
        return max(work / self.n_jobs, *(seconds for _, seconds in known))


def forecast(plan: Plan, n_jobs: int) -> Forecast:
    """Count the cells of every pair of a model and a data set, and estimate the seconds of one.

    By the times of finished cells where there are any, otherwise by fits on more and more of the rows, from
    whose growth the time of a fit on all of them is guessed.
    """
    jobs: dict[tuple[str, str], dict[str, Job]] = defaultdict(dict)
    for key, job in plan.cells.items():
        jobs[job.dataset, job.model.name][key] = job
    pairs = [_counted(names, cells, plan) for names, cells in jobs.items()]
    end = time.monotonic() + PATIENCE_SECONDS
    for i, pair in enumerate(pairs):
        if pair.pending and pair.seconds is None and time.monotonic() < end:
            job = next(iter(jobs[pair.dataset, pair.model].values()))
            seconds, error = _try(job, plan.datasets[pair.dataset], plan.allowed)
            known_from = None if seconds is None else "trial"
            pairs[i] = dataclasses.replace(pair, seconds=seconds, known_from=known_from, error=error)
    known = [pair.seconds for pair in pairs if pair.seconds is not None]
    return Forecast([_like_others(pair, known) for pair in pairs], n_jobs)


def _counted(names: tuple[str, str], cells: Iterable[str], plan: Plan) -> Pair:
    counts = Counter(
        "finished" if key in plan.finished else "failed" if _has_failed(plan.stored.get(key)) else "new"
        for key in cells
    )
    times = [_seconds(plan.stored[key]) for key in cells if key in plan.stored and plan.stored[key].is_score]
    pair = Pair(
        *names,
        cells=counts.total(),
        finished=counts["finished"],
        failed=counts["failed"],
        pending=counts["failed"] + counts["new"],
    )
    return (
        dataclasses.replace(pair, seconds=fmean(times), known_from="store") if times and pair.pending else pair
    )


def _has_failed(outcome: Outcome | None) -> bool:
    return outcome is not None and not outcome.is_score


def _seconds(outcome: Outcome) -> float:
    return (outcome.fit_seconds or 0.0) + (outcome.predict_seconds or 0.0)


def _try(job: Job, dataset: Dataset, allowed: frozenset[str]) -> tuple[float | None, str | None]:
    """About how long a cell takes, or the error that it ends in."""
    rate, noise = NO_NOISE
    job = dataclasses.replace(job, noise=noise, noise_rate=rate, stratify=False)
    groups = dataset.y if dataset.is_test is None else dataset.y + dataset.classes.size * dataset.is_test
    n_rows, n_all = max(FEWEST_ROWS, 8 * np.unique(groups).size), dataset.y.size
    before: tuple[int, float] | None = None
    while True:
        n_rows = min(n_rows, n_all)
        outcome = run_cell(job, _part(dataset, draw_rows(groups, n_rows, dataset.name)), allowed)
        if outcome.error is not None:
            return None, outcome.error
        seconds = _seconds(outcome)
        if n_rows == n_all or seconds >= TELLING_SECONDS:
            break
        before = n_rows, seconds
        n_rows *= 4
    growth = 1.0
    if before is not None and before[1] > 0:
        growth = float(np.clip(np.log(seconds / before[1]) / np.log(n_rows / before[0]), 1.0, 3.0))
    return seconds * (n_all / n_rows) ** growth, None


def _part(dataset: Dataset, rows: np.ndarray) -> Dataset:
    is_test = None if dataset.is_test is None else dataset.is_test[rows]
    return dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows], is_test=is_test)


def _like_others(pair: Pair, known: list[float]) -> Pair:
    if not pair.pending or pair.seconds is not None or pair.error is not None or not known:
        return pair
    return dataclasses.replace(pair, seconds=fmean(known), known_from="others")


def rendered(forecast: Forecast) -> Group:
    """A line for each pair, ready to print."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("data set", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("cells", "finished", "failed before", "to run", "a cell takes"):
        table.add_column(heading, justify="right")
    for pair in forecast.pairs:
        takes = "" if pair.seconds is None else in_words(pair.seconds)
        counts = map(str, (pair.cells, pair.finished, pair.failed, pair.pending))
        table.add_row(Text(pair.dataset), Text(pair.model), *counts, takes)
    errors = [
        Text(f"{pair.model} on {pair.dataset} fails on a part of the rows: {pair.error[:300]}")
        for pair in forecast.pairs
        if pair.error is not None
    ]
    return Group(table, *errors)


def in_one_line(forecast: Forecast, name: str) -> str:
    """How many cells there are and about how long they take, and how that is known."""
    cells, finished, failed, pending = (
        sum(getattr(pair, count) for pair in forecast.pairs)
        for count in ("cells", "finished", "failed", "pending")
    )
    counts = f"{name}: {cells} cells, {finished} finished, {pending} to run"
    if failed:
        counts += f" ({failed} of them failed before)"
    if forecast.seconds is None or not pending:
        return counts
    sources = Counter(pair.known_from for pair in forecast.pairs if pair.pending)
    told = [words for source, words in KNOWN_FROM.items() if sources[source]]
    side_by_side = "1 cell at a time" if forecast.n_jobs == 1 else f"{forecast.n_jobs} cells side by side"
    about = f"about {in_words(forecast.seconds)} of fits with {side_by_side}"
    return f"{counts}; {about}, going by {' and '.join(told)}"


def in_words(seconds: float) -> str:
    """Seconds with the unit that suits them."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{max(seconds, 0.01):.2g} s"
