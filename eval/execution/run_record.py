"""A run as it is looked at: what was asked for, when and where it was fitted, and the scores.

All of it is in the store, so that a report can be drawn again without data sets, models or fits.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import AfterValidator, Field

from ..config.base import Name, Strict, validate
from ..config.dataset_spec import paths_not_looked_at
from ..config.noise_spec import GivenSpec
from ..config.run import STORE_NAME, Config, parse_config
from ..errors import ConfigError, one_line, printable
from ..metrics.outcome import NOT_FITTED, Outcome
from ..metrics.registry import RANGES
from ..models.packages import version_of
from .plan import Plan
from .store import Store

MAX_SESSIONS = 100  # of which a record tells
MAX_LISTED = 20  # runs in a message


def _check_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable")
    return text


Text = Annotated[str, Field(max_length=200), AfterValidator(_check_printable)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class Session(Strict):
    """One call of the command, or of `run`, that had something to fit.

    Attributes
    ----------
    started : str
        ISO 8601, UTC.
    seconds : float or None
        How long it took; None if it was killed, or is under way.
    fitted : int
        Cells that came of it.
    versions : dict of str to str
        Of the packages that made the scores, and of this one.
    python, system, processor : str
    cores : int or None
    on_cluster : bool
        Whether the cells were fitted elsewhere.
    """

    started: Text
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    fitted: Count = 0
    versions: dict[Text, Text]
    python: Text
    system: Text
    processor: Text
    cores: Count | None
    on_cluster: bool = False


class DatasetFacts(Strict):
    """The size of a data set.

    Attributes
    ----------
    rows, features, classes : int
    """

    rows: Count
    features: Count
    classes: Count


class CellRecord(Strict):
    """What the row of a cell in the scores begins with, and the cell's key in the store."""

    key: str = Field(pattern="^[0-9a-f]{64}$")
    dataset: Name
    noise_kind: Name
    noise_rate: float = Field(ge=0, le=1, allow_inf_nan=False)
    repeat: Count
    model: Name


class RunRecord(Strict):
    """What the store keeps of a run beside the scores of its cells.

    Attributes
    ----------
    config : dict
        As a config file holds it.
    datasets : dict of str to DatasetFacts
    cells : list of CellRecord
        In the order of the config.
    sessions : list of Session
        The oldest first.
    """

    config: dict[str, Any]
    datasets: dict[Name, DatasetFacts]
    cells: list[CellRecord]
    sessions: list[Session] = Field(default=[], max_length=MAX_SESSIONS)

    def dumps(self) -> str:
        """As JSON."""
        return json.dumps(self.model_dump(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def loads(cls, text: str) -> RunRecord:
        """Read what `dumps` wrote.

        Raises
        ------
        ConfigError
            If it is no such record.
        """
        try:
            return validate(cls, json.loads(text))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"the record of the run cannot be read: {one_line(error)}") from None

    def check_cells(self, config: Config) -> None:
        """Check that the cells are those of a config, each of them once and in its order.

        Raises
        ------
        ConfigError
            If they are not.
        """
        last = {cell.noise_kind: cell.noise_rate for cell in self.cells}  # the last rate of each kind
        rates = {
            noise.name: [0.0, last.get(noise.name, math.nan)]
            if isinstance(noise, GivenSpec)  # whose rate is that of the labels in its file
            else [rate for rate, _ in noise.noise_by_rate]
            for noise in config.noise
        }
        names = [dataset.name for dataset in config.datasets]
        models = [model.name for model in config.models]
        expected = (
            (name, kind, rate, repeat, model)
            for name in names
            for kind in rates
            for rate in rates[kind]
            for repeat in range(config.repeats)
            for model in models
        )
        found = (
            (cell.dataset, cell.noise_kind, cell.noise_rate, cell.repeat, cell.model) for cell in self.cells
        )
        are_distinct = all(not np.isclose(rate, 0.0) for of_kind in rates.values() for rate in of_kind[1:])
        if (
            set(self.datasets) != set(names)
            or not are_distinct
            or any(a != b for a, b in zip_longest(expected, found))
        ):
            raise ConfigError(
                f"the record of the run {config.name!r} holds other cells than its config asks for"
            )


@dataclass(frozen=True, eq=False)
class Run:
    """A run and what came of it.

    Attributes
    ----------
    config : Config
    scores : DataFrame
        A row for each cell; a cell that is not fitted yet has that as its error.
    datasets : dict of str to DatasetFacts
    sessions : tuple of Session
        The oldest first; empty if all cells came from elsewhere.
    """

    config: Config
    scores: pd.DataFrame
    datasets: dict[str, DatasetFacts] = field(default_factory=dict)
    sessions: tuple[Session, ...] = ()

    @property
    def report_path(self) -> Path:
        """Where the report of the run goes."""
        return self.config.output_dir / "report.html"


def load_run(results_dir: str | Path, name: str | None = None) -> Run:
    """Open a run from its store alone: nothing is fitted, and no data set is read.

    Parameters
    ----------
    results_dir : str or Path
        The folder that holds the store; or the folder of the run in it, which is then its name.
    name : str or None, default=None
        Of the run.  None for the only one.

    Returns
    -------
    Run

    Raises
    ------
    ConfigError
        If there is no store or no such run, or it cannot be read.
    """
    from ..config.line_styles import check_figures

    folder = Path(results_dir)
    if name is None and not (folder / STORE_NAME).exists() and (folder.parent / STORE_NAME).exists():
        folder, name = folder.parent, folder.resolve().name
    with Store(folder / STORE_NAME, read_only=True) as store:
        name = _known_name(store, name)
        text = store.run_record(name)
        assert text is not None  # noqa: S101 - for the type checker: the name is known
        record = RunRecord.loads(text)
        outcomes = store.outcomes(cell.key for cell in record.cells)
    # Where the folder is now, wherever the command was run then.
    with paths_not_looked_at():
        config = parse_config({**record.config, "results_dir": str(folder)}, name)
    record.check_cells(config)
    check_figures(config)
    return run_of(config, record, outcomes)


def _known_name(store: Store, name: str | None) -> str:
    names = store.run_names()
    if not names:
        raise ConfigError(f"the store {store.path} has no record of a run; give the command again, and it will")
    if name is None and len(names) > 1:
        raise ConfigError(f"the store {store.path} has several runs; say which: {_listed(names)}")
    if name is not None and name not in names:
        raise ConfigError(f"the store {store.path} has no run {name!r}, but {_listed(names)}")
    return names[0] if name is None else name


def _listed(names: Sequence[str]) -> str:
    more = ["..."] if len(names) > MAX_LISTED else []
    return printable(", ".join([*(name[:100] for name in names[:MAX_LISTED]), *more]))


def run_of(config: Config, record: RunRecord, outcomes: Mapping[str, Outcome]) -> Run:
    """The run of a record; `outcomes` are those of its cells, by their keys."""
    missing = Outcome(error=NOT_FITTED)
    rows = []
    for cell in record.cells:
        outcome = outcomes.get(cell.key, missing)
        rows.append(
            {
                "dataset": cell.dataset,
                "noise_kind": cell.noise_kind,
                "noise_rate": cell.noise_rate,
                "realised_rate": outcome.scores.get("realised_rate"),
                "repeat": cell.repeat,
                "model": cell.model,
                **{name: outcome.scores.get(name) for name in RANGES if name != "realised_rate"},
                "error": outcome.error,
            }
        )
    scores = pd.DataFrame(rows).astype(dict.fromkeys(RANGES, "float64") | {"error": "string"})
    return Run(config, scores, record.datasets, tuple(record.sessions))


def record_of(plan: Plan, before: RunRecord | None) -> RunRecord:
    """The record of a planned run; of an earlier one of the same name it keeps the sessions."""
    kept = before.sessions if before is not None and plan.config.resume else []
    return RunRecord(
        config=plan.config.model_dump(),
        datasets={
            name: DatasetFacts(rows=len(data.y), features=data.X.shape[1], classes=len(data.classes))
            for name, data in plan.datasets.items()
        },
        cells=[
            CellRecord(
                key=key,
                dataset=job.dataset,
                noise_kind=job.noise_kind,
                noise_rate=float(job.noise_rate),
                repeat=job.repeat,
                model=job.model.name,
            )
            for key, job in zip(plan.keys, plan.jobs, strict=True)
        ],
        sessions=kept,
    )


class Recorder:
    """Keeps the record of a run in its store while cells are fitted.  Use it as a context manager.

    Parameters
    ----------
    store : Store
    plan : Plan
    on_cluster : bool
        Whether the cells are fitted elsewhere.

    Attributes
    ----------
    record : RunRecord
    fitted : int
        To be counted by whoever fits cells.
    """

    def __init__(self, store: Store, plan: Plan, *, on_cluster: bool) -> None:
        text = store.run_record(plan.config.name)
        before = None if text is None else RunRecord.loads(text)
        self.record = record_of(plan, before)
        self.fitted = 0
        self._store, self._name = store, plan.config.name
        self._is_kept = self.record == before
        self._sessions = self.record.sessions
        self._now = _session(plan, on_cluster) if plan.pending else None
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        # Before the first fit, so that a run that is killed can be looked at.
        if self._now is not None:
            self._keep(self._now)
        elif not self._is_kept:
            self._store.put_run(self._name, self.record.dumps())
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._now is None:
            return
        seconds = round(time.monotonic() - self._began, 3)
        # Where something went wrong already, such as a full disk, that is what is to be told.
        with nullcontext() if kind is None else suppress(ConfigError):
            self._keep(self._now.model_copy(update={"seconds": seconds, "fitted": self.fitted}))

    def _keep(self, now: Session) -> None:
        sessions = [*self._sessions, now][-MAX_SESSIONS:]
        self.record = self.record.model_copy(update={"sessions": sessions})
        self._store.put_run(self._name, self.record.dumps())


def _session(plan: Plan, on_cluster: bool) -> Session:
    versions = dict(version for job in plan.pending.values() for version in job.versions)
    return Session(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions | {"boostnoise": version_of("boostnoise")},
        python=platform.python_version(),
        system=platform.system(),
        processor=platform.machine(),
        cores=os.cpu_count(),
        on_cluster=on_cluster,
    )
