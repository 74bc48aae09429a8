"""A metric against the time to fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter
from numpy.typing import NDArray

from .bands import averaged
from .request import PlotRequest

SECONDS = "fit_seconds"


def accuracy_against_time(request: PlotRequest) -> Axes | NDArray[Any]:
    """Draw a metric at one noise rate against the seconds to fit, one panel per kind of noise."""
    values, interval = averaged(request.scores, request.metric, request.measure)
    seconds, _ = averaged(request.scores, SECONDS)
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
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: _plain(seconds)))
    ax.xaxis.set_minor_formatter(_MinorFormatter(labelOnlyBase=False, minor_thresholds=(1.2, 0.5)))
    ax.set_xlabel("seconds to fit (log scale)")
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return points


class _MinorFormatter(LogFormatter):
    """Label the minor ticks that fit, in the format of the major ones."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return _plain(x) if super().__call__(x, pos) else ""


def _plain(seconds: float) -> str:
    """Format a number without an exponent."""
    return np.format_float_positional(seconds, precision=3, fractional=False, trim="-")
