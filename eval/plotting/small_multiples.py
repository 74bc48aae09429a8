"""Curves of each data set: small panels side by side, whose axes are the same so that eyes can compare them."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .bands import by_dataset
from .curves import draw_curves, dress
from .figure import draw_panels, letters_in, usual_top
from .mathtext import text_of
from .request import Picture

PANEL, LARGER_PANEL, FEW = (2.5, 2.0), (3.2, 2.6), 4
LETTERS: Any = {"font.size": 8.0}
MAX_TICKS = 6
PAPER = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1}
SMALLER = 0.75  # markers, their rims and lines


@matplotlib.rc_context(LETTERS)
def curves_by_dataset(picture: Picture) -> NDArray[Any]:
    """Draw a panel for each data set into a new figure; several kinds of noise are its columns.

    Returns
    -------
    ndarray of Axes, of shape (n_datasets,) or (n_datasets, n_kinds)
    """
    table, band = by_dataset(picture.scores, picture.metric, picture.of)
    n_kinds, n_datasets = len(picture.kinds), len(picture.datasets)
    top = usual_top(table[picture.metric].to_numpy(dtype=np.float64))
    panel_size = PANEL if n_datasets > FEW else LARGER_PANEL
    panels = {}
    for name in picture.datasets:
        for kind in picture.kinds:
            heading = text_of(name, wrap_at=letters_in(panel_size[0]))
            panels[name if n_kinds == 1 else f"{name}, {kind}"] = (
                name,
                kind,
                heading + f"\n{text_of(kind)} noise" * (n_kinds > 1),
            )

    def draw(ax: Axes, panel: str) -> list[Line2D]:
        name, kind, _ = panels[panel]
        here = table[(table["dataset"] == name) & (table["noise_kind"] == kind)]
        lines = draw_curves(ax, here, picture.metric, picture.looks, label="", max_ticks=MAX_TICKS)
        # Panels share their axes, so the ticks are those of all kinds of noise, not of the one drawn last.
        dress(ax, table["noise_rate"].to_numpy(dtype=np.float64), MAX_TICKS)
        for line in lines:
            line.set_markersize(SMALLER * line.get_markersize())
            line.set_markeredgewidth(SMALLER * line.get_markeredgewidth())
            line.set_linewidth(SMALLER * line.get_linewidth())
        values = here[picture.metric].to_numpy(dtype=np.float64)
        if (values > top).any():
            ax.text(
                0.98,
                0.97,
                f"↑ to {np.nanmax(values):.3g}",
                transform=ax.transAxes,
                ha="right",
                va="top",
                bbox=PAPER,
            )
        if not np.isfinite(values).any():
            ax.text(0.5, 0.5, "no values", transform=ax.transAxes, ha="center", va="center", color="0.4")
        return lines

    where = "each data set" if n_datasets > 1 else text_of(picture.datasets[0])
    axes = draw_panels(
        list(panels),
        draw,
        headings=[heading for *_, heading in panels.values()],
        title=f"{picture.name}{picture.under} on {where}",
        caption=f"Band: {band}" + ("; ↑ where lines leave the panel" if np.isfinite(top) else ""),
        label=picture.label,
        lacking="on {}",
        options=picture.options,
        columns=n_kinds if n_kinds > 1 else columns_for(n_datasets),
        panel=panel_size,
    )
    if np.isfinite(top):
        axes[0].set_ylim(top=top)
    return axes if n_kinds == 1 else axes.reshape(n_datasets, n_kinds)


def columns_for(n: int) -> int:
    """How many of n panels stand side by side: about as many as below one another, with the fewest gaps."""
    choices = range(math.ceil(math.sqrt(0.75 * n)), math.ceil(math.sqrt(1.5 * n)) + 1)
    return min(choices, key=lambda columns: (-n % columns, -columns))
