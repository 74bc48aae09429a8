"""Line styles of the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np

from ..config.figures import FigureOptions
from ..config.line_styles import line_arguments
from ..config.run import Config

# Okabe & Ito's colour-blind safe palette without its yellow, which is too light in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
DASHES = ("-", "--", "-.", ":")


def options_of(config: Config, plot: str) -> FigureOptions:
    """Figure options of a plot, from a config.

    Plots whose name begins with ``rla`` use `rla_fig`, all others `ela_fig`.  Size and title apply to the
    averaged curves of ELA and RLA only.
    """
    options = config.rla_fig if plot.startswith("rla") else config.ela_fig
    return (
        options if plot in ("ela", "rla") else options.model_copy(update={"fig_size": None, "fig_title": None})
    )


def line_style(i: int, n: int, options: FigureOptions) -> dict[str, Any]:
    """Matplotlib arguments for the line of the i-th of n models."""
    style: dict[str, Any] = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": DASHES[i // len(COLOURS) % len(DASHES)],
        # In grey print most colours look alike; large markers with a rim keep the lines distinct.
        "markersize": 7.0,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }
    if options.fig_cmap is not None:
        # The upper end of most colour maps is too light for lines.
        style["color"] = matplotlib.colormaps[options.fig_cmap](np.linspace(0, 0.9, n)[i])
    return style | line_arguments(options.plot_kwargs[i] if options.plot_kwargs else {})


def line_styles(
    models: Sequence[str], options: FigureOptions, chosen: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Matplotlib arguments for the lines of all models, or of the chosen ones.

    A model's style follows from its position in `models` and does not depend on `chosen`.  The group id
    ``model-{i}`` marks the artists of the i-th model, so that scripts can find them in an SVG; `number_ids`
    makes the ids unique.
    """
    styles = {
        model: {"label": model, "gid": f"model-{i}"} | line_style(i, len(models), options)
        for i, model in enumerate(models)
    }
    return styles if chosen is None else {model: styles[model] for model in chosen}
