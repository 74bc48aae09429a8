"""Matplotlib figures in the HTML report."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from boostnoise.eval.config.sweeps import Sweep, parameter_sweeps, training_size_sweeps
from boostnoise.eval.execution.run import Run
from boostnoise.eval.plotting.figure import STYLE
from boostnoise.eval.plotting.sweep_plot import plot_sweep


def as_data_uri(draw: Callable[[], Figure], salt: str) -> str:
    """Draw a figure as SVG, for an image.

    In an image, its ids cannot clash with others, and it can neither run scripts nor load anything.

    Parameters
    ----------
    draw : callable
        Returns the figure.
    salt : str
        Makes the ids in the SVG reproducible.
    """
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Font")  # a script that the font lacks shows as boxes
        file = io.BytesIO()
        draw().savefig(file, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"


def sweep_pictures(run: Run) -> dict[str, str]:
    """Plots of what is varied in a run, as data URIs by what they show; empty if nothing is varied."""
    found = {
        "parameter_sweep": parameter_sweeps(run.config.models),
        "training_size": training_size_sweeps(run.config.datasets),
    }
    return {_description(sweeps): _picture(run, plot) for plot, sweeps in found.items() if sweeps}


def _description(sweeps: list[Sweep]) -> str:
    return f"{sweeps[0].parameter}: {', '.join(sweep.name for sweep in sweeps)}"


def _picture(run: Run, plot: str) -> str:
    def draw() -> Figure:
        figure: Figure = np.ravel(plot_sweep(run.config, run.scores, plot))[0].figure
        return figure

    return as_data_uri(draw, plot)
