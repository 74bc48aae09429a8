"""Checks of the line styles in a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError, one_line
from .figures import FigureOptions
from .run import Config

# Limits of line styles, and the resolution of the trial figure.
SIZE_KEYS = frozenset({"linewidth", "markersize", "markeredgewidth"})
MAX_POINTS, MAX_CHARACTERS, MIN_SPACING = 1000, 50, 0.001
TRIAL_DPI = 20

# Keys that set the appearance of a line.  Others could add links or change how the figure is drawn.
STYLE_KEYS = frozenset(
    """
    alpha color dash_capstyle dash_joinstyle drawstyle fillstyle label linestyle linewidth marker
    markeredgecolor markeredgewidth markerfacecolor markersize markevery solid_capstyle solid_joinstyle
    zorder
    """.split()  # noqa: SIM905 - a list of words
)


def check_figures(config: Config) -> None:
    """Check the options of both figures of a config with `check_options`."""
    for name in ("ela_fig", "rla_fig"):
        check_options(getattr(config, name), name)


def check_options(options: FigureOptions, name: str) -> None:
    """Check the colour map, and draw a trial line with each style.

    Parameters
    ----------
    options : FigureOptions
    name : str
        Key of the options in the config.

    Raises
    ------
    ConfigError
        If the colour map or a line style is invalid.
    """
    if options.fig_cmap is None and not any(options.plot_kwargs):
        return
    import matplotlib  # slow to import
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    if options.fig_cmap is not None and options.fig_cmap not in matplotlib.colormaps:
        raise ConfigError(f"{name}.fig_cmap: unknown colour map {options.fig_cmap!r}; see matplotlib.colormaps")
    for i, arguments in enumerate(options.plot_kwargs):
        if not arguments:
            continue
        figure = Figure(dpi=TRIAL_DPI)
        try:
            unknown = [key for key in normalize_kwargs(arguments, Line2D) if key not in STYLE_KEYS]
            if unknown:
                allowed = ", ".join(sorted(STYLE_KEYS))
                raise ConfigError(
                    f"{name}.plot_kwargs[{i}]: unexpected key {unknown[0]!r}; allowed keys: {allowed}"
                )
            style = line_arguments(arguments)
            _check_effort(style, f"{name}.plot_kwargs[{i}]")
            figure.subplots().plot([0, 1], [0, 1], **style)
            FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - Matplotlib may raise anything
            raise ConfigError(
                f"{name}.plot_kwargs[{i}]: {arguments!r} cannot be drawn: {one_line(error)}"
            ) from None


def line_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for Matplotlib's `Line2D`: aliases are expanded and None values removed.

    None is not a valid colour, width or size; as a marker it means no marker.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    spelt_out = normalize_kwargs(dict(arguments), Line2D)
    return {name: value for name, value in spelt_out.items() if value is not None or name == "marker"}


def _check_effort(style: dict[str, Any], context: str) -> None:
    """Reject styles that would take Matplotlib hours, or all memory, to draw."""
    for key in SIZE_KEYS & set(style):
        if not 0 <= float(style[key]) <= MAX_POINTS:
            raise ConfigError(f"{context}: {key} must be from 0 to {MAX_POINTS} points, got {style[key]!r:.60}")
    for key in ("linestyle", "marker"):
        value = style.get(key)
        if not (value is None or (isinstance(value, str) and len(value) <= MAX_CHARACTERS)):
            raise ConfigError(
                f"{context}: {key} must be text of at most {MAX_CHARACTERS} characters, got {value!r:.60}"
            )
    every = style.get("markevery")
    if isinstance(every, float) and every < MIN_SPACING:
        raise ConfigError(f"{context}: markevery must be at least {MIN_SPACING}, got {every}")
