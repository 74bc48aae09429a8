"""Tables of scores as text."""

from __future__ import annotations

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..config.run import Config
from ..errors import MAX_LENGTH, shortened
from ..metrics.outcome import lacking
from ..metrics.robustness import curve, mean_curve, per_repeat
from ..plotting.plot import label_of
from ..statistics.score_tables import higher_is_better

HINTS = {
    "ela": "the lower, the more robust",
    "rla": "the lower, the less was lost",
    "area_under_ela": "the lower, the more robust",
}


def summary(config: Config, scores: pd.DataFrame, width: int) -> Group:
    """The tables that the config asks for, and what failed, ready to print.

    Parameters
    ----------
    config : Config
    scores : DataFrame
        As `run` returns it.
    width : int
        Characters to a line; a table that is wider is printed in parts.
    """
    parts: list[Group | Text] = []
    n_datasets = scores["dataset"].nunique()
    over = f"mean over {n_datasets} data sets" if n_datasets > 1 else str(scores["dataset"].iloc[0])
    for name in config.tables:
        metric = name.removeprefix("mean_")
        for kind in scores["noise_kind"].unique():
            chosen = scores[scores["noise_kind"] == kind]
            title = _title(metric, config.metric, kind)
            if name.startswith("mean_") or n_datasets == 1:
                wide = _wide(mean_curve(chosen, metric, config.metric), metric, "model")
                worse_if_more = not higher_is_better(metric)
                best_first = wide.mean(axis=1).sort_values(kind="stable", ascending=worse_if_more)
                parts.append(_rendered(f"{title}, {over}", "model", wide.loc[best_first.index], width))
                continue
            table = curve(chosen, metric, config.metric)
            for model in table["model"].unique():
                wide = _wide(table[table["model"] == model], metric, "dataset")
                parts.append(_rendered(f"{title}, {model}", "data set", wide, width))
    if scores["error"].notna().any():
        parts.append(failures(scores))
    elif per_repeat(scores, "ela", config.metric)["ela"].isna().any():
        parts.append(Text(f"– ELA and its like have no value where the {config.metric} without noise is 0."))
    return Group(*parts)


def _title(metric: str, of: str, kind: str) -> str:
    label, hint = label_of(metric, of), f" ({HINTS[metric]})" if metric in HINTS else ""
    return f"{label[0].upper()}{label[1:]}{hint}: {kind} noise"


def table_of(name: str, config: Config, scores: pd.DataFrame) -> pd.DataFrame:
    """One of the tables that a config may ask for."""
    metric = name.removeprefix("mean_")
    return (mean_curve if name.startswith("mean_") else curve)(scores, metric, config.metric)


def _wide(table: pd.DataFrame, metric: str, rows: str) -> pd.DataFrame:
    """A row for each model or data set, a column for each noise rate, or the only one of an area."""
    if "noise_rate" not in table:
        return table.set_index(rows)[[metric]].rename(columns={metric: "area"})
    order = table[rows].unique()
    return table.pivot(index=rows, columns="noise_rate", values=metric).loc[order]


def _rendered(title: str, heading: str, wide: pd.DataFrame, width: int) -> Group:
    longest = max(len(heading), *(len(str(name)) for name in wide.index))
    name_width = min(longest, max(len(heading), width // 3))
    rates = [rate if isinstance(rate, str) else f"{rate:.4g}" for rate in wide.columns]
    # Sizes of trees and seconds may be large: three digits behind the point are for what is small.
    digits = 3 if not (wide.abs() >= 100).to_numpy().any() else 1
    cells = [["–" if pd.isna(value) else f"{value:.{digits}f}" for value in row] for row in wide.to_numpy()]
    column_width = max(5, *map(len, rates), *(len(cell) for row in cells for cell in row))
    # A space stands before each column; the room that is left decides how many rates go side by side.
    at_once = max(1, (width - name_width) // (column_width + 1))
    tables = []
    for first in range(0, len(rates), at_once):
        part = slice(first, first + at_once)
        table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column(heading, width=name_width, overflow="fold")
        for rate in rates[part]:
            table.add_column(rate, justify="right", no_wrap=True, width=column_width)
        for name, row in zip(wide.index, cells, strict=True):
            # Text, not str: a name may hold what the console takes for markup.
            table.add_row(Text(str(name)), *row[part])
        tables.append(table)
    return Group(Text(title), *tables, Text())


def failures(scores: pd.DataFrame) -> Text:
    """How many cells failed or are not fitted yet, and which with what error."""
    failed = scores[scores["error"].notna()]
    text = Text(f"{lacking(scores).told()}; a model that lacks a data set or a repeat has no mean.")
    counts = failed.value_counts(["model", "dataset", "error"], sort=False).reset_index()
    for model, dataset, error, n in counts.itertuples(index=False):
        cells = f"{n} cell{'' if n == 1 else 's'}"
        text.append(f"\n  {model} on {dataset}, {cells}: {shortened(str(error), MAX_LENGTH)}")
    return text
