"""What a run would do, and about how long it would take, without running it."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from statistics import fmean

import numpy as np

from ..config.noise_spec import NO_NOISE
from ..datasets.dataset import Dataset, draw_rows
from ..metrics.outcome import Outcome
from .jobs import Job
from .local_pool import SECONDS_BETWEEN_LOOKS
from .plan import Plan
from .shared_data import SharedData
from .worker_handle import TOO_LONG, Limits, Slot

# Rows of the trials: more would tell little more, and would have to be copied.
FEWEST_ROWS = 250
FACTORS = (1, 4, 16, 64, 256)
# A trial on a part of the rows is telling when it takes so long; it is stopped after so long; and after some
# time of trials there are no more.
TELLING_SECONDS = 0.3
MOST_SECONDS = 10.0
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True)
class Pair:
    """The cells of one model on one data set.

    Attributes
    ----------
    dataset, model : str
    cells, finished, failed, pending : int
        All; those that are used again; those of the pending ones that failed before; those to be fitted.
    seconds : float or None
        Of a cell, about, and no more than the time limit; None if there is none to be fitted, or if nothing
        tells.
    known_from : {"store", "trial", "limit"} or None
        Earlier cells, a fit on a part of the rows, or the time limit, which cells seem to reach.
    at_least : bool
        Whether a cell takes more than `seconds`, after which the trial was stopped.
    error : str or None
        What the trial ended in.
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
    """All pairs of a run, in its order, and how many cells are fitted side by side."""

    pairs: list[Pair]
    n_jobs: int

    @property
    def seconds(self) -> float | None:
        """Of the whole run, about; None if nothing tells."""
        pending = [(pair.pending, pair.seconds) for pair in self.pairs if pair.pending]
        known = [(cells, seconds) for cells, seconds in pending if seconds is not None]
        if not known:
            return None if pending else 0.0
        work = sum(cells * seconds for cells, seconds in known)
        return max(work / self.n_jobs, *(seconds for _, seconds in known))

    @property
    def at_least(self) -> bool:
        """Whether the run takes more than `seconds`, for of some pairs no more is known, or nothing."""
        return any(pair.pending and (pair.at_least or pair.seconds is None) for pair in self.pairs)


@dataclass(frozen=True)
class _Trial:
    n_rows: int
    seconds: float
    error: str | None

    @property
    def is_telling(self) -> bool:
        return self.error is not None or self.seconds >= TELLING_SECONDS

    @property
    def took_too_long(self) -> bool:
        return self.error is not None and self.error.startswith(TOO_LONG)


def forecast(plan: Plan, n_jobs: int) -> Forecast:
    """Count the cells of every pair of a model and a data set, and estimate the seconds of one.

    By the times of finished cells where there are any, otherwise by fits on more and more of the rows, from
    whose growth the time of a fit on all of them is guessed.  They break no limit of the config.
    """
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, job in plan.cells.items():
        cells[job.dataset, job.model.name].append(key)
    pairs = {keys[0]: _counted(names, keys, plan) for names, keys in cells.items()}
    trials = _try([key for key, pair in pairs.items() if pair.pending and pair.seconds is None], plan)
    for key, made in trials.items():
        pairs[key] = _estimated(pairs[key], made, plan)
    return Forecast([_within_limit(pair, plan.config.time_limit) for pair in pairs.values()], n_jobs)


def _counted(names: tuple[str, str], cells: Collection[str], plan: Plan) -> Pair:
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


def _try(keys: Iterable[str], plan: Plan) -> dict[str, list[_Trial]]:
    """Fit cells on more and more of the rows: all on few first, so that none takes the time of the others."""
    config = plan.config
    limits = Limits(min(MOST_SECONDS, config.time_limit or MOST_SECONDS), config.memory_limit)
    jobs = {key: plan.cells[key] for key in keys}
    trials: dict[str, list[_Trial]] = {key: [] for key in jobs}
    slow: set[str] = set()
    names = dict.fromkeys(job.dataset for job in jobs.values())
    parts = {(name, factor): _part(plan.datasets[name], factor) for name in names for factor in FACTORS}
    with SharedData({_name(*which): part for which, part in parts.items() if part is not None}) as shared:
        # One process for all trials that end well: to load the learners takes longer than most of them.
        slot = Slot(shared, plan.allowed, config.threads, limits)
        try:
            end = time.monotonic() + PATIENCE_SECONDS
            for key, factor in _slow_last(jobs, slow):
                job = jobs[key]
                part = parts[job.dataset, factor]
                if part is None or any(trial.is_telling for trial in trials[key]):
                    continue
                if time.monotonic() >= end:
                    break
                outcome = _fit(slot, key, dataclasses.replace(job, dataset=_name(job.dataset, factor)))
                trials[key].append(_Trial(part.y.size, _seconds(outcome), outcome.error))
                if trials[key][-1].took_too_long:
                    slow.add(job.model.name)
        finally:
            slot.kill()
    return trials


def _name(dataset: str, factor: int) -> str:
    return f"{dataset} {factor}"


def _slow_last(jobs: dict[str, Job], slow: Collection[str]) -> Iterator[tuple[str, int]]:
    """Every cell with the fewest rows, then with more; at the end those of models that are slow by then."""
    late = []
    for factor in FACTORS:
        for key, job in jobs.items():
            if job.model.name in slow:
                late.append((key, factor))
            else:
                yield key, factor
    yield from late


def _fit(slot: Slot, key: str, job: Job) -> Outcome:
    rate, noise = NO_NOISE
    slot.begin(key, dataclasses.replace(job, noise=noise, noise_rate=rate, stratify=False))
    while (outcome := slot.look()) is None:
        wait([slot.connection], SECONDS_BETWEEN_LOOKS)
    return outcome


def _part(dataset: Dataset, factor: int) -> Dataset | None:
    """So many times the fewest rows that a trial can do with, or all; None if a smaller factor gives all."""
    groups = dataset.y if dataset.is_test is None else dataset.y + dataset.classes.size * dataset.is_test
    fewest = max(FEWEST_ROWS, 8 * np.unique(groups).size)
    if factor * fewest >= groups.size:
        return dataset if factor == 1 or factor // 4 * fewest < groups.size else None
    rows = draw_rows(groups, factor * fewest, dataset.name)
    is_test = None if dataset.is_test is None else dataset.is_test[rows]
    return dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows], is_test=is_test)


def _estimated(pair: Pair, trials: list[_Trial], plan: Plan) -> Pair:
    if not trials:
        return pair
    last, limit = trials[-1], plan.config.time_limit
    if last.took_too_long and (limit is None or limit > MOST_SECONDS):
        return dataclasses.replace(pair, seconds=MOST_SECONDS, known_from="trial", at_least=True)
    if last.took_too_long:
        return dataclasses.replace(pair, seconds=limit, known_from="limit", error=last.error)
    if last.error is not None:
        return dataclasses.replace(pair, error=last.error)
    growth = 1.0
    if len(trials) > 1 and min(trials[-2].seconds, last.seconds) > 0:
        before = trials[-2]
        growth = np.log(last.seconds / before.seconds) / np.log(last.n_rows / before.n_rows)
    n_all = plan.datasets[pair.dataset].y.size
    seconds = last.seconds * (n_all / last.n_rows) ** float(np.clip(growth, 1.0, 3.0))
    return dataclasses.replace(pair, seconds=seconds, known_from="trial")


def _within_limit(pair: Pair, limit: float | None) -> Pair:
    if limit is None or pair.seconds is None or pair.seconds <= limit:
        return pair
    return dataclasses.replace(pair, seconds=limit, known_from="limit")
