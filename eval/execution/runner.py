"""Runner: fits the cells that the store does not have yet, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from ..config.run import Config
from ..metrics.outcome import Outcome
from .claims import Claims
from .dask_cluster import check_scheduler, fit_on_cluster
from .jobs import Job
from .local_pool import check_n_jobs, fit_locally, worker_count
from .open_cells import OpenCells
from .plan import Progress, plan
from .run import Run, make_run
from .run_record import Recorder
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
    """Run a config: fit every cell that its store does not have yet, and that no other process is fitting.

    Parameters
    ----------
    config : Config
    n_jobs : int, default=-1
        Maximum number of cells fitted in parallel; -1 for as many as the cores allow.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.  Its cluster fits the cells instead of
        this machine, and `n_jobs` is ignored.  Only this process writes the store.
    allow_modules : collection of str, default=()
        Additional packages that models may come from.  Their code is executed.
    progress : callable or None, default=None
        Called at the start and after each cell with a `Progress`, whose ``done``, ``failed``, ``cached`` and
        ``total`` count cells, and whose ``job`` and ``outcome`` belong to the cell finished last.

    Returns
    -------
    Run
        Its ``scores`` have one row per cell, in the order of the config: dataset, noise_kind, noise_rate,
        realised_rate, repeat, model, one column per measure, and error.  `load_run` returns the same later.

    Raises
    ------
    ConfigError
        Before any fit, if a data set, a model or the store cannot be used.

    Warns
    -----
    UserWarning
        If other processes are fitting the last cells, or the store is moved or deleted during the run.
    """
    # Checked even if no cell is left to fit.
    check_n_jobs(n_jobs)
    check_scheduler(scheduler)
    run_plan = plan(config, allow_modules=allow_modules)
    pending = run_plan.pending
    n_workers = worker_count(n_jobs, config.threads) if pending and scheduler is None else 0
    datasets = {job.dataset: run_plan.datasets[job.dataset] for job in pending.values()}
    common: Any = {"threads": config.threads, "limits": Limits(config.time_limit, config.memory_limit)}

    def fit(cells: Iterable[tuple[str, Job]]) -> Generator[tuple[str, Outcome], None, None]:
        if scheduler is None:
            return fit_locally(cells, datasets, n_workers=n_workers, **common)
        return fit_on_cluster(cells, datasets, scheduler=scheduler, **common)

    with (
        Store(config.store_path) as store,
        Recorder(store, run_plan, on_cluster=scheduler is not None) as recorder,
        Claims(config.store_path) as claims,
        OpenCells(run_plan, store, recorder, claims, progress) as cells,
    ):
        for claimed in cells.passes():
            with closing(fit(claimed)) as fitted:
                for key, outcome in fitted:
                    cells.put(key, outcome)
    return make_run(config, recorder.record, cells.outcomes)


def merge(config: Config, paths: str | Path | Iterable[str | Path]) -> int:
    """Copy finished cells of other stores into the store of a config, unless it already has them.

    Parameters
    ----------
    config : Config
    paths : str, Path or iterable of them
        Stores, or folders with a store, such as the ``results_dir`` of a run on another machine.  They are only
        read.

    Returns
    -------
    int
        Number of copied cells.

    Raises
    ------
    ConfigError
        If a store is missing, damaged or has an invalid cell.  Nothing is copied from such a store.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    with Store(config.store_path) as store:
        return sum(store.merge(Path(path)) for path in paths)
