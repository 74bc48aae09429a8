"""The page of an audit: one self-contained HTML file that needs no server and no network."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._wording import numbered, percent, short_percent
from ..config.figures import FigureOptions
from ..errors import printable, shortened
from ..extensions.versions import version_of
from ..report.html.page import FIRST_SCRIPT, environment, policy_of, read_template
from ..report.html.styles import HEAT_STEPS, heat_map_css
from .expected_counts import expected_counts
from .headline import headline
from .plot import as_png
from .rounds import outlook, rounds_table
from .text import ROUNDS, SHOWN_CLASSES, sentences

if TYPE_CHECKING:
    from .clean_scores import CleanScores
    from .estimates import AuditEstimates

MAX_SUSPECTS = 1000
MAX_FEATURES = 20
MAX_WIDTH = 60  # characters of a value


class ByClass(NamedTuple):
    """Estimates for the rows with one given label."""

    name: str
    rows: int
    wrong: float
    share: float
    interval: str
    suggested: str


def render_page(audit: AuditEstimates, picture: bytes | None = None, scores: CleanScores | None = None) -> str:
    """Render an audit as HTML; the same audit gives the same text.

    Parameters
    ----------
    audit : AuditEstimates
    picture : bytes or None, default=None
        Its summary as PNG, if it is drawn already.
    scores : CleanScores or None, default=None
        Scores of models.
    """
    from markupsafe import Markup

    script = read_template("audit.js")
    style = "\n".join([read_template("report.css"), read_template("audit.css"), heat_map_css(FigureOptions())])
    heads, rows = _suspects(audit)
    return (
        environment()
        .get_template("audit.html.j2")
        .render(
            name=printable(audit.name),
            version=version_of("boostnoise"),
            policy=policy_of([FIRST_SCRIPT, script]),
            style=Markup(style),  # noqa: S704 - our own text
            first_script=Markup(FIRST_SCRIPT),  # noqa: S704
            script=Markup(script),  # noqa: S704
            facts=f"{numbered(audit.labels.size, 'row')}, {audit.classes.size} classes",
            sentences=sentences(audit),
            classes=_by_class(audit),
            matrix=_matrix(audit),
            names=[_text(name) for name in audit.classes.tolist()],
            headline=headline(audit, expected_counts(audit)),
            picture=base64.b64encode(as_png(audit) if picture is None else picture).decode(),
            scores=None if scores is None else scores.as_table().reset_index(names="model").to_dict("records"),
            about_scores="" if scores is None else scores.introduction(),
            differences=[] if scores is None else scores.difference_sentences(),
            rounds_caption=ROUNDS,
            rounds=[] if audit.rounds.empty else rounds_table(audit.rounds).to_dict(orient="records"),
            outlook="" if audit.rounds.empty else outlook(audit.rounds),
            precision=[(n, percent(share, 3)) for n, share in audit.expected_precision.items()],
            heads=heads,
            rows=rows,
            n_rows=audit.labels.size,
        )
    )


def _text(value: Any) -> str:
    return printable(shortened(str(value), MAX_WIDTH))


def _by_class(audit: AuditEstimates) -> list[ByClass]:
    found = []
    for row in audit.by_label.to_dict(orient="records"):
        interval = f"{short_percent(row['low'])} to {short_percent(row['high'])}" if audit.n_checked else ""
        label, suggested = _text(row["label"]), _text(row["suggested"])
        found.append(ByClass(label, row["rows"], row["wrong"], row["share"], interval, suggested))
    return found


def _matrix(audit: AuditEstimates) -> list[list[tuple[str, int]]]:
    """Text and colour step of each entry of the transition matrix; empty if there are many classes."""
    if audit.classes.size > SHOWN_CLASSES:
        return []
    steps = np.round(audit.transition_matrix * (HEAT_STEPS - 1)).astype(int)
    return [
        [(f"{value:.3f}", step) for value, step in zip(values, row, strict=True)]
        for values, row in zip(audit.transition_matrix.tolist(), steps.tolist(), strict=True)
    ]


def _suspects(audit: AuditEstimates) -> tuple[list[str], list[list[str]]]:
    """Headings and text of the table of suspects."""
    table = audit.suspects.head(MAX_SUSPECTS)
    heads = [*table.columns]
    values = [list(map(_text, table[name])) for name in table.columns]
    values[heads.index("p_wrong")] = [f"{p:.3f}" for p in table["p_wrong"]]
    if audit.features is not None:
        features = audit.features.iloc[audit.errors.ranking[:MAX_SUSPECTS], :MAX_FEATURES]
        heads += [_text(name) for name in features.columns]
        values += [[_text(value) for value in features.iloc[:, i]] for i in range(features.shape[1])]
    return heads, [list(row) for row in zip(*values, strict=True)]
