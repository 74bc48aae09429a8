"""Plots of scores: one function draws all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ..config.figures import BY_DATASET, COMPARISONS, FigureOptions, curve_names, plot_names
from ..metrics.registry import MEASURES, METRICS
from .critical_difference import critical_difference_diagram
from .curves import averaged_curves
from .figure import STYLE, number_ids
from .heat_map import heat_map
from .rank_curves import rank_curves
from .request import AREA, PlotRequest
from .small_multiples import curves_by_dataset
from .time_plot import accuracy_against_time, time_on_each_dataset

DRAW_COMPARISON = dict(
    zip(
        COMPARISONS,
        (critical_difference_diagram, rank_curves, accuracy_against_time, time_on_each_dataset, heat_map),
        strict=True,
    )
)


def plot(
    scores: pd.DataFrame,
    plot: str,
    *,
    measure: str = "accuracy",
    metric: str | None = None,
    noise_rate: float | None = None,
    noise_kind: str | None = None,
    models: Sequence[str] | None = None,
    options: FigureOptions | None = None,
    ax: Axes | None = None,
) -> Axes | NDArray[Any]:
    """Plot scores.

    Artists of the i-th model have the group ids ``model-{i}``, ``model-{i}-2`` and so on.  Its position among
    all models determines its colour, marker and dashes in every plot.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    plot : str
        One of

        - ``"ela"``, ``"rla"``, ``"retention"`` or a measure such as ``"accuracy"``: curves against the noise
          rate, averaged over the data sets, with a 95 % confidence band, see `boostnoise.eval.plotting.bands`;
        - one of these followed by ``"_by_dataset"``: a small panel per data set;
        - ``"critical_difference"``: mean ranks over the data sets, and groups of models that do not differ by
          Nemenyi's test;
        - ``"ranks"``: mean ranks against the noise rate, with a band over the data sets;
        - ``"time"``: a measure against the time to fit;
        - ``"time_per_dataset"``: the time to fit on each data set;
        - ``"heatmap"``: every model on every data set.
    measure : str, default="accuracy"
        The measure that ELA, RLA and retention are computed from, and that ``"critical_difference"``,
        ``"ranks"``, ``"time"`` and ``"heatmap"`` compare.
    metric : str or None, default=None
        The metric that these four plots compare instead of `measure`, such as ``"ela"``.
        ``"critical_difference"`` and ``"heatmap"`` also accept ``"area_under_ela"``.
    noise_rate : float or None, default=None
        The noise rate at which ``"critical_difference"``, ``"time"``, ``"time_per_dataset"`` and ``"heatmap"``
        compare; None for the noise rate of `verdict`.
    noise_kind : str or None, default=None
        The kind of noise to draw; None for all, in one panel each.
    models : sequence of str or None, default=None
        The models to draw and to rank; None for all.
    options : FigureOptions or None, default=None
        Size, title, colours and line styles.
    ax : Axes or None, default=None
        Where to draw a single panel; None for a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        For several kinds of noise, an array of shape ``(n_kinds,)``; for small multiples, ``(n_datasets,)`` or
        ``(n_datasets, n_kinds)``.

    Raises
    ------
    ValueError
        If an argument is unknown or not in the scores, or `ax` is given for several panels.
    TypeError
        If `models` is not a list, or `ax` is not an Axes.
    """
    if not isinstance(ax, Axes | None):
        raise TypeError(f"ax must be a Matplotlib Axes or None, got {ax!r:.60}")
    if plot not in plot_names():
        raise ValueError(f"plot must be one of {', '.join(plot_names())}, got {plot!r}")
    if measure not in MEASURES or measure not in scores:
        available = ", ".join(name for name in MEASURES if name in scores)
        raise ValueError(f"measure must be one in the scores, {available}, got {measure!r}")
    curve_metric = plot.removesuffix(BY_DATASET)
    is_curve = curve_metric in curve_names()
    if metric is not None and (is_curve or plot == "time_per_dataset"):
        raise ValueError(f"metric must be None for {plot}, whose name is its metric, got {metric!r}")
    if metric is not None and (metric not in METRICS or (metric == AREA and plot in ("ranks", "time"))):
        allowed = [name for name in METRICS if name != AREA or plot not in ("ranks", "time")]
        raise ValueError(f"metric must be one of {', '.join(allowed)} for {plot}, got {metric!r}")
    if noise_rate is not None and (plot == "ranks" or is_curve):
        raise ValueError(f"noise_rate must be None for {plot}, which shows all noise rates, got {noise_rate!r}")
    if models is not None and (isinstance(models, str) or not isinstance(models, Iterable)):
        raise TypeError(f"models must be a list of names or None, got {models!r:.60}")
    options = FigureOptions() if options is None else options
    all_models = _unique(scores, "model")
    request = PlotRequest(
        scores=_select(_select(scores, "noise_kind", noise_kind), "model", models),
        metric=curve_metric if is_curve else metric or measure,
        measure=measure,
        noise_rate=noise_rate,
        all_scores=scores,
        models=all_models,
        chosen=all_models if models is None else list(models),
        options=options,
        ax=ax,
    )
    if ax is not None and (len(request.kinds) > 1 or plot.endswith(BY_DATASET)):
        several = "panels" if len(request.kinds) == 1 else "kinds of noise; choose one with noise_kind"
        raise ValueError(f"ax must be None for a plot with several {several}")
    n_kwargs = len(options.plot_kwargs)
    if n_kwargs not in (0, len(all_models)):
        raise ValueError(f"options.plot_kwargs must be empty or hold one object per model, got {n_kwargs}")
    with matplotlib.rc_context(STYLE):
        if plot in COMPARISONS:
            axes = DRAW_COMPARISON[plot](request)
        else:
            axes = (curves_by_dataset if plot.endswith(BY_DATASET) else averaged_curves)(request)
    panel: Axes = axes.flat[0] if isinstance(axes, np.ndarray) else axes
    number_ids(panel.figure)
    return axes


def _unique(scores: pd.DataFrame, column: str) -> list[str]:
    return [str(name) for name in scores[column].unique()]


def _select(scores: pd.DataFrame, column: str, names: str | Sequence[str] | None) -> pd.DataFrame:
    """Select the scores of kinds of noise or of models."""
    available = _unique(scores, column)
    chosen = available if names is None else list(names) if column == "model" else [names]
    twice = next((name for i, name in enumerate(chosen) if name in chosen[:i]), None)
    argument = "models" if column == "model" else column
    if not chosen or any(name not in available for name in chosen):
        raise ValueError(f"{argument} must be among {', '.join(available) or '(no scores)'}, got {names!r}")
    if twice is not None:
        raise ValueError(f"{argument} must be distinct, got {twice!r} twice")
    return scores[scores[column].isin(chosen)]
