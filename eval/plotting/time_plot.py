"""What accuracy costs: a measure against the time of the fit."""

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
from .request import Picture

SECONDS = "fit_seconds"


def accuracy_against_time(picture: Picture) -> Axes | NDArray[Any]:
    """Draw a metric at one noise rate against the seconds of the fit, a panel for each kind of noise."""
    values, bars = averaged(picture.scores, picture.metric, picture.of)
    seconds, _ = averaged(picture.scores, SECONDS)
    seconds = seconds.rename(columns={"low": "fastest", "high": "slowest"})
    both = values.merge(seconds, on=["noise_kind", "noise_rate", "model"])

    def draw(ax: Axes, kind: str) -> list[Line2D]:
        noise_rate = picture.rate_of(kind)
        assert noise_rate is not None  # noqa: S101 - for the type checker: only the area has none
        here = both[(both["noise_kind"] == kind) & np.isclose(both["noise_rate"], noise_rate)]
        return draw_times(ax, here, picture.metric, picture.looks, label=picture.label)

    return picture.panels(
        draw,
        title=f"{picture.name} and time{picture.at_rate}, {picture.over}",
        caption=f"Bars: {bars}",
        headings=[picture.at(kind) for kind in picture.kinds],
    )


def draw_times(
    ax: Axes,
    table: pd.DataFrame,
    metric: str,
    looks: Mapping[str, Mapping[str, Any]],
    *,
    label: str,
) -> list[Line2D]:
    """Draw a point for each model, with bars for both intervals; the points come in the order of the looks.

    Parameters
    ----------
    ax : Axes
    table : DataFrame
        A row for each model: ``metric``, ``low``, ``high``, ``fit_seconds``, ``fastest``, ``slowest``.
    metric : str
        Its column.
    looks : mapping
        Of the models; see `looks_of`.
    label : str
        What the metric is.
    """
    points = []
    for model, look in looks.items():
        here = table[table["model"] == model]
        (point,) = ax.plot(here[SECONDS], here[metric], **{**look, "linestyle": "none"})
        point.set_markersize(1.5 * point.get_markersize())
        common: Any = {"color": point.get_color(), "gid": look["gid"], "alpha": 0.6, "zorder": 1.5}
        ax.vlines(here[SECONDS], here["low"], here["high"], **common)
        ax.hlines(here[metric], here["fastest"], here["slowest"], **common)
        points.append(point)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: _plain(seconds)))
    ax.xaxis.set_minor_formatter(_MinorFormatter(labelOnlyBase=False, minor_thresholds=(1.2, 0.5)))
    ax.set_xlabel("seconds to fit (logarithmic)")
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return points


class _MinorFormatter(LogFormatter):
    """Chooses the minor ticks that there is room for, and writes them as the major ones."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return _plain(x) if super().__call__(x, pos) else ""


def _plain(seconds: float) -> str:
    """A number without an exponent, however small."""
    return np.format_float_positional(seconds, precision=3, fractional=False, trim="-")
