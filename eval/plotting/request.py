"""Plot requests: what a plot shows, and the axes that it is drawn on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .._wording import sentence, under_noise
from ..config.figures import FigureOptions
from ..metrics.curves import are_estimated
from ..metrics.domains import averaged_over
from ..metrics.registry import label_of, short_label_of
from ..statistics.score_tables import resolve_noise_rate
from ..statistics.verdict import compared_rate
from .figure import PANEL, add_side_legend, draw_panels, draw_stack, draw_title_on_axes, scaled_panel
from .mathtext import text_of
from .styles import line_styles

AREA = "area_under_ela"


@dataclass(frozen=True)
class PlotRequest:
    """Selected scores, and how to draw them.

    Attributes
    ----------
    scores : DataFrame
        Scores of the chosen kinds of noise and models.
    metric, measure : str
        The metric to draw, and the measure that it is computed from.
    noise_rate : float or None
        The requested noise rate.
    all_scores : DataFrame
        Scores of all models, which determine the noise rate if none is requested.
    models : list of str
        All models; their positions determine their line styles.
    chosen : list of str
        Models to draw.
    options : FigureOptions
    ax : Axes or None
        Where to draw; None for a new figure.
    """

    scores: pd.DataFrame
    metric: str
    measure: str
    noise_rate: float | None
    all_scores: pd.DataFrame
    models: list[str]
    chosen: list[str]
    options: FigureOptions
    ax: Axes | None

    @property
    def kinds(self) -> list[str]:
        """The kinds of noise, one panel each."""
        return [str(kind) for kind in self.scores["noise_kind"].unique()]

    @property
    def datasets(self) -> list[str]:
        """The data sets, in the order of the scores."""
        return [str(name) for name in self.scores["dataset"].unique()]

    @property
    def styles(self) -> dict[str, dict[str, Any]]:
        """Line styles of the chosen models."""
        return line_styles(self.models, self.options, self.chosen)

    @property
    def label(self) -> str:
        """Axis label of the metric."""
        return label_of(self.metric, self.measure, estimated=are_estimated(self.scores))

    @property
    def name(self) -> str:
        """Name of the metric in titles."""
        return sentence(short_label_of(self.metric, self.measure, estimated=are_estimated(self.scores)))

    @property
    def over_datasets(self) -> str:
        """The data sets that are averaged, for titles."""
        return averaged_over(self.scores)

    @property
    def noise_suffix(self) -> str:
        """The kind of noise for titles; empty if there are several, which panel headings name."""
        return f" {under_noise(text_of(self.kinds[0]))}" if len(self.kinds) == 1 else ""

    @property
    def rate_suffix(self) -> str:
        """The noise rate and the kind of noise for titles; empty if there are several kinds."""
        return f" {self.noise_of(self.kinds[0])}" if len(self.kinds) == 1 else ""

    def scores_of(self, kind: str) -> pd.DataFrame:
        """The scores under one kind of noise."""
        return self.scores[self.scores["noise_kind"] == kind]

    def rate_of(self, kind: str) -> float | None:
        """The noise rate to compare at: the requested one, or that of `verdict`; None for the area."""
        if self.metric == AREA:
            if self.noise_rate is not None:
                raise ValueError(
                    f"noise_rate must be None for {AREA}, which covers all noise rates, got {self.noise_rate!r}"
                )
            return None
        if self.noise_rate is None:
            return compared_rate(self.all_scores[self.all_scores["noise_kind"] == kind], self.measure)
        rates = np.unique(self.scores_of(kind)["noise_rate"])
        return resolve_noise_rate(rates, self.noise_rate, f" under {kind} noise")

    def noise_of(self, kind: str) -> str:
        """A kind of noise with the noise rate to compare at, for titles."""
        return under_noise(text_of(kind), self.rate_of(kind))

    def draw_panels(
        self,
        draw: Callable[[Axes, str], list[Line2D]],
        *,
        title: str,
        caption: str,
        headings: Sequence[str] | None = None,
        panel: tuple[float, float] = PANEL,
    ) -> Axes | NDArray[Any]:
        """Draw one panel per kind of noise, with a legend of the models; see `figure.draw_panels`."""
        if self.ax is not None:
            lines = draw(self.ax, self.kinds[0])
            draw_title_on_axes(self.ax, title, caption, self.options)
            add_side_legend(self.ax, lines, None)
            return self.ax
        axes = draw_panels(
            self.kinds,
            draw,
            headings=headings or [f"{text_of(kind)} noise" for kind in self.kinds],
            title=title,
            caption=caption,
            missing_where="under {} noise",
            options=self.options,
            panel=scaled_panel(panel, len(self.chosen)),
        )
        return axes if len(axes) > 1 else axes[0]

    def draw_stack(
        self,
        draw: Callable[[Axes, str], None],
        sizes: Sequence[tuple[float, float]],
        *,
        title: str,
        caption: str,
    ) -> Axes | NDArray[Any]:
        """Draw one panel per kind of noise, stacked vertically without a legend; see `figure.draw_stack`."""
        if self.ax is not None:
            draw(self.ax, self.kinds[0])
            draw_title_on_axes(self.ax, title, caption, self.options)
            return self.ax
        axes = draw_stack(
            self.kinds,
            draw,
            sizes,
            headings=[self.noise_of(kind) for kind in self.kinds],
            title=title,
            caption=caption,
            options=self.options,
        )
        return axes if len(axes) > 1 else axes[0]
