"""Pictures of the curves."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.ticker import PercentFormatter

from .config import MAX_PIXELS, FigureOptions
from .looks import look_of
from .metrics import MEASURES, METRICS

MAX_TICKS = 15
LEGEND_WIDTH = 36
LEGEND_SIZES = (None, 8, 6, 5, 4)  # of letters, in points; None for the size that Matplotlib is set to
PANEL = (6.0, 4.8)

# The names of measures and metrics; OF stands for the measure that a metric is computed from.
OF = "{of}"
LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "roc_auc": "ROC AUC",
    "log_loss": "log loss",
    "leaves": "leaves of a tree",
    "depth": "depth of a tree",
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
    "ela": f"ELA, equalised loss of {OF}",
    "rla": f"RLA, relative loss of {OF}",
    "retention": f"retention, share of {OF} that is kept",
    "area_under_ela": f"area under the curve of ELA, equalised loss of {OF}",
}


def label_of(metric: str, of: str = "accuracy") -> str:
    """What tables and pictures call a metric that is computed from a measure."""
    return LABELS[metric].replace(OF, LABELS[of])


def plot_curves(
    table: pd.DataFrame,
    metric: str,
    *,
    of: str = "accuracy",
    models: Sequence[str] | None = None,
    options: FigureOptions | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a metric against the noise rate, one line per model, with a band of one standard deviation.

    Parameters
    ----------
    table : DataFrame
        As `mean_curve` returns it, or `curve` for a single data set; one kind of noise.
    metric : str
        Its column; see `per_repeat` for what it may be.
    of : str, default="accuracy"
        The measure that it was computed from, which the axis tells.
    models : sequence of str or None, default=None
        Models in the order of the legend; a model's look follows from its place.  None for those of the table.
        The legend tells which of them have no values.
    options : FigureOptions or None, default=None
        Title, colour map and further arguments of the lines.
    ax : Axes or None, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If the table lacks a column or all of the models, or the metric or its measure is unknown.
    """
    options = FigureOptions() if options is None else options
    models = _checked_models(table, metric, of, models)
    figure = None
    if ax is None:
        figure = _figure(1, 1, len(models), options)
        ax = figure.subplots()
    lines = _draw(ax, table, metric, of, models, options)
    if options.fig_title:
        ax.set_title(_text(options.fig_title), wrap=True)
    # Beside the axes a legend hides nothing, however many models there are.
    height, width = ax.bbox.height / ax.figure.dpi, np.inf if figure is None else _room(figure, options)
    legend = _legend(ax, {"": lines}, height, width, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    if figure is not None and options.fig_size is None:
        figure.set_figwidth(figure.get_figwidth() + _size(legend)[0])
    return ax


def figure_of_means(
    table: pd.DataFrame,
    metric: str,
    *,
    of: str = "accuracy",
    models: Sequence[str],
    n_datasets: int,
    options: FigureOptions,
) -> Figure:
    """Figure of the curves averaged over the data sets: a panel for each kind of noise, one legend for all."""
    kinds = list(table["noise_kind"].unique())
    columns = math.ceil(math.sqrt(len(kinds)))
    rows = math.ceil(len(kinds) / columns)
    figure = _figure(rows, columns, len(models), options)
    panels = {}
    for i, kind in enumerate(kinds):
        ax = figure.add_subplot(rows, columns, i + 1)
        panels[kind] = _draw(ax, table[table["noise_kind"] == kind], metric, of, models, options)
        if len(kinds) > 1:
            ax.set_title(f"{_text(kind)} noise", fontsize="medium")
    title = options.fig_title and _text(options.fig_title)
    if title is None:
        sets = "1 data set" if n_datasets == 1 else f"mean over {n_datasets} data sets"
        what = metric.upper() if of == "accuracy" else f"{metric.upper()} of {LABELS[of]}"
        under = f" under {_text(kinds[0])} noise" if len(kinds) == 1 else ""
        title = f"{what}{under}, {sets}{_band(table, metric)}"
    legend = _legend(figure, panels, figure.get_figheight(), _room(figure, options), loc="upper right")
    width = _size(legend)[0]
    if options.fig_size is None:
        figure.set_figwidth(figure.get_figwidth() + width)
    # The panels and their title stay to the left of the legend; one that is too wide covers them in part.
    right = max(0.4, 1 - width / figure.get_figwidth())
    figure.set_layout_engine("constrained", rect=(0, 0, right, 1))
    if title:
        size = "medium" if options.fig_title is None else "large"
        figure.suptitle(title, x=right / 2, fontsize=size, wrap=True)
    return figure


def _checked_models(table: pd.DataFrame, metric: str, of: str, models: Sequence[str] | None) -> list[str]:
    """The models to draw, if the arguments of `plot_curves` go together."""
    if of not in MEASURES:
        raise ValueError(f"of must be one of {', '.join(MEASURES)}, got {of!r}")
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    columns = ", ".join(map(str, table.columns))
    for name in ("model", "noise_rate", "std"):
        if name not in table:
            raise ValueError(f"table must have columns model, noise_rate, std and the metric, got {columns}")
    if metric not in table:
        there = ", ".join(name for name in METRICS if name in table) or "none"
        raise ValueError(f"metric must be a column of the table, which has {there}, got {metric!r}")
    known = list(table["model"].unique())
    if not known:
        raise ValueError("table must have a row for each model and noise rate, got none")
    models = known if models is None else list(models)
    if not set(models) & set(known):
        raise ValueError(f"models must be among those of the table, {', '.join(map(str, known))}, got {models}")
    return models


def _figure(rows: int, columns: int, n_models: int, options: FigureOptions) -> Figure:
    """An empty figure; one whose size is not asked for grows with the number of panels and lines."""
    if options.fig_size is None:
        scale = min(max(1.0, math.sqrt(n_models / 20)), 1.5)
        width, height = columns * PANEL[0] * scale, rows * PANEL[1] * scale
        limit = MAX_PIXELS / options.fig_dpi
        width, height = min(width, limit / 2), min(height, limit)  # the legend may take the other half
    else:
        width, height = options.fig_size
    return Figure(figsize=(width, height), dpi=options.fig_dpi, layout="constrained")


def _room(figure: Figure, options: FigureOptions) -> float:
    """Inches that a legend beside the axes may take."""
    if options.fig_size is None:
        return MAX_PIXELS / options.fig_dpi - figure.get_figwidth()
    return figure.get_figwidth() / 2


def _size(artist: Artist) -> tuple[float, float]:
    """Width and height in inches."""
    box = artist.get_window_extent()
    figure = artist.get_figure(root=True)
    assert figure is not None  # noqa: S101 - for the type checker: only what was added has a size
    return box.width / figure.dpi, box.height / figure.dpi


def _draw(
    ax: Axes, table: pd.DataFrame, metric: str, of: str, models: Sequence[str], options: FigureOptions
) -> list[Line2D]:
    """Draw the lines of all models, their bands and the axes."""
    lines = []
    for i, model in enumerate(models):
        line = table[table["model"] == model].sort_values("noise_rate")
        look = {"label": model} | look_of(i, len(models), options)
        (drawn,) = ax.plot(line["noise_rate"], line[metric], **look | {"label": str(look["label"])})
        lines.append(drawn)
        low, high = line[metric] - line["std"], line[metric] + line["std"]
        ax.fill_between(line["noise_rate"], low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
    ax.set_xlabel("noise rate")
    ax.set_ylabel(label_of(metric, of))
    ax.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
    rates = np.unique(table["noise_rate"])
    if np.diff(rates).min(initial=np.inf) >= np.ptp(rates) / MAX_TICKS:
        ax.set_xticks(rates)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return lines


def _legend(
    owner: Axes | Figure, panels: dict[str, list[Line2D]], height: float, width: float, **place: Any
) -> Legend:
    """A legend in as many columns as fit its models into a height, and in letters that fit them into a width.

    `panels` holds the lines of the models for each kind of noise.
    """
    handles, labels = [], []
    for lines in zip(*panels.values(), strict=True):
        missing = [
            kind for kind, line in zip(panels, lines, strict=True) if not np.isfinite(line.get_ydata()).any()
        ]
        label = lines[0].get_label()
        if len(missing) == len(lines):
            handles.append(Line2D([], [], linestyle="none"))
            label = f"{label} (no values)"
        else:
            handles.append(lines[0])
            label += f" (no values under {', '.join(missing)} noise)" if missing else ""
        labels.append(_text(label, wrap_at=LEGEND_WIDTH))
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
        columns = math.ceil(_size(legend)[1] / height)
        # Names of several lines may make one column longer than the others, which takes a column or two more.
        for more in range(3):
            if _size(legend)[1] <= height:
                break
            legend.remove()
            legend = added(columns + more, size)
        if size == LEGEND_SIZES[-1] or (_size(legend)[1] <= height and _size(legend)[0] <= width):
            break
        legend.remove()
    return legend


def _band(table: pd.DataFrame, metric: str) -> str:
    """What the title says of the band."""
    repeats = table.loc[table[metric].notna(), "repeats"]
    if not (repeats > 1).any():
        return ""
    low, high = int(repeats.min()), int(repeats.max())
    return f", band: ±1 sd over {high if low == high else f'{low} to {high}'} repeats"


def _text(text: str, wrap_at: int | None = None) -> str:
    """Text for a figure: valid LaTeX between dollar signs is drawn as such, other text wraps."""
    if "$" in text and text.count("$") % 2 == 0:
        try:
            MathTextParser("path").parse(text)
        except ValueError:
            pass
        else:
            return text
    if wrap_at is not None:
        text = "\n".join(textwrap.wrap(text, wrap_at))
    return text.replace("$", r"\$")
