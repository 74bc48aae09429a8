"""Tables of the HTML report, as data for its template."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boostnoise.eval._wording import percent, under_noise
from boostnoise.eval.metrics.outcome import cells_by_error, missing_cells
from boostnoise.eval.metrics.registry import higher_is_better, label_of, short_label_of
from boostnoise.eval.metrics.robustness import area_under_ela
from boostnoise.eval.statistics.intervals import best_and_overlapping

from .data import Lines, Results
from .styles import heat_steps

MISSING = "–"
MAX_FAILURES = 500  # rows; the table of all cells has every error
HINTS = {True: "higher is better", False: "lower is better"}


class Cell(NamedTuple):
    """A table cell with a number.

    Attributes
    ----------
    text : str
    value : float or None
        Sort key.
    band : str
        Small print below the number.
    best : bool
        Whether the text is bold.
    step : int
        Step of the colour map; -1 for no colour.
    model : int or None
        Index of the model, if the row is not of one model.
    """

    text: str
    value: float | None = None
    band: str = ""
    best: bool = False
    step: int = -1
    model: int | None = None


class Row(NamedTuple):
    """A row: its name, the index of its model if it is of one, and its cells."""

    name: str
    model: int | None
    cells: list[Cell]


class Column(NamedTuple):
    """A column heading, and the index of its model if it is of one."""

    name: str
    model: int | None = None


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    caption : str
    heading : str
        Heading of the first column.
    columns : list of Column
    rows : list of Row
    kind : int
        Index of the kind of noise.
    rate_index : int or None
        Index of the noise rate, if there is only one.
    """

    caption: str
    heading: str
    columns: list[Column]
    rows: list[Row]
    kind: int
    rate_index: int | None = None


def unbroken_percent(noise_rate: float) -> str:
    """A noise rate in percent, with a no-break space."""
    return percent(noise_rate).replace(" ", "\N{NO-BREAK SPACE}")


def _named_rate(noise_rate: float, names: dict[float, str]) -> str:
    """A noise rate in percent, after the name of the labels that have it."""
    return f"{names.get(noise_rate, '')} {unbroken_percent(noise_rate)}".strip()


def number(value: float, digits: int = 3) -> str:
    """Format a number for a table."""
    return f"{value:.{digits}f}".replace("-", "−") if math.isfinite(value) else MISSING


def tables_of_averages(results: Results) -> list[Table]:
    """Models by noise rates, averaged over the data sets, for each kind of noise and metric."""
    return [
        _table_of_lines(results, results.averages[metric][kind], metric, k, results.over(kind))
        for k, kind in enumerate(results.kinds)
        for metric in results.curves
    ]


def tables_of_dataset(results: Results, dataset: int) -> list[Table]:
    """Models by noise rates on one data set, for each kind of noise and metric."""
    return [
        _table_of_lines(
            results, results.by_dataset[metric][kind].on_dataset(dataset), metric, k, results.datasets[dataset]
        )
        for k, kind in enumerate(results.kinds)
        if results.datasets[dataset] in results.datasets_of[kind]
        for metric in results.curves
    ]


def _table_of_lines(results: Results, lines: Lines, metric: str, kind: int, scope: str) -> Table:
    rates = results.rates[results.kinds[kind]]
    better, short = (
        higher_is_better(metric),
        short_label_of(metric, results.metric, estimated=results.are_estimated),
    )
    names = results.labels[results.kinds[kind]]
    values, columns = lines.value, [Column(_named_rate(noise_rate, names)) for noise_rate in rates]
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
                band = (
                    f"{low} – {high}" if low != high else ""
                )  # no band for missing values, nor a band without width
            cells.append(_cell(value, band=band, best=bool(best[i, j])))
        rows.append(Row(model, i, cells))
    caption = f"{short[0].upper()}{short[1:]}, {scope}, {under_noise(results.kinds[kind])} ({HINTS[better]})"
    return Table(caption, "model", columns, rows, kind)


def heat_maps(results: Results) -> list[Table]:
    """Data sets by models at each noise rate, for each kind of noise, of the measure of the run and ELA.

    Models whose interval overlaps the best model's are marked, as in Wilton & Ye's tables of accuracies.
    """
    columns = [Column(model, i) for i, model in enumerate(results.models)]
    tables = []
    for k, kind in enumerate(results.kinds):
        for r, noise_rate in enumerate(results.rates[kind]):
            cells = results.scores_by_kind[k]
            present = set(cells["dataset"][cells["noise_rate"] == noise_rate])
            chosen = [i for i, name in enumerate(results.datasets) if name in present]
            for metric in (results.metric, *(["ela"] if "ela" in results.curves else [])):
                values, better = results.by_dataset[metric][kind].value[chosen, :, r], higher_is_better(metric)
                steps = heat_steps(values, higher_is_better=better)
                best = _best(values, higher_is_better=better)
                near, legend = np.zeros_like(best), "bold: best on the data set"
                if metric == results.metric:
                    marks = best_and_overlapping(results.scores, metric, noise_rate=noise_rate, noise_kind=kind)
                    overlaps = marks.table.pivot(index="dataset", columns="model", values="overlaps")
                    near = (
                        overlaps.loc[[results.datasets[i] for i in chosen], results.models].to_numpy() & ~best
                    )
                    if marks.has_power:
                        interval = "97.5 % t interval of the mean over the repeats"
                        legend += f"; *: {interval} overlaps the best model's"
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
                    for i, name in enumerate(results.datasets[i] for i in chosen)
                ]
                label = label_of(metric, results.metric, estimated=results.are_estimated)
                caption = f"{label} at {unbroken_percent(noise_rate)} {kind} noise ({HINTS[better]}; {legend})"
                tables.append(Table(caption[0].upper() + caption[1:], "data set", columns, rows, k, r))
    return tables


def _cell(value: float, mark: str = "", **more: Any) -> Cell:
    return Cell(number(value) + mark, float(f"{value:.6g}") if math.isfinite(value) else None, **more)


def _best(values: NDArray[np.float64], *, higher_is_better: bool) -> NDArray[np.bool_]:
    """Whether values are the best of their row, as rounded in the table; none where all are equal."""
    rounded = np.round(values if higher_is_better else -values, 3)
    top = np.max(rounded, axis=1, keepdims=True, initial=-np.inf, where=np.isfinite(rounded))
    differ = (rounded < top).any(axis=1, keepdims=True)
    found: NDArray[np.bool_] = (rounded == top) & differ
    return found


class Failure(NamedTuple):
    """Cells of a model on a data set with the same error."""

    model: str
    number: int
    dataset: str
    kinds: str
    rates: str
    cells: int
    error: str


@dataclass(frozen=True)
class Failures:
    """Cells without scores: the numbers of failed and unfitted cells, and their errors.

    Attributes
    ----------
    n_cells, n_failed, n_not_fitted : int
    rows : list of Failure
    more : int
        Number of further rows, which are left out.
    """

    n_cells: int
    n_failed: int
    n_not_fitted: int
    rows: list[Failure]
    more: int


def failures(results: Results) -> Failures:
    """Collect the cells without scores."""
    groups = list(cells_by_error(results.scores))
    rows = [
        Failure(
            model=model,
            number=results.models.index(model),
            dataset=dataset,
            kinds=", ".join(pd.unique(cells["noise_kind"])),
            rates=", ".join(map(unbroken_percent, sorted(cells["noise_rate"].unique()))),
            cells=len(cells),
            error=error,
        )
        for model, dataset, error, cells in groups[:MAX_FAILURES]
    ]
    n = missing_cells(results.scores)
    return Failures(n.n_cells, n.n_failed, n.n_not_fitted, rows, max(0, len(groups) - MAX_FAILURES))
