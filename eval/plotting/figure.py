"""Figures: how they grow with what they show, their panels, titles and captions, and one legend for all."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..config.figure_options import MAX_PIXELS, FigureOptions
from .mathtext import text_of

PANEL = (6.0, 4.8)
LEGEND_WIDTH = 36
LEGEND_SIZES = (None, 8, 6, 5, 4)  # of letters, in points; None for the size that Matplotlib is set to
# Whatever a user has set: a name with an underscore is not to be read by LaTeX.
STYLE: Any = {"text.usetex": False, "text.parse_math": True}
USUAL = 0.95  # share of the values that a common scale holds in any case
DOTS = 150  # to the inch, by which text is measured
_OUR_ID = re.compile(r"(model-\d+|group)(?:-\d+)?")
LETTER = 0.0075  # inches that a letter of one point takes on average


def draw_panels(
    names: Sequence[str],
    draw: Callable[[Axes, str], Sequence[Line2D]],
    *,
    headings: Sequence[str],
    title: str,
    caption: str,
    lacking: str,
    options: FigureOptions,
    label: str | None = None,
    columns: int | None = None,
    panel: tuple[float, float] = PANEL,
) -> NDArray[Any]:
    """Draw a panel for each name into a new figure, with one legend beside them all.

    Parameters
    ----------
    names : sequence of str
        Of the panels.
    draw : callable
        Draws one panel, given its axes and its name, and returns the line of each model.
    headings : sequence of str
        Titles of the panels; a single one has none.
    title, caption : str
        What is drawn, and what its uncertainty is; the options may hold another title.
    lacking : str
        How the legend tells where a model has no values, such as ``"under {}"``.
    options : FigureOptions
    columns : int or None, default=None
        How many panels stand side by side; None for about as many as stand in a column.
    panel : tuple of float, default=(6.0, 4.8)
        Inches.
    label : str or None, default=None
        What the vertical axes of all panels show, if they share their axes, which then are told at the edges.

    Returns
    -------
    ndarray of Axes, of shape (n_names,)
    """
    columns = math.ceil(math.sqrt(len(names))) if columns is None else columns
    rows = math.ceil(len(names) / columns)
    figure = new_figure(columns * panel[0], rows * panel[1], options)
    shared = label is not None
    axes = figure.subplots(rows, columns, sharex=shared, sharey=shared, squeeze=False).ravel()
    lines = {}
    for i, (ax, name, heading) in enumerate(zip(axes, names, headings, strict=False)):
        lines[name] = draw(ax, name)
        if len(names) > 1:
            ax.set_title(heading, fontsize="medium")
        if shared and i + columns < len(names):
            ax.set_xlabel("")
        elif shared:  # the lowest of its column, though not always of the grid
            ax.tick_params(labelbottom=True)
    for ax in axes[len(names) :]:
        ax.remove()
    legend = legend_of(figure, lines, figure.get_figheight(), room(figure, options), lacking, loc="upper right")
    width = size_of(legend)[0]
    if options.fig_size is None:
        _widen(figure, width)
    # The panels and their title stay to the left of the legend; one that is too wide covers them in part.
    entitle(figure, title, caption, options, right=max(0.4, 1 - width / figure.get_figwidth()))
    if label is not None:
        parts = textwrap.wrap(label, letters_in(0.85 * figure.get_figheight()))
        figure.supylabel("\n".join(parts), fontsize="medium")
    return axes[: len(names)]


def draw_stack(
    names: Sequence[str],
    draw: Callable[[Axes, str], None],
    sizes: Sequence[tuple[float, float]],
    *,
    headings: Sequence[str],
    title: str,
    caption: str,
    options: FigureOptions,
) -> NDArray[Any]:
    """Draw panels of given sizes one below the other into a new figure; see `draw_panels`."""
    heights = [height for _, height in sizes]
    # The title and the caption, and a heading for each panel.
    figure = new_figure(max(width for width, _ in sizes), sum(heights) + 0.7 + 0.3 * len(sizes), options)
    axes = figure.subplots(len(names), 1, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
    for ax, name, heading in zip(axes, names, headings, strict=True):
        draw(ax, name)
        if len(names) > 1:
            ax.set_title(heading, fontsize="medium")
    entitle(figure, title, caption, options)
    return axes


def beside(ax: Axes, lines: Sequence[Line2D], options: FigureOptions | None) -> None:
    """Put a legend beside axes, where it hides nothing, however many models there are.

    `options` are those of a figure of our own, which grows unless they ask for a size.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None  # noqa: S101 - for the type checker
    width = np.inf if options is None else room(figure, options)
    place: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    legend = legend_of(ax, {"": lines}, ax.bbox.height / figure.dpi, width, **place)
    if options is not None and options.fig_size is None:
        _widen(figure, size_of(legend)[0])


def _widen(figure: Figure | SubFigure, inches: float) -> None:
    """Make a figure wider, up to the largest that is drawn."""
    whole = figure.get_figure(root=True)
    assert whole is not None  # noqa: S101 - for the type checker
    whole.set_figwidth(min(whole.get_figwidth() + inches, MAX_PIXELS / whole.dpi))


def number_ids(figure: Figure | SubFigure) -> None:
    """Number the group ids of what belongs to one model: in an SVG an id may be there once."""
    seen = Counter[str]()
    for artist in figure.get_figure(root=True).findobj():
        found = _OUR_ID.fullmatch(artist.get_gid() or "")
        if found:
            seen[found[1]] += 1
            artist.set_gid(found[1] if seen[found[1]] == 1 else f"{found[1]}-{seen[found[1]]}")


def usual_top(values: NDArray[np.float64]) -> float:
    """Where a common scale ends if a few values are so large that nothing could be seen of the others."""
    known = values[np.isfinite(values)]
    usual = float(np.quantile(known, USUAL)) if known.size else 0.0
    return 1.25 * usual if usual > 0 and known.max() > 2 * usual else np.inf


def letters_in(inches: float) -> int:
    """How many letters go into a line."""
    return max(10, int(inches / (LETTER * matplotlib.rcParams["font.size"])))


def new_figure(width: float, height: float, options: FigureOptions) -> Figure:
    """An empty figure, of the size that the options ask for or else of that given, within limits."""
    if options.fig_size is None:
        limit = MAX_PIXELS / options.fig_dpi
        width, height = min(width, limit / 2), min(height, limit)  # the legend may take the other half
    else:
        width, height = options.fig_size
    return Figure(figsize=(width, height), dpi=options.fig_dpi, layout="constrained")


def grown(panel: tuple[float, float], n_models: int) -> tuple[float, float]:
    """The size of a panel that holds the curves of many models."""
    scale = min(max(1.0, math.sqrt(n_models / 20)), 1.5)
    return panel[0] * scale, panel[1] * scale


def entitle(figure: Figure, title: str, caption: str, options: FigureOptions, *, right: float = 1.0) -> None:
    """Write the title, or that of the options, and the caption, within a share of the figure's width."""
    figure.set_layout_engine("constrained", rect=(0, 0, right, 1))
    letters = letters_in(right * figure.get_figwidth())
    if options.fig_title is not None:
        title = text_of(options.fig_title, wrap_at=letters)
    if title:
        size = "medium" if options.fig_title is None else "large"
        figure.suptitle(title, x=right / 2, fontsize=size, wrap=True)
    if caption:
        lines = "\n".join(textwrap.wrap(caption, int(1.2 * letters)))
        figure.supxlabel(lines, x=0.01, ha="left", fontsize="small", color="0.3")


def entitle_axes(ax: Axes, title: str, caption: str, options: FigureOptions) -> None:
    """Write both above axes in a figure that is not ours."""
    if options.fig_title is not None:
        title = text_of(options.fig_title)
    ax.set_title("\n".join(filter(None, [title, caption])), fontsize="small", wrap=True)


def room(figure: Figure, options: FigureOptions) -> float:
    """Inches that a legend beside the axes may take."""
    if options.fig_size is None:
        return MAX_PIXELS / options.fig_dpi - figure.get_figwidth()
    return figure.get_figwidth() / 2


def size_of(artist: Artist) -> tuple[float, float]:
    """Width and height in inches."""
    figure = artist.get_figure(root=True)
    assert figure is not None  # noqa: S101 - for the type checker: only what was added has a size
    dpi = figure.dpi
    try:
        # Measuring takes memory for every dot; a figure that a window shows is left alone.
        figure.dpi = min(dpi, DOTS) if figure.canvas.manager is None else dpi
        box = artist.get_window_extent()
        return box.width / figure.dpi, box.height / figure.dpi
    finally:
        figure.dpi = dpi


def legend_of(
    owner: Axes | Figure,
    panels: Mapping[str, Sequence[Line2D]],
    height: float,
    width: float,
    lacking: str = "",
    **place: Any,
) -> Legend:
    """A legend in as many columns as fit its models into a height, and in letters that fit them into a width.

    `panels` holds the lines of the models in each panel; where a model has no values, the legend tells it.
    """
    handles, labels = [], []
    for lines in zip(*panels.values(), strict=True):
        missing = [
            name for name, line in zip(panels, lines, strict=True) if not np.isfinite(line.get_ydata()).any()
        ]
        label = str(lines[0].get_label())
        if len(missing) == len(lines):
            handles.append(Line2D([], [], linestyle="none"))
            label = f"{label} (no values)"
        else:
            handles.append(lines[0])
            where = lacking.format(
                ", ".join(missing) if len(missing) < 4 else f"{len(missing)} of {len(lines)}"
            )
            label += f" (no values {where})" if missing else ""
        labels.append(text_of(label, wrap_at=LEGEND_WIDTH))
    numbers = [str(i) for i in range(len(handles))]

    def added(columns: int, size: float | None) -> Legend:
        legend = owner.legend(
            handles, numbers, ncols=columns, fontsize=size, frameon=False, borderaxespad=0.2, **place
        )
        for text, label in zip(legend.get_texts(), labels, strict=True):
            text.set_text(label)  # handed to legend, a label that begins with an underscore would be left out
        return legend

    for size in LEGEND_SIZES:
        legend = added(1, size)
        columns = math.ceil(size_of(legend)[1] / height)
        # Names of several lines may make one column longer than the others, which takes a column or two more.
        for more in range(3):
            if size_of(legend)[1] <= height:
                break
            legend.remove()
            legend = added(columns + more, size)
        if size == LEGEND_SIZES[-1] or (size_of(legend)[1] <= height and size_of(legend)[0] <= width):
            break
        legend.remove()
    return legend
