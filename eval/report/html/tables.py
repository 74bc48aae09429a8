"""The tables of the report, ready for its template."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval._wording import percent, under_noise
from boostnoise.eval.metrics.outcome import cells_by_error, lacking
from boostnoise.eval.metrics.registry import higher_is_better, label_of, short_label_of
from boostnoise.eval.metrics.robustness import area_under_ela
from boostnoise.eval.statistics.intervals import best_and_overlapping

from .data import Lines, Results
from .styles import heat_steps

MISSING = "–"
MAX_FAILURES = 500  # rows of that table; the one of all cells has every error
HINTS = {True: "higher is better", False: "lower is better"}


class Cell(NamedTuple):
    """A cell with a number.

    Attributes
    ----------
    text : str
    value : float or None
        By which the column is sorted.
    band : str
        Small, below the number.
    best : bool
    step : int
        Of the colour map; -1 for no colour.
    model : int or None
        The model it belongs to, where its row does not say that.
    """

    text: str
    value: float | None = None
    band: str = ""
    best: bool = False
    step: int = -1
    model: int | None = None


class Row(NamedTuple):
    """A row: what it is of, the number of its model if that is what it is of, and its cells."""

    name: str
    model: int | None
    cells: list[Cell]


class Column(NamedTuple):
    """The heading of a column, and the number of its model if it is of one."""

    name: str
    model: int | None = None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    caption : str
    heading : str
        Of the first column.
    columns : list of Column
    rows : list of Row
    kind : int
        The number of its kind of noise.
    rate : int or None
        The number of its noise rate, if it is of one only.
    """

    caption: str
    heading: str
    columns: list[Column]
    rows: list[Row]
    kind: int
    rate: int | None = None


def unbroken_percent(rate: float) -> str:
    """A noise rate that does not break at the end of a line."""
    return percent(rate).replace(" ", "\N{NO-BREAK SPACE}")


def number(value: float, digits: int = 3) -> str:
    """A number of a table."""
    return f"{value:.{digits}f}".replace("-", "−") if math.isfinite(value) else MISSING


def tables_of_averages(results: Results) -> list[Table]:
    """Models by noise rates, averaged over the data sets, for each metric and kind of noise."""
    n = len(results.datasets)
    over = "one data set" if n == 1 else f"mean over {n} data sets"
    return [
        _table_of_lines(results, results.averages[metric][kind], metric, k, over)
        for k, kind in enumerate(results.kinds)
        for metric in results.curves
    ]


def tables_of_dataset(results: Results, dataset: int) -> list[Table]:
    """The same for one data set."""
    return [
        _table_of_lines(
            results, results.by_dataset[metric][kind].of(dataset), metric, k, results.datasets[dataset]
        )
        for k, kind in enumerate(results.kinds)
        for metric in results.curves
    ]


def _table_of_lines(results: Results, lines: Lines, metric: str, kind: int, of: str) -> Table:
    rates = results.rates[results.kinds[kind]]
    better, short = higher_is_better(metric), short_label_of(metric, results.metric)
    values, columns = lines.value, [Column(unbroken_percent(rate)) for rate in rates]
    if metric == "ela" and len(rates) > 1:
        areas = [area_under_ela(line, rates) for line in values]
        values, columns = np.column_stack([values, areas]), [*columns, Column("area")]
    best = _best(values.T, higher_is_better=better).T
    rows = []
    for i, model in enumerate(results.models):
        cells = []
        for j, value in enumerate(values[i]):
            band = ""
            if j < len(rates):
                low, high = number(lines.low[i, j]), number(lines.high[i, j])
                band = f"{low} – {high}" if low != high else ""  # one that is missing, or of no width
            cells.append(_cell(value, band=band, best=bool(best[i, j])))
        rows.append(Row(model, i, cells))
    caption = f"{short[0].upper()}{short[1:]}, {of}, {under_noise(results.kinds[kind])} ({HINTS[better]})"
    return Table(caption, "model", columns, rows, kind)


def heat_maps(results: Results) -> list[Table]:
    """Data sets by models at each noise rate, for each kind of noise, the metric and ELA.

    As in Wilton & Ye's tables of accuracies, models that cannot be told from the best are marked.
    """
    columns = [Column(model, i) for i, model in enumerate(results.models)]
    tables = []
    for k, kind in enumerate(results.kinds):
        for r, rate in enumerate(results.rates[kind]):
            for metric in (results.metric, "ela"):
                values, better = results.by_dataset[metric][kind].value[:, :, r], higher_is_better(metric)
                steps = heat_steps(values, higher_is_better=better)
                best = _best(values, higher_is_better=better)
                near, legend = np.zeros_like(best), "bold: the best on the data set"
                if metric == results.metric:
                    marks = best_and_overlapping(results.scores, metric, noise_rate=rate, noise_kind=kind)
                    near = marks.table["overlaps"].to_numpy().reshape(best.shape) & ~best
                    if marks.has_power:
                        interval = "97.5 % t interval of the mean over the repeats"
                        legend += f"; *: the {interval} overlaps that of the best"
                rows = [
                    Row(
                        name,
                        None,
                        [
                            _cell(
                                value,
                                "*" if near[i, j] else "",
                                best=bool(best[i, j]),
                                step=int(steps[i, j]),
                                model=j,
                            )
                            for j, value in enumerate(values[i])
                        ],
                    )
                    for i, name in enumerate(results.datasets)
                ]
                label = label_of(metric, results.metric)
                caption = f"{label} at {unbroken_percent(rate)} {kind} noise ({HINTS[better]}; {legend})"
                tables.append(Table(caption[0].upper() + caption[1:], "data set", columns, rows, k, r))
    return tables


def _cell(value: float, mark: str = "", **more: Any) -> Cell:
    return Cell(number(value) + mark, float(f"{value:.6g}") if math.isfinite(value) else None, **more)


def _best(values: NDArray[np.float64], *, higher_is_better: bool) -> NDArray[np.bool_]:
    """Which values are the best of their row, to the digits that are shown; none where all are the same."""
    shown = np.round(values if higher_is_better else -values, 3)
    top = np.max(shown, axis=1, keepdims=True, initial=-np.inf, where=np.isfinite(shown))
    differ = (shown < top).any(axis=1, keepdims=True)
    found: NDArray[np.bool_] = (shown == top) & differ
    return found


class Failure(NamedTuple):
    """Cells of a model on a data set that have the same error."""

    model: str
    number: int
    dataset: str
    kinds: str
    rates: str
    cells: int
    error: str


@dataclass(frozen=True)
class Failures:
    """What is missing: how many cells failed, how many are not fitted yet, and their errors.

    Attributes
    ----------
    n_cells, n_failed, n_not_fitted : int
    rows : list of Failure
    more : int
        How many further rows there are.
    """

    n_cells: int
    n_failed: int
    n_not_fitted: int
    rows: list[Failure]
    more: int


def failures(results: Results) -> Failures:
    """The cells without scores."""
    groups = list(cells_by_error(results.scores))
    rows = [
        Failure(
            model=model,
            number=results.models.index(model),
            dataset=dataset,
            kinds=", ".join(pd.unique(cells["noise_kind"])),
            rates=", ".join(unbroken_percent(rate) for rate in sorted(cells["noise_rate"].unique())),
            cells=len(cells),
            error=error,
        )
        for model, dataset, error, cells in groups[:MAX_FAILURES]
    ]
    n = lacking(results.scores)
    return Failures(n.n_cells, n.n_failed, n.n_not_fitted, rows, max(0, len(groups) - MAX_FAILURES))
