"""The HTML report: one self-contained file that needs no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostnoise.eval._atomic_file import atomic_write
from boostnoise.eval._wording import p_text
from boostnoise.eval.errors import CONTROL, ConfigError, without_controls
from boostnoise.eval.execution.run import Run
from boostnoise.eval.extensions.versions import version_of
from boostnoise.eval.metrics.registry import label_of, short_label_of
from boostnoise.eval.papers.published_comparison import PublishedComparison
from boostnoise.eval.plotting.styles import line_styles
from boostnoise.eval.statistics.verdict import compared_rate, verdict

from ..citations import bibtex, bibtex_of, citation, references_of
from ..formulas import readable
from ..published_tables import shown_cells
from .data import Results
from .pictures import sweep_pictures
from .significance import tests_with_diagram
from .styles import heat_map_css, model_css, plotly_style
from .tables import failures, heat_maps, tables_of_averages, tables_of_dataset, unbroken_percent

if TYPE_CHECKING:
    from jinja2 import Environment

ESCAPE = re.compile(r"\\\\|\\u[0-9a-f]{4}")  # in JSON: a backslash, or a character

TEMPLATES = "templates"
FIRST_SCRIPT = 'document.documentElement.classList.add("js")'  # runs before the page is rendered


def write_html(run: Run, path: Path, published: PublishedComparison | None = None) -> Path:
    """Write the HTML report of a run; the same run gives the same bytes.

    Parameters
    ----------
    run : Run
        See `load_run`.
    path : Path
        The file; an existing one is replaced atomically.
    published : PublishedComparison or None, default=None
        Comparison with published numbers, a part of the report.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    page = render_page(run, published)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise ConfigError(f"the report cannot be written to {path}: {error}") from None
    return path


def render_page(run: Run, published: PublishedComparison | None = None) -> str:
    """Render the report of a run as HTML."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    results = Results(run)
    config = run.config
    options = config.ela_fig if config.ela_fig.plot_kwargs or config.ela_fig.fig_cmap else config.rla_fig
    styles = [plotly_style(i, len(results.models), options) for i in range(len(results.models))]
    diagram_styles = line_styles(results.models, options)
    compared = [
        (kind, of_kind, compared_rate(of_kind, results.metric))
        for kind, of_kind in zip(results.kinds, results.scores_by_kind, strict=True)
    ]
    style = "\n".join([read_template("report.css"), model_css(styles), heat_map_css(options)])
    scripts = [get_plotlyjs(), read_template("report.js")]
    references = references_of(config)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            config=config,
            results=results,
            styles=styles,
            policy=policy_of([FIRST_SCRIPT, *scripts]),
            style=Markup(style),  # noqa: S704 - our own text, with colours that Matplotlib parsed
            # The scripts are Plotly's and our own.
            first_script=Markup(FIRST_SCRIPT),  # noqa: S704
            scripts=[Markup(script) for script in scripts],  # noqa: S704
            data=Markup(_json(results.page_data(styles))),  # noqa: S704 - escaped by _json
            shown_config=_shown_config(run),
            failures=failures(results),
            sweeps=sweep_pictures(run),
            published=published,
            published_cells=None if published is None else shown_cells(published),
            averages=tables_of_averages(results),
            heat_maps=heat_maps(results),
            sets=[tables_of_dataset(results, i) for i in range(len(results.datasets))],
            rate_indices=[results.rates[kind].index(noise_rate) for kind, _, noise_rate in compared],
            verdict=[
                paragraph
                for _, of_kind, noise_rate in compared
                for paragraph in verdict(
                    of_kind,
                    metric=results.metric,
                    noise_rate=noise_rate,
                    test_fraction=config.resampled_fraction,
                    fixed=config.sets_with_own_split,
                )
            ]
            + ([f"{config.scored_on()}."] if config.scored_on() else []),
            tests=[
                tests_with_diagram(
                    of_kind,
                    results.metric,
                    noise_rate,
                    kind,
                    diagram_styles,
                    config.resampled_fraction,
                    config.sets_with_own_split,
                )
                for kind, of_kind, noise_rate in compared
            ],
            p_text=p_text,
            metric=short_label_of(results.metric, estimated=results.are_estimated),
            label_of=partial(label_of, estimated=results.are_estimated),
            titles={name: readable(getattr(config, f"{name}_fig").fig_title or "") for name in ("ela", "rla")},
            version=version_of("boostnoise"),
            references=references,
            citation=citation(),
            bibtex=f"{bibtex()}\n\n{bibtex_of(references)}",
        )
    )


def environment() -> Environment:
    """The environment of the templates, which escapes all text and replaces characters that control it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("boostnoise.eval.report.html", TEMPLATES),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"percent": unbroken_percent, "readable": readable, "breakable": _breakable}
    return made


def _printable(value: Any) -> Any:
    """Text without control characters; markup, which is our own, and other values are kept."""
    return without_controls(value) if type(value) is str else value


def _breakable(name: str) -> str:
    """A name with line breaks allowed after a slash and similar characters."""
    from markupsafe import Markup, escape

    # None of these characters is part of an HTML entity.
    return Markup(re.sub(r"(?<=[/_:.,-])(?=.)", "<wbr>", escape(_printable(name))))  # noqa: S704


def read_template(name: str) -> str:
    """Text of a file in the folder of the templates."""
    return (files("boostnoise.eval.report.html") / TEMPLATES / name).read_text(encoding="utf-8")


def policy_of(scripts: list[str]) -> str:
    """The Content-Security-Policy: the page's own scripts only, and no requests.

    Inline styles are allowed because Plotly adds style sheets that differ between versions.
    """
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _json(data: Any) -> str:
    """JSON for a script element, which no text in the data can end."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # escapes all but ASCII
    text = ESCAPE.sub(_printable_escape, text)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _printable_escape(found: re.Match[str]) -> str:
    """The escape of a character in JSON; that of one that would control the text is replaced."""
    escape = found[0]
    return r"\ufffd" if escape != r"\\" and CONTROL.match(chr(int(escape[2:], 16))) else escape


def _shown_config(run: Run) -> str:
    """The config as JSON without `results_dir`, which does not affect the results."""
    content = run.config.model_dump(exclude={"results_dir"}, exclude_defaults=False)
    text = json.dumps(content, indent=2, ensure_ascii=False)
    # Bidirectional controls would make the shown config look different from the one that ran.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
