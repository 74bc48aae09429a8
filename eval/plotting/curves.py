"""Curves against the noise rate: one line per model, with an uncertainty band."""

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

from .._wording import percent
from ..config.figures import FigureOptions
from ..metrics.curves import labels_by_rate
from ..metrics.registry import MEASURES, METRICS, check_metric, label_of
from .bands import averaged
from .figure import PANEL, STYLE, add_side_legend, new_figure, number_ids, scaled_panel
from .mathtext import text_of
from .request import PlotRequest
from .styles import line_styles

MAX_TICKS = 15
BAND_ALPHA = (0.08, 0.15)  # opacity with many bands and with few


@matplotlib.rc_context(STYLE)
def plot_curves(
    table: pd.DataFrame,
    metric: str,
    *,
    measure: str = "accuracy",
    models: Sequence[str] | None = None,
    options: FigureOptions | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a metric against the noise rate, one line per model, with a band.

    Parameters
    ----------
    table : DataFrame
        A result of `mean_curve`, or of `curve` for a single data set; one kind of noise.  The band lies between
        the columns ``low`` and ``high`` if the table has them, otherwise it is one standard deviation wide to
        either side.
    metric : str
        Column of the table; a metric of `per_repeat`.
    measure : str, default="accuracy"
        The measure that the metric was computed from, for the axis label.
    models : sequence of str or None, default=None
        Models in the order of the legend; the position determines the line style.  None for those of the table.
        The legend marks models without values.
    options : FigureOptions or None, default=None
        Title, colour map and line styles.
    ax : Axes or None, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the table lacks a column or all models, or the metric or the measure is unknown.
    """
    options = FigureOptions() if options is None else options
    styles = line_styles(_checked_models(table, metric, measure, models), options)
    figure = None
    if ax is None:
        figure = new_figure(*scaled_panel(PANEL, len(styles)), options)
        ax = figure.subplots()
    lines = draw_curves(ax, table, metric, styles, label=label_of(metric, measure))
    if options.fig_title:
        ax.set_title(text_of(options.fig_title), wrap=True)
    add_side_legend(ax, lines, None if figure is None else options)
    number_ids(ax.figure)
    return ax


def averaged_curves(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw a metric against the noise rate, averaged over data sets, one panel per kind of noise."""
    table, band = averaged(request.scores, request.metric, request.measure, request.options.fig_band)

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        rows = table[table["noise_kind"] == kind]
        lines = draw_curves(ax, rows, request.metric, request.styles, label=request.label)
        name_rates(ax, request.scores_of(kind))
        return lines

    title = f"{request.name}{request.noise_suffix}, {request.over_datasets}"
    return request.draw_panels(draw, title=title, caption=f"Band: {band}")


def draw_curves(
    ax: Axes,
    table: pd.DataFrame,
    metric: str,
    styles: Mapping[str, Mapping[str, Any]],
    *,
    label: str,
    max_ticks: int = MAX_TICKS,
) -> list[Line2D]:
    """Draw lines, bands and axes; the lines are returned in the order of `styles`."""
    lines = []
    alpha = float(np.clip(1.05 / len(styles), *BAND_ALPHA))  # many overlapping bands would hide the lines
    for model, style in styles.items():
        line = table[table["model"] == model].sort_values("noise_rate")
        rates = line["noise_rate"].to_numpy(dtype=np.float64)
        (drawn,) = ax.plot(rates, line[metric], **style)
        lines.append(drawn)
        low, high = _band(line, metric)
        common: Any = {"color": drawn.get_color(), "gid": style["gid"], "zorder": drawn.get_zorder() - 0.5}
        ax.fill_between(rates, low, high, alpha=alpha, linewidth=0, **common)
        # fill_between draws nothing at a point without neighbours.
        known = np.isfinite(low)
        alone = known & ~np.append(known[1:], False) & ~np.append(False, known[:-1])
        if alone.any():
            ax.vlines(rates[alone], low[alone], high[alone], **common)
    format_noise_axis(ax, table["noise_rate"].to_numpy(dtype=np.float64), max_ticks)
    ax.set_ylabel(label)
    return lines


def format_noise_axis(ax: Axes, noise_rates: NDArray[np.float64], max_ticks: int = MAX_TICKS) -> None:
    """Label the horizontal axis with noise rates, and add a grid."""
    ax.set_xlabel("noise rate")
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    rates = np.unique(noise_rates)
    if rates.size and np.diff(rates).min(initial=np.inf) >= np.ptp(rates) / max_ticks:
        ax.set_xticks(rates)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(min(max_ticks, 9)))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def name_rates(ax: Axes, scores: pd.DataFrame) -> None:
    """Label the noise rates of given labels with the names of these labels, if they are one curve."""
    if names := labels_by_rate(scores):
        rates = sorted(scores["noise_rate"].unique())
        ticks = [
            f"{text_of(names.get(noise_rate, ''))} {percent(noise_rate, 2)}".strip() for noise_rate in rates
        ]
        ax.set_xticks(rates, ticks, rotation=30, horizontalalignment="right")


def _band(line: pd.DataFrame, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper edge of the band; NaN where there is none."""
    if "low" in line and "high" in line:
        return line["low"].to_numpy(dtype=np.float64), line["high"].to_numpy(dtype=np.float64)
    middle, std = line[metric].to_numpy(dtype=np.float64), line["std"].to_numpy(dtype=np.float64)
    return middle - std, middle + std


def _checked_models(table: pd.DataFrame, metric: str, measure: str, models: Sequence[str] | None) -> list[str]:
    """Check the arguments of `plot_curves`, and return the models to draw."""
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    check_metric(metric)
    columns = ", ".join(map(str, table.columns))
    if not {"model", "noise_rate"} <= set(table) or not ({"low", "high"} <= set(table) or "std" in table):
        raise ValueError(f"table must have columns model, noise_rate, std and the metric, got {columns}")
    if metric not in table:
        available = ", ".join(name for name in METRICS if name in table) or "none"
        raise ValueError(f"metric must be a column of the table, which has {available}, got {metric!r}")
    known = list(table["model"].unique())
    if not known:
        raise ValueError("table must have a row per model and noise rate, got none")
    models = known if models is None else list(models)
    if not set(models) & set(known):
        raise ValueError(f"models must name models of the table, {', '.join(map(str, known))}, got {models}")
    return models
