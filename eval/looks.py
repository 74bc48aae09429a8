"""How the line of each model looks, and whether what a config says of it can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .config import Config, FigureOptions
from .errors import ConfigError, one_line

# Okabe & Ito's colours, which colour-blind readers can tell apart, without their yellow, which print loses.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
STYLES = ("-", "--", "-.", ":")

# Limits of what a config may say of a line, and the resolution of the trial that it is drawn in.
SIZES = frozenset({"linewidth", "markersize", "markeredgewidth"})
MAX_POINTS, MAX_LETTERS, LEAST_SPACING = 1000, 50, 0.001
DOTS_OF_A_TRIAL = 20

# What a config may say of a line: how it looks, but not where it leads to or how it is drawn.
STYLE_KEYS = frozenset(
    """
    alpha color dash_capstyle dash_joinstyle drawstyle fillstyle label linestyle linewidth marker
    markeredgecolor markeredgewidth markerfacecolor markersize markevery solid_capstyle solid_joinstyle
    zorder
    """.split()  # noqa: SIM905 - a list of words
)


def check_figures(config: Config) -> None:
    """Try the options of both figures of a config before any work starts, as `check_options` does."""
    for name in ("ela_fig", "rla_fig"):
        check_options(getattr(config, name), name)


def check_options(options: FigureOptions, name: str) -> None:
    """Try the options before any work starts.

    Raises
    ------
    ConfigError
        If the colour map or an argument of a line is unknown.
    """
    if options.fig_cmap is not None and options.fig_cmap not in matplotlib.colormaps:
        raise ConfigError(f"{name}.fig_cmap: unknown colour map {options.fig_cmap!r}")
    for i, arguments in enumerate(options.plot_kwargs):
        if not arguments:
            continue
        figure = Figure(dpi=DOTS_OF_A_TRIAL)
        try:
            unknown = [key for key in normalize_kwargs(arguments, Line2D) if key not in STYLE_KEYS]
            if unknown:
                allowed = ", ".join(sorted(STYLE_KEYS))
                raise ConfigError(f"{name}.plot_kwargs[{i}]: unknown key {unknown[0]!r}; allowed are {allowed}")
            look = look_of(i, len(options.plot_kwargs), options)
            _check_effort(look, f"{name}.plot_kwargs[{i}]")
            figure.subplots().plot([0, 1], [0, 1], **look)
            FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - Matplotlib raises whatever comes
            raise ConfigError(
                f"{name}.plot_kwargs[{i}]: {arguments!r} cannot be drawn: {one_line(error)}"
            ) from None


def _check_effort(look: dict[str, Any], where: str) -> None:
    """Refuse what would take Matplotlib hours, or all memory, to draw."""
    for key in SIZES & set(look):
        if not 0 <= float(look[key]) <= MAX_POINTS:
            raise ConfigError(f"{where}: {key} must be from 0 to {MAX_POINTS} points, got {look[key]!r:.60}")
    for key in ("linestyle", "marker"):
        if not (look[key] is None or (isinstance(look[key], str) and len(look[key]) <= MAX_LETTERS)):
            raise ConfigError(
                f"{where}: {key} must be text of at most {MAX_LETTERS} characters, got {look[key]!r:.60}"
            )
    every = look.get("markevery")
    if isinstance(every, float) and every < LEAST_SPACING:
        raise ConfigError(f"{where}: markevery must be at least {LEAST_SPACING}, got {every}")


def options_of(config: Config, kind: str) -> FigureOptions:
    """How a config wants a kind of picture to look.

    Size and title are those of the averaged curves of ELA and RLA alone.  Colours, lines and dots are those of
    all pictures, by `rla_fig` if their name begins with ``rla``, and by `ela_fig` otherwise.
    """
    options = config.rla_fig if kind.startswith("rla") else config.ela_fig
    return (
        options if kind in ("ela", "rla") else options.model_copy(update={"fig_size": None, "fig_title": None})
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
    own = options.plot_kwargs[i] if options.plot_kwargs else {}
    own = normalize_kwargs(own, Line2D)
    # Nothing is no colour, width or size; as a marker it means none.
    return look | {name: value for name, value in own.items() if value is not None or name == "marker"}


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
