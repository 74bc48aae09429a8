"""A bundle: the config, scores, versions and hardware of a run in one zip file.

Bundles come from strangers.  Only one file in them is read, up to a limited size; it holds JSON, and is
validated as the record of a run is.  Nothing is unpacked, and data are read from the working directory only.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from pydantic import Field

from .._atomic_file import write
from ..config.base import Name, Strict, check_json, validate
from ..errors import ConfigError, one_line
from ..execution.run import Run
from ..execution.run_record import RunRecord
from ..execution.store import Store
from ..metrics.outcome import Outcome

MEMBER = "bundle.json"
README = "README.txt"
SCORES = "scores.parquet"  # for readers
MAX_BYTES = 100 * 2**20  # of the JSON
DATE = (1980, 1, 1, 0, 0, 0)  # the same for all files, so that the same run has the same bundle
PATHS = ("path", "test_path")


class _CellScores(Strict):
    """Scores of a cell, or its error."""

    scores: dict[Name, float | None]
    error: Annotated[str, Field(max_length=4096)] | None = None
    correct_rows: Annotated[str, Field(max_length=10_000_000)] | None = None


class _Content(Strict):
    """Content of `MEMBER`."""

    format: Literal[1]
    name: Name
    record: dict[str, Any]
    cells: dict[Annotated[str, Field(pattern="^[0-9a-f]{64}$")], _CellScores]


@dataclass(frozen=True, eq=False)
class Bundle:
    """A run that somebody has bundled.

    Attributes
    ----------
    name : str
        Name of the run.
    record : RunRecord
        Its config, cells, data sets and sessions, with versions and hardware.
    outcomes : dict of str to Outcome
        Scores or errors of the finished cells, by their keys.
    """

    name: str
    record: RunRecord
    outcomes: Mapping[str, Outcome]


def write_bundle(run: Run, path: str | Path) -> Path:
    """Write a run as a bundle.

    Paths of data files are written relative to the working directory, or without their folders if they lie
    outside of it.

    Parameters
    ----------
    run : Run
        A run in its store.
    path : str or Path
        The zip file.

    Returns
    -------
    Path

    Raises
    ------
    ConfigError
        If the store has no such run, or the file cannot be written.
    """
    path, config = Path(path), run.config
    with Store(config.store_path, read_only=True) as store:
        text = store.run_record(config.name)
        if text is None:
            raise ConfigError(f"the store {store.path} has no run {config.name!r}")
        record = RunRecord.loads(text)
        outcomes = store.outcomes(cell.key for cell in record.cells)
    own = record.config | {"results_dir": "results"}
    own["datasets"] = [_with_paths(dataset, _relative) for dataset in own["datasets"]]
    content = {
        "format": 1,
        "name": config.name,
        "record": json.loads(record.model_copy(update={"config": own}).dumps()),
        "cells": {
            cell.key: {
                "scores": dict(outcomes[cell.key].scores),
                "error": outcomes[cell.key].error,
                "correct_rows": outcomes[cell.key].correct_rows,
            }
            for cell in record.cells
            if cell.key in outcomes
        },
    }
    files: dict[str, str | bytes] = {
        README: f"The run {config.name} of noisyeval. To refit a tenth of its cells and compare the scores, "
        f"in a folder with the same data files:\n\n    noisyeval --verify {config.name}.zip\n",
        SCORES: run.scores.to_parquet(index=False),
        MEMBER: json.dumps(content, separators=(",", ":"), allow_nan=False),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)
    write(path, buffer.getvalue())
    return path


def read_bundle(path: str | Path) -> Bundle:
    """Read a bundle, which may come from a stranger.

    Raises
    ------
    ConfigError
        If the file is no bundle, too large or damaged, or has a path outside of the working directory.
    """
    context = f"{path} is no bundle"
    try:
        with zipfile.ZipFile(path) as archive, archive.open(MEMBER) as file:
            text = file.read(MAX_BYTES + 1)
    except KeyError:
        raise ConfigError(f"{context}: it has no {MEMBER}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or one_line(error)}") from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise ConfigError(f"{context}: {one_line(error)}") from None
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{context}: {MEMBER} is larger than {MAX_BYTES // 2**20} MiB")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{context}: {MEMBER} cannot be read: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{context}: {MEMBER} holds no object")
    try:
        read = validate(_Content, content)
        record = validate(RunRecord, read.record)
        check_json(record.config)
    except ConfigError as error:
        raise ConfigError(f"{context}: {one_line(error)}") from None
    for dataset in record.config.get("datasets") or ():
        if isinstance(dataset, dict):
            _with_paths(dataset, _checked)
    outcomes = {
        key: Outcome(cell.scores, cell.error, None, cell.correct_rows) for key, cell in read.cells.items()
    }
    for key, outcome in outcomes.items():
        if not (outcome.is_score or outcome.is_error):
            raise ConfigError(f"{context}: the cell {key[:8]} has invalid scores")
    return Bundle(read.name, record, outcomes)


def _with_paths(dataset: dict[str, Any], change: Any) -> dict[str, Any]:
    """Copy of the config of a data set with other paths."""
    changed = {key: change(dataset[key]) for key in PATHS if dataset.get(key) is not None}
    annotators = dataset.get("annotators")
    if isinstance(annotators, dict) and annotators.get("path") is not None:
        changed["annotators"] = annotators | {"path": change(annotators["path"])}
    return dataset | changed


def _relative(path: str) -> str:
    """Path relative to the working directory, or the name alone."""
    absolute, folder = Path(os.path.abspath(path)), Path.cwd()  # noqa: PTH100 - without .., links as they are
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else absolute.name


def _checked(path: Any) -> Any:
    """A path, if it stays below the working directory by its text."""
    parts = set(_parts(path)) if isinstance(path, str) else {".."}
    if ".." in parts:
        raise ConfigError(f"the bundle names the file {path!r:.100}, which is not below the working directory")
    return path


def _parts(path: str) -> Iterator[str]:
    """Parts of a path on any system; an absolute one has a part ``..``."""
    for kind in (PurePosixPath, PureWindowsPath):
        pure = kind(path)
        yield from pure.parts
        if pure.is_absolute() or pure.drive or pure.root:
            yield ".."
