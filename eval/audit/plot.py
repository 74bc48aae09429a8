"""Pictures of an audit."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from .._wording import numbered, percent, short_percent
from ..config.figures import FigureOptions
from ..plotting.figure import STYLE, characters_per_line, draw_title, figure_of, new_figure
from ..plotting.mathtext import escape_dollars
from ..plotting.styles import COLOURS
from .expected_counts import ExpectedCounts, expected_counts
from .headline import headline, shorten
from .text import SHOWN_CLASSES

if TYPE_CHECKING:
    from .estimates import AuditEstimates

Floats = NDArray[np.float64]

SUMMARY = "summary"  # all panels
RIGHT, WRONG = COLOURS[:2]
OVERALL, GIVEN, DIAGONAL = "0.35", "0.75", "0.93"  # greys
COLOUR_MAP, LIGHTER = "Oranges", 1.3  # the darkest colours are not used
PANEL_WIDTH = 5.6  # inches
BAR_HEIGHT, PANEL_HEIGHTS = 0.36, (2.6, 4.6)
LINE_WIDTH = 20  # characters of a class name
MARKED = 0.8  # precision of the list that the curve marks; the default of `clean_mask`
THOUSANDS = 10_000  # long numbers are in thousands
NO_CONFUSION = "No label is expected to be mistaken for another"


def plot_audit(audit: AuditEstimates, plot: str = "summary", ax: Axes | None = None) -> Axes | NDArray[Any]:
    """Plot an audit; see `LabelAudit.plot`."""
    if not isinstance(ax, Axes | None):
        raise TypeError(f"ax must be a Matplotlib Axes or None, got {ax!r:.60}")
    if plot not in (SUMMARY, *PANELS):
        raise ValueError(f"plot must be one of {SUMMARY}, {', '.join(PANELS)}, got {plot!r}")
    if ax is not None and plot == SUMMARY:
        raise ValueError("ax must be None for a plot with several panels")
    counts = expected_counts(audit)
    with matplotlib.rc_context(STYLE):
        if ax is not None:
            PANELS[plot](ax, audit, counts)
            return ax
        rows = columns = 2 if plot == SUMMARY else 1
        height = rows * float(np.clip(BAR_HEIGHT * len(counts.names), *PANEL_HEIGHTS))
        figure = _new_figure(columns * PANEL_WIDTH, height, audit, counts)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, name in zip(axes, PANELS if plot == SUMMARY else [plot], strict=True):
            PANELS[name](panel, audit, counts)
    return axes if plot == SUMMARY else axes[0]


def as_png(audit: AuditEstimates) -> bytes:
    """Draw the summary of an audit as PNG; the same audit gives the same bytes."""
    file = io.BytesIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Font")  # a script that the font lacks shows as boxes
        figure_of(plot_audit(audit)).savefig(file, format="png")
    return file.getvalue()


def _new_figure(width: float, height: float, audit: AuditEstimates, counts: ExpectedCounts) -> Figure:
    """A figure for panels of a total size in inches, with the headline and a caption."""
    options = FigureOptions()
    figure = new_figure(width, height + 1.2, options)
    low, high = audit.noise_rate_interval
    n, interval = numbered(audit.labels.size, "label"), f"{short_percent(low)} to {short_percent(high)}"
    if audit.n_checked:
        caption = (
            f"Estimates for {n}, {audit.n_checked} of them checked. Lines on bars are 90 % intervals; that of "
            f"all labels is {interval}."
        )
    else:
        caption = (
            f"Estimates for {n}, none of them checked. The line on a bar is the 90 % interval, from what is "
            f"proven to what is possible: {interval}."
        )
    draw_title(figure, "", caption, options)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    text = textwrap.fill(headline(audit, counts), int(characters_per_line(width) / 1.6))  # large and bold
    figure.suptitle(escape_dollars(text), fontsize="x-large", fontweight="bold")
    return figure


def _draw_wrong_labels(ax: Axes, audit: AuditEstimates, counts: ExpectedCounts) -> None:
    """Draw the share of wrong labels, overall and by label, with the intervals that are known."""
    given, wrong = counts.given, counts.wrong.sum(axis=1)
    shares = wrong / given
    shown = np.argsort(-wrong, kind="stable")[:SHOWN_CLASSES]
    shown = shown[np.argsort(-shares[shown], kind="stable")]
    values = np.concatenate([[audit.noise_rate], shares[shown]])
    intervals = np.full((values.size, 2), np.nan)
    intervals[0] = audit.noise_rate_interval
    if audit.errors.intervals_of_labels is not None:
        intervals[1:] = audit.errors.intervals_of_labels[shown]
    y = np.arange(values.size)
    ax.barh(y, values, 0.7, color=[OVERALL, *[WRONG] * shown.size])
    colour = matplotlib.rcParams["axes.edgecolor"]
    ax.hlines(y, *intervals.T, color=colour, linewidth=1.2)
    for ends in intervals.T:
        ax.plot(ends, y, "|", color=colour, markersize=7)
    sizes = [given.sum(), *given[shown]]
    texts = [f"{short_percent(value)} of {_whole(n)}" for value, n in zip(values, sizes, strict=True)]
    _name_bars(ax, ["all labels", *_names(counts, shown)], texts)
    ax.set_xlim(0, min(1.0, 1.05 * max(values.max(), np.nanmax(intervals), 0.01)))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(lambda value, _: percent(value, 3))
    _draw_heading(ax, "Share of wrong labels", "labels", shown.size, given.size)


def _draw_confusions(ax: Axes, audit: AuditEstimates, counts: ExpectedCounts) -> None:
    """Draw the expected number of wrong labels by given and right label: all, or of many the largest."""
    if len(counts.names) <= SHOWN_CLASSES:
        _draw_matrix(ax, counts)
    else:
        _draw_largest(ax, counts)


def _draw_largest(ax: Axes, counts: ExpectedCounts) -> None:
    """Draw a bar for each of the most frequent confusions."""
    wrong = counts.wrong
    shown = np.argsort(-wrong, axis=None, kind="stable")[:SHOWN_CLASSES]
    shown = shown[wrong.ravel()[shown] >= 0.5]
    ax.set_title("Which labels are mistaken for which: most frequent", loc="left", fontsize="medium")
    if not shown.size:
        ax.set_axis_off()
        ax.text(0.5, 0.5, NO_CONFUSION, ha="center", fontsize="small", transform=ax.transAxes)
        return
    names = []
    for pair in zip(*np.unravel_index(shown, wrong.shape), strict=True):
        given, right = (f"'{shorten(counts.names[i], LINE_WIDTH)}'" for i in pair)
        blank = " " if len(given + right) < LINE_WIDTH else "\n"
        names.append(escape_dollars(f"{given}{blank}that is {right}"))
    numbers = wrong.ravel()[shown]
    ax.barh(np.arange(shown.size), numbers, 0.7, color=WRONG)
    _name_bars(ax, names, [_whole(number) for number in numbers])
    _count_along_axis(ax)


def _draw_matrix(ax: Axes, counts: ExpectedCounts) -> None:
    """Draw the number of rows by given and right label; only wrong labels are coloured."""
    n, wrong = len(counts.names), counts.wrong
    highest = LIGHTER * max(1.0, wrong.max())
    ax.pcolormesh(wrong, cmap=COLOUR_MAP, edgecolors="white", linewidth=1, vmin=0.0, vmax=highest)
    for (i, j), number in np.ndenumerate(counts.rows):
        colour = "white" if wrong[i, j] > highest / 2 else "black"
        if i == j:
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=DIAGONAL, edgecolor="white"))
            colour = "0.4"
        if round(number):
            size = 8 if n < 9 else 7
            ax.text(j + 0.5, i + 0.5, _whole(number), ha="center", va="center", fontsize=size, color=colour)
    ax.set(xlim=(0, n), ylim=(n, 0), xlabel="right label", ylabel="given label")
    ax.set_yticks(np.arange(n) + 0.5, _names(counts, range(n)))
    names = [escape_dollars(shorten(name, LINE_WIDTH)) for name in counts.names]
    ax.set_xticks(np.arange(n) + 0.5, names)
    if n * max(map(len, names)) > 50:
        for text in ax.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    ax.set_title("Which labels are mistaken for which", loc="left", fontsize="medium")


def _draw_precision(ax: Axes, audit: AuditEstimates, counts: ExpectedCounts) -> None:
    """Draw the expected share of wrong labels among the first suspects, of the rows that are not checked."""
    n = audit.labels.size - audit.n_checked
    means = np.cumsum(audit.errors.p_wrong[audit.errors.ranking[:n]]) / np.arange(1, n + 1)
    lengths = np.unique(np.geomspace(1, n, 200).astype(int)) if n else np.empty(0, dtype=int)
    ax.plot(lengths, means[lengths - 1], color=WRONG, linewidth=2, clip_on=False)
    length = int(np.count_nonzero(means >= MARKED))
    if length:
        share = means[length - 1]
        ax.plot(length, share, "o", color=WRONG)
        # The curve comes from the upper left and goes to the lower right.
        is_left = math.log(length) < math.log(n) / 2
        place: Any = {"ha": "left", "va": "bottom"} if is_left else {"ha": "right", "va": "top"}
        offset = (7, 4) if is_left else (-7, -4)
        text = f"{short_percent(share)} of the first {length:,}"
        ax.annotate(text, (length, share), offset, textcoords="offset points", fontsize="small", **place)
    ax.set(xscale="log", xlim=(1, max(2, n)), ylim=(0, 1.03), xlabel="first suspects")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_minor_formatter(lambda *_: "")
    ax.yaxis.set_major_formatter(lambda value, _: percent(value, 3))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
    ax.set_title("Wrong labels among the first suspects", loc="left", fontsize="medium")


def _draw_class_sizes(ax: Axes, audit: AuditEstimates, counts: ExpectedCounts) -> None:
    """Draw the number of rows of each class, by given labels and expected by right ones."""
    given, right = counts.given, counts.right
    change, shown = right - given, np.arange(given.size)
    if given.size > SHOWN_CLASSES:
        shown = np.argsort(-np.abs(change), kind="stable")[:SHOWN_CLASSES]
    y = np.arange(shown.size)
    ax.barh(y - 0.2, given[shown], 0.4, color=GIVEN, label="by given label")
    ax.barh(y + 0.2, right[shown], 0.4, color=RIGHT, label="by right label, expected")
    texts = [f"{number:+,.0f}".replace("-", "−") if round(number) else "0" for number in change[shown]]
    _name_bars(ax, _names(counts, shown), texts)
    _count_along_axis(ax)
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False, fontsize="small", borderaxespad=2
    )
    _draw_heading(ax, "Rows of each class", "classes", shown.size, given.size)


PANELS = {
    "wrong_labels": _draw_wrong_labels,
    "confusions": _draw_confusions,
    "precision": _draw_precision,
    "class_sizes": _draw_class_sizes,
}


def _name_bars(ax: Axes, names: Sequence[str], texts: Sequence[str]) -> None:
    """Write the name of each bar on its left, and a text on the right of the axes."""
    ax.set_yticks(np.arange(len(names)), names)
    ax.tick_params(axis="y", length=0, labelsize="small")
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines[["top", "right"]].set_visible(False)
    for y, text in enumerate(texts):
        ax.text(1.02, y, text, va="center", fontsize="small", transform=ax.get_yaxis_transform())


def _count_along_axis(ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.xaxis.set_major_formatter(lambda value, _: _whole(value))


def _draw_heading(ax: Axes, heading: str, noun: str, n_shown: int, n: int) -> None:
    """Draw the heading of a panel, and say how many of the classes are shown unless all are."""
    text = heading if n_shown == n else f"{heading}: {n_shown} of {n} {noun}"
    ax.set_title(text, loc="left", fontsize="medium")


def _names(counts: ExpectedCounts, shown: Iterable[int]) -> list[str]:
    """Names of classes, in at most two lines each."""
    return [escape_dollars("\n".join(_two_lines(counts.names[i]))) for i in shown]


def _two_lines(name: str) -> list[str]:
    widths = range(2 * LINE_WIDTH, 0, -1)
    wrapped = (textwrap.wrap(shorten(name, width), LINE_WIDTH) for width in widths)
    return next(lines for lines in wrapped if len(lines) <= 2)


def _whole(number: float) -> str:
    """Format a whole number: 87, 1,234, 12k."""
    return f"{number:,.0f}" if round(number) < THOUSANDS else f"{number / 1000:,.0f}k"
