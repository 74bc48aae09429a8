"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from joblib.externals.loky.process_executor import TerminatedWorkerError

from . import worker
from .cell import run_cell
from .config import Config
from .datasets import Dataset
from .errors import ConfigError
from .jobs import Job
from .models import ALLOWED_PACKAGES
from .planning import Progress, check
from .store import RANGES, Outcome, Store

Result = tuple[str, Outcome]


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
        realised_rate, repeat, model, accuracy, balanced_accuracy, macro_f1, roc_auc, log_loss, leaves, depth,
        fit_seconds, predict_seconds, error.

    Raises
    ------
    ConfigError
        Before any fit, if a data set, a model or the store cannot be used.
    """
    plan = check(config, allow_modules)
    with Store(config.store_path) as store:
        plan = plan.knowing(store)
        outcomes, failed = dict(plan.finished), 0

        def is_open(key: str) -> bool:
            """Whether no other process has finished a cell in the meantime."""
            # A store that cannot be read says so when the cell is put; here another thread may be asking.
            with suppress(ConfigError):
                outcome = store.outcomes([key]).get(key) if config.resume else None
                if outcome is not None and outcome.is_score:
                    take(key, outcome)
                    return False
            return True

        def take(key: str, outcome: Outcome) -> None:
            outcomes[key] = outcome
            if progress is not None:
                progress(Progress(plan, len(outcomes), failed, key, outcome))

        if progress is not None:
            progress(Progress(plan, len(outcomes)))
        fitted = _fit_all(plan.pending, plan.datasets, plan.allowed, n_jobs, is_open)
        with _closed_quietly(fitted) as results:
            for key, outcome in results:
                store.put(plan.pending[key], outcome)
                failed += outcome.error is not None
                take(key, outcome)
    return _score_table(plan.jobs, [outcomes[key] for key in plan.keys])


@contextmanager
def _closed_quietly(results: Generator[Result, None, None]) -> Iterator[Iterator[Result]]:
    """Drop cells that are under way when the store takes no more; joblib would warn of them."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* tasks which were still being processed")
            results.close()


def merge(config: Config, paths: Iterable[str | Path]) -> int:
    """Copy the finished cells of other stores into the store of a config, where it does not have them.

    Parameters
    ----------
    config : Config
    paths : iterable of str or Path
        Stores, or folders that hold one, such as the `results_dir` of a run on another machine.  They are only
        read.

    Returns
    -------
    int
        How many cells were copied.

    Raises
    ------
    ConfigError
        If there is no store, it is not in order, or it holds what no cell can be; of that nothing is copied.
    """
    with Store(config.store_path) as store:
        return sum(store.merge(Path(path)) for path in paths)


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
                **{name: getattr(outcome, name) for name in RANGES if name != "realised_rate"},
                "error": outcome.error,
            }
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]
    )
    return table.astype(dict.fromkeys(RANGES, "float64") | {"error": "string"})


def _fit_all(
    pending: dict[str, Job],
    datasets: dict[str, Dataset],
    allowed: Collection[str],
    n_jobs: int,
    is_open: Callable[[str], bool],
) -> Generator[Result, None, None]:
    """Outcomes of the pending jobs, as they come; of those that are open still when their turn comes."""
    remaining = dict(pending)
    # Processes that an earlier run of this one started know an older path.
    path = sys.path if set(allowed) - ALLOWED_PACKAGES else []

    def calls(keys: Sequence[str]) -> Iterator[Any]:
        for key in keys:
            job = remaining[key]
            if is_open(key):
                yield joblib.delayed(run_cell)(key, job, datasets[job.dataset], allowed, path)
            else:
                del remaining[key]

    def outcomes(keys: Sequence[str], n_workers: int) -> Iterator[tuple[str, Outcome]]:
        parallel = joblib.Parallel(
            n_jobs=n_workers,
            batch_size=1,
            pre_dispatch="2*n_jobs",
            return_as="generator_unordered",
            initializer=worker.prepare,
        )
        for key, outcome in parallel(calls(keys)):
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
