"""Summary of an audit: plain text, and HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._wording import is_or_are, listed, numbered, sentence, short_percent
from ..errors import printable
from .rounds import outlook, rounds_table

if TYPE_CHECKING:
    from .estimates import AuditEstimates

LITTLE = 0.01  # noise rate; an interval that starts below it may contain no noise
MUCH = 0.02  # share of the labels that are wrong only if the classes do not overlap
CHECKED_ROWS = 100  # tell the noise rate to about five points
SHOWN_SUSPECTS = 10
SHOWN_LISTS = 4
SHOWN_PAIRS = 3  # of classes that may overlap
ROUNDS = "Share of wrong labels by the rows that were drawn, after each round"
SHOWN_CLASSES = 12  # of the transition matrix


def sentences(audit: AuditEstimates) -> list[str]:
    """Summarise the noise rate, its interval and the suspects in sentences."""
    low, high = audit.noise_rate_interval
    n = audit.labels.size
    noise_rate, interval = audit.noise_rate, f"90 % interval from {short_percent(low)} to {short_percent(high)}"
    found = [f"About {short_percent(noise_rate)} of {numbered(n, 'label')} are wrong; {interval}."]
    if audit.n_checked:
        verb = "was" if audit.n_checked == 1 else "were"
        found[0] += f" {audit.n_checked} of them {verb} checked."
    else:
        if noise_rate < LITTLE:
            found = [
                f"Little or no label noise is proven, about {short_percent(noise_rate)} of "
                f"{numbered(n, 'label')}; {interval}."
            ]
        if audit.noise_rate_without_overlap > noise_rate + MUCH:
            found.append(
                "If the classes do not overlap, it is about "
                f"{short_percent(audit.noise_rate_without_overlap)}: without checked labels, noise cannot be "
                f"told from overlapping classes{_confused(audit)}."
            )
        if n > CHECKED_ROWS:
            found.append(
                "Mistakes on rows where classes overlap, as people and rules make, are missed: "
                f"{CHECKED_ROWS} checked rows tell how many labels are wrong."
            )
    expected = audit.expected_precision * audit.expected_precision.index
    lists = [f"{count:.0f} of the first {length}" for length, count in expected.items()][:SHOWN_LISTS]
    found.append(f"Expected to be wrong: {listed(lists)} suspects.")
    unchecked = audit.errors.ranking[: n - audit.n_checked]  # checked labels come last
    n_half = int(np.count_nonzero(audit.errors.p_wrong[unchecked] > 0.5))
    if n_half:
        found.append(
            f"{numbered(n_half, 'label')} {is_or_are(n_half)} more likely wrong than right; check these first."
        )
    return [*found, *(sentence(f"{remark}.") for remark in audit.remarks)]


def _confused(audit: AuditEstimates) -> str:
    """Clause that names pairs of classes with half of the noise that may be overlap."""
    if audit.classes.size == 2:
        return ""
    shares = np.bincount(np.searchsorted(audit.classes, audit.labels)) / audit.labels.size
    doubt = shares[:, np.newaxis] * (audit.errors.transition_matrix_without_overlap - audit.transition_matrix)
    both = np.triu(doubt + doubt.T, k=1)
    pairs = np.dstack(np.unravel_index(np.argsort(-both, axis=None), both.shape))[0]
    n_shown = min(
        1 + int(np.searchsorted(np.cumsum([both[i, j] for i, j in pairs]), both.sum() / 2)), SHOWN_PAIRS
    )
    names = [printable(repr(name)) for name in audit.classes.tolist()]
    return f", here mostly {listed([f'{names[i]} with {names[j]}' for i, j in pairs[:n_shown]])}"


def suspects_table(audit: AuditEstimates, n: int = SHOWN_SUSPECTS) -> pd.DataFrame:
    """The first suspects, with their columns as text."""
    table = audit.suspects.head(n).copy()
    table["p_wrong"] = table["p_wrong"].map("{:.2f}".format)
    return table.map(lambda value: printable(str(value)))


def matrix_table(audit: AuditEstimates) -> pd.DataFrame:
    """Transition matrix, with the classes as index and columns."""
    names = [printable(str(name)) for name in audit.classes.tolist()]
    return pd.DataFrame(audit.transition_matrix, pd.Index(names, name="class"), names)


def labels_table(audit: AuditEstimates) -> pd.DataFrame:
    """Share of wrong labels by label, with the intervals of checked rows, as text."""
    table = audit.by_label
    interval = [
        f"{short_percent(low)} to {short_percent(high)}"
        for low, high in zip(table["low"], table["high"], strict=True)
    ]
    names = [printable(str(name)) for name in table["label"].tolist()]
    return pd.DataFrame({"label": names, "wrong": table["share"].map(short_percent), "90 % interval": interval})


def as_text(audit: AuditEstimates) -> str:
    """Sentences, transition matrix, and the most suspect rows."""
    parts = ["\n".join(sentences(audit))]
    if audit.classes.size <= SHOWN_CLASSES:
        matrix = matrix_table(audit).to_string(float_format="{:.3f}".format, index_names=False)
        parts.append(f"Probability of each label (column) in each class (row)\n{matrix}")
    if audit.n_checked and audit.classes.size <= SHOWN_CLASSES:
        parts.append(f"Share of wrong labels by label\n{labels_table(audit).to_string(index=False)}")
    if not audit.rounds.empty:
        table = rounds_table(audit.rounds).to_string(index=False)
        parts.append(f"{ROUNDS}\n{table}\n{outlook(audit.rounds)}")
    parts.append(f"Most suspect rows\n{suspects_table(audit).to_string(index=False)}")
    return "\n\n".join(parts)


def as_html(audit: AuditEstimates) -> str:
    """The same as HTML, with all names escaped."""
    parts = [f"<p>{' '.join(escape(sentence) for sentence in sentences(audit))}</p>"]
    if audit.classes.size <= SHOWN_CLASSES:
        matrix = matrix_table(audit).to_html(float_format="{:.3f}".format, border=0, index_names=False)
        parts += ["<p>Probability of each label (column) in each class (row)</p>", matrix]
        if audit.n_checked:
            labels = labels_table(audit).to_html(index=False, border=0)
            parts += ["<p>Share of wrong labels by label</p>", labels]
    if not audit.rounds.empty:
        table = rounds_table(audit.rounds).to_html(index=False, border=0)
        parts += [f"<p>{ROUNDS}</p>", table, f"<p>{outlook(audit.rounds)}</p>"]
    parts += ["<p>Most suspect rows</p>", suspects_table(audit).to_html(index=False, border=0)]
    return f"<div>{''.join(parts)}</div>"
