"""What a picture is asked to show, and the figure or the axes that it is drawn into."""

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
from ..config.figure_options import FigureOptions
from ..metrics.registry import label_of, short_label_of
from ..statistics.score_tables import checked_rate
from ..statistics.verdict import telling_rate
from .figure import PANEL, beside, draw_panels, draw_stack, entitle_axes, grown
from .mathtext import text_of
from .styles import looks_of

AREA = "area_under_ela"


@dataclass(frozen=True)
class Picture:
    """The scores of the kinds of noise and the models that are chosen, and how they are to be drawn.

    Attributes
    ----------
    scores : DataFrame
    metric, of : str
        What is shown, and the measure that it is computed from.
    noise_rate : float or None
        The noise rate that is asked for.
    everything : DataFrame
        The scores of all models, from which the noise rate follows if none is asked for.
    models : list of str
        All models, from whose places their looks follow.
    chosen : list of str
        Those to draw.
    options : FigureOptions
    ax : Axes or None
        Where to draw; None for a new figure.
    """

    scores: pd.DataFrame
    metric: str
    of: str
    noise_rate: float | None
    everything: pd.DataFrame
    models: list[str]
    chosen: list[str]
    options: FigureOptions
    ax: Axes | None

    @property
    def kinds(self) -> list[str]:
        """The kinds of noise, of which each has a panel."""
        return [str(kind) for kind in self.scores["noise_kind"].unique()]

    @property
    def datasets(self) -> list[str]:
        """The data sets, in their order."""
        return [str(name) for name in self.scores["dataset"].unique()]

    @property
    def looks(self) -> dict[str, dict[str, Any]]:
        """Arguments of the lines of the chosen models."""
        return looks_of(self.models, self.options, self.chosen)

    @property
    def label(self) -> str:
        """What axes call the metric."""
        return label_of(self.metric, self.of)

    @property
    def name(self) -> str:
        """What titles call the metric."""
        return sentence(short_label_of(self.metric, self.of))

    @property
    def over(self) -> str:
        """What an average is over."""
        n = len(self.datasets)
        return "1 data set" if n == 1 else f"mean over {n} data sets"

    @property
    def under(self) -> str:
        """The kind of noise, for titles, where there is only one: panels have headings of their own."""
        return f" {under_noise(text_of(self.kinds[0]))}" if len(self.kinds) == 1 else ""

    @property
    def at_rate(self) -> str:
        """The same, with the noise rate."""
        return f" {self.at(self.kinds[0])}" if len(self.kinds) == 1 else ""

    def of_kind(self, kind: str) -> pd.DataFrame:
        """The scores of one kind of noise."""
        return self.scores[self.scores["noise_kind"] == kind]

    def rate_of(self, kind: str) -> float | None:
        """The noise rate to compare at: that asked for, or that of a `verdict`; the area has none."""
        if self.metric == AREA:
            if self.noise_rate is not None:
                raise ValueError(
                    f"noise_rate must be None for {AREA}, which has no noise rate, got {self.noise_rate!r}"
                )
            return None
        if self.noise_rate is None:
            return telling_rate(self.everything[self.everything["noise_kind"] == kind], self.of)
        rates = np.unique(self.of_kind(kind)["noise_rate"])
        return checked_rate(rates, self.noise_rate, f" under {kind} noise")

    def at(self, kind: str) -> str:
        """Where models are compared under a kind of noise."""
        return under_noise(text_of(kind), self.rate_of(kind))

    def panels(
        self,
        draw: Callable[[Axes, str], list[Line2D]],
        *,
        title: str,
        caption: str,
        headings: Sequence[str] | None = None,
    ) -> Axes | NDArray[Any]:
        """Draw a panel for each kind of noise, with a legend of the models; see `draw_panels`."""
        if self.ax is not None:
            lines = draw(self.ax, self.kinds[0])
            entitle_axes(self.ax, title, caption, self.options)
            beside(self.ax, lines, None)
            return self.ax
        axes = draw_panels(
            self.kinds,
            draw,
            headings=headings or [f"{text_of(kind)} noise" for kind in self.kinds],
            title=title,
            caption=caption,
            lacking="under {} noise",
            options=self.options,
            panel=grown(PANEL, len(self.chosen)),
        )
        return axes if len(axes) > 1 else axes[0]

    def stack(
        self,
        draw: Callable[[Axes, str], None],
        sizes: Sequence[tuple[float, float]],
        *,
        title: str,
        caption: str,
    ) -> Axes | NDArray[Any]:
        """Draw a panel for each kind of noise, one below the other and without a legend; see `draw_stack`."""
        if self.ax is not None:
            draw(self.ax, self.kinds[0])
            entitle_axes(self.ax, title, caption, self.options)
            return self.ax
        axes = draw_stack(
            self.kinds,
            draw,
            sizes,
            headings=[self.at(kind) for kind in self.kinds],
            title=title,
            caption=caption,
            options=self.options,
        )
        return axes if len(axes) > 1 else axes[0]
