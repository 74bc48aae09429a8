"""Options of a figure in a config."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from .base import Strict, Title

MAX_PIXELS = 20_000
MAX_LINES = 10_000


class FigureOptions(Strict):
    """How a figure looks; the names are those of the 2020 study's configs.

    Attributes
    ----------
    save_fig : bool
        Whether the figure is drawn.
    fig_size : list of two float, or None
        Width and height in inches; by default a size that fits.
    fig_dpi : int
        Pixels to the inch.
    fig_title : str or None
        By default it tells what is drawn.
    fig_cmap : str or None
        One of Matplotlib's colour maps, from which the lines take their colours; by default colours that
        colour-blind readers can tell apart.
    plot_kwargs : list of dict
        How each model's line looks, by the names of Matplotlib, such as ``{"linestyle": "--"}``; one object per
        model, or none at all.
    """

    save_fig: bool = True
    fig_size: list[Annotated[float, Field(ge=1, le=100)]] | None = Field(
        default=None, min_length=2, max_length=2
    )
    fig_dpi: Annotated[int, Field(ge=10, le=2000)] = 150
    fig_title: Title | None = None
    fig_cmap: str | None = None
    plot_kwargs: list[dict[str, Any]] = Field(default=[], max_length=MAX_LINES)

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        pixels = [round(side * self.fig_dpi) for side in self.fig_size or ()]
        if max(pixels, default=0) > MAX_PIXELS:
            raise ValueError(f"fig_size times fig_dpi must be at most {MAX_PIXELS} pixels a side, got {pixels}")
        return self
