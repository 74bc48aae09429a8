"""A comparison in a few lines: as plain text, and as HTML for notebooks."""

from __future__ import annotations

import base64
import io
import textwrap
import warnings
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .comparison import Comparison

WIDTH = 100


def heading(comparison: Comparison) -> str:
    """What was compared, in a sentence."""
    config, scores = comparison.config, comparison.run.scores

    def counted(n: int, noun: str) -> str:
        return f"{n} {noun}{'' if n == 1 else 's'}"

    kinds = ", ".join(noise.name for noise in config.noise)
    return (
        f"{config.name}: {counted(len(config.models), 'model')} on "
        f"{counted(scores['dataset'].nunique(), 'data set')} under {kinds} noise, "
        f"{counted(config.repeats, 'repeat')}"
    )


def as_text(comparison: Comparison) -> str:
    """What was compared, the verdict, the tables that the config asks for, and what failed."""
    from ..report.text_tables import summary

    console = Console(width=WIDTH, file=io.StringIO(), highlight=False, color_system=None, force_jupyter=False)
    with console.capture() as capture:
        console.print(summary(comparison.config, comparison.run.scores, WIDTH))
    verdict = "\n\n".join(textwrap.fill(part, WIDTH) for part in comparison.verdict().split("\n\n"))
    lines = "\n".join(line.rstrip() for line in capture.get().splitlines())
    return f"{heading(comparison)}\n\n{verdict}\n\n{lines.rstrip()}"


def as_html(comparison: Comparison) -> str:
    """The same, with the curves of ELA as a picture within; whatever a user named is escaped."""
    from ..report.latex_names import readable
    from ..report.text_tables import failures

    parts = [f"<p><strong>{escape(heading(comparison))}</strong></p>"]
    parts += [f"<p>{escape(part)}</p>" for part in comparison.verdict().split("\n\n")]
    for kind in comparison.run.scores["noise_kind"].unique():
        table = comparison.ela(noise_kind=kind).rename(columns=lambda rate: f"{100 * rate:.4g} %")
        table = table.rename_axis(index=None, columns=None).rename(index=readable)
        parts.append(f"<p>{escape(_title(comparison, kind))}</p>")
        parts.append(table.to_html(float_format="{:.3f}".format, na_rep="–", border=0))
    parts.append(_picture(comparison))
    scores = comparison.run.scores
    if scores["error"].notna().any():
        parts.append(f"<pre>{escape(failures(scores).plain)}</pre>")
    return f"<div>{''.join(parts)}</div>"


def _title(comparison: Comparison, kind: str) -> str:
    from ..plotting.mathtext import label_of

    label = label_of("ela", comparison.config.metric)
    n = comparison.run.scores["dataset"].nunique()
    over = f", mean over {n} data sets" if n > 1 else ""
    return f"{label} (the lower, the more robust): {kind} noise{over}"


def figure_of(drawn: Axes | NDArray[Any]) -> Figure:
    """The figure of what `boostnoise.eval.plot` returns."""
    ax: Any = drawn.flat[0] if isinstance(drawn, np.ndarray) else drawn
    figure: Figure = ax.figure
    return figure


def _picture(comparison: Comparison) -> str:
    import matplotlib

    from ..plotting.plot import plot

    options = comparison.config.ela_fig
    with matplotlib.rc_context({"svg.hashsalt": comparison.config.name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Font")  # a script that the font lacks can be seen
        drawn = plot(comparison.run.scores, "ela", of=comparison.config.metric, options=options)
        file = io.BytesIO()
        figure_of(drawn).savefig(file, format="svg", metadata={"Date": None})
    # As the source of an image nothing of it can run, and its ids are its own.
    source = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="curves of ELA" style="max-width: 100%" src="data:image/svg+xml;base64,{source}">'
