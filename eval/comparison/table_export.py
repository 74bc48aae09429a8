"""A table of scores as LaTeX and Markdown: means and their spread, the best of each row in bold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .._wording import percent, sentence, under_noise
from ..metrics.registry import label_of
from ..plotting.mathtext import text_of
from ..statistics.intervals import best_and_overlapping
from ..statistics.score_tables import repeat_table

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {character: f"\\{character}" for character in "{}$&#_%"}

# Commands that a formula may hold.  Others of LaTeX read and write files, and Matplotlib draws them as text.
_COMMANDS = frozenset(
    """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma
    tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell infty
    partial nabla frac sqrt sum prod int log exp min max left right mathrm mathbf mathit mathcal mathbb hat bar
    tilde vec dot overline cdot times pm mp leq geq le ge neq approx sim in to rightarrow leftarrow quad , ; : !
    """.split()  # noqa: SIM905 - a list of words
)
_COMMAND = re.compile(r"\\([A-Za-z]+|.|$)", re.DOTALL)
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


# By data sets and models.
Cells = dict[str, dict[str, Cell]]


def marked(
    scores: pd.DataFrame, metric: str, noise_rate: float | None, noise_kind: str, of: str
) -> tuple[Cells, str]:
    """A `Cell` for each data set and model, and a caption; for the arguments see `best_and_overlapping`."""
    chosen: Any = {"noise_rate": noise_rate, "noise_kind": noise_kind, "of": of}
    found = best_and_overlapping(scores, metric, **chosen)
    repeats = repeat_table(scores, metric, **chosen).groupby(level="dataset", sort=False)
    spread = repeats.std().stack(future_stack=True)
    found_of = found.table.set_index(["dataset", "model"])
    cells: Cells = {}
    for place, mean, best, overlaps in found_of[[metric, "best", "overlaps"]].itertuples(name=None):
        dataset, model = place
        cells.setdefault(dataset, {})[model] = Cell(mean, spread[place], best, overlaps)
    label, n = label_of(metric, of), int(repeats.size().max())
    said = [f"{sentence(label)} {under_noise(noise_kind, noise_rate)}"]
    if n > 1:
        said.append(f"mean and standard deviation over {n} repeats")
    said.append("the best of each data set in bold")
    if found.has_power:
        interval = f"{percent(1 - found.alpha)} t interval of the mean over the repeats"
        said.append(f"with an asterisk those whose {interval} overlaps that of the best")
    return cells, "; ".join(said) + "."


def as_latex(table: Cells, caption: str, label: str | None) -> str:
    """A floating table of cells, for the package booktabs."""
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
    """A table of GitHub's and Jupyter's Markdown, and what it shows below it."""
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
    """Digits behind the point: few where numbers are large, such as sizes of trees."""
    means = [abs(cell.mean) for row in table.values() for cell in row.values()]
    return 1 if any(mean >= 100 for mean in means) else 3


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
    """Text whose formulas are kept, if they are such; a name must not become a command of LaTeX."""
    pieces = text.split("$")
    are_formulas = len(pieces) % 2 and all(map(_is_formula, pieces[1::2])) and text_of(text) == text
    if len(pieces) == 1 or not are_formulas or r"\$" in text or "^^" in text:
        return escape(text)
    return "$".join(keep(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def _is_formula(piece: str) -> bool:
    return _FORMULA.fullmatch(piece) is not None and _COMMANDS.issuperset(_COMMAND.findall(piece))
