"""Small multiples: curves of each data set in panels with common axes."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .bands import by_dataset
from .curves import draw_curves, format_noise_axis
from .figure import characters_per_line, draw_panels, upper_limit
from .mathtext import text_of
from .request import PlotRequest

PANEL, LARGE_PANEL, FEW = (2.5, 2.0), (3.2, 2.6), 4  # inches; up to FEW data sets have large panels
FONT: Any = {"font.size": 8.0}
MAX_TICKS = 6
TEXT_BOX = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1}
SCALE = 0.75  # of markers, their rims and lines


@matplotlib.rc_context(FONT)
def curves_by_dataset(request: PlotRequest) -> NDArray[Any]:
    """Draw one panel per data set in a new figure, with one column per kind of noise if there are several.

    Returns
    -------
    ndarray of Axes, of shape (n_datasets,) or (n_datasets, n_kinds)
    """
    table, band = by_dataset(request.scores, request.metric, request.measure, request.options.fig_band)
    n_kinds, n_datasets = len(request.kinds), len(request.datasets)
    top = upper_limit(table[request.metric].to_numpy(dtype=np.float64))
    panel_size = PANEL if n_datasets > FEW else LARGE_PANEL
    panels = {}
    for name in request.datasets:
        for kind in request.kinds:
            heading = text_of(name, wrap_at=characters_per_line(panel_size[0]))
            panels[name if n_kinds == 1 else f"{name}, {kind}"] = (
                name,
                kind,
                heading + f"\n{text_of(kind)} noise" * (n_kinds > 1),
            )

    def draw(ax: Axes, panel: str) -> list[Line2D]:
        name, kind, _ = panels[panel]
        rows = table[(table["dataset"] == name) & (table["noise_kind"] == kind)]
        lines = draw_curves(ax, rows, request.metric, request.styles, label="", max_ticks=MAX_TICKS)
        # Panels share their axes, so the ticks must cover all kinds of noise, not only the last one drawn.
        format_noise_axis(ax, table["noise_rate"].to_numpy(dtype=np.float64), MAX_TICKS)
        for line in lines:
            line.set_markersize(SCALE * line.get_markersize())
            line.set_markeredgewidth(SCALE * line.get_markeredgewidth())
            line.set_linewidth(SCALE * line.get_linewidth())
        values = rows[request.metric].to_numpy(dtype=np.float64)
        if (values > top).any():
            ax.text(
                0.98,
                0.97,
                f"↑ to {np.nanmax(values):.3g}",
                transform=ax.transAxes,
                ha="right",
                va="top",
                bbox=TEXT_BOX,
            )
        if not np.isfinite(values).any():
            ax.text(0.5, 0.5, "no values", transform=ax.transAxes, ha="center", va="center", color="0.4")
        return lines

    datasets = "each data set" if n_datasets > 1 else text_of(request.datasets[0])
    axes = draw_panels(
        list(panels),
        draw,
        headings=[heading for *_, heading in panels.values()],
        title=f"{request.name}{request.noise_suffix} on {datasets}",
        caption=f"Band: {band}" + ("; ↑: lines continue above the panel" if np.isfinite(top) else ""),
        label=request.label,
        missing_where="on {}",
        options=request.options,
        columns=n_kinds if n_kinds > 1 else columns_for(n_datasets),
        panel=panel_size,
    )
    if np.isfinite(top):
        axes[0].set_ylim(top=top)
    return axes if n_kinds == 1 else axes.reshape(n_datasets, n_kinds)


def columns_for(n: int) -> int:
    """Number of columns for n panels: a nearly square grid with the fewest gaps."""
    choices = range(math.ceil(math.sqrt(0.75 * n)), math.ceil(math.sqrt(1.5 * n)) + 1)
    return min(choices, key=lambda columns: (-n % columns, -columns))
