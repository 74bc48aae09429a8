"""The runner: fits what the store does not hold yet, several cells side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ..config.run import Config
from ..metrics.outcome import Outcome
from .dask_cluster import check_scheduler, fit_on_cluster
from .local_pool import check_n_jobs, fit_here, slots_for
from .plan import Progress, plan
from .run_record import Recorder, Run, run_of
from .store import Store
from .worker_handle import Limits


def run(
    config: Config,
    *,
    n_jobs: int = -1,
    scheduler: str | None = None,
    allow_modules: Collection[str] = (),
    progress: Callable[[Progress], object] | None = None,
) -> Run:
    """Run a config: fit every cell that its store does not hold yet.

    Parameters
    ----------
    config : Config
    n_jobs : int, default=-1
        Cells fitted side by side, at most; -1 for as many as there are cores for.
    scheduler : str or None, default=None
        Address of the scheduler of a Dask cluster that fits the cells, such as ``"tcp://10.0.0.1:8786"``, in
        place of this machine; `n_jobs` is then for nothing.  This process alone writes the store.
    allow_modules : collection of str, default=()
        Packages that models may come from, beside those always allowed.  Their code runs.
    progress : callable or None, default=None
        Called at the start and after each cell with a `Progress`, whose ``done``, ``failed``, ``cached`` and
        ``total`` count cells, and whose ``job`` and ``outcome`` are those of the cell.

    Returns
    -------
    Run
        Its ``scores`` have a row for each cell, in the order of the config: dataset, noise_kind, noise_rate,
        realised_rate, repeat, model, a column for each measure, and error.  `load_run` gives the same later.

    Raises
    ------
    ConfigError
        Before any fit, if a data set, a model or the store cannot be used.
    """
    # Whether or not there is something left to fit.
    check_n_jobs(n_jobs)
    check_scheduler(scheduler)
    planned = plan(config, allow_modules=allow_modules)
    pending, outcomes, failed = planned.pending, dict(planned.finished), 0
    limits = Limits(config.time_limit, config.memory_limit)
    n_slots = slots_for(n_jobs, config.threads) if pending and scheduler is None else 0
    with (
        Store(config.store_path) as store,
        Recorder(store, planned, on_cluster=scheduler is not None) as recorder,
    ):

        def take(key: str, outcome: Outcome) -> None:
            outcomes[key] = outcome
            if progress is not None:
                progress(Progress(planned, len(outcomes), failed, key, outcome))

        def is_open(key: str) -> bool:
            """Whether no other process has finished a cell in the meantime."""
            outcome = store.outcomes([key]).get(key) if config.resume else None
            if outcome is None or not outcome.is_score:
                return True
            take(key, outcome)
            return False

        if progress is not None:
            progress(Progress(planned, len(outcomes)))
        cells = ((key, job) for key, job in pending.items() if is_open(key))
        datasets = {job.dataset: planned.datasets[job.dataset] for job in pending.values()}
        common: Any = {"threads": config.threads, "limits": limits}
        if scheduler is None or not pending:
            fitted = fit_here(cells, datasets, planned.allowed, n_slots=n_slots, **common)
        else:
            fitted = fit_on_cluster(cells, datasets, planned.allowed, scheduler=scheduler, **common)
        with closing(fitted):
            for key, outcome in fitted:
                store.put(pending[key], outcome)
                recorder.fitted += 1
                failed += outcome.error is not None
                take(key, outcome)
    return run_of(config, recorder.record, outcomes)


def merge(config: Config, paths: str | Path | Iterable[str | Path]) -> int:
    """Copy the finished cells of other stores into the store of a config, where it does not have them.

    Parameters
    ----------
    config : Config
    paths : str, Path or iterable of them
        Stores, or folders that hold one, such as the ``results_dir`` of a run on another machine.  They are
        only read.

    Returns
    -------
    int
        How many cells were copied.

    Raises
    ------
    ConfigError
        If there is no store, it is not in order, or it holds what no cell can be; of that nothing is copied.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    with Store(config.store_path) as store:
        return sum(store.merge(Path(path)) for path in paths)
