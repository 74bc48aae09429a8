"""A table of scores as LaTeX and Markdown: means and their spread, the best of each row in bold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from boostnoise.eval.intervals import best_and_overlapping
from boostnoise.eval.labels import label_of, text_of
from boostnoise.eval.score_tables import repeat_table

from .significance import under

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {character: f"\\{character}" for character in "{}$&#_%"}

_FORMULA = re.compile(r"[\w\s\\^{}+\-*/=<>().,:;|'!]+", re.ASCII)  # what means the same to LaTeX and Matplotlib


@dataclass(frozen=True)
class Cell:
    """A mean, and what is to be seen of it.

    Attributes
    ----------
    mean, spread : float
        NaN for none.
    is_best, overlaps : bool
        Whether it is the best of its row, or cannot be told from it.
    """

    mean: float
    spread: float
    is_best: bool
    overlaps: bool


def marked(
    scores: pd.DataFrame, metric: str, level: float | None, kind: str, of: str
) -> tuple[pd.DataFrame, str]:
    """A `Cell` for each data set and model, and a caption; the arguments are those of `best_and_overlapping`."""
    chosen: Any = {"level": level, "kind": kind, "of": of}
    found = best_and_overlapping(scores, metric, **chosen)
    repeats = repeat_table(scores, metric, **chosen).groupby(level="dataset", sort=False)
    spread = repeats.std().stack(future_stack=True)
    cells = found.table.set_index(["dataset", "model"])
    table = pd.DataFrame(index=found.table["dataset"].unique(), columns=found.table["model"].unique())
    for place, mean, best, overlaps in cells[[metric, "best", "overlaps"]].itertuples(name=None):
        table.at[place] = Cell(mean, spread[place], best, overlaps)
    label, n = label_of(metric, of), int(repeats.size().max())
    said = [f"{label[0].upper()}{label[1:]} {under(level, kind)}"]
    if n > 1:
        said.append(f"mean and standard deviation over {n} repeats")
    said.append("the best of each data set in bold")
    if found.has_power:
        confidence = f"{100 * (1 - found.alpha):.4g} %"
        said.append(f"with an asterisk those whose {confidence} interval overlaps that of the best")
    return table, "; ".join(said) + "."


def as_latex(table: pd.DataFrame, caption: str, label: str | None) -> str:
    """A floating table of cells, for the package booktabs."""
    digits = _digits(table)

    def cell(cell: Cell) -> str:
        if pd.isna(cell.mean):
            return "--"
        text = f"{cell.mean:.{digits}f}"
        if pd.notna(cell.spread):
            text += rf" \pm {cell.spread:.{digits}f}"
        text = rf"\mathbf{{{text}}}" if cell.is_best else text
        return f"${text}^{{*}}$" if cell.overlaps else f"${text}$"

    head, *rows = [f"{' & '.join(row)} \\\\" for row in _rows(table, escape_latex, cell)]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}",
        *([rf"\label{{{label}}}"] if label else []),
        rf"\begin{{tabular}}{{l{'r' * table.shape[1]}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_markdown(table: pd.DataFrame, caption: str) -> str:
    """A table of GitHub's and Jupyter's Markdown, and what it shows below it."""
    digits = _digits(table)

    def cell(cell: Cell) -> str:
        if pd.isna(cell.mean):
            return "–"
        text = f"{cell.mean:.{digits}f}"
        if pd.notna(cell.spread):
            text += f" ± {cell.spread:.{digits}f}"
        return f"**{text}**" if cell.is_best else rf"{text} \*" if cell.overlaps else text

    head, *rows = [f"| {' | '.join(row)} |" for row in _rows(table, escape_markdown, cell)]
    rule = f"|---|{'---:|' * table.shape[1]}"
    return "\n".join([head, rule, *rows, "", escape_markdown(caption)]) + "\n"


def _rows(
    table: pd.DataFrame, escape: Callable[[str], str], cell: Callable[[Cell], str]
) -> Iterable[list[str]]:
    yield ["data set", *(escape(str(name)) for name in table.columns)]
    for name, row in zip(table.index, table.to_numpy(), strict=True):
        yield [escape(str(name)), *map(cell, row)]


def _digits(table: pd.DataFrame) -> int:
    """Digits behind the point: few where numbers are large, such as sizes of trees."""
    largest = max((abs(cell.mean) for cell in table.to_numpy().flat if pd.notna(cell.mean)), default=0.0)
    return 3 if largest < 100 else 1


def escape_latex(text: str) -> str:
    """Text for LaTeX; what Matplotlib's formulas know between dollar signs stays one."""
    return _escaped(text, lambda part: "".join(_LATEX.get(c, c) for c in part), str)


def escape_markdown(text: str) -> str:
    """Text for a table in Markdown; formulas between dollar signs stay formulas."""
    return _escaped(
        text,
        lambda part: re.sub(r"([\\`*_{}\[\]<>()#!~&$|])", r"\\\1", part),
        lambda formula: formula.replace("<", r"\lt ").replace("|", r"\|"),
    )


def _escaped(text: str, escape: Callable[[str], str], keep: Callable[[str], str]) -> str:
    """Text whose formulas are kept, if they are such; a name must not become a command such as \\input."""
    pieces = text.split("$")
    are_formulas = len(pieces) % 2 and all(map(_FORMULA.fullmatch, pieces[1::2])) and text_of(text) == text
    if len(pieces) == 1 or not are_formulas or r"\$" in text or "^^" in text:
        return escape(text)
    return "$".join(keep(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces))
