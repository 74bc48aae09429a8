"""LaTeX and Markdown tables of means and standard deviations, with the best of each row in bold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .._wording import listed, percent, sentence, under_noise
from ..config.run import Config
from ..metrics.curves import are_estimated
from ..metrics.registry import label_of
from ..statistics.intervals import best_and_overlapping
from ..statistics.score_tables import repeat_table
from ..statistics.shared_test_rows import row_values_at, variance_of_rows
from ..statistics.verdict import compared_rate
from .formulas import escape_latex, escape_markdown


@dataclass(frozen=True)
class Cell:
    """A mean with its standard deviation and marks.

    Attributes
    ----------
    mean, spread : float
        Mean and standard deviation; NaN for none.
    is_best, overlaps : bool
        Whether it is the best of its row, or its interval overlaps the best one's.
    """

    mean: float
    spread: float
    is_best: bool
    overlaps: bool


Cells = dict[str, dict[str, Cell]]  # by data set and model


def latex_tables(config: Config, scores: pd.DataFrame) -> str:
    """A LaTeX table for each kind of noise, at the noise rate of the verdict."""
    tables = []
    for kind, of_kind in scores.groupby("noise_kind", sort=False):
        rate = compared_rate(of_kind, config.metric)
        tables.append(as_latex(*table_of_run(config, scores, config.metric, rate, str(kind))))
    return "\n".join(["% These tables need \\usepackage{booktabs}.", *tables])


def table_of_run(
    config: Config, scores: pd.DataFrame, metric: str, noise_rate: float | None, noise_kind: str
) -> tuple[Cells, str]:
    """`marked_table` for a run, whose caption says if test labels are noisy."""
    table, caption = marked_table(scores, metric, noise_rate, noise_kind, config.metric)
    noisy_tests = config.scored_on(noise_kind) if noise_rate != 0 else ""
    return table, f"{caption} {noisy_tests}." if noisy_tests else caption


def marked_table(
    scores: pd.DataFrame, metric: str, noise_rate: float | None, noise_kind: str, measure: str
) -> tuple[Cells, str]:
    """A `Cell` for each data set and model, and a caption; see `best_and_overlapping` for the arguments."""
    chosen: Any = {"noise_rate": noise_rate, "noise_kind": noise_kind, "measure": measure}
    result = best_and_overlapping(scores, metric, **chosen)
    repeats = repeat_table(scores, metric, **chosen).groupby(level="dataset", sort=False)
    spread: pd.Series[float] = repeats.std().stack(future_stack=True)  # type: ignore[assignment]
    # Of one repeat with other test rows, as with random splits.
    rows = row_values_at(scores, metric, noise_rate, noise_kind, measure)
    for place, values in rows.items():
        of_repeats, of_rows = float(spread[place]), variance_of_rows(values, are_shares=False)
        spread[place] = math.sqrt(of_repeats**2 + of_rows)
    marks = result.table.set_index(["dataset", "model"])
    cells: Cells = {}
    for place, mean, best, overlaps in marks[[metric, "best", "overlaps"]].itertuples(name=None):
        dataset, model = place
        cells.setdefault(dataset, {})[model] = Cell(mean, spread[place], best, overlaps)
    label, n = label_of(metric, measure, estimated=are_estimated(scores)), int(repeats.size().max())
    parts = [f"{sentence(label)} {under_noise(noise_kind, noise_rate)}"]
    if n > 1:
        names = listed(list(dict.fromkeys(name for name, _ in rows)))
        shared = f", and over the test rows of {names}" if rows else ""
        parts.append(f"mean and standard deviation over {n} repeats{shared}")
    parts.append("best of each data set in bold")
    if result.has_power:
        interval = f"{percent(1 - result.alpha)} t interval of the mean over the repeats"
        parts.append(f"asterisk: {interval} overlaps the best model's")
    return cells, "; ".join(parts) + "."


def as_latex(table: Cells, caption: str, label: str | None = None) -> str:
    """Format cells as a floating LaTeX table, for the package booktabs."""
    names, digits = _columns(table), _digits(table)

    def cell(cell: Cell) -> str:
        if math.isnan(cell.mean):
            return "--"
        text = f"{cell.mean:.{digits}f}"
        if not math.isnan(cell.spread):
            text += rf" \pm {cell.spread:.{digits}f}"
        text = rf"\mathbf{{{text}}}" if cell.is_best else text
        return f"${text}^{{*}}$" if cell.overlaps else f"${text}$"

    head, *rows = [f"{' & '.join(row)} \\\\" for row in _rows(table, escape_latex, cell)]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}",
        *([rf"\label{{{label}}}"] if label else []),
        rf"\begin{{tabular}}{{l{'r' * len(names)}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_markdown(table: Cells, caption: str) -> str:
    """Format cells as a Markdown table for GitHub and Jupyter, with the caption below."""
    names, digits = _columns(table), _digits(table)

    def cell(cell: Cell) -> str:
        if math.isnan(cell.mean):
            return "–"
        text = f"{cell.mean:.{digits}f}"
        if not math.isnan(cell.spread):
            text += f" ± {cell.spread:.{digits}f}"
        return f"**{text}**" if cell.is_best else rf"{text} \*" if cell.overlaps else text

    head, *rows = [f"| {' | '.join(row)} |" for row in _rows(table, escape_markdown, cell)]
    rule = f"|---|{'---:|' * len(names)}"
    return "\n".join([head, rule, *rows, "", escape_markdown(caption)]) + "\n"


def _columns(table: Cells) -> list[str]:
    return list(next(iter(table.values())))


def _rows(table: Cells, escape: Callable[[str], str], cell: Callable[[Cell], str]) -> list[list[str]]:
    rows = [[escape(dataset), *map(cell, row.values())] for dataset, row in table.items()]
    return [["data set", *map(escape, _columns(table))], *rows]


def _digits(table: Cells) -> int:
    """Number of decimals: few for large numbers, such as tree sizes."""
    means = [abs(cell.mean) for row in table.values() for cell in row.values()]
    return 1 if any(mean >= 100 for mean in means) else 3
