"""The time to fit: against a metric, and on each data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter
from numpy.typing import NDArray

from .bands import averaged, by_dataset
from .figure import PANEL
from .mathtext import text_of
from .request import PlotRequest

SECONDS = "fit_seconds"
ROW_HEIGHT = 0.32  # inches
NAME_WIDTH = 26


def accuracy_against_time(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw a metric at one noise rate against the seconds to fit, one panel per kind of noise."""
    values, interval = averaged(request.scores, request.metric, request.measure, request.options.fig_band)
    seconds, _ = averaged(request.scores, SECONDS, band=request.options.fig_band)
    seconds = seconds.rename(columns={"low": "fastest", "high": "slowest"})
    both = values.merge(seconds, on=["noise_kind", "noise_rate", "model"])

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        noise_rate = request.rate_of(kind)
        assert noise_rate is not None  # noqa: S101 - for the type checker: only the area has no rate
        rows = both[(both["noise_kind"] == kind) & np.isclose(both["noise_rate"], noise_rate)]
        return draw_times(ax, rows, request.metric, request.styles, label=request.label)

    return request.draw_panels(
        draw,
        title=f"{request.name} and time{request.rate_suffix}, {request.over_datasets}",
        caption=f"Error bars: {interval}",
        headings=[request.noise_of(kind) for kind in request.kinds],
    )


def time_on_each_dataset(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw the seconds to fit at one noise rate, a row for each data set, one panel per kind of noise."""
    table, interval = by_dataset(request.scores, SECONDS, band=request.options.fig_band)
    n_rows, n_models = len(request.datasets), len(request.chosen)
    row_of = {name: row for row, name in enumerate(request.datasets)}
    shifts = 0.6 * (np.arange(n_models) - (n_models - 1) / 2) / n_models

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        noise_rate = request.rate_of(kind)
        assert noise_rate is not None  # noqa: S101 - for the type checker: only the area has no rate
        drawn = table[(table["noise_kind"] == kind) & np.isclose(table["noise_rate"], noise_rate)]
        _format_seconds(ax)
        points = []
        for (model, style), shift in zip(request.styles.items(), shifts, strict=True):
            of_model = drawn[drawn["model"] == model]
            height = np.array([row_of[name] for name in of_model["dataset"]]) + shift
            height[of_model[SECONDS].isna()] = np.nan  # which the legend marks
            (point,) = ax.plot(of_model[SECONDS], height, **{**style, "linestyle": "none"})
            common: Any = {"color": point.get_color(), "gid": style["gid"], "alpha": 0.6, "zorder": 1.5}
            ax.hlines(height, of_model["low"], of_model["high"], **common)
            points.append(point)
        ax.set_yticks(range(n_rows), [text_of(name, wrap_at=NAME_WIDTH) for name in request.datasets])
        ax.set_ylim(n_rows - 0.5, -0.5)
        return points

    return request.draw_panels(
        draw,
        title=f"Time to fit{request.rate_suffix}",
        caption=f"Error bars: {interval}",
        headings=[request.noise_of(kind) for kind in request.kinds],
        panel=(PANEL[0], max(PANEL[1], ROW_HEIGHT * n_rows + 1)),
    )


def draw_times(
    ax: Axes,
    table: pd.DataFrame,
    metric: str,
    styles: Mapping[str, Mapping[str, Any]],
    *,
    label: str,
) -> list[Line2D]:
    """Draw a point with two error bars for each model, in the order of `styles`.

    Parameters
    ----------
    ax : Axes
    table : DataFrame
        A row for each model: ``metric``, ``low``, ``high``, ``fit_seconds``, ``fastest``, ``slowest``.
    metric : str
        Its column.
    styles : mapping
        Line styles of the models; see `line_styles`.
    label : str
        Axis label of the metric.

    Returns
    -------
    list of Line2D
        The points.
    """
    points = []
    for model, style in styles.items():
        row = table[table["model"] == model]
        (point,) = ax.plot(row[SECONDS], row[metric], **{**style, "linestyle": "none"})
        point.set_markersize(1.5 * point.get_markersize())
        common: Any = {"color": point.get_color(), "gid": style["gid"], "alpha": 0.6, "zorder": 1.5}
        ax.vlines(row[SECONDS], row["low"], row["high"], **common)
        ax.hlines(row[metric], row["fastest"], row["slowest"], **common)
        points.append(point)
    _format_seconds(ax)
    ax.set_ylabel(label)
    return points


def _format_seconds(ax: Axes) -> None:
    """Make the horizontal axis a logarithmic one of seconds."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: _plain(seconds)))
    ax.xaxis.set_minor_formatter(_MinorFormatter(labelOnlyBase=False, minor_thresholds=(1.2, 0.5)))
    ax.set_xlabel("seconds to fit (log scale)")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


class _MinorFormatter(LogFormatter):
    """Label the minor ticks that fit, in the format of the major ones."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return _plain(x) if super().__call__(x, pos) else ""


def _plain(seconds: float) -> str:
    """Format a number without an exponent."""
    return np.format_float_positional(seconds, precision=3, fractional=False, trim="-")
