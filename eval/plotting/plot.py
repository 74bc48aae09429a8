"""Pictures of scores: one function that draws every kind of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ..config.figure_options import FigureOptions
from ..config.plot_names import BY_DATASET, COMPARISONS, CURVES, PLOTS
from ..metrics.registry import MEASURES, METRICS
from .critical_difference import critical_difference_diagram
from .curves import averaged_curves
from .figure import STYLE, number_ids
from .heat_map import heat_map
from .rank_curves import rank_curves
from .request import AREA, Picture
from .small_multiples import curves_by_dataset
from .time_plot import accuracy_against_time

DRAW_COMPARISON = dict(
    zip(COMPARISONS, (critical_difference_diagram, rank_curves, accuracy_against_time, heat_map), strict=True)
)


def plot(
    scores: pd.DataFrame,
    plot: str,
    *,
    of: str = "accuracy",
    metric: str | None = None,
    noise_rate: float | None = None,
    noise_kind: str | None = None,
    models: Sequence[str] | None = None,
    options: FigureOptions | None = None,
    ax: Axes | None = None,
) -> Axes | NDArray[Any]:
    """Draw a picture of scores.

    What is drawn of the i-th model has the group ids ``model-{i}``, ``model-{i}-2`` and so on, and its colour,
    marker and dashes follow from its place among all models, in every plot.

    Parameters
    ----------
    scores : DataFrame
        `Run.scores`.
    plot : str
        One of

        - ``"ela"``, ``"rla"``, ``"retention"`` or a measure such as ``"accuracy"``: against the noise rate,
          averaged over the data sets, with a 95 % bootstrap band, see `boostnoise.eval.plotting.bands`;
        - one of these with ``"_by_dataset"`` behind it: a small panel for each data set;
        - ``"critical_difference"``: mean ranks over the data sets, and which of them do not differ by
          Nemenyi's test;
        - ``"ranks"``: mean ranks against the noise rate, with a band over the data sets;
        - ``"time"``: a measure against the time of the fit;
        - ``"heatmap"``: every model on every data set.
    of : str, default="accuracy"
        The measure that ELA and its kin are computed from, and that the last four compare.
    metric : str or None, default=None
        What the last four compare in its place, such as ``"ela"`` or, but for ranks and time,
        ``"area_under_ela"``.
    noise_rate : float or None, default=None
        The noise rate at which ``"critical_difference"``, ``"time"`` and ``"heatmap"`` compare; None for the
        one that `verdict` speaks of.
    noise_kind : str or None, default=None
        Draws one kind of noise; None for all of them, each in a panel of its own.
    models : sequence of str or None, default=None
        The models to draw, and among which ranks are given; None for all.
    options : FigureOptions or None, default=None
        Size, title, colours and lines.
    ax : Axes or None, default=None
        Where to draw, if it is a single panel; None for a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        An array for several kinds of noise, ``(n_kinds,)``, and for small multiples, ``(n_datasets,)`` or
        ``(n_datasets, n_kinds)``.

    Raises
    ------
    ValueError
        If an argument is unknown or not among the scores, or several panels are to be drawn into one `ax`.
    TypeError
        If `models` is no list, or `ax` are no axes.
    """
    if not isinstance(ax, Axes | None):
        raise TypeError(f"ax must be an Axes of Matplotlib or None, got {ax!r:.60}")
    if plot not in PLOTS:
        raise ValueError(f"plot must be one of {', '.join(PLOTS)}, got {plot!r}")
    if of not in MEASURES or of not in scores:
        there = ", ".join(name for name in MEASURES if name in scores)
        raise ValueError(f"of must be a measure of the scores, {there}, got {of!r}")
    curve_of = plot.removesuffix(BY_DATASET)
    if metric is not None and curve_of in CURVES:
        raise ValueError(f"metric must be None for {plot}, which says itself what it draws, got {metric!r}")
    if metric is not None and (metric not in METRICS or (metric == AREA and plot in ("ranks", "time"))):
        allowed = [name for name in METRICS if name != AREA or plot not in ("ranks", "time")]
        raise ValueError(f"metric must be one of {', '.join(allowed)} for {plot}, got {metric!r}")
    if noise_rate is not None and (plot == "ranks" or curve_of in CURVES):
        raise ValueError(f"noise_rate must be None for {plot}, which shows all noise rates, got {noise_rate!r}")
    if models is not None and (isinstance(models, str) or not isinstance(models, Iterable)):
        raise TypeError(f"models must be a list of names or None, got {models!r:.60}")
    options = FigureOptions() if options is None else options
    everyone = _unique(scores, "model")
    picture = Picture(
        scores=_chosen(_chosen(scores, "noise_kind", noise_kind), "model", models),
        metric=curve_of if curve_of in CURVES else metric or of,
        of=of,
        noise_rate=noise_rate,
        everything=scores,
        models=everyone,
        chosen=everyone if models is None else list(models),
        options=options,
        ax=ax,
    )
    if ax is not None and (len(picture.kinds) > 1 or plot.endswith(BY_DATASET)):
        what = (
            "of several panels" if len(picture.kinds) == 1 else "with several kinds of noise; name a noise_kind"
        )
        raise ValueError(f"ax must be None for a picture {what}")
    n_kwargs = len(options.plot_kwargs)
    if n_kwargs not in (0, len(everyone)):
        raise ValueError(f"options.plot_kwargs must be empty or hold one object per model, got {n_kwargs}")
    with matplotlib.rc_context(STYLE):
        if plot in COMPARISONS:
            drawn = DRAW_COMPARISON[plot](picture)
        else:
            drawn = (curves_by_dataset if plot.endswith(BY_DATASET) else averaged_curves)(picture)
    panel: Axes = drawn.flat[0] if isinstance(drawn, np.ndarray) else drawn
    number_ids(panel.figure)
    return drawn


def _unique(scores: pd.DataFrame, column: str) -> list[str]:
    return [str(name) for name in scores[column].unique()]


def _chosen(scores: pd.DataFrame, column: str, names: str | Sequence[str] | None) -> pd.DataFrame:
    """The scores of some kinds of noise or models."""
    there = _unique(scores, column)
    chosen = there if names is None else list(names) if column == "model" else [names]
    twice = next((name for i, name in enumerate(chosen) if name in chosen[:i]), None)
    name = "models" if column == "model" else column
    if not chosen or any(chosen_name not in there for chosen_name in chosen):
        raise ValueError(
            f"{name} must be among {', '.join(there) or 'none: there are no scores'}, got {names!r}"
        )
    if twice is not None:
        raise ValueError(f"{name} must name each once, but {twice!r} is there twice")
    return scores[scores[column].isin(chosen)]
