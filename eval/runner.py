"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd
from joblib.externals.loky.process_executor import TerminatedWorkerError
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from .config import Config
from .datasets import Dataset, load_dataset
from .errors import ConfigError
from .jobs import Job, make_jobs
from .models import ALLOWED_PACKAGES, build
from .noise import KINDS, NoisyLabels
from .store import Outcome, Store

# Cells are many and cores few: one thread per cell wastes nothing, and no score depends on the number of cores.
THREADS_PER_CELL = 1

STORE_NAME = "store.sqlite"

Progress = Callable[[int, int, int], None]


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
        realised_rate, repeat, model, accuracy, fit_seconds, predict_seconds, error.

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
    with Store(config.output_dir / STORE_NAME) as store:
        finished = store.outcomes(keys) if config.resume else {}
        # Failed cells are run again; a key may stand for several cells, such as those without noise.
        finished = {key: outcome for key, outcome in finished.items() if outcome.error is None}
        pending = {key: job for key, job in zip(keys, jobs, strict=True) if key not in finished}
        total = len(finished) + len(pending)
        failed = 0
        if progress is not None:
            progress(len(finished), failed, total)
        for key, outcome in _fit_all(pending, datasets, allowed, n_jobs):
            store.put(pending[key], outcome)
            finished[key] = outcome
            failed += outcome.error is not None
            if progress is not None:
                progress(len(finished), failed, total)
    return _score_table(jobs, [finished[key] for key in keys])


def _check_split(dataset: Dataset, config: Config) -> None:
    try:
        _split(dataset.y, config.test_fraction, config.stratify, config.random_state)
    except ValueError as error:
        raise ConfigError(f"data set {dataset.name!r} cannot be split: {error}") from None


def _split(
    y: NDArray[np.int64], test_fraction: float, stratify: bool, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training and test rows."""
    train, test = train_test_split(
        np.arange(y.size), test_size=test_fraction, random_state=seed, stratify=y if stratify else None
    )
    return train, test


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
    return table.astype(dict.fromkeys(scores, "float64") | {"error": "str"})


def _fit_all(
    pending: dict[str, Job], datasets: dict[str, Dataset], allowed: Collection[str], n_jobs: int
) -> Iterator[tuple[str, Outcome]]:
    """Outcomes of the pending jobs, as they come."""
    remaining = dict(pending)

    def outcomes(keys: Sequence[str], n_workers: int) -> Iterator[tuple[str, Outcome]]:
        calls = (
            joblib.delayed(run_cell)(key, remaining[key], datasets[remaining[key].dataset], allowed)
            for key in keys
        )
        parallel = joblib.Parallel(
            n_jobs=n_workers, batch_size=1, pre_dispatch="2*n_jobs", return_as="generator_unordered"
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


def run_cell(key: str, job: Job, dataset: Dataset, allowed: Collection[str]) -> tuple[str, Outcome]:
    """Fit and test one cell; an error of the model becomes part of the outcome."""
    if multiprocessing.parent_process() is not None:
        # Ctrl-C reaches every process of the terminal; the one that started the workers ends them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return key, _fit_and_test(job, dataset, allowed)
    except Exception as error:  # noqa: BLE001 - a model may raise anything
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return key, Outcome(error=message, traceback=traceback.format_exc())


def _fit_and_test(job: Job, dataset: Dataset, allowed: Collection[str]) -> Outcome:
    train, test = _split(dataset.y, job.test_fraction, job.stratify, job.seed)
    noisy, y_test = _corrupt(job, dataset, train, test)
    # Some models want the class numbers 0 to K-1 without gaps, and noise or chance may leave a gap.
    classes, y_train = np.unique(noisy.labels, return_inverse=True)
    model = build(job.model, seed=job.seed, threads=THREADS_PER_CELL, allowed=allowed)
    X_train, X_test = dataset.X[train], dataset.X[test]
    with threadpool_limits(THREADS_PER_CELL):
        _warm_up(job, allowed)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        predicted = np.asarray(model.predict(X_test))
        predict_seconds = time.perf_counter() - fitted
    if predicted.shape != y_test.shape:
        raise ValueError(f"predict returned the shape {predicted.shape} for {y_test.size} rows")
    if not np.isin(predicted, np.arange(classes.size)).all():
        raise ValueError("predict returned labels that fit was not given")
    return Outcome(
        accuracy=float((classes[predicted.astype(np.int64)] == y_test).mean()),
        realised_rate=noisy.realised_rate,
        fit_seconds=fitted - start,
        predict_seconds=predict_seconds,
    )


def _corrupt(
    job: Job, dataset: Dataset, train: NDArray[np.int64], test: NDArray[np.int64]
) -> tuple[NoisyLabels, NDArray[np.int64]]:
    """Noisy training labels and test labels: the same for every model."""
    seed: int | list[int] = job.seed
    if job.noise_kind != "label":  # which has its own rule, that of the study
        setting = [int.from_bytes(job.noise_kind.encode()), round(job.noise_rate * 1e9)]
        seed = [job.seed, int(job.fingerprint[:16], 16), *setting]
    codes = np.arange(dataset.classes.size)
    return KINDS[job.noise_kind](job.noise_rate).corrupt_split(dataset.y[train], dataset.y[test], codes, seed)


_warm: set[str] = set()


def _warm_up(job: Job, allowed: Collection[str]) -> None:
    """Load the compiled code of our own learner before its first timed fit in this process."""
    if "robust_splits" in job.model.module and job.model.model not in _warm:
        X: Any = np.array([[0.0], [1.0]])
        build(job.model, seed=0, threads=THREADS_PER_CELL, allowed=allowed).fit(X, [0, 1]).predict(X)
        _warm.add(job.model.model)
