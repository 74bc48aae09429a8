"""Forecast of a run: its cells, and an estimate of how long they take."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from ..config.noise_base import NO_NOISE
from ..datasets.dataset import Dataset, draw_rows
from ..metrics.outcome import Outcome
from .jobs import Job
from .plan import Plan
from .shared_data import SharedData
from .worker_handle import TOO_LONG, Limits, WorkerHandle

# Trials use MIN_ROWS rows, times each factor in turn.
MIN_ROWS = 250
FACTORS = (1, 4, 16, 64, 256)
CONCLUSIVE_SECONDS = 0.3  # a trial that takes as long needs no trial on more rows
MAX_TRIAL_SECONDS = 10.0  # a trial is stopped after this time
ALL_TRIALS_SECONDS = 30.0  # no trial starts after trials of this time


@dataclass(frozen=True)
class Pair:
    """The cells of one model on one data set.

    Attributes
    ----------
    dataset, model : str
    cells, finished, failed, pending : int
        All cells; finished cells, which are reused; pending cells that failed before; cells to fit.
    seconds : float or None
        Estimated time of a cell, at most the time limit; None if no cell is pending, or the time is unknown.
    known_from : {"store", "trial", "limit"} or None
        Source of the estimate: earlier cells, a trial fit on part of the rows, or the time limit, which the
        cells are expected to reach.
    at_least : bool
        Whether the trial was stopped after `seconds`, so that a cell takes longer.
    error : str or None
        Error of the trial.
    """

    dataset: str
    model: str
    cells: int
    finished: int
    failed: int
    pending: int
    seconds: float | None = None
    known_from: str | None = None
    at_least: bool = False
    error: str | None = None


@dataclass(frozen=True)
class Forecast:
    """All pairs of a run, in the order of the config, and the number of cells fitted in parallel."""

    pairs: list[Pair]
    n_jobs: int

    @property
    def seconds(self) -> float | None:
        """Estimated time of the whole run; None if unknown."""
        pending = [(pair.pending, pair.seconds) for pair in self.pairs if pair.pending]
        known = [(cells, seconds) for cells, seconds in pending if seconds is not None]
        if not known:
            return None if pending else 0.0
        work = sum(cells * seconds for cells, seconds in known)
        return max(work / self.n_jobs, *(seconds for _, seconds in known))

    @property
    def at_least(self) -> bool:
        """Whether `seconds` is a lower bound, because the time of some pairs is unknown or a lower bound."""
        return any(pair.pending and (pair.at_least or pair.seconds is None) for pair in self.pairs)


@dataclass(frozen=True)
class _Trial:
    n_rows: int
    seconds: float
    error: str | None

    @property
    def is_conclusive(self) -> bool:
        return self.error is not None or self.seconds >= CONCLUSIVE_SECONDS

    @property
    def was_stopped(self) -> bool:
        return self.error is not None and self.error.startswith(TOO_LONG)


def forecast(plan: Plan, n_jobs: int) -> Forecast:
    """Count the cells of every pair of a model and a data set, and estimate the time of a cell.

    The estimate is the mean time of stored cells.  Without such cells, it is extrapolated from trial fits on
    growing parts of the rows, which respect the config's limits.
    """
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, job in plan.cells.items():
        cells[job.dataset, job.model.name].append(key)
    pairs = {keys[0]: _count_cells(names, keys, plan) for names, keys in cells.items()}
    trials = _run_trials([key for key, pair in pairs.items() if pair.pending and pair.seconds is None], plan)
    for key, trials_of_pair in trials.items():
        pairs[key] = _estimate(pairs[key], trials_of_pair, plan)
    return Forecast([_clip_to_limit(pair, plan.config.time_limit) for pair in pairs.values()], n_jobs)


def _count_cells(names: tuple[str, str], cells: Collection[str], plan: Plan) -> Pair:
    counts = Counter(
        "finished" if key in plan.finished else "failed" if _has_failed(plan.stored.get(key)) else "new"
        for key in cells
    )
    times = [_seconds(plan.stored[key]) for key in cells if key in plan.stored and plan.stored[key].is_score]
    pair = Pair(
        *names,
        cells=counts.total(),
        finished=counts["finished"],
        failed=counts["failed"],
        pending=counts["failed"] + counts["new"],
    )
    return (
        dataclasses.replace(pair, seconds=fmean(times), known_from="store") if times and pair.pending else pair
    )


def _has_failed(outcome: Outcome | None) -> bool:
    return outcome is not None and not outcome.is_score


def _seconds(outcome: Outcome) -> float:
    return sum(outcome.scores.get(name) or 0.0 for name in ("fit_seconds", "predict_seconds"))


def _run_trials(keys: Iterable[str], plan: Plan) -> dict[str, list[_Trial]]:
    """Fit cells on growing parts of the rows, starting with few rows for all, so that none uses up the time."""
    config = plan.config
    limits = Limits(min(MAX_TRIAL_SECONDS, config.time_limit or MAX_TRIAL_SECONDS), config.memory_limit)
    jobs = {key: plan.cells[key] for key in keys}
    trials: dict[str, list[_Trial]] = {key: [] for key in jobs}
    slow: set[str] = set()
    names = dict.fromkeys(job.dataset for job in jobs.values())
    subsets = {(name, factor): _subset(plan.datasets[name], factor) for name in names for factor in FACTORS}
    with SharedData(
        {_subset_name(*key): subset for key, subset in subsets.items() if subset is not None}
    ) as shared:
        # One process for all trials, because loading the learners takes longer than most trials.
        worker = WorkerHandle(shared, config.threads, limits)
        try:
            spent, loaded = 0.0, set()
            for key, factor in _trial_order(jobs, slow):
                job = jobs[key]
                subset = subsets[job.dataset, factor]
                if subset is None or any(trial.is_conclusive for trial in trials[key]):
                    continue
                if spent >= ALL_TRIALS_SECONDS:
                    break
                start, packages = time.monotonic(), job.model.packages
                outcome = _fit(worker, key, dataclasses.replace(job, dataset=_subset_name(job.dataset, factor)))
                if packages in loaded:  # the first fit imports and may compile them, which does not count
                    spent += time.monotonic() - start
                loaded.add(packages)
                trials[key].append(_Trial(subset.train_rows or subset.y.size, _seconds(outcome), outcome.error))
                if trials[key][-1].was_stopped:
                    slow.add(job.model.name)
        finally:
            worker.kill()
    return trials


def _subset_name(dataset: str, factor: int) -> str:
    return f"{dataset} {factor}"


def _trial_order(jobs: dict[str, Job], slow: Collection[str]) -> Iterator[tuple[str, int]]:
    """Every cell with the smallest factor, then with larger ones.  Models found to be slow come last."""
    late = []
    for factor in FACTORS:
        for key, job in jobs.items():
            if job.model.name in slow:
                late.append((key, factor))
            else:
                yield key, factor
    yield from late


def _fit(worker: WorkerHandle, key: str, job: Job) -> Outcome:
    noise_rate, noise = NO_NOISE
    return worker.fit(key, dataclasses.replace(job, noise=noise, noise_rate=noise_rate, stratify=False))


def _subset(dataset: Dataset, factor: int) -> Dataset | None:
    """Draw `factor` times the minimum number of rows, or all rows; None if a smaller factor gives all."""
    groups = dataset.y if dataset.is_test is None else dataset.y + dataset.classes.size * dataset.is_test
    minimum = max(MIN_ROWS, 8 * np.unique(groups).size)
    if factor * minimum >= groups.size:
        return dataset if factor == 1 or factor // 4 * minimum < groups.size else None
    rows = draw_rows(groups, factor * minimum, dataset.name)
    # All training rows of the part are used: it may have fewer than `train_rows`.
    return dataclasses.replace(dataset.take(rows), train_rows=None)


def _estimate(pair: Pair, trials: list[_Trial], plan: Plan) -> Pair:
    if not trials:
        return pair
    last, limit = trials[-1], plan.config.time_limit
    if last.was_stopped and (limit is None or limit > MAX_TRIAL_SECONDS):
        return dataclasses.replace(pair, seconds=MAX_TRIAL_SECONDS, known_from="trial", at_least=True)
    if last.was_stopped:
        return dataclasses.replace(pair, seconds=limit, known_from="limit", error=last.error)
    if last.error is not None:
        return dataclasses.replace(pair, error=last.error)
    growth = 1.0
    if len(trials) > 1 and min(trials[-2].seconds, last.seconds) > 0:
        before = trials[-2]
        growth = np.log(last.seconds / before.seconds) / np.log(last.n_rows / before.n_rows)
    dataset = plan.datasets[pair.dataset]
    n_all = dataset.train_rows or dataset.y.size
    seconds = last.seconds * (n_all / last.n_rows) ** float(np.clip(growth, 1.0, 3.0))
    return dataclasses.replace(pair, seconds=seconds, known_from="trial")


def _clip_to_limit(pair: Pair, limit: float | None) -> Pair:
    if limit is None or pair.seconds is None or pair.seconds <= limit:
        return pair
    return dataclasses.replace(pair, seconds=limit, known_from="limit")
