"""Options of studies, and cells whose results are written to a CSV file as they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import joblib
import pandas as pd

data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="BOOSTNOISE_DATA",
    show_envvar=True,
    required=True,
    help="Folder of data/NAME.parquet.",
)
jobs_option = click.option("--jobs", type=int, default=-1, help="Processes; -1 for all cores.")


def comma_separated(known: Iterable[str] | None = None) -> Callable[..., list[str] | None]:
    """Reader of an option that lists names."""

    def read(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
        found = None if value is None else [name.strip() for name in value.split(",")]
        for name in found or []:
            if known is not None and name not in known:
                raise click.BadParameter(f"{name!r} is none of {', '.join(known)}")
        return found

    return read


def known_keys(file: Path, key: list[str]) -> set[tuple[Any, ...]]:
    """Keys of the cells that a file holds."""
    return set(pd.read_csv(file)[key].itertuples(index=False, name=None)) if file.exists() else set()


def compute(
    study: Callable[..., dict[str, Any]], cells: Iterable[tuple[Any, ...]], file: Path, jobs: int
) -> pd.DataFrame:
    """Call a function for each cell, append each result to the file, and return all results of the file."""
    cells = list(cells)
    work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    for count, record in enumerate(work(joblib.delayed(study)(*cell) for cell in cells), start=1):
        pd.DataFrame([record]).to_csv(file, mode="a", header=not file.exists(), index=False)
        if count % 100 == 0:
            click.echo(f"{count} of {len(cells)}")
    return pd.read_csv(file)
