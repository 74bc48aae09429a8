"""Forecasts as text."""

from __future__ import annotations

from collections import Counter

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..execution.forecast import Forecast, Pair

KNOWN_FROM = {
    "store": "the times of earlier cells",
    "trial": "quick fits on a part of the rows",
    "limit": "the time limit",
}


def rendered(forecast: Forecast) -> Group:
    """A line for each pair, ready to print."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("data set", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("cells", "finished", "failed before", "to run", "a cell takes"):
        table.add_column(heading, justify="right")
    for pair in forecast.pairs:
        counts = map(str, (pair.cells, pair.finished, pair.failed, pair.pending))
        table.add_row(Text(pair.dataset), Text(pair.model), *counts, _takes(pair))
    errors = [
        Text(f"{pair.model} on {pair.dataset} fails on a part of the rows: {pair.error[:300]}")
        for pair in forecast.pairs
        if pair.error is not None
    ]
    return Group(table, *errors)


def _takes(pair: Pair) -> str:
    if pair.seconds is None:
        return "" if not pair.pending else "unknown" if pair.error is None else "fails"
    seconds = in_words(pair.seconds)
    if pair.at_least:
        return f"more than {seconds}"
    return f"{seconds} (time limit)" if pair.known_from == "limit" else seconds


def in_one_line(forecast: Forecast, name: str) -> str:
    """How many cells there are and about how long they take, and how that is known."""
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
        return f"{counts}; how long that takes is unknown"
    sources = Counter(pair.known_from for pair in forecast.pairs if pair.pending)
    told = [words for source, words in KNOWN_FROM.items() if sources[source]]
    side_by_side = "1 cell at a time" if forecast.n_jobs == 1 else f"{forecast.n_jobs} cells side by side"
    about = f"{'at least' if forecast.at_least else 'about'} {in_words(forecast.seconds)} of fits"
    return f"{counts}; {about} with {side_by_side}, going by {' and '.join(told)}"


def in_words(seconds: float) -> str:
    """Seconds with the unit that suits them."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{max(seconds, 0.01):.2g} s"
