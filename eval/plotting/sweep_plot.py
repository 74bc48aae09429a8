"""A measure against a parameter of the models, or against the number of training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

from .._wording import sentence, under_noise
from ..config.figures import SWEEPS
from ..config.run import Config
from ..config.sweeps import parameter_sweeps, training_size_sweeps
from ..metrics.curves import are_estimated
from ..metrics.registry import label_of, short_label_of
from .bands import averaged
from .figure import draw_panels, number_ids
from .mathtext import text_of
from .plot import plot as plot_scores
from .small_multiples import FEW, FONT, LARGE_PANEL, PANEL, columns_for
from .styles import line_styles, options_of

MAX_TICKS = 6  # swept values that have a tick each
LOG_FROM = 20  # ratio of the largest value to the smallest from which the axis is logarithmic


def plot_run(config: Config, scores: pd.DataFrame, plot: str, **chosen: Any) -> Axes | NDArray[Any]:
    """Draw any plot of a run, with the figure options of its config.

    Parameters
    ----------
    config : Config
    scores : DataFrame
        `Run.scores`.
    plot : str
        See `plot` and `plot_sweep`.
    **chosen
        Further arguments of `plot`; those that are not None are not allowed for sweeps.

    Raises
    ------
    ValueError
        See `plot` and `plot_sweep`.
    """
    if plot in SWEEPS:
        for name, value in chosen.items():
            if value is not None:
                raise ValueError(f"{name} must be None for {plot}, got {value!r:.60}")
        return plot_sweep(config, scores, plot)
    return plot_scores(scores, plot, measure=config.metric, options=options_of(config, str(plot)), **chosen)


def plot_sweep(config: Config, scores: pd.DataFrame, plot: str) -> NDArray[Any]:
    """Draw the measure of a run against what is varied, one panel per noise rate, in a new figure.

    Parameters
    ----------
    config : Config
    scores : DataFrame
        `Run.scores`.
    plot : {"parameter_sweep", "training_size"}
        ``"parameter_sweep"``: models that differ in nothing but one parameter, averaged over the data sets,
        with a line for each such group.  ``"training_size"``: data sets that differ in nothing but
        `train_rows`, averaged over the others, with a line for each model.

    Returns
    -------
    ndarray of Axes, of shape (n_panels,)

    Raises
    ------
    ValueError
        If nothing is varied.
    """
    with matplotlib.rc_context(FONT):
        table, axis, band = (_over_models if plot == "parameter_sweep" else _over_sizes)(config, scores)
        lines, estimated = list(dict.fromkeys(table["line"])), are_estimated(scores)
        options = options_of(config, plot).model_copy(update={"plot_kwargs": []})
        styles = line_styles(lines, options)
        panels = {
            # Without noise, all kinds are the same.
            (f"{kind} {noise_rate:g}" if noise_rate else "without noise"): rows
            for (kind, noise_rate), rows in table.groupby(["noise_kind", "noise_rate"], sort=False)
        }
        x = table.loc[table[config.metric].notna(), "x"]  # an axis without points cannot be logarithmic
        ratio = x.max() / x.min() if x.min() > 0 else 0.0

        def draw(ax: Axes, panel: str) -> list[Line2D]:
            drawn = _draw_lines(ax, panels[panel], config.metric, styles)
            if ratio >= LOG_FROM and panels[panel][config.metric].notna().any():
                ax.set_xscale("log")
                if x.nunique() <= MAX_TICKS:
                    ax.set_xticks(np.unique(x))
                ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
                ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_xlabel(text_of(axis))
            return drawn

        axes = draw_panels(
            list(panels),
            draw,
            headings=[
                under_noise(text_of(str(rows["noise_kind"].iloc[0])), float(rows["noise_rate"].iloc[0]))
                for rows in panels.values()
            ],
            title=f"{sentence(short_label_of(config.metric, estimated=estimated))} against {text_of(axis)}",
            caption=f"Band: {band}",
            label=label_of(config.metric, estimated=estimated),
            missing_where="{}",
            options=options,
            columns=columns_for(len(panels)),
            panel=PANEL if len(panels) > FEW else LARGE_PANEL,
        )
        number_ids(axes[0].figure)
    return axes


def _over_models(config: Config, scores: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    """Rows by line, value of the parameter, kind and rate of noise; the axis label, and the band."""
    sweeps = parameter_sweeps(config.models)
    if not sweeps:
        raise ValueError("no two models differ in nothing but one parameter; add 'sweep' to a model")
    table, band = averaged(scores, config.metric, band=config.ela_fig.fig_band)
    parts = [
        table[table["model"] == model].assign(line=sweep.name, x=value)
        for sweep in sweeps
        for model, value in sweep.values.items()
    ]
    return pd.concat(parts, ignore_index=True), sweeps[0].parameter, band


def _over_sizes(config: Config, scores: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    sweeps = training_size_sweeps(config.datasets)
    if not sweeps:
        raise ValueError("no two data sets differ in nothing but 'train_rows'; give a list of numbers")
    by_size = [{size: name for name, size in sweep.values.items()} for sweep in sweeps]
    if all(of_set.keys() == by_size[0].keys() for of_set in by_size):
        averages = [(size, [of_set[size] for of_set in by_size], "") for size in by_size[0]]
    else:  # means over other data sets are not comparable, so each has lines of its own
        averages = [
            (size, [name], f" on {sweep.name}") for sweep in sweeps for name, size in sweep.values.items()
        ]
    parts, band = [], ""
    for size, names, suffix in averages:
        of_size = scores[scores["dataset"].isin(names)]
        table, band = averaged(of_size, config.metric, band=config.ela_fig.fig_band)
        parts.append(table.assign(line=table["model"] + suffix, x=size))
    return pd.concat(parts, ignore_index=True), sweeps[0].parameter, band


def _draw_lines(
    ax: Axes, table: pd.DataFrame, metric: str, styles: Mapping[str, Mapping[str, Any]]
) -> list[Line2D]:
    lines = []
    for name, style in styles.items():
        line = table[table["line"] == name].sort_values("x")
        (drawn,) = ax.plot(line["x"], line[metric], **{**style, "markersize": 4.0})
        low, high = (line[edge].to_numpy(dtype=np.float64) for edge in ("low", "high"))
        ax.fill_between(line["x"], low, high, alpha=0.2, linewidth=0, color=drawn.get_color(), gid=style["gid"])
        lines.append(drawn)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return lines
