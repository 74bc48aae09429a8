"""Published numbers: read them, check that a config has their cells, and compare a run with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pandas as pd

from .._wording import joined, listed
from ..config.data_paths import format_of
from ..config.noise_spec import GivenSpec
from ..config.run import Config
from ..datasets.files import read_files
from ..datasets.row_columns import check_single_values
from ..errors import ConfigError, suggest
from ..execution.run import Run
from ..statistics.score_tables import DIGITS
from .claims import CLAIMS, check_claims
from .published_comparison import (
    NOUNS,
    PublishedComparison,
    check_cells,
    claims_only,
    compare_with_published,
    name_list,
)
from .run_claims import RUN_CLAIMS, RunClaim, check_run_claims, without_published

FOLDER = "published"  # of the tables that are part of this package, each with its source in the first line


def published_names() -> list[str]:
    """Names of the tables that are part of this package."""
    folder = files(__package__) / FOLDER
    return sorted(file.name.removesuffix(".csv") for file in folder.iterdir() if file.name.endswith(".csv"))


def _tables_with_claims_only() -> list[str]:
    """Names of tables with claims that this package has no numbers of."""
    return sorted(set(CLAIMS).difference(published_names()))


def _claims_alone(source: str | Path) -> list[RunClaim]:
    """Claims of a study, or of a table whose numbers this package does not have; none for others."""
    if source in _tables_with_claims_only():
        return [without_published(claim) for claim in CLAIMS[str(source)]]
    return RUN_CLAIMS.get(str(source), [])


def read_published(source: str | Path) -> pd.DataFrame:
    """Read a table of published numbers.

    Parameters
    ----------
    source : str or Path
        A CSV or Parquet file, see `compare_with_published`, or the name of a table of this package.

    Raises
    ------
    ConfigError
        If there is no such file or name, or the file cannot be read or has lists or objects.
    """
    name = str(source)
    context = f"published numbers {name!r}"
    if name in published_names():
        with (files(__package__) / FOLDER / f"{name}.csv").open("rb") as file:
            return pd.read_csv(file, comment="#")  # the source of the numbers
    file_format = format_of(name)
    if file_format not in ("csv", "parquet"):
        known = [*published_names(), *RUN_CLAIMS, *_tables_with_claims_only()]
        raise ConfigError(
            f"{context}: must be a CSV or Parquet file, or one of {joined(known)}{suggest(name, known)}"
        )
    (table,) = read_files([name], [file_format], context)
    check_single_values(table, context)
    return table


def check_published(source: str | Path, config: Config) -> list[str]:
    """Check published numbers, or the name of a study with claims only, before a run.

    Returns
    -------
    list of str
        Remarks on names and noise rates that the config does not have.

    Raises
    ------
    ConfigError
        See `read_published` and `compare_with_published`, or if the run will have none of the cells.
    """
    context = f"published numbers {str(source)!r}"
    if of_study := _claims_alone(source):
        models, datasets = ([spec.name for spec in specs] for specs in (config.models, config.datasets))
        return _match_claims(of_study, models, datasets, context, "config")
    try:
        cells = check_cells(read_published(source), config.metric)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    names = {
        "dataset": [spec.name for spec in config.datasets],
        "model": [spec.name for spec in config.models],
        "noise_kind": [spec.name for spec in config.noise],
    }
    # The noise rates of given labels are known after the run only.
    rates = {
        spec.name: {round(noise_rate, DIGITS) for noise_rate, _ in spec.noise_by_rate}
        for spec in config.noise
        if not isinstance(spec, GivenSpec)
    }
    remarks = _match(cells, names, rates, context, "config")
    return [f"{context}: the config does not have {'; '.join(remarks)}"] if remarks else []


def _match(
    cells: pd.DataFrame,
    names: Mapping[str, list[str]],
    rates: Mapping[str, Collection[float]],
    context: str,
    owner: str,
) -> list[str]:
    """Check that cells have the names and noise rates of a config or run; list those that they do not have.

    Parameters
    ----------
    cells : DataFrame
        See `check_cells`.
    names : dict of str to list of str
        Names by column.
    rates : dict of str to collection of float
        Noise rates by kind of noise; any rate is allowed for other kinds.
    context, owner : str
        Start of the error message, and "config" or "run".
    """
    unknown = []
    matched = pd.Series(True, cells.index)
    for column, known in names.items():
        theirs = cells[column].astype(str)
        other = [name for name in theirs.unique() if name not in known]
        hints = [f"{name}{suggest(name, known)}" for name in other]
        if len(other) == theirs.nunique():
            raise ConfigError(
                f"{context}: no {NOUNS[column][0]} of the {owner} is among theirs, {joined(hints)}; "
                f"the {owner} has {joined(known)}"
            )
        unknown += name_list(column, hints)
        matched &= theirs.isin(known)
    for kind, known_rates in rates.items():
        theirs = cells.loc[matched & (cells["noise_kind"] == kind), "noise_rate"]
        missing = sorted(set(theirs) - set(known_rates))
        if missing:
            known_text = joined(f"{noise_rate:g}" for noise_rate in sorted(known_rates))
            missing_text = listed([f"{noise_rate:g}" for noise_rate in missing])
            unknown.append(f"{kind} noise at {missing_text} (its rates are {known_text})")
            matched &= (cells["noise_kind"] != kind) | cells["noise_rate"].isin(known_rates)
    if not matched.any():
        raise ConfigError(f"{context}: no cell is in the {owner}, which does not have {'; '.join(unknown)}")
    return unknown


def _match_claims(
    claims: list[RunClaim], models: list[str], datasets: list[str], context: str, owner: str
) -> list[str]:
    """Check that a config or run has the models and data sets of at least one claim; remark on the others."""
    lacking = [names for claim in claims if (names := claim.lacks(models, datasets))]
    if not lacking:
        return []
    needed = dict.fromkeys(name for names in lacking for name in names)
    text = f"{context}: the {owner} does not have {joined(needed)}"
    if len(lacking) == len(claims):
        raise ConfigError(f"{text}, which {'its claim needs' if len(claims) == 1 else 'its claims need'}")
    return [text]


def against_published(
    run: Run, source: str | Path | pd.DataFrame, metric: str | None = None
) -> PublishedComparison:
    """Compare a run with published numbers.

    Parameters
    ----------
    run : Run
    source : str, Path or DataFrame
        See `read_published`; or the name of a study or table with claims only, which are checked.
    metric : str or None, default=None
        The measure; None for that of the run.

    Raises
    ------
    ConfigError
        If the numbers cannot be read or used, or the run has none of the cells.
    """
    metric = run.config.metric if metric is None else metric
    names = {column: [str(name) for name in run.scores[column].unique()] for column in NOUNS}
    if isinstance(source, pd.DataFrame):
        context, table = "published numbers", source
    else:
        context = f"published numbers {str(source)!r}"
        if of_study := _claims_alone(source):
            _match_claims(of_study, names["model"], names["dataset"], context, "run")
            return claims_only(metric, check_run_claims(of_study, run.scores))
        table = read_published(source)
    try:
        compared = compare_with_published(run.scores, table, metric)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    by_kind = run.scores["noise_rate"].round(DIGITS).groupby(run.scores["noise_kind"])
    rates = {str(kind): set(of_kind) for kind, of_kind in by_kind}
    _match(compared.cells, names, rates, context, "run")
    claims = CLAIMS.get(Path(source).stem) if isinstance(source, str | Path) else None
    return compared if claims is None else replace(compared, claims=check_claims(claims, compared.cells))
