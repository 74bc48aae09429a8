"""Pictures of calibration and lift curves."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ..config.figures import FigureOptions
from ..plotting.figure import STYLE, add_side_legend, figure_of, new_figure, show_with_pyplot
from ..plotting.mathtext import escape_dollars
from ..plotting.styles import line_styles
from .headline import shorten

SIZE = (5.6, 4.8)  # inches
NAME_LENGTH = 20  # characters of a class name
BAND_ALPHA = 0.15
GREY = "0.5"
LABELS = {  # of the vertical axis
    "recall": "share of all clean '{}' that are found",
    "precision": "share of clean '{}' among these rows",
    "lift": "lift: clean '{}', as a multiple of those in random rows",
}
COLUMNS = ("model", "class", "estimate", "low", "high", "on_given_labels")


def plot_calibration_curve(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Plot calibration curves on clean labels, with bands for the intervals.

    Parameters
    ----------
    table : DataFrame
        From `LabelAudit.calibration_curve`.
    ax : Axes or None, default=None
        Where to draw, in a figure with ``layout="constrained"``; None for a new pyplot figure, which notebooks
        and ``plt.show()`` display.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a column is missing.
    """
    _check_columns(table, "calibration_curve", ("mean_predicted", *COLUMNS))
    labels = "predicted probability of '{}'", "share of clean '{}' in the bin"
    return _plot(ax, table, "mean_predicted", labels, (0, 1), "calibrated")


def plot_lift_curve(table: pd.DataFrame, measure: str = "recall", *, ax: Axes | None = None) -> Axes:
    """Plot lift curves on clean labels, with bands for the intervals.

    Parameters
    ----------
    table : DataFrame
        From `LabelAudit.lift_curve`.
    measure : {"recall", "precision", "lift"}, default="recall"
        What to draw against the share of rows; ``"recall"`` gives cumulative gains.
    ax : Axes or None, default=None
        See `plot_calibration_curve`.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If a column is missing, or the measure is unknown.
    """
    _check_columns(table, "lift_curve", ("depth", "measure", *COLUMNS))
    if measure not in LABELS:
        raise ValueError(f"measure must be one of {', '.join(LABELS)}, got {measure!r}")
    drawn = table[table["measure"] == measure]
    # The share of the class among all rows is the precision of rows in random order.
    wide = table.pivot_table("estimate", ["model", "depth"], "measure")
    share = float((wide["precision"] / wide["lift"]).iloc[-1])
    random = {"recall": (0.0, 1.0), "precision": (share, share), "lift": (1.0, 1.0)}[measure]
    labels = "share of rows, the highest probabilities first", LABELS[measure]
    ax = _plot(ax, drawn, "depth", labels, random, "random order")
    if measure == "lift":
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return ax


def _check_columns(table: pd.DataFrame, method: str, columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in table]
    if missing:
        raise ValueError(f"table must come from {method}, but has no column {missing[0]}")


@matplotlib.rc_context(STYLE)
def _plot(
    ax: Axes | None,
    table: pd.DataFrame,
    along: str,
    labels: tuple[str, str],
    diagonal: tuple[float, float],
    name_of_diagonal: str,
) -> Axes:
    """Draw a line with a band per model, the values on given labels, and a line to compare with."""
    options = FigureOptions()
    is_new = ax is None
    if ax is None:
        ax = new_figure(*SIZE, options).subplots()
    lines = []
    for model, style in line_styles(table["model"].unique().tolist(), options).items():
        rows = table[table["model"] == model]
        (line,) = ax.plot(rows[along], rows["estimate"], clip_on=False, **style)
        ax.fill_between(
            rows[along], rows["low"], rows["high"], color=line.get_color(), alpha=BAND_ALPHA, linewidth=0
        )
        (given,) = ax.plot(rows[along], rows["on_given_labels"], "x", color=GREY, label="on given labels")
        lines.append(line)
    (straight,) = ax.plot((0, 1), diagonal, ":", color=GREY, zorder=1, label=name_of_diagonal)
    name = escape_dollars(shorten(str(table["class"].iloc[0]), NAME_LENGTH))
    ax.set_xlabel(labels[0].format(name))
    ax.set_ylabel(labels[1].format(name))
    ax.set(xlim=(0, 1), ylim=(0, None))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    add_side_legend(ax, [*lines, given, straight], options if is_new else None)
    if is_new:
        show_with_pyplot(figure_of(ax))
    return ax
