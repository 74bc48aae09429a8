"""Tables of scores as text."""

from __future__ import annotations

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._wording import numbered, sentence
from ..config.run import Config
from ..errors import MAX_LENGTH, shortened
from ..metrics import domains
from ..metrics.curves import (
    are_estimated,
    by_noise_rate,
    curve,
    has_baseline,
    labels_by_rate,
    mean_curve,
    per_repeat,
)
from ..metrics.outcome import cells_by_error, missing_cells
from ..metrics.registry import MEASURES, REGISTRY, higher_is_better, label_of, short_label_of

NO_BASELINE = "Without true labels of the training rows there is no {metric}, so here is the {measure}."


def summary(config: Config, scores: pd.DataFrame, width: int) -> Group:
    """The tables named in the config, and the failures, for rich to print.

    Parameters
    ----------
    config : Config
    scores : DataFrame
        `Run.scores`.
    width : int
        Characters per line; wider tables are split.
    """
    parts: list[Group | Text] = []
    for name in config.tables:
        metric = name.removeprefix("mean_")
        for kind in scores["noise_kind"].unique():
            chosen = scores[scores["noise_kind"] == kind]
            if metric not in MEASURES:
                compared = chosen[has_baseline(chosen)]
                if compared.empty:
                    parts.append(Text(NO_BASELINE.format(metric=short_label_of(metric), measure=config.metric)))
                    metric, compared = config.metric, chosen
                chosen = compared
            title = table_title(metric, config.metric, kind, estimated=are_estimated(chosen))
            headings = {rate: f"{labels} {rate:.4g}" for rate, labels in labels_by_rate(chosen).items()}
            if name.startswith("mean_") or chosen["dataset"].nunique() == 1:
                wide = by_noise_rate(mean_curve(chosen, metric, config.metric), metric, ["model"])
                worse_if_more = not higher_is_better(metric)
                best_first = wide.mean(axis=1).sort_values(kind="stable", ascending=worse_if_more)
                wide = wide.loc[best_first.index].rename(columns=headings)
                parts.append(_rendered(f"{title}, {averaged_over(chosen)}", "model", wide, width))
                continue
            table = curve(chosen, metric, config.metric)
            for model in table["model"].unique():
                wide = by_noise_rate(table[table["model"] == model], metric, ["dataset"])
                parts.append(_rendered(f"{title}, {model}", "data set", wide.rename(columns=headings), width))
    if scores["error"].notna().any():
        parts.append(failures(scores))
    elif has_baseline(scores).any() and per_repeat(scores, "ela", config.metric)["ela"].isna().any():
        parts.append(
            Text(f"–: ELA and related metrics are undefined where the {config.metric} without noise is 0.")
        )
    return Group(*parts)


def table_title(metric: str, measure: str, noise_kind: str, *, estimated: bool = False) -> str:
    """Title of a table of a metric, with a hint on how to read its values; see `label_of`."""
    hint = REGISTRY[metric].hint and f" ({REGISTRY[metric].hint})"
    return f"{sentence(label_of(metric, measure, estimated=estimated))}{hint}: {noise_kind} noise"


def averaged_over(scores: pd.DataFrame) -> str:
    """The data sets that are averaged, for titles; the name of a single one."""
    return domains.averaged_over(scores) if scores["dataset"].nunique() > 1 else str(scores["dataset"].iloc[0])


def table_of(name: str, config: Config, scores: pd.DataFrame) -> pd.DataFrame:
    """A table by its name in the config."""
    metric = name.removeprefix("mean_")
    return (mean_curve if name.startswith("mean_") else curve)(scores, metric, config.metric)


def _rendered(title: str, heading: str, wide: pd.DataFrame, width: int) -> Group:
    longest = max(len(heading), *(len(str(name)) for name in wide.index))
    columns = [column if isinstance(column, str) else f"{column:.4g}" for column in wide.columns]
    # Tree sizes and seconds may be large; then one decimal is enough.
    digits = 3 if not (wide.abs() >= 100).to_numpy().any() else 1
    cells = [["–" if pd.isna(value) else f"{value:.{digits}f}" for value in row] for row in wide.to_numpy()]
    column_width = max(5, *map(len, columns), *(len(cell) for row in cells for cell in row))
    # Each column takes one space in front; as many columns as fit go into one part.  The names may take a third
    # of the width, and more if the columns leave more free.  Longer names are folded.
    columns_width = len(columns) * (column_width + 1)
    name_width = min(longest, max(len(heading), width // 3, width - columns_width))
    columns_per_part = max(1, (width - name_width) // (column_width + 1))
    tables = []
    for first in range(0, len(columns), columns_per_part):
        part = slice(first, first + columns_per_part)
        table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column(heading, width=name_width, overflow="fold")
        for column in columns[part]:
            table.add_column(column, justify="right", no_wrap=True, width=column_width)
        for name, row in zip(wide.index, cells, strict=True):
            # Text, not str: a name may contain console markup.
            table.add_row(Text(str(name)), *row[part])
        tables.append(table)
    return Group(Text(title), *tables, Text())


def failures(scores: pd.DataFrame) -> Text:
    """Numbers of failed and unfitted cells, and their errors."""
    text = Text(f"{missing_cells(scores).describe()}; a model that lacks a data set or a repeat has no mean.")
    for model, dataset, error, cells in cells_by_error(scores):
        text.append(f"\n  {model} on {dataset}, {numbered(len(cells), 'cell')}: {shortened(error, MAX_LENGTH)}")
    return text
