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
from .curves import draw_curves
from .labels import text_of
from .layout import LETTER, draw_panels
from .picture import Picture

PANEL = (2.5, 2.0)
LETTERS = {"font.size": 8.0}
MAX_TICKS = 6
SMALLER = 0.7  # markers and lines
# Panels are wider than high; with so many in a row a page of them is about as high as wide.
COLUMNS_PER_PANEL = 0.75


@matplotlib.rc_context(LETTERS)
def curves_by_dataset(picture: Picture) -> NDArray[Any]:
    """Draw a panel for each data set into a new figure; several kinds of noise are its columns.

    Returns
    -------
    ndarray of Axes, of shape (n_datasets,) or (n_datasets, n_kinds)
    """
    table, caption = by_dataset(picture.scores, picture.metric, picture.of)
    n_kinds, n_datasets = len(picture.kinds), len(picture.datasets)
    panels = {}
    for name in picture.datasets:
        for kind in picture.kinds:
            heading = text_of(name, wrap_at=int(PANEL[0] / LETTER))
            panels[f"{name}, {kind}"] = (name, kind, heading + f"\n{text_of(kind)} noise" * (n_kinds > 1))

    def draw(ax: Axes, panel: str) -> list[Line2D]:
        name, kind, _ = panels[panel]
        here = table[(table["dataset"] == name) & (table["noise_kind"] == kind)]
        lines = draw_curves(ax, here, picture.metric, picture.looks, label="", max_ticks=MAX_TICKS)
        for line in lines:
            line.set_markersize(SMALLER * line.get_markersize())
            line.set_linewidth(SMALLER * line.get_linewidth())
        if not np.isfinite(here[picture.metric]).any():
            ax.text(0.5, 0.5, "no values", transform=ax.transAxes, ha="center", va="center", color="0.4")
        return lines

    axes = draw_panels(
        list(panels),
        draw,
        headings=[heading for *_, heading in panels.values()],
        title=f"{picture.name}{picture.under} on each data set",
        caption=caption[:1].upper() + caption[1:],
        label=picture.label,
        lacking="on {}",
        options=picture.options,
        columns=n_kinds if n_kinds > 1 else math.ceil(math.sqrt(COLUMNS_PER_PANEL * n_datasets)),
        panel=PANEL,
    )
    return axes if n_kinds == 1 else axes.reshape(n_datasets, n_kinds)
