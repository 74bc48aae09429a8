"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing

import numpy as np
import pandas as pd

from .cell import split
from .config import Config, ModelSpec
from .datasets import Dataset, load_dataset
from .errors import ConfigError
from .jobs import Job, make_jobs
from .models import ALLOWED_PACKAGES, build, packages_of
from .pool import fit_here, slots_for
from .slot import Limits
from .store import Outcome, Store

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
        Cells fitted side by side, at most; -1 for as many as there are cores for.
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
    _check_models(
        [model for model in config.models if not allowed.issuperset(packages_of(model))], config, allowed
    )
    datasets = {spec.name: load_dataset(spec) for spec in config.datasets}
    jobs = make_jobs(config, list(datasets.values()))
    keys = [job.key for job in jobs]
    path = config.output_dir / STORE_NAME
    finished: dict[str, Outcome] = {}
    if config.resume and path.exists():
        with Store(path) as store:
            # Failed cells are run again; a key may stand for several cells, such as those without noise.
            finished = {key: outcome for key, outcome in store.outcomes(keys).items() if outcome.is_score}
    pending = {key: job for key, job in zip(keys, jobs, strict=True) if key not in finished}
    # What is finished was in order; loading the learners only to say so would take most of the time.
    used = {job.model.name for job in pending.values()}
    _check_models([model for model in config.models if model.name in used], config, allowed)
    used = {job.dataset for job in pending.values()}
    datasets = {name: dataset for name, dataset in datasets.items() if name in used}
    for dataset in datasets.values():
        _check_split(dataset, config)
    n_slots = slots_for(n_jobs, config.threads) if pending else 0
    limits = Limits(config.time_limit, config.memory_limit)
    with Store(path) as store:
        total = len(finished) + len(pending)
        failed = 0
        if progress is not None:
            progress(len(finished), failed, total)
        fitted = fit_here(
            pending.items(), datasets, allowed, n_slots=n_slots, threads=config.threads, limits=limits
        )
        with closing(fitted):
            for key, outcome in fitted:
                store.put(pending[key], outcome)
                finished[key] = outcome
                failed += outcome.error is not None
                if progress is not None:
                    progress(len(finished), failed, total)
    return _score_table(jobs, [finished[key] for key in keys])


def _check_models(models: Iterable[ModelSpec], config: Config, allowed: Collection[str]) -> None:
    for model in models:
        try:
            build(model, seed=config.random_state, threads=config.threads, allowed=allowed)
        except ConfigError as error:
            raise ConfigError(f"models[{config.models.index(model)}] ({model.name}): {error}") from None


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
