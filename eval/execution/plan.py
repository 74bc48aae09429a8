"""Plan of a run: checks before any fit, the cells, and which of them are finished."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._atomic_file import check_folder
from .._wording import numbered
from ..config.run import Config
from ..datasets.dataset import Dataset
from ..datasets.estimated_labels import estimate_clean_labels
from ..datasets.loader import load_dataset
from ..datasets.train_test import fix_split, split
from ..errors import ConfigError, nearest_first, suggest
from ..metrics.outcome import Outcome
from ..models.factory import build
from ..models.fit_arguments import fit_arguments
from ..models.input_form import selected_columns
from ..models.resolved_model import ResolvedModel, model_in_errors, resolve_all
from ..noise.annotators import SoftLabels
from ..noise.audited import AuditedNoise
from .cell import split_and_labels
from .jobs import Job, job_keys, make_jobs
from .store import Store


@dataclass(frozen=True, eq=False)
class Plan:
    """The cells of a run and their stored outcomes.

    A cell is identified by its key.  Jobs that differ only in names share a key.

    Attributes
    ----------
    config : Config
    models : list of ResolvedModel
        In the order of the config.
    datasets : dict of str to Dataset
    jobs : list of Job
        In the order of the config.
    keys : list of str
        Keys of the jobs.
    stored : dict of str to Outcome
        Outcomes of earlier runs by key, including errors.
    """

    config: Config
    models: list[ResolvedModel]
    datasets: dict[str, Dataset]
    jobs: list[Job]
    keys: list[str]
    stored: dict[str, Outcome] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = f"{len(self.finished)} finished, {len(self.pending)} to fit"
        return f"<Plan of {self.config.name}: {numbered(len(self.cells), 'cell')}, {counts}>"

    @cached_property
    def cells(self) -> dict[str, Job]:
        """All cells by key, with the last of their jobs, in the order of the config."""
        return dict(zip(self.keys, self.jobs, strict=True))

    @cached_property
    def finished(self) -> dict[str, Outcome]:
        """Stored scores that are reused.  Failed cells are fitted again."""
        if not self.config.resume:
            return {}
        return {key: outcome for key, outcome in self.stored.items() if outcome.is_score}

    @cached_property
    def pending(self) -> dict[str, Job]:
        """Cells to fit, in the order of the config."""
        if not self.finished:
            return self.cells
        return {key: job for key, job in self.cells.items() if key not in self.finished}

    def with_stored(self, store: Store) -> Plan:
        """Copy of the plan with the outcomes of a store."""
        return dataclasses.replace(self, stored=store.outcomes(self.keys))


@dataclass(frozen=True, eq=False)
class Progress:
    """Progress of a run, at its start or after a cell.

    Attributes
    ----------
    plan : Plan
    done : int
        Finished cells, including those of earlier runs and those that failed.
    failed : int
        Cells that failed in this run.
    key : str or None
        Key of the cell finished last; None at the start.
    outcome : Outcome or None
        Outcome of that cell.
    """

    plan: Plan
    done: int
    failed: int = 0
    key: str | None = None
    outcome: Outcome | None = None

    @property
    def job(self) -> Job | None:
        """Job of the cell finished last; None at the start."""
        return None if self.key is None else self.plan.pending[self.key]

    @property
    def cached(self) -> int:
        """Number of cells finished by earlier runs."""
        return len(self.plan.finished)

    @property
    def total(self) -> int:
        """Number of all cells."""
        return len(self.plan.cells)


def plan(config: Config, *, allow_modules: Collection[str] = ()) -> Plan:
    """Plan a run: make all checks of `run` without fitting or writing anything.

    Parameters
    ----------
    config : Config
    allow_modules : collection of str, default=()
        Additional packages that models may come from.  Their code is executed.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        If a data set, a model or the store cannot be used.
    TypeError
        If `config` is not a `Config`.
    """
    if not isinstance(config, Config):
        raise TypeError(f"config must be a Config, such as load_config returns, got {config!r}")
    result = _make_plan(config, allow_modules)
    check_folder(config.output_dir)
    path = config.store_path
    if path.exists():
        with Store(path, read_only=True) as store:
            result = result.with_stored(store)
    _check_pending(result)
    return _with_clean_labels(result)


def check(config: Config) -> Plan:
    """Check the models, data sets and noise of a config.  The returned plan has no stored outcomes.

    Raises
    ------
    ConfigError
        If a data set or a model cannot be used.
    """
    result = _make_plan(config, ())
    _check_pending(result)
    return _with_clean_labels(result)


def _make_plan(config: Config, allow_modules: Collection[str]) -> Plan:
    # Comes first, because it keeps packages that the user did not allow from being imported.
    models = resolve_all(config.models, allow_modules)
    datasets = {spec.name: _with_fixed_split(load_dataset(spec), config) for spec in config.datasets}
    jobs = make_jobs(config, models, list(datasets.values()))
    return Plan(config, models, datasets, jobs, job_keys(jobs))


def _with_fixed_split(dataset: Dataset, config: Config) -> Dataset:
    """The data set with the test rows of all repeats, if these are fixed."""
    if not config.fixed_split or dataset.is_test is not None:
        return dataset
    with _split_in_errors(dataset, config):
        return fix_split(dataset, config.test_fraction, config.stratify, config.random_state)


def _with_clean_labels(plan: Plan) -> Plan:
    """Estimate the right labels of the data sets with noisy ones, once for all cells that are not finished."""
    names = {job.dataset for job in plan.pending.values()}
    datasets = {
        name: data if data.checked is None or name not in names else estimate_clean_labels(data)
        for name, data in plan.datasets.items()
    }
    return dataclasses.replace(plan, datasets=datasets)


def _check_pending(plan: Plan) -> None:
    """Check models and data sets of pending cells only, because learners load slowly."""
    config = plan.config
    pending: dict[str, dict[str, None]] = {}  # data sets by model
    for job in plan.pending.values():
        pending.setdefault(job.model.name, {})[job.dataset] = None
    has_soft_labels = any(isinstance(job.noise, SoftLabels) for job in plan.jobs)
    for i, model in enumerate(plan.models):
        if model.name in pending:
            with model_in_errors(i, model.name):
                estimator = build(model, seed=config.random_state, threads=config.threads)
                for name in pending[model.name]:
                    _check_fit(estimator, plan.datasets[name])
                if has_soft_labels:
                    _check_weights(estimator, np.ones(1), "soft labels are weights; leave out one of them")
    for name in dict.fromkeys(job.dataset for job in plan.pending.values()):
        _check_split(plan.datasets[name], config)
    problems = []
    for job in _highest_audited(plan):
        try:
            split_and_labels(job, plan.datasets[job.dataset])
        except ValueError as error:
            problems.append(f"noise {job.noise_kind!r}: data set {job.dataset!r}: {error}")
    if problems:
        raise ConfigError("\n".join(problems))


def _highest_audited(plan: Plan) -> list[Job]:
    """Of each data set and pending noise that an audit finds, one job with the highest rate."""
    highest: dict[tuple[str, str], Job] = {}
    audited = [job for job in plan.pending.values() if isinstance(job.noise, AuditedNoise)]
    for job in sorted(audited, key=lambda job: job.noise_rate):
        highest[job.dataset, job.noise_kind] = job
    return list(highest.values())


def _check_fit(estimator: Any, dataset: Dataset) -> None:
    """Check that a model takes the weights of a data set, and that the columns it selects exist."""
    reason = f"data set {dataset.name!r} has a column of weights; leave out the model or 'weight'"
    _check_weights(estimator, dataset.weights, reason)
    for column in selected_columns(estimator):
        if column not in dataset.columns:
            raise ConfigError(
                f"selects the column {column!r}, which data set {dataset.name!r} does not have"
                f"{suggest(column, dataset.columns)}; features are {nearest_first(column, dataset.columns)}"
            )


def _check_weights(estimator: Any, weights: NDArray[np.float64] | None, why: str) -> None:
    try:
        fit_arguments(estimator, weights, None)
    except ValueError as error:
        raise ConfigError(f"{error}, but {why}") from None


def _check_split(dataset: Dataset, config: Config) -> None:
    fold = None if config.folds is None else (config.folds, 0)
    with _split_in_errors(dataset, config):
        split(dataset, config.test_fraction, config.stratify, config.random_state, fold)


@contextmanager
def _split_in_errors(dataset: Dataset, config: Config) -> Iterator[None]:
    """Name the data set and the split in errors, and the class if it is too small to stratify."""
    counts = np.bincount(dataset.y)
    if config.stratify and dataset.is_test is None and counts.min() < 2:
        rarest = dataset.classes.tolist()[counts.argmin()]
        raise ConfigError(
            f"data set {dataset.name!r}: class {rarest!r} has a single row, but a stratified split needs two; "
            'remove the row, or set "stratify": false'
        )
    how = f"with test_fraction {config.test_fraction}" if config.folds is None else f"into {config.folds} folds"
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"data set {dataset.name!r} cannot be split {how}: {error}") from None
