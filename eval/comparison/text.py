"""Summaries of a comparison: plain text, and HTML for notebooks."""

from __future__ import annotations

import base64
import io
import textwrap
import warnings
from html import escape
from typing import TYPE_CHECKING

from rich.console import Console

from .._wording import numbered, percent
from ..metrics.curves import are_estimated, by_noise_rate, labels_by_rate, main_curves, mean_curve
from ..metrics.registry import short_label_of

if TYPE_CHECKING:
    from ..execution.run import Run

WIDTH = 100


def heading(run: Run) -> str:
    """Models, data sets, noise and repeats of a run, in a sentence."""
    config = run.config
    kinds = ", ".join(noise.name for noise in config.noise)
    return (
        f"{config.name}: {numbered(len(config.models), 'model')} on "
        f"{numbered(run.scores['dataset'].nunique(), 'data set')} under {kinds} noise, "
        f"{numbered(config.repeats, 'repeat')}"
    )


def as_text(run: Run, verdict: str) -> str:
    """The heading, whose labels were tested on, the verdict, the tables of the config, and the failures."""
    from ..report.text_tables import summary

    console = Console(width=WIDTH, file=io.StringIO(), highlight=False, color_system=None, force_jupyter=False)
    with console.capture() as capture:
        console.print(summary(run.config, run.scores, WIDTH))
    paragraphs = "\n\n".join(textwrap.fill(paragraph, WIDTH) for paragraph in verdict.split("\n\n"))
    lines = "\n".join(line.rstrip() for line in capture.get().splitlines())
    return f"{heading(run)}\n{textwrap.fill(run.config.test_labels, WIDTH)}\n\n{paragraphs}\n\n{lines.rstrip()}"


def as_html(run: Run, verdict: str) -> str:
    """The heading, whose labels were tested on, the verdict, tables and curves, and failures, all escaped."""
    from ..report.formulas import readable
    from ..report.text_tables import averaged_over, failures, table_title

    scores, measure = run.scores, run.config.metric
    parts = [f"<p><strong>{escape(heading(run))}</strong></p><p>{escape(run.config.test_labels)}</p>"]
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in verdict.split("\n\n")]
    for kind, of_kind in scores.groupby("noise_kind", sort=False):
        metric, *_ = main_curves(of_kind, measure)
        table = by_noise_rate(mean_curve(of_kind, metric, measure), metric, ["model"])
        labels = labels_by_rate(of_kind)
        names = {
            rate: f"{labels.get(rate, '')} {percent(rate)}".strip() for rate in of_kind["noise_rate"].unique()
        }
        title = table_title(metric, measure, str(kind), estimated=are_estimated(of_kind))
        table = table.rename_axis(index=None, columns=None).rename(index=readable, columns=names)
        parts.append(f"<p>{escape(title)}, {escape(averaged_over(of_kind))}</p>")
        parts.append(table.to_html(float_format="{:.3f}".format, na_rep="–", border=0))
    parts.append(_curves_image(run))
    if scores["error"].notna().any():
        parts.append(f"<pre>{escape(failures(scores).plain)}</pre>")
    return f"<div>{''.join(parts)}</div>"


def _curves_image(run: Run) -> str:
    """The curves of ELA, or of the measure without it, as an HTML image."""
    import matplotlib

    from ..plotting.figure import figure_of
    from ..plotting.plot import plot

    options = run.config.ela_fig
    with matplotlib.rc_context({"svg.hashsalt": run.config.name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph|Font")  # missing glyphs show as boxes
        metric, *_ = main_curves(run.scores, run.config.metric)
        axes = plot(run.scores, metric, measure=run.config.metric, options=options)
        file = io.BytesIO()
        figure_of(axes).savefig(file, format="svg", metadata={"Date": None})
    # In an <img>, the SVG cannot run scripts, and its ids cannot clash with others.
    source = base64.b64encode(file.getvalue()).decode()
    alt = f"curves of {short_label_of(metric)}"
    return f'<img alt="{alt}" style="max-width: 100%" src="data:image/svg+xml;base64,{source}">'
