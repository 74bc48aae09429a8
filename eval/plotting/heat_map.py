"""Heat maps of each model on each data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ..metrics.curves import curve
from ..metrics.outcome import NOT_FITTED
from ..metrics.registry import PAIRED, higher_is_better
from .figure import CHARACTER_WIDTH, upper_limit
from .mathtext import text_of
from .request import PlotRequest

# Perceptually uniform, also for colour-blind readers; lightness increases, so grey print keeps the order.
COLOUR_MAP = "cividis"
CELL = (0.85, 0.42)  # inches
NAME_WIDTH = 26
FAILED, NO_VALUE = "failed", "no value"


def heat_map(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw data sets by models at one noise rate, one heat map per kind of noise."""
    tables = {kind: _cells(request, kind) for kind in request.kinds}
    limits = _limits(
        np.concatenate([means.to_numpy(dtype=np.float64).ravel() for means, *_ in tables.values()])
    )

    def draw(ax: Axes, kind: str) -> None:
        draw_heat_map(
            ax,
            *tables[kind],
            gids={model: style["gid"] for model, style in request.styles.items()},
            higher_is_better=higher_is_better(request.metric),
            limits=limits,
            colour_map=request.options.fig_cmap,
        )

    n_repeats = request.scores["repeat"].nunique()
    spread = (
        f"±: standard deviation over {n_repeats} repeats"
        if n_repeats > 1
        else "One repeat, no standard deviation"
    )
    return request.draw_stack(
        draw,
        [_size(table) for table, *_ in tables.values()],
        title=f"{request.name}{request.rate_suffix}",
        caption=f"{spread}; bold: best on each data set; lighter is better",
    )


def _cells(request: PlotRequest, kind: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Means, standard deviations and failures, for each data set and model."""
    scores, noise_rate = request.scores_of(kind), request.rate_of(kind)
    table = curve(scores, request.metric, request.measure)
    failed = scores["error"].notna() & scores["error"].ne(NOT_FITTED)
    if noise_rate is not None:
        table = table[np.isclose(table["noise_rate"], noise_rate)]
        # ELA, RLA and retention also need the cell without noise.
        rates = [noise_rate, 0.0] if request.metric in PAIRED else [noise_rate]
        failed &= np.isclose(scores["noise_rate"].to_numpy()[:, None], rates).any(axis=1)
    means, spread = (
        table.pivot(index="dataset", columns="model", values=name) for name in (request.metric, "std")
    )
    of_cells = failed.groupby([scores["dataset"], scores["model"]], sort=False).any().unstack()
    rows, columns = [name for name in request.datasets if name in means.index], request.chosen
    return means.loc[rows, columns], spread.loc[rows, columns], of_cells.loc[rows, columns]


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Values of the lowest and the highest colour; far higher values have the highest colour, too."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    return float(finite.min()), float(min(finite.max(), upper_limit(values)))


def _size(table: pd.DataFrame) -> tuple[float, float]:
    """Size in inches of the cells with their names and the colour bar."""
    character = CHARACTER_WIDTH * matplotlib.rcParams["font.size"]
    longest = [
        character * min(NAME_WIDTH, max(len(str(name)) for name in names))
        for names in (table.columns, table.index)
    ]
    rows, columns = table.shape
    return columns * CELL[0] + longest[1] + 1.5, rows * CELL[1] + 0.65 * longest[0] + 0.3


def draw_heat_map(
    ax: Axes,
    table: pd.DataFrame,
    spread: pd.DataFrame,
    failed: pd.DataFrame,
    *,
    gids: Mapping[str, str],
    higher_is_better: bool,
    limits: tuple[float, float],
    colour_map: str | None = None,
) -> None:
    """Draw a cell per data set (row) and model (column); lighter is better.

    Parameters
    ----------
    ax : Axes
    table : DataFrame
        Values, data sets by models; cells without a value are hatched.
    spread : DataFrame
        Standard deviations, written below the values; NaN where there is none.
    failed : DataFrame
        Whether a value is missing because a cell failed.
    gids : mapping of str to str
        The group id of each model.
    higher_is_better : bool
    limits : (float, float)
        Values of the lowest and the highest colour.
    colour_map : str or None, default=None
        Name of a Matplotlib colour map; None for `COLOUR_MAP`.
    """
    values = table.to_numpy(dtype=np.float64)
    deviations = spread.to_numpy(dtype=np.float64)
    rows, columns = values.shape
    name = colour_map or COLOUR_MAP
    colours = matplotlib.colormaps[name if higher_is_better else _reversed(name)]
    mesh = ax.pcolormesh(np.ma.masked_invalid(values), cmap=colours, edgecolors="white", linewidth=1)
    mesh.set_clim(*limits)
    best = (
        np.nanmax(values, axis=1, initial=-np.inf)
        if higher_is_better
        else np.nanmin(values, axis=1, initial=np.inf)
    )
    digits = 3 if np.nanmax(np.abs(values), initial=0) < 100 else 1
    for i in range(rows):
        for j in range(columns):
            common: Any = {"ha": "center", "va": "center", "gid": gids[table.columns[j]]}
            if not np.isfinite(values[i, j]):
                box = Rectangle((j, i), 1, 1, facecolor="0.95", edgecolor="0.7", hatch="////", linewidth=0)
                ax.add_patch(box)
                why = FAILED if failed.iat[i, j] else NO_VALUE
                edge = {"facecolor": "white", "edgecolor": "none", "pad": 1}
                ax.text(j + 0.5, i + 0.5, why, fontsize=7, style="italic", bbox=edge, **common)
                continue
            red, green, blue, _ = mesh.cmap(mesh.norm(values[i, j]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            common["color"] = "white" if dark else "black"
            weight = "bold" if np.isclose(values[i, j], best[i], rtol=1e-9) else "normal"
            known = np.isfinite(deviations[i, j])
            ax.text(
                j + 0.5,
                i + (0.36 if known else 0.5),
                f"{values[i, j]:.{digits}f}",
                fontsize=8,
                weight=weight,
                **common,
            )
            if known:
                ax.text(j + 0.5, i + 0.74, f"±{deviations[i, j]:.{digits}f}", fontsize=6, **common)
    ax.set_xlim(0, columns)
    ax.set_ylim(rows, 0)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(columns) + 0.5, [text_of(name, NAME_WIDTH) for name in table.columns])
    for text, name in zip(ax.get_xticklabels(), table.columns, strict=True):
        text.set(rotation=40, ha="left", rotation_mode="anchor", gid=gids[name])
    ax.set_yticks(np.arange(rows) + 0.5, [text_of(str(name), NAME_WIDTH) for name in table.index])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    extend = "max" if (values > limits[1]).any() else "neither"
    bar = ax.figure.colorbar(mesh, ax=ax, extend=extend, shrink=min(1.0, 4 / (rows * CELL[1])), aspect=15)
    bar.outline.set_visible(False)


def _reversed(name: str) -> str:
    return name.removesuffix("_r") if name.endswith("_r") else f"{name}_r"
