"""Mean ranks of the models over data sets or domains, against the noise rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..metrics.domains import count_units
from ..metrics.registry import higher_is_better
from ..statistics.confidence_band import mean_interval
from ..statistics.score_tables import rank_table, score_table
from .bands import over_units
from .curves import MAX_TICKS, draw_curves, name_rates
from .request import PlotRequest


def rank_curves(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw mean ranks with a confidence band over the data sets, one panel per kind of noise."""
    tables = {kind: rank_table_by_rate(request, kind) for kind in request.kinds}

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        lines = draw_curves(ax, tables[kind], "rank", request.styles, label="mean rank (1 is best)")
        name_rates(ax, request.scores_of(kind))
        n = len(request.chosen)
        ax.set_yticks(np.arange(1, n + 1) if n <= MAX_TICKS else [1, *range(5, n + 1, 5)])
        ax.set_ylim(n + 0.5, 0.5)  # the best at the top
        return lines

    counts = sorted({int(n) for table in tables.values() for n in table["n_datasets"]})
    n, unit = count_units(request.scores)
    caption = "Band: " + over_units(counts[0], counts[-1], unit)
    if counts[0] < n:
        caption += f"; of {n}: data sets where a model has no value are excluded"
    return request.draw_panels(draw, title=f"{request.name}{request.noise_suffix}: mean rank", caption=caption)


def rank_table_by_rate(request: PlotRequest, kind: str) -> pd.DataFrame:
    """Mean ranks at each rate of a kind of noise, over the data sets where every model has a value.

    Models without any value are not ranked; their rank is NaN.

    Returns
    -------
    DataFrame
        ``noise_rate``, ``model``, ``rank``, ``low``, ``high``, ``n_datasets``, the number of data sets or
        domains that count, and ``compared``, a number shared by the rates at which the same models are ranked
        on the same data sets.
    """
    parts = []
    compared: dict[tuple[Any, ...], int] = {}
    for noise_rate in np.unique(request.scores_of(kind)["noise_rate"]):
        table = score_table(
            request.scores,
            request.metric,
            noise_rate=float(noise_rate),
            noise_kind=kind,
            measure=request.measure,
        )
        ranks = rank_table(table, higher_is_better=higher_is_better(request.metric)).dropna(how="all")
        interval = mean_interval(ranks.to_numpy(dtype=np.float64).T[:, np.newaxis])
        low, high = np.clip(interval, 1, ranks.shape[1])
        part = pd.DataFrame({"model": ranks.columns, "rank": ranks.mean().to_numpy(), "low": low, "high": high})
        ranked = (*ranks.index, None, *ranks.columns[ranks.notna().any()])
        number = compared.setdefault(ranked, len(compared))
        parts.append(part.assign(noise_rate=noise_rate, n_datasets=len(ranks), compared=number))
    return pd.concat(parts, ignore_index=True)
