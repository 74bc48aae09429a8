"""The plan of a run: all that is checked before any work, the cells, and which of them are finished."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._atomic_file import check_folder
from ..config.model_spec import ModelSpec
from ..config.run import Config
from ..datasets.dataset import Dataset, load_dataset
from ..datasets.train_test import split
from ..errors import ConfigError
from ..metrics.outcome import Outcome
from ..models.allowed_classes import check_classes
from ..models.factory import build
from ..models.packages import described_classes
from .jobs import Job, make_jobs
from .store import Store


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run has to do.

    A cell is known by its key, which several jobs share if they differ in names alone.

    Attributes
    ----------
    config : Config
    allowed : frozenset of str
        Packages whose classes a model may name, besides the classes on the list.
    datasets : dict of str to Dataset
    jobs : list of Job
        In the order of the config.
    keys : list of str
        Of the jobs.
    stored : dict of str to Outcome
        What earlier runs made of the cells, errors among it.
    """

    config: Config
    allowed: frozenset[str]
    datasets: dict[str, Dataset]
    jobs: list[Job]
    keys: list[str]
    stored: dict[str, Outcome] = field(default_factory=dict)

    @cached_property
    def cells(self) -> dict[str, Job]:
        """Every cell once, with the last of its jobs, in the order of the config."""
        return dict(zip(self.keys, self.jobs, strict=True))

    @cached_property
    def finished(self) -> dict[str, Outcome]:
        """Scores that are used again; failed cells are run again."""
        if not self.config.resume:
            return {}
        return {key: outcome for key, outcome in self.stored.items() if outcome.is_score}

    @cached_property
    def pending(self) -> dict[str, Job]:
        """What is to be fitted, in the order of the config."""
        return {key: job for key, job in self.cells.items() if key not in self.finished}

    def knowing(self, store: Store) -> Plan:
        """The plan where a store holds outcomes."""
        return dataclasses.replace(self, stored=store.outcomes(self.keys))


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a run is: at its start, or after a cell.

    Attributes
    ----------
    plan : Plan
    done : int
        Cells finished, those of earlier runs and those that failed included.
    failed : int
        Cells that failed in this run.
    key : str or None
        Of the cell that was finished last; None at the start.
    outcome : Outcome or None
        What came of it.
    """

    plan: Plan
    done: int
    failed: int = 0
    key: str | None = None
    outcome: Outcome | None = None

    @property
    def job(self) -> Job | None:
        """The cell that was finished last; None at the start."""
        return None if self.key is None else self.plan.pending[self.key]

    @property
    def cached(self) -> int:
        """Cells that earlier runs finished."""
        return len(self.plan.finished)

    @property
    def total(self) -> int:
        """All cells."""
        return len(self.plan.cells)


def plan(config: Config, *, allow_modules: Collection[str] = ()) -> Plan:
    """What a run of a config would do; all is checked as `run` does, and nothing is written.

    Parameters
    ----------
    config : Config
    allow_modules : collection of str, default=()
        Packages that models may come from, beside those always allowed.  Their code runs.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        If a data set, a model or the store cannot be used.
    TypeError
        If `config` is no `Config`.
    """
    if not isinstance(config, Config):
        raise TypeError(f"config must be a Config, such as load_config returns, got {config!r}")
    planned = _cells(config, allow_modules)
    check_folder(config.output_dir)
    path = config.store_path
    if path.exists():
        with Store(path, read_only=True) as store:
            planned = planned.knowing(store)
    _check_pending(planned)
    return planned


def check(config: Config) -> Plan:
    """Check models, data sets and noise; the plan knows nothing of what is stored.

    Raises
    ------
    ConfigError
        If a data set or a model cannot be used.
    """
    planned = _cells(config, ())
    _check_pending(planned)
    return planned


def _cells(config: Config, allow_modules: Collection[str]) -> Plan:
    allowed = frozenset(allow_modules)
    # Before anything is looked up in packages that the user did not allow.
    for i, model in enumerate(config.models):
        with _named(i, model):
            check_classes(described_classes(model), allowed)
    datasets = {spec.name: load_dataset(spec) for spec in config.datasets}
    jobs = make_jobs(config, list(datasets.values()))
    return Plan(config, allowed, datasets, jobs, [job.key for job in jobs])


def _check_pending(planned: Plan) -> None:
    """Check what is to be fitted.  What is finished was in order; loading learners to say so takes long."""
    config = planned.config
    models = {job.model.name for job in planned.pending.values()}
    for i, model in enumerate(config.models):
        if model.name in models:
            with _named(i, model):
                build(model, seed=config.random_state, threads=config.threads, allowed=planned.allowed)
    for name in dict.fromkeys(job.dataset for job in planned.pending.values()):
        _check_split(planned.datasets[name], config)


@contextmanager
def _named(i: int, model: ModelSpec) -> Iterator[None]:
    """Say which model an error is about."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"models[{i}] ({model.name}): {error}") from None


def _check_split(dataset: Dataset, config: Config) -> None:
    rows = np.bincount(dataset.y)
    if config.stratify and dataset.is_test is None and rows.min() < 2:
        rarest = dataset.classes.tolist()[rows.argmin()]
        raise ConfigError(
            f"data set {dataset.name!r}: class {rarest!r} has a single row, and a stratified split needs two; "
            'drop it, or set "stratify": false'
        )
    try:
        split(dataset, config.test_fraction, config.stratify, config.random_state)
    except ValueError as error:
        message = (
            f"data set {dataset.name!r} cannot be split with test_fraction {config.test_fraction}: {error}"
        )
        raise ConfigError(message) from None
