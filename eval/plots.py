"""Pictures of the curves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.ticker import PercentFormatter

from .config import Config, FigureOptions
from .errors import ConfigError

# Okabe & Ito's colours, which colour-blind readers can tell apart, without their yellow, which print loses.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
STYLES = ("-", "--", "-.", ":")
MAX_TICKS = 15
LEGEND_WIDTH = 30

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

# What a config may say of a line: how it looks, but not where it leads to or how it is drawn.
STYLE_KEYS = frozenset(
    """
    alpha color dash_capstyle dash_joinstyle drawstyle fillstyle label linestyle linewidth marker
    markeredgecolor markeredgewidth markerfacecolor markersize markevery solid_capstyle solid_joinstyle
    zorder
    """.split()  # noqa: SIM905 - a list of words
)


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
    options : FigureOptions or None, default=None
        Title, colour map and further arguments of the lines.
    ax : Axes or None, default=None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes
    """
    options = FigureOptions() if options is None else options
    models = list(table["model"].unique()) if models is None else list(models)
    if ax is None:
        width, height = options.fig_size or (8.0, 4.8)
        ax = Figure(figsize=(width, height), dpi=options.fig_dpi, layout="constrained").subplots()
    handles, labels = [], []
    for i, model in enumerate(models):
        line = table[table["model"] == model].sort_values("noise_rate")
        look = {"label": model} | _look(i, len(models), options)
        labels.append(_text(str(look.pop("label")), wrap_at=LEGEND_WIDTH))
        (drawn,) = ax.plot(line["noise_rate"], line[metric], **look)
        handles.append(drawn)
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
    # Beside the axes a legend hides nothing, however many models there are.
    numbers = [str(i) for i in range(len(handles))]
    legend = ax.legend(handles, numbers, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)  # handed to legend, a label that begins with an underscore would be left out
    if options.fig_title:
        ax.set_title(_text(options.fig_title), wrap=True)
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
    """Figure of the curves averaged over the data sets: a panel for each kind of noise."""
    kinds = list(table["noise_kind"].unique())
    width, height = options.fig_size or (8.0, 4.8 * len(kinds))
    figure = Figure(figsize=(width, height), dpi=options.fig_dpi, layout="constrained")
    repeats = int(table["repeats"].max())
    for kind, ax in zip(kinds, figure.subplots(len(kinds), squeeze=False)[:, 0], strict=True):
        panel = table[table["noise_kind"] == kind]
        plot_curves(panel, metric, of=of, models=models, options=options, ax=ax)
        if options.fig_title is None:
            sets = "1 data set" if n_datasets == 1 else f"mean over {n_datasets} data sets"
            band = f", band: ±1 sd over {repeats} repeats" if repeats > 1 else ""
            what = metric.upper() if of == "accuracy" else f"{metric.upper()} of {LABELS[of]}"
            title = f"{what} under {_text(kind)} noise, {sets}{band}"
            ax.set_title(title, fontsize="medium", wrap=True)
    return figure


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
        figure = Figure()
        try:
            unknown = [key for key in normalize_kwargs(arguments, Line2D) if key not in STYLE_KEYS]
            if unknown:
                allowed = ", ".join(sorted(STYLE_KEYS))
                raise ConfigError(f"{name}.plot_kwargs[{i}]: unknown key {unknown[0]!r}; allowed are {allowed}")
            figure.subplots().plot([0, 1], [0, 1], **_look(i, len(options.plot_kwargs), options))
            figure.draw_without_rendering()
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - Matplotlib raises whatever comes
            message = " ".join(str(error).split())
            raise ConfigError(f"{name}.plot_kwargs[{i}]: {arguments!r} cannot be drawn: {message}") from None


def _look(i: int, n: int, options: FigureOptions) -> dict[str, Any]:
    """Arguments of the line of the i-th of n models."""
    look: dict[str, Any] = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": STYLES[i // len(COLOURS) % len(STYLES)],
        "markersize": 4.5,
    }
    if options.fig_cmap is not None:
        # The upper end of the usual colour maps is too light for lines.
        look["color"] = matplotlib.colormaps[options.fig_cmap](np.linspace(0, 0.9, n)[i])
    own = options.plot_kwargs[i] if options.plot_kwargs else {}
    return look | normalize_kwargs(own, Line2D)


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
