"""Published numbers: read them, and write a run beside them."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pandas as pd

from .._suggestions import suggest
from .._wording import joined
from ..config.data_paths import format_of
from ..config.run import Config
from ..datasets.files import read_files
from ..errors import ConfigError
from ..execution.run import Run
from ..statistics.claims import CLAIMS, check_claims
from ..statistics.published import PublishedComparison, check_cells, compare_with_published
from .escaping import escape_markdown

FOLDER = "published"  # of the tables that are part of this package
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


def published_names() -> list[str]:
    """Names of the tables that are part of this package."""
    folder = files(__package__) / FOLDER
    return sorted(file.name.removesuffix(".csv") for file in folder.iterdir() if file.name.endswith(".csv"))


def read_published(source: str | Path) -> pd.DataFrame:
    """Read a table of published numbers.

    Parameters
    ----------
    source : str or Path
        A CSV or Parquet file, see `compare_with_published`, or the name of a table of this package.

    Raises
    ------
    ConfigError
        If there is no such file or name, or the file cannot be read.
    """
    name = str(source)
    where = f"published numbers {name!r}"
    if name in published_names():
        with (files(__package__) / FOLDER / f"{name}.csv").open("rb") as file:
            return pd.read_csv(file)
    file_format = format_of(name)
    if file_format not in ("csv", "parquet"):
        known = published_names()
        raise ConfigError(
            f"{where}: must be a CSV or Parquet file, or one of {joined(known)}{suggest(name, known)}"
        )
    (table,) = read_files([name], [file_format], where)
    return table


def check_published(source: str | Path, config: Config) -> None:
    """Check published numbers before a run.

    Raises
    ------
    ConfigError
        See `read_published` and `compare_with_published`, or if the config has none of the data sets or models.
    """
    try:
        cells = check_cells(read_published(source), config.metric)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    names = {
        "dataset": [spec.name for spec in config.datasets],
        "model": [spec.name for spec in config.models],
    }
    for column, of_config in names.items():
        if not cells[column].astype(str).isin(of_config).any():
            raise ConfigError(
                f"published numbers {str(source)!r}: no {HEADINGS[column]} of the config is among theirs, "
                f"{joined(cells[column].unique())}"
            )


def against_published(
    run: Run, source: str | Path | pd.DataFrame, metric: str | None = None
) -> PublishedComparison:
    """Compare a run with published numbers.

    Parameters
    ----------
    run : Run
    source : str, Path or DataFrame
        See `read_published`.
    metric : str or None, default=None
        The measure; None for that of the run.

    Raises
    ------
    ConfigError
        If the numbers cannot be read or used.
    """
    table = source if isinstance(source, pd.DataFrame) else read_published(source)
    metric = run.config.metric if metric is None else metric
    try:
        compared = compare_with_published(run.scores, table, metric)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    claims = CLAIMS.get(source) if isinstance(source, str) else None
    return compared if claims is None else replace(compared, claims=check_claims(claims, compared.cells))


def as_markdown(comparison: PublishedComparison) -> str:
    """The cells that the run has as a Markdown table, below the summary.

    Parameters
    ----------
    comparison : PublishedComparison
    """
    table = shown_cells(comparison)
    head, rule = " | ".join(table.columns), "|".join(["---"] * 3 + ["---:"] * (table.shape[1] - 3))
    rows = [" | ".join(escape_markdown(text) for text in row) for row in table.to_numpy().tolist()]
    summary = "\n\n".join(map(escape_markdown, comparison.summary.splitlines()))
    return "\n".join([summary, "", f"| {head} |", f"|{rule}|", *(f"| {row} |" for row in rows)]) + "\n"


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
