"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence

import joblib
import pandas as pd
from joblib.externals.loky.process_executor import TerminatedWorkerError

from . import worker
from .cell import run_cell
from .config import Config
from .datasets import Dataset
from .jobs import Job
from .models import ALLOWED_PACKAGES
from .planning import Progress, check, store_path
from .store import Outcome, Store


def run(
    config: Config,
    *,
    n_jobs: int = -1,
    allow_modules: Collection[str] = (),
    progress: Callable[[Progress], object] | None = None,
) -> pd.DataFrame:
    """Run a config: fit every cell that its store does not hold yet.

    Parameters
    ----------
    config : Config
    n_jobs : int, default=-1
        Cells fitted side by side; -1 for as many as there are cores.
    allow_modules : collection of str, default=()
        Packages that models may come from, beside those always allowed.  Their code runs.
    progress : callable or None, default=None
        Called at the start and after each cell with a `Progress`, whose ``done``, ``failed``, ``cached`` and
        ``total`` count cells, and whose ``job`` and ``outcome`` are those of the cell.

    Returns
    -------
    DataFrame
        The scores, one row per cell, in the order of the config: dataset, noise_kind, noise_rate,
        realised_rate, repeat, model, accuracy, fit_seconds, predict_seconds, error.

    Raises
    ------
    ConfigError
        Before any fit, if a data set, a model or the store cannot be used.
    """
    plan = check(config, allow_modules)
    with Store(store_path(config)) as store:
        plan = plan.knowing(store)
        outcomes, failed = dict(plan.finished), 0
        if progress is not None:
            progress(Progress(plan, len(outcomes)))
        for key, outcome in _fit_all(plan.pending, plan.datasets, plan.allowed, n_jobs):
            store.put(plan.pending[key], outcome)
            outcomes[key] = outcome
            failed += outcome.error is not None
            if progress is not None:
                progress(Progress(plan, len(outcomes), failed, key, outcome))
    return _score_table(plan.jobs, [outcomes[key] for key in plan.keys])


def _score_table(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    table = pd.DataFrame(
        [
            {
                "dataset": job.dataset,
                "noise_kind": job.noise_kind,
                "noise_rate": job.noise_rate,
                "realised_rate": outcome.realised_rate,
                "repeat": job.repeat,
                "model": job.model.name,
                "accuracy": outcome.accuracy,
                "fit_seconds": outcome.fit_seconds,
                "predict_seconds": outcome.predict_seconds,
                "error": outcome.error,
            }
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]
    )
    scores = ["realised_rate", "accuracy", "fit_seconds", "predict_seconds"]
    return table.astype(dict.fromkeys(scores, "float64") | {"error": "string"})


def _fit_all(
    pending: dict[str, Job], datasets: dict[str, Dataset], allowed: Collection[str], n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    """Outcomes of the pending jobs, as they come."""
    remaining = dict(pending)
    # Processes that an earlier run of this one started know an older path.
    path = sys.path if set(allowed) - ALLOWED_PACKAGES else []

    def outcomes(keys: Sequence[str], n_workers: int) -> Iterator[tuple[str, Outcome]]:
        calls = (
            joblib.delayed(run_cell)(key, remaining[key], datasets[remaining[key].dataset], allowed, path)
            for key in keys
        )
        parallel = joblib.Parallel(
            n_jobs=n_workers,
            batch_size=1,
            pre_dispatch="2*n_jobs",
            return_as="generator_unordered",
            initializer=worker.prepare,
        )
        for key, outcome in parallel(calls):
            yield key, outcome
            del remaining[key]

    while remaining:
        try:
            yield from outcomes(list(remaining), n_jobs)
        except TerminatedWorkerError:
            # A cell took its process down.  Those that may have been under way go alone, to tell which.
            for key in list(remaining)[: 4 * joblib.effective_n_jobs(n_jobs)]:
                try:
                    yield from outcomes([key], 2)
                except TerminatedWorkerError:
                    del remaining[key]
                    yield (
                        key,
                        Outcome(error="the process that fitted this cell died (out of memory, or a crash)"),
                    )
