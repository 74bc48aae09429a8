"""How the line of each model looks, and whether what a config says of it can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np

from ..config.figure_options import FigureOptions
from ..config.line_styles import line_arguments
from ..config.run import Config

# Okabe & Ito's colours, which colour-blind readers can tell apart, without their yellow, which print loses.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
STYLES = ("-", "--", "-.", ":")


def options_of(config: Config, plot: str) -> FigureOptions:
    """Figure options of a plot, from a config.

    Size and title are those of the averaged curves of ELA and RLA alone.  Colours, lines and dots are those of
    all pictures, by `rla_fig` if their name begins with ``rla``, and by `ela_fig` otherwise.
    """
    options = config.rla_fig if plot.startswith("rla") else config.ela_fig
    return (
        options if plot in ("ela", "rla") else options.model_copy(update={"fig_size": None, "fig_title": None})
    )


def look_of(i: int, n: int, options: FigureOptions) -> dict[str, Any]:
    """Arguments of the line of the i-th of n models."""
    look: dict[str, Any] = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": STYLES[i // len(COLOURS) % len(STYLES)],
        # In grey print most colours look alike; large markers with a rim tell the lines apart.
        "markersize": 7.0,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }
    if options.fig_cmap is not None:
        # The upper end of the usual colour maps is too light for lines.
        look["color"] = matplotlib.colormaps[options.fig_cmap](np.linspace(0, 0.9, n)[i])
    return look | line_arguments(options.plot_kwargs[i] if options.plot_kwargs else {})


def looks_of(
    models: Sequence[str], options: FigureOptions, chosen: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Arguments of the lines of models, which follow from their places whichever of them are chosen.

    The group id ``model-{i}`` marks everything that is drawn of the i-th model, so that an SVG can be scripted;
    `number_ids` tells its artists apart.
    """
    looks = {
        model: {"label": model, "gid": f"model-{i}"} | look_of(i, len(models), options)
        for i, model in enumerate(models)
    }
    return looks if chosen is None else {model: looks[model] for model in chosen}
