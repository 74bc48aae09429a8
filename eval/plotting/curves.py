"""Curves against the noise rate: a line for each model, with a band that tells how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from ..config.figure_options import FigureOptions
from ..metrics.registry import MEASURES, METRICS, check_metric, label_of
from .bands import averaged
from .figure import PANEL, STYLE, beside, grown, new_figure, number_ids
from .mathtext import text_of
from .request import Picture
from .styles import looks_of

MAX_TICKS = 15
BAND_ALPHA = (0.08, 0.15)  # of bands among many and among few


@matplotlib.rc_context(STYLE)
def plot_curves(
    table: pd.DataFrame,
    metric: str,
    *,
    of: str = "accuracy",
    models: Sequence[str] | None = None,
    options: FigureOptions | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a metric against the noise rate, one line per model, with a band.

    Parameters
    ----------
    table : DataFrame
        As `mean_curve` returns it, or `curve` for a single data set; one kind of noise.  Where it has columns
        ``low`` and ``high``, the band lies between them, otherwise it is one standard deviation wide to either
        side.
    metric : str
        Its column; see `per_repeat` for what it may be.
    of : str, default="accuracy"
        The measure that it was computed from, which the axis tells.
    models : sequence of str or None, default=None
        Models in the order of the legend; a model's look follows from its place.  None for those of the table.
        The legend tells which of them have no values.
    options : FigureOptions or None, default=None
        Title, colour map and further arguments of the lines.
    ax : Axes or None, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the table lacks a column or all of the models, or the metric or its measure is unknown.
    """
    options = FigureOptions() if options is None else options
    looks = looks_of(_checked_models(table, metric, of, models), options)
    figure = None
    if ax is None:
        figure = new_figure(*grown(PANEL, len(looks)), options)
        ax = figure.subplots()
    lines = draw_curves(ax, table, metric, looks, label=label_of(metric, of))
    if options.fig_title:
        ax.set_title(text_of(options.fig_title), wrap=True)
    beside(ax, lines, None if figure is None else options)
    number_ids(ax.figure)
    return ax


def averaged_curves(picture: Picture) -> Axes | NDArray[Any]:
    """Draw a metric against the noise rate, averaged over the data sets: a panel for each kind of noise."""
    table, band = averaged(picture.scores, picture.metric, picture.of)

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        here = table[table["noise_kind"] == kind]
        return draw_curves(ax, here, picture.metric, picture.looks, label=picture.label)

    title = f"{picture.name}{picture.under}, {picture.over}"
    return picture.panels(draw, title=title, caption=f"Band: {band}")


def draw_curves(
    ax: Axes,
    table: pd.DataFrame,
    metric: str,
    looks: Mapping[str, Mapping[str, Any]],
    *,
    label: str,
    max_ticks: int = MAX_TICKS,
) -> list[Line2D]:
    """Draw the lines of models, their bands and the axes; the lines come in the order of the looks."""
    lines = []
    alpha = float(np.clip(1.05 / len(looks), *BAND_ALPHA))  # many bands on one another would hide the lines
    for model, look in looks.items():
        line = table[table["model"] == model].sort_values("noise_rate")
        rates = line["noise_rate"].to_numpy(dtype=np.float64)
        (drawn,) = ax.plot(rates, line[metric], **look)
        lines.append(drawn)
        low, high = _band(line, metric)
        common: Any = {"color": drawn.get_color(), "gid": look["gid"], "zorder": drawn.get_zorder() - 0.5}
        ax.fill_between(rates, low, high, alpha=alpha, linewidth=0, **common)
        # A point without neighbours has no area to fill.
        known = np.isfinite(low)
        alone = known & ~np.append(known[1:], False) & ~np.append(False, known[:-1])
        if alone.any():
            ax.vlines(rates[alone], low[alone], high[alone], **common)
    dress(ax, table["noise_rate"].to_numpy(dtype=np.float64), max_ticks)
    ax.set_ylabel(label)
    return lines


def dress(ax: Axes, noise_rates: NDArray[np.float64], max_ticks: int = MAX_TICKS) -> None:
    """Axes of noise rates."""
    ax.set_xlabel("noise rate")
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    rates = np.unique(noise_rates)
    if np.diff(rates).min(initial=np.inf) >= np.ptp(rates) / max_ticks:
        ax.set_xticks(rates)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(min(max_ticks, 9)))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def _band(line: pd.DataFrame, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Its lower and its upper edge; NaN where there is none."""
    if "low" in line and "high" in line:
        return line["low"].to_numpy(dtype=np.float64), line["high"].to_numpy(dtype=np.float64)
    middle, std = line[metric].to_numpy(dtype=np.float64), line["std"].to_numpy(dtype=np.float64)
    return middle - std, middle + std


def _checked_models(table: pd.DataFrame, metric: str, of: str, models: Sequence[str] | None) -> list[str]:
    """The models to draw, if the arguments of `plot_curves` go together."""
    if of not in MEASURES:
        raise ValueError(f"of must be one of {', '.join(MEASURES)}, got {of!r}")
    check_metric(metric)
    columns = ", ".join(map(str, table.columns))
    if not {"model", "noise_rate"} <= set(table) or not ({"low", "high"} <= set(table) or "std" in table):
        raise ValueError(f"table must have columns model, noise_rate, std and the metric, got {columns}")
    if metric not in table:
        there = ", ".join(name for name in METRICS if name in table) or "none"
        raise ValueError(f"metric must be a column of the table, which has {there}, got {metric!r}")
    known = list(table["model"].unique())
    if not known:
        raise ValueError("table must have a row for each model and noise rate, got none")
    models = known if models is None else list(models)
    if not set(models) & set(known):
        raise ValueError(f"models must be among those of the table, {', '.join(map(str, known))}, got {models}")
    return models
