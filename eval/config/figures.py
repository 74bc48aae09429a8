"""Figures of a config: their names and options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ..metrics.registry import MEASURES, PAIRED
from .base import Strict, Title

MAX_PIXELS = 20_000
MAX_LINES = 10_000

# Names, for configs and for `plot`.
BY_DATASET = "_by_dataset"
COMPARISONS = ("critical_difference", "ranks", "time", "time_per_dataset", "heatmap")
SWEEPS = ("parameter_sweep", "training_size")

Band = Literal["interval", "two_sd"]


def curve_names(measures: Iterable[str] = MEASURES) -> tuple[str, ...]:
    """Names of curves against the noise rate: robustness metrics and measures."""
    return (*PAIRED, *measures)


def plot_names(measures: Iterable[str] = MEASURES) -> tuple[str, ...]:
    """Names of the plots of scores."""
    curves = curve_names(measures)
    return (*curves, *(f"{metric}{BY_DATASET}" for metric in curves), *COMPARISONS)


def figure_names(measures: Iterable[str] = MEASURES) -> tuple[str, ...]:
    """Names of the figures of a run."""
    return (*plot_names(measures), *SWEEPS)


class FigureOptions(Strict):
    """Options of a figure, named as in the configs of the 2020 study.

    Attributes
    ----------
    save_fig : bool
        Whether to save the figure.
    fig_size : list of two float, or None
        Width and height in inches; by default chosen to fit the content.
    fig_dpi : int
        Resolution in pixels per inch.
    fig_title : str or None
        Title; by default a description of the content.
    fig_cmap : str or None
        Matplotlib colour map of the lines; by default colours that colour-blind readers can distinguish.
    fig_band : {"interval", "two_sd"}
        Band of a curve: the 95 % interval of the mean, or two standard deviations of the repeats to either side
        of the mean, as many papers draw them.
    plot_kwargs : list of dict
        Matplotlib line styles, such as ``{"linestyle": "--"}``: one object per model, or an empty list.
    """

    save_fig: bool = True
    fig_size: list[Annotated[float, Field(ge=1, le=100)]] | None = Field(
        default=None, min_length=2, max_length=2
    )
    fig_dpi: Annotated[int, Field(ge=10, le=2000)] = 150
    fig_title: Title | None = None
    fig_cmap: str | None = None
    fig_band: Band = "interval"
    plot_kwargs: list[dict[str, Any]] = Field(default=[], max_length=MAX_LINES)

    @model_validator(mode="after")
    def _check_pixels(self) -> Self:
        pixels = [round(side * self.fig_dpi) for side in self.fig_size or ()]
        if max(pixels, default=0) > MAX_PIXELS:
            raise ValueError(f"fig_size times fig_dpi must be at most {MAX_PIXELS} pixels, but is {pixels}")
        return self
