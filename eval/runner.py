"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from joblib.externals.loky.process_executor import TerminatedWorkerError

from . import worker
from .cell import THREADS_PER_CELL, run_cell, split
from .config import Config
from .datasets import Dataset, load_dataset
from .errors import ConfigError
from .jobs import Job, make_jobs
from .models import ALLOWED_PACKAGES, build
from .store import RANGES, Outcome, Store

Progress = Callable[[int, int, int], None]
Result = tuple[str, Outcome]


def run(
    config: Config,
    *,
    n_jobs: int = -1,
    allow_modules: Collection[str] = (),
    progress: Progress | None = None,
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
        Called as ``progress(done, failed, total)`` at the start and after each cell.

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
    allowed = ALLOWED_PACKAGES | set(allow_modules)
    for i, model in enumerate(config.models):
        try:
            build(model, seed=config.random_state, threads=THREADS_PER_CELL, allowed=allowed)
        except ConfigError as error:
            raise ConfigError(f"models[{i}] ({model.name}): {error}") from None
    datasets = {spec.name: load_dataset(spec) for spec in config.datasets}
    for dataset in datasets.values():
        _check_split(dataset, config)

    jobs = make_jobs(config, list(datasets.values()))
    keys = [job.key for job in jobs]
    with Store(config.store_path) as store:
        finished = store.outcomes(keys) if config.resume else {}
        # Failed cells are run again; a key may stand for several cells, such as those without noise.
        finished = {key: outcome for key, outcome in finished.items() if outcome.is_score}
        pending = {key: job for key, job in zip(keys, jobs, strict=True) if key not in finished}
        total = len(finished) + len(pending)
        failed = 0
        found: dict[str, Outcome] = {}

        def is_open(key: str) -> bool:
            """Whether no other process has finished a cell in the meantime."""
            # A store that cannot be read says so when the cell is put; here another thread may be asking.
            with suppress(ConfigError):
                outcome = store.outcomes([key]).get(key) if config.resume else None
                if outcome is not None and outcome.is_score:
                    found[key] = outcome
            return key not in found

        if progress is not None:
            progress(len(finished), failed, total)
        with _closed_quietly(_fit_all(pending, datasets, allowed, n_jobs, is_open)) as results:
            for key, outcome in results:
                store.put(pending[key], outcome)
                finished[key] = outcome
                failed += outcome.error is not None
                if progress is not None:
                    progress(len(finished) + len(found), failed, total)
        if progress is not None and found:
            progress(len(finished) + len(found), failed, total)
        finished |= found
    return _score_table(jobs, [finished[key] for key in keys])


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
