"""Mean ranks of the models over data sets, against the noise rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..metrics.registry import higher_is_better
from ..statistics.bootstrap import mean_band
from ..statistics.score_tables import rank_table, score_table
from .bands import over_datasets
from .curves import MAX_TICKS, draw_curves
from .request import Picture


def rank_curves(picture: Picture) -> Axes | NDArray[Any]:
    """Draw the mean ranks with a bootstrap band over the data sets: a panel for each kind of noise."""
    tables = {kind: rank_table_by_rate(picture, kind) for kind in picture.kinds}

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        lines = draw_curves(ax, tables[kind], "rank", picture.looks, label="mean rank (1 is the best)")
        n = len(picture.chosen)
        ax.set_yticks(np.arange(1, n + 1) if n <= MAX_TICKS else [1, *range(5, n + 1, 5)])
        ax.set_ylim(n + 0.5, 0.5)  # the best at the top
        return lines

    counts = sorted({int(n) for table in tables.values() for n in table["n_datasets"]})
    caption = "Band: " + over_datasets(counts[0], counts[-1])
    if counts[0] < len(picture.datasets):
        caption += f"; of {len(picture.datasets)}, as those where a model has no value do not count"
    return picture.panels(draw, title=f"{picture.name}{picture.under}: mean rank", caption=caption)


def rank_table_by_rate(picture: Picture, kind: str) -> pd.DataFrame:
    """Mean ranks at each rate of a kind of noise, where every model has a value; NaN for models without any.

    Returns
    -------
    DataFrame
        ``noise_rate``, ``model``, ``rank``, ``low``, ``high``, ``n_datasets``, how many count, and
        ``compared``, a number that is the same at rates where the same models are ranked on the same data sets.
    """
    parts = []
    compared: dict[tuple[Any, ...], int] = {}
    for rate in np.unique(picture.of_kind(kind)["noise_rate"]):
        table = score_table(
            picture.scores, picture.metric, noise_rate=float(rate), noise_kind=kind, of=picture.of
        )
        ranks = rank_table(table, higher_is_better=higher_is_better(picture.metric)).dropna(how="all")
        low, high = mean_band(ranks.to_numpy(dtype=np.float64).T[:, np.newaxis])
        part = pd.DataFrame({"model": ranks.columns, "rank": ranks.mean().to_numpy(), "low": low, "high": high})
        what = (*ranks.index, None, *ranks.columns[ranks.notna().any()])
        number = compared.setdefault(what, len(compared))
        parts.append(part.assign(noise_rate=rate, n_datasets=len(ranks), compared=number))
    return pd.concat(parts, ignore_index=True)
