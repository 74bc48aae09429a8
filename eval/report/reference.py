"""Scores of studies that are part of this package, to place a new model among them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .._input_file import check_input_file
from ..config.base import validate
from ..config.data_paths import reading_record
from ..config.run import parse_config
from ..errors import ConfigError, one_line
from ..execution.plan import Plan
from ..execution.run import OPTIONAL, Run, load_run
from ..execution.run_record import DatasetFacts, Session
from ..metrics.registry import RANGES
from .joined_runs import check_shared_cells, join_runs

NAMES = ("reference", "reference_large", "reference_real_noise")
METADATA = b"boostnoise"
FIRST = (
    *("dataset", "noise_kind", "noise_rate", "noisy_labels", "test_labels"),
    *("realised_rate", "domain", "repeat", "model"),
)
COLUMNS = (*FIRST, *(name for name in RANGES if name not in FIRST), "error", "correct_rows")


def reference(name: str = "reference") -> pd.DataFrame:
    """Scores of a reference study: many models under several kinds of noise.

    Their configs are ``configs/reference.json``, ``configs/reference_large.json`` and
    ``configs/real_noise.json``; docs/leaderboard.md has their results.  `Comparison.compare_with` and
    ``noisyeval --compare-with reference`` place the models of a run among those of a study, without fitting
    these again.

    Parameters
    ----------
    name : {"reference", "reference_large", "reference_real_noise"}, default="reference"
        The study of fifteen small data sets, that of larger ones, or that of 62 with real noise.

    Returns
    -------
    DataFrame
        One row per cell, as in `Run`.  ``attrs["sessions"]`` says when, where and with which versions of the
        packages the cells were fitted.

    Raises
    ------
    ConfigError
        If there is no study of this name.
    """
    if name not in NAMES:
        raise ConfigError(f"name: {name!r} is no reference study; the names are {', '.join(NAMES)}")
    run = find_other(name)
    scores = run.scores.copy()
    scores.attrs["sessions"] = [session.model_dump() for session in run.sessions]
    return scores


def write_run_file(run: Run, path: Path) -> None:
    """Write the scores of a run and the rest of it, as metadata, to a Parquet file; see `read_run_file`."""
    content = {
        "name": run.config.name,
        "config": run.config.model_dump(exclude={"results_dir"}),
        "datasets": {name: facts.model_dump() for name, facts in run.datasets.items()},
        "sessions": [session.model_dump() for session in run.sessions if session.fitted],
    }
    measured = [name for name in RANGES if run.scores[name].notna().any()]
    scores = run.scores.drop(columns=[name for name in RANGES if name not in measured])
    scores = scores.assign(setting=pd.Series(run.settings, scores.index))
    table = pa.Table.from_pandas(scores, preserve_index=False)
    table = table.replace_schema_metadata({METADATA: json.dumps(content).encode()})
    pq.write_table(table, path, compression="zstd")


def read_run_file(path: Path) -> Run:
    """Read what `write_run_file` wrote.

    Raises
    ------
    ConfigError
        If the file is no such file.
    """
    file = check_input_file(path)
    try:
        table = pq.read_table(file)
        content: dict[str, Any] = json.loads(table.schema.metadata[METADATA])
        scores = table.to_pandas()
        settings = tuple(scores.pop("setting"))
        with reading_record():
            config = parse_config(content["config"], content["name"])
        datasets = {name: validate(DatasetFacts, facts) for name, facts in content["datasets"].items()}
        sessions = tuple(validate(Session, session) for session in content["sessions"])
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise ConfigError(f"{path} cannot be read as a run: {one_line(error)}") from None
    columns = [name for name in COLUMNS if name in scores or name not in OPTIONAL]
    texts = [name for name in ("error", *OPTIONAL) if name in columns]
    types = dict.fromkeys(RANGES, "float64") | dict.fromkeys(texts, "string")
    scores = scores.reindex(columns=columns).astype(types)
    return Run(config, scores, datasets, sessions, settings)


def add_models_of(run: Run, source: str | Path) -> tuple[Run, list[str]]:
    """Add the models of the reference or of another run to a run; see `join_runs`.

    Parameters
    ----------
    run : Run
    source : str or Path
        The name of a study of `reference`, or the folder of a run, such as ``results/study``.

    Raises
    ------
    ConfigError
        If there is no such run, or the runs have no cells in common.
    """
    other = find_other(source)
    try:
        return join_runs(run, other, other.config.name)
    except ConfigError as error:
        raise ConfigError(f"compare_with {str(source)!r}: {error}") from None


def check_in_common(plan: Plan, source: str | Path) -> None:
    """Check before a run that `add_models_of` will find cells in common.

    Raises
    ------
    ConfigError
        If there is no such run, or it has no cells in common with the plan.
    """
    other = find_other(source)
    try:
        check_shared_cells({job.setting for job in plan.jobs}, other, other.config.name)
    except ConfigError as error:
        raise ConfigError(f"compare_with {str(source)!r}: {error}") from None


def find_other(source: str | Path) -> Run:
    """A reference study, or the run in a folder.

    Raises
    ------
    ConfigError
        If there is no such run.
    """
    if str(source) in NAMES:
        return read_run_file(Path(str(files(__package__) / f"{source}.parquet")))
    if not Path(source).is_dir():
        names = ", ".join(map(repr, NAMES))
        raise ConfigError(
            f"compare_with {str(source)!r}: must be {names}, or the folder of a run, such as results/study"
        )
    return load_run(source)
