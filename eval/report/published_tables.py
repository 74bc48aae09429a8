"""Tables of a run and published numbers, as text for readers."""

from __future__ import annotations

import pandas as pd

from ..papers.published_comparison import PublishedComparison
from .formulas import escape_markdown

HEADINGS = {
    "dataset": "data set",
    "model": "model",
    "noise_kind": "noise",
    "noise_rate": "rate",
    "published": "published",
    "published_sd": "sd",
    "ours": "ours",
    "ours_sd": "our sd",
    "difference": "difference",
    "band": "band",
    "within": "within",
}


def as_markdown(comparison: PublishedComparison) -> str:
    """The agreement of ranks and the cells that the run has as Markdown tables, below the summary.

    Parameters
    ----------
    comparison : PublishedComparison
    """
    summary = "\n\n".join(map(escape_markdown, comparison.summary.splitlines()))
    if comparison.cells.empty:
        return f"{summary}\n"
    parts = [summary, _markdown_table(shown_cells(comparison), n_texts=3)]
    if not comparison.rank_agreement.empty:
        caption = (
            "Agreement of the ranks of the models with the published ones: Kendall's tau, mean over data sets"
        )
        parts[1:1] = [f"{caption}.", _markdown_table(shown_agreement(comparison), n_texts=1)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: pd.DataFrame, n_texts: int) -> str:
    """A table of text; the columns from `n_texts` on are numbers."""
    rule = "|".join(["---"] * n_texts + ["---:"] * (table.shape[1] - n_texts))
    rows = [" | ".join(escape_markdown(text) for text in row) for row in table.to_numpy().tolist()]
    return "\n".join([f"| {' | '.join(table.columns)} |", f"|{rule}|", *(f"| {row} |" for row in rows)])


def shown_agreement(comparison: PublishedComparison) -> pd.DataFrame:
    """Kendall's tau by kind and rate of noise as text, with headings for readers."""
    agreement = comparison.rank_agreement
    return pd.DataFrame(
        {
            "noise": agreement["noise_kind"].astype(str),
            "rate": agreement["noise_rate"].map("{:g}".format),
            "tau": agreement["kendall_tau"].map("{:.2f}".format),
            "data sets": agreement["datasets"].astype(str),
        }
    )


def yes_or_no(flags: pd.Series[bool]) -> pd.Series[str]:
    """Flags as text; unknown ones are a dash."""
    return flags.map({True: "yes", False: "no"}).astype(object).fillna("–").astype(str)


def shown_cells(comparison: PublishedComparison) -> pd.DataFrame:
    """The cells that the run has as text, with headings for readers."""
    cells = comparison.reproduced
    numbers = cells.select_dtypes("number").columns.difference(["noise_rate"])
    shown = cells.assign(**{name: cells[name].map("{:.4f}".format).replace("nan", "–") for name in numbers})
    shown["difference"] = cells["difference"].map("{:+.4f}".format).replace("+nan", "–")
    shown["noise_rate"] = cells["noise_rate"].map("{:g}".format)
    shown["within"] = yes_or_no(cells["within"])
    return shown.astype(str).rename(columns=HEADINGS)[list(HEADINGS.values())]
