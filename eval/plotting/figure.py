"""Figures: size, panels, titles, captions and a common legend."""

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

from ..config.figures import MAX_PIXELS, FigureOptions
from .mathtext import text_of

PANEL = (6.0, 4.8)  # inches
LEGEND_WIDTH = 36  # characters of a legend entry, then it wraps
LEGEND_FONT_SIZES = (None, 8, 6, 5, 4)  # points; None for Matplotlib's setting
# These override the user's settings: LaTeX would misread a name with an underscore.
STYLE: Any = {"text.usetex": False, "text.parse_math": True}
COMMON_QUANTILE = 0.95  # share of the values that a common scale always covers
MEASURING_DPI = 150
_GROUP_ID = re.compile(r"(model-\d+|group)(?:-\d+)?")
CHARACTER_WIDTH = 0.0075  # average, in inches per point of the font size


def draw_panels(
    names: Sequence[str],
    draw: Callable[[Axes, str], Sequence[Line2D]],
    *,
    headings: Sequence[str],
    title: str,
    caption: str,
    missing_where: str,
    options: FigureOptions,
    label: str | None = None,
    columns: int | None = None,
    panel: tuple[float, float] = PANEL,
) -> NDArray[Any]:
    """Draw one panel per name in a new figure, with a common legend on the right.

    Parameters
    ----------
    names : sequence of str
        Names of the panels.
    draw : callable
        Draws one panel, given its axes and its name, and returns the line of each model.
    headings : sequence of str
        Titles of the panels; a single panel has none.
    title, caption : str
        Title of the figure, which the options may replace, and the caption that explains the uncertainty.
    missing_where : str
        Legend text for a model without values in some panels, such as ``"under {}"``.
    options : FigureOptions
    label : str or None, default=None
        Common label of the vertical axes, if all panels share their axes.
    columns : int or None, default=None
        Number of columns; None for a nearly square grid.
    panel : tuple of float, default=(6.0, 4.8)
        Width and height of a panel in inches.

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
        elif shared:  # the lowest panel of its column, though not always in the last row
            ax.tick_params(labelbottom=True)
    for ax in axes[len(names) :]:
        ax.remove()
    legend = make_legend(
        figure,
        lines,
        figure.get_figheight(),
        max_legend_width(figure, options),
        missing_where,
        loc="upper right",
    )
    width = size_in_inches(legend)[0]
    if options.fig_size is None:
        _widen(figure, width)
    # The panels and the title stay to the left of the legend; a legend that is too wide overlaps them.
    draw_title(figure, title, caption, options, right=max(0.4, 1 - width / figure.get_figwidth()))
    if label is not None:
        parts = textwrap.wrap(label, characters_per_line(0.85 * figure.get_figheight()))
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
    """Draw panels of given sizes in one column of a new figure; see `draw_panels`."""
    heights = [height for _, height in sizes]
    # Add space for the title, the caption and a heading per panel.
    figure = new_figure(max(width for width, _ in sizes), sum(heights) + 0.7 + 0.3 * len(sizes), options)
    axes = figure.subplots(len(names), 1, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
    for ax, name, heading in zip(axes, names, headings, strict=True):
        draw(ax, name)
        if len(names) > 1:
            ax.set_title(heading, fontsize="medium")
    draw_title(figure, title, caption, options)
    return axes


def add_side_legend(ax: Axes, lines: Sequence[Line2D], options: FigureOptions | None) -> None:
    """Add a legend to the right of the axes.

    `options` are those of a figure created here, which widens unless they set a size; None for a figure of the
    user's.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None  # noqa: S101 - for the type checker
    width = np.inf if options is None else max_legend_width(figure, options)
    place: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    legend = make_legend(ax, {"": lines}, ax.bbox.height / figure.dpi, width, **place)
    if options is not None and options.fig_size is None:
        _widen(figure, size_in_inches(legend)[0])


def _widen(figure: Figure | SubFigure, inches: float) -> None:
    """Widen a figure, up to the maximum size."""
    whole = figure.get_figure(root=True)
    assert whole is not None  # noqa: S101 - for the type checker
    whole.set_figwidth(min(whole.get_figwidth() + inches, MAX_PIXELS / whole.dpi))


def number_ids(figure: Figure | SubFigure) -> None:
    """Number the group ids of each model's artists, since an id must be unique in an SVG."""
    seen = Counter[str]()
    for artist in figure.get_figure(root=True).findobj():
        found = _GROUP_ID.fullmatch(artist.get_gid() or "")
        if found:
            seen[found[1]] += 1
            artist.set_gid(found[1] if seen[found[1]] == 1 else f"{found[1]}-{seen[found[1]]}")


def figure_of(axes: Axes | NDArray[Any]) -> Figure:
    """The figure of axes, such as `boostnoise.eval.plot` returns."""
    ax: Any = axes.flat[0] if isinstance(axes, np.ndarray) else axes
    figure: Figure = ax.figure
    return figure


def show_with_pyplot(figure: Figure) -> None:
    """Register a figure with pyplot, so that notebooks and ``plt.show()`` display it."""
    import matplotlib.pyplot as plt

    make: Any = lambda *_, **__: figure  # noqa: E731
    plt.figure(FigureClass=make)


def upper_limit(values: NDArray[np.float64]) -> float:
    """Upper limit of a common scale that a few very large values would flatten; otherwise infinity."""
    known = values[np.isfinite(values)]
    common = float(np.quantile(known, COMMON_QUANTILE)) if known.size else 0.0
    return 1.25 * common if common > 0 and known.max() > 2 * common else np.inf


def characters_per_line(inches: float) -> int:
    """Number of characters that fit into a line."""
    return max(10, int(inches / (CHARACTER_WIDTH * matplotlib.rcParams["font.size"])))


def new_figure(width: float, height: float, options: FigureOptions) -> Figure:
    """Create an empty figure of the size in the options, or of the given size within limits."""
    if options.fig_size is None:
        limit = MAX_PIXELS / options.fig_dpi
        width, height = min(width, limit / 2), min(height, limit)  # the legend may take the other half
    else:
        width, height = options.fig_size
    return Figure(figsize=(width, height), dpi=options.fig_dpi, layout="constrained")


def scaled_panel(panel: tuple[float, float], n_models: int) -> tuple[float, float]:
    """Size of a panel, enlarged for the curves of many models."""
    scale = min(max(1.0, math.sqrt(n_models / 20)), 1.5)
    return panel[0] * scale, panel[1] * scale


def draw_title(figure: Figure, title: str, caption: str, options: FigureOptions, *, right: float = 1.0) -> None:
    """Draw the title, which the options may replace, and the caption in the left part of a figure.

    `right` is the share of the figure's width that they and the panels may take.
    """
    figure.set_layout_engine("constrained", rect=(0, 0, right, 1))
    characters = characters_per_line(right * figure.get_figwidth())
    if options.fig_title is not None:
        title = text_of(options.fig_title, wrap_at=characters)
    if title:
        size = "medium" if options.fig_title is None else "large"
        figure.suptitle(title, x=right / 2, fontsize=size, wrap=True)
    if caption:
        lines = "\n".join(textwrap.wrap(caption, int(1.2 * characters)))
        figure.supxlabel(lines, x=0.01, ha="left", fontsize="small", color="0.3")


def draw_title_on_axes(ax: Axes, title: str, caption: str, options: FigureOptions) -> None:
    """Draw the title and the caption above axes in a figure of the user's."""
    if options.fig_title is not None:
        title = text_of(options.fig_title)
    ax.set_title("\n".join(filter(None, [title, caption])), fontsize="small", wrap=True)


def max_legend_width(figure: Figure, options: FigureOptions) -> float:
    """Maximum width in inches of a legend to the right of the panels."""
    if options.fig_size is None:
        return MAX_PIXELS / options.fig_dpi - figure.get_figwidth()
    return figure.get_figwidth() / 2


def size_in_inches(artist: Artist) -> tuple[float, float]:
    """Width and height of an artist in inches."""
    figure = artist.get_figure(root=True)
    assert figure is not None  # noqa: S101 - for the type checker: the artist was added to a figure
    dpi = figure.dpi
    try:
        # Measuring takes memory per pixel, so the resolution is reduced, but not of a figure shown in a window.
        figure.dpi = min(dpi, MEASURING_DPI) if figure.canvas.manager is None else dpi
        box = artist.get_window_extent()
        return box.width / figure.dpi, box.height / figure.dpi
    finally:
        figure.dpi = dpi


def _has_values(line: Line2D) -> bool:
    return bool(np.isfinite(np.asarray(line.get_ydata(), dtype=np.float64)).any())


def make_legend(
    owner: Axes | Figure,
    panels: Mapping[str, Sequence[Line2D]],
    height: float,
    width: float,
    missing_where: str = "",
    **place: Any,
) -> Legend:
    """Add a legend with as many columns as the height requires, and a font size that fits the width.

    `panels` holds the lines of the models in each panel; the legend marks models without values.
    """
    handles, labels = [], []
    # Data sets need not have cells under each kind of noise.
    panels = {name: lines for name, lines in panels.items() if any(np.size(line.get_xdata()) for line in lines)}
    for lines in zip(*panels.values(), strict=True):
        missing = [name for name, line in zip(panels, lines, strict=True) if not _has_values(line)]
        label = str(lines[0].get_label())
        if len(missing) == len(lines):
            handles.append(Line2D([], [], linestyle="none"))
            label = f"{label} (no values)"
        else:
            handles.append(lines[0])
            gaps = missing_where.format(
                ", ".join(missing) if len(missing) < 4 else f"{len(missing)} of {len(lines)}"
            )
            label += f" (no values {gaps})" if missing else ""
        labels.append(text_of(label, wrap_at=LEGEND_WIDTH))
    numbers = [str(i) for i in range(len(handles))]

    def add(columns: int, size: float | None) -> Legend:
        legend = owner.legend(
            handles, numbers, ncols=columns, fontsize=size, frameon=False, borderaxespad=0.2, **place
        )
        for text, label in zip(legend.get_texts(), labels, strict=True):
            text.set_text(label)  # set here, since legend() skips labels that begin with an underscore
        return legend

    for size in LEGEND_FONT_SIZES:
        legend = add(1, size)
        columns = math.ceil(size_in_inches(legend)[1] / height)
        # Wrapped names may make one column longer than the others; then one or two more columns are needed.
        for more in range(3):
            if size_in_inches(legend)[1] <= height:
                break
            legend.remove()
            legend = add(columns + more, size)
        used_width, used_height = size_in_inches(legend)
        if size == LEGEND_FONT_SIZES[-1] or (used_height <= height and used_width <= width):
            break
        legend.remove()
    return legend
