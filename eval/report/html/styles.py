"""Line styles for Plotly and colours for the style sheet, the same as in the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex, to_rgba
from numpy.typing import NDArray

from boostnoise.eval.config.figures import FigureOptions
from boostnoise.eval.plotting.heat_map import COLOUR_MAP
from boostnoise.eval.plotting.styles import line_style

PIXELS_PER_POINT = 4 / 3
HEAT_STEPS = 40
DARK_PAGE = "#14171b"  # the background of the page in dark mode
ENOUGH = 12.0  # contrast that suffices for any line
READABLE = 4.5  # minimum contrast of text in WCAG 2.2

# Plotly's names of Matplotlib's markers; any other marker becomes a circle.
SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down", "P": "cross",
    "X": "x", "<": "triangle-left", ">": "triangle-right", "*": "star", "h": "hexagon", "H": "hexagon2",
    "d": "diamond-tall", "p": "pentagon", "8": "octagon", "+": "cross-thin-open", "x": "x-thin-open",
    "|": "line-ns-open", "_": "line-ew-open",
}  # fmt: skip
# Outlines of the markers in a box from -1 to 1, for the legend.
SHAPES = {
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "square": "M-.9,-.9H.9V.9H-.9Z",
    "triangle-up": "M0,-1L1,.8H-1Z",
    "triangle-down": "M0,1L1,-.8H-1Z",
    "triangle-left": "M-1,0L.8,-1V1Z",
    "triangle-right": "M1,0L-.8,-1V1Z",
    "diamond": "M0,-1.1L1.1,0L0,1.1L-1.1,0Z",
    "diamond-tall": "M0,-1.2L.7,0L0,1.2L-.7,0Z",
    "cross": "M-.35,-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "x": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
    "star": "M0,-1.2L.3,-.4H1.15L.5,.15L.7,1L0,.5L-.7,1L-.5,.15L-1.15,-.4H-.3Z",
    "hexagon": "M0,-1L.87,-.5V.5L0,1L-.87,.5V-.5Z",
}
DASHES = {"-": "solid", "--": "dash", "-.": "dashdot", ":": "dot"}
LONG_NAMES = {"solid": "-", "dashed": "--", "dashdot": "-.", "dotted": ":"}
STROKES = {"solid": "", "dash": "6 3", "dashdot": "6 2 1.5 2", "dot": "1.5 2"}
NONE = ("", " ", "None", "none", None)


def plotly_style(i: int, n: int, options: FigureOptions) -> dict[str, Any]:
    """Plotly settings for the line of the i-th of n models.

    Returns
    -------
    dict
        ``colour`` and ``dark``, its variant for a dark page; ``opacity``; ``width`` and ``size`` in pixels;
        ``dash``, ``symbol`` and ``shape`` in Plotly's terms, the first two None for no line and no markers;
        for the legend ``stroke``, an SVG dash array, and ``path``, the outline of the marker.
    """
    style = line_style(i, n, options)
    colour = style["color"]
    alpha = style.get("alpha")
    width = PIXELS_PER_POINT * float(style.get("linewidth", 1.5))
    dash = _dash(style["linestyle"], width)
    marker = style["marker"]
    symbol = None if marker in NONE else SYMBOLS.get(str(marker), "circle")
    path = SHAPES.get(symbol or "", SHAPES["circle"])
    if symbol is not None and style.get("markerfacecolor") in NONE[2:4] and not symbol.endswith("-open"):
        symbol += "-open"
    return {
        "colour": to_hex(colour),
        "dark": lighten(to_hex(colour)),
        "opacity": round(float(to_rgba(colour)[3] * (1.0 if alpha is None else alpha)), 3),
        "width": round(width, 2),
        "size": round(PIXELS_PER_POINT * float(style["markersize"]), 2),
        "dash": dash,
        "symbol": symbol,
        "shape": _shape(str(style.get("drawstyle", "default"))),
        "stroke": STROKES.get(dash or "", (dash or "").replace("px", "").replace(",", " ")),
        "path": path,
    }


def _dash(style: Any, width: float) -> str | None:
    """Plotly's name of a dash pattern, or its lengths in pixels; None for no line."""
    if style in NONE:
        return None
    if isinstance(style, str):
        return DASHES[LONG_NAMES.get(style, style)]
    _, lengths = style
    return ",".join(f"{length * width:g}px" for length in lengths or ()) or "solid"


def _shape(drawstyle: str) -> str:
    return {"steps": "vh", "steps-pre": "vh", "steps-post": "hv", "steps-mid": "hvh"}.get(drawstyle, "linear")


def model_css(styles: Sequence[dict[str, Any]]) -> str:
    """CSS rules for the colour of each model, and to hide its elements."""
    rules = [
        f".m{i}{{--c:{style['colour']}}}.off-{i} [data-m='{i}']{{display:none}}"
        for i, style in enumerate(styles)
    ]
    dark = [f".m{i}{{--c:{style['dark']}}}" for i, style in enumerate(styles)]
    return "\n".join([*rules, "@media screen and (prefers-color-scheme:dark){", *dark, "}"])


def heat_map_css(options: FigureOptions) -> str:
    """CSS rules for the background and the text colour of each step of the colour map."""
    colours = matplotlib.colormaps[options.fig_cmap or COLOUR_MAP](np.linspace(0, 1, HEAT_STEPS))
    rules = []
    for i, colour in enumerate(colours):
        background = to_hex(colour)
        text = max("#000000", "#ffffff", key=lambda candidate: contrast(candidate, background))
        rules.append(f".h{i}{{background:{background};color:{text}}}")
    return "\n".join(rules)


def heat_steps(values: NDArray[np.float64], *, higher_is_better: bool) -> NDArray[np.int64]:
    """Colour map step of each value, with the best in the last step; -1 for missing values.

    Values beyond Tukey's fence on the worse side share the first step, so that an outlier does not give all
    other values the same colour.
    """
    known = np.isfinite(values)
    if not known.any():
        return np.full(values.shape, -1)
    good = values if higher_is_better else -values
    low, high = good[known].min(), good[known].max()
    lower, upper = np.quantile(good[known], [0.25, 0.75])
    low = max(low, lower - 1.5 * (upper - lower))
    share = np.clip((good - low) / (high - low), 0, 1) if low < high else np.full(values.shape, 0.5)
    return np.where(known, np.round(np.where(known, share, 0) * (HEAT_STEPS - 1)), -1).astype(int)


def lighten(colour: str) -> str:
    """Mix a colour with white until its contrast on a dark page matches its contrast on white."""
    red_green_blue = np.array(to_rgba(colour)[:3])
    mixtures = (to_hex(red_green_blue + share * (1 - red_green_blue)) for share in np.linspace(0, 1, 21))
    needed = min(max(contrast(colour, "#ffffff"), READABLE), ENOUGH)
    return next(mixed for mixed in mixtures if contrast(mixed, DARK_PAGE) >= needed)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21, as defined in WCAG 2.2."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = np.array(to_rgba(colour)[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
