"""Forecasts as text."""

from __future__ import annotations

from collections import Counter

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._wording import joined, numbered
from ..datasets.dataset import Dataset
from ..errors import printable, shown
from ..execution.forecast import Forecast, Pair
from ..execution.repeats import RepeatsNeeded

SPREAD_FROM = {
    "store": "earlier cells",
    "assumption": "the assumption that two models disagree on a tenth of the test rows",
}
KNOWN_FROM = {
    "store": "the times of earlier cells",
    "trial": "trial fits on part of the rows",
    "limit": "the time limit",
}


def rows_by_class(dataset: Dataset) -> dict[str, int]:
    """Number of rows of each class, in the order of the classes."""
    counts = np.bincount(dataset.y, minlength=dataset.classes.size)
    return {str(label): int(n) for label, n in zip(dataset.classes.tolist(), counts, strict=True)}


def dataset_line(dataset: Dataset) -> str:
    """Size of a data set, and its rows by class, in one line."""
    n_rows, n_features = dataset.X.shape
    counts = rows_by_class(dataset).values()
    classes = joined(
        (f"{shown(label)} {n}" for label, n in zip(dataset.classes.tolist(), counts, strict=True)), 10
    )
    size = f"{numbered(n_rows, 'row')}, {numbered(n_features, 'feature')}"
    if dataset.groups is not None:
        size += f", {numbered(np.unique(dataset.groups).size, 'group')}"
    if dataset.weights is not None:
        size += ", weights"
    return printable(f"{dataset.name}: {size}; rows by class: {classes}")


def forecast_table(forecast: Forecast) -> Group:
    """A row for each data set and model, for rich to print."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("data set", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("cells", "finished", "failed before", "to run", "time per cell"):
        table.add_column(heading, justify="right")
    for pair in forecast.pairs:
        counts = map(str, (pair.cells, pair.finished, pair.failed, pair.pending))
        table.add_row(Text(pair.dataset), Text(pair.model), *counts, _time_per_cell(pair))
    errors = [
        Text(f"{pair.model} on {pair.dataset} failed in a trial fit on part of the rows: {pair.error[:300]}")
        for pair in forecast.pairs
        if pair.error is not None
    ]
    return Group(table, *errors)


def repeats_table(needed: list[RepeatsNeeded]) -> Group:
    """The repeats that show differences on each data set, for rich to print; empty without data sets."""
    if not needed:
        return Group()
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("repeats to show a difference of", overflow="fold")
    for heading in ("test rows", *(f"{difference:g}" for difference in needed[0].repeats)):
        table.add_column(heading, justify="right")
    for row in needed:
        numbers = ("never" if n is None else str(n) for n in row.repeats.values())
        table.add_row(Text(row.dataset), str(row.test_rows), *numbers)
    sources = {row.known_from for row in needed}
    known_from = [text for source, text in SPREAD_FROM.items() if source in sources]
    remark = (
        "Of two models on one data set, by a corrected t-test with α = 5 % and a power of 80 %; estimated from "
        f"{' and '.join(known_from)}."
    )
    return Group(table, Text(remark))


def _time_per_cell(pair: Pair) -> str:
    if pair.seconds is None:
        return "" if not pair.pending else "unknown" if pair.error is None else "fails"
    seconds = duration(pair.seconds)
    if pair.at_least:
        return f"more than {seconds}"
    return f"{seconds} (time limit)" if pair.known_from == "limit" else seconds


def summary_line(forecast: Forecast, name: str) -> str:
    """Numbers of cells, the estimated time, and the source of the estimate, in one line."""
    cells, finished, failed, pending = (
        sum(getattr(pair, count) for pair in forecast.pairs)
        for count in ("cells", "finished", "failed", "pending")
    )
    counts = f"{name}: {cells} cells, {finished} finished, {pending} to run"
    if failed:
        counts += f" ({failed} of them failed before)"
    if not pending:
        return counts
    if forecast.seconds is None:
        return f"{counts}; time unknown"
    sources = Counter(pair.known_from for pair in forecast.pairs if pair.pending)
    known_from = [text for source, text in KNOWN_FROM.items() if sources[source]]
    parallel = f"{numbered(forecast.n_jobs, 'cell')} at a time"
    estimate = f"{'at least' if forecast.at_least else 'about'} {duration(forecast.seconds)} of fits"
    return f"{counts}; {estimate} with {parallel}, estimated from {' and '.join(known_from)}"


def duration(seconds: float) -> str:
    """Format seconds in a suitable unit."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{max(seconds, 0.01):.2g} s"
