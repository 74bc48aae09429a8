"""Verify a bundle: fit some of its cells again and compare the scores."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._numbers import check_fraction
from .._wording import counted, is_or_are, joined, listed, numbered
from ..config.run import Config, parse_config
from ..errors import ConfigError
from ..execution.jobs import Job
from ..execution.local_pool import fit_locally, worker_count
from ..execution.plan import Plan, plan
from ..execution.run_record import Session
from ..execution.worker_handle import Limits
from ..metrics.outcome import Outcome
from .bundle import Bundle, read_bundle

SHARE = 0.1  # of the cells
TOLERANCE = 1e-6  # of scores; sums may differ in the last digits between processors
TIMES = ("fit_seconds", "predict_seconds")  # differ from run to run


@dataclass(frozen=True, eq=False)
class Verification:
    """Result of `verify_bundle`.  Printed, it says whether the scores could be reproduced.

    Attributes
    ----------
    name : str
        Name of the run.
    n_cells : int
        Number of cells with scores in the bundle.
    cells : DataFrame
        One row per cell fitted again: ``dataset``, ``noise_kind``, ``noise_rate``, ``repeat``, ``model``,
        ``measure``, the score that differs most, or the accuracy if none does; ``bundled``, ``here``, its
        values; ``is_same``; ``error``, of a cell that failed here.
    random_state : int
        Seed of the draw of the cells.
    other_data : tuple of str
        Data sets whose rows, labels or splits differ here, none of whose cells was fitted.
    versions : dict of str to tuple of str
        Versions of packages that differ: in the bundle, and here.
    session : Session or None
        The last session of the run in the bundle, with its versions and hardware.
    """

    name: str
    n_cells: int
    cells: pd.DataFrame
    random_state: int
    other_data: tuple[str, ...]
    versions: dict[str, tuple[str, str]]
    session: Session | None

    @property
    def is_verified(self) -> bool:
        """Whether all data sets are the same, and all cells that were fitted again have the same scores."""
        return not self.other_data and bool(self.cells["is_same"].all())

    def __str__(self) -> str:
        n, n_same = len(self.cells), int(self.cells["is_same"].sum())
        lines = [
            f"{self.name}: fitted {n} of {numbered(self.n_cells, 'cell')} again (random state "
            f"{self.random_state}); {n_same} {is_or_are(n_same)} as in the bundle."
        ]
        if self.other_data:
            differ = "differs" if len(self.other_data) == 1 else "differ"
            lines.append(
                f"{counted(len(self.other_data), 'data set').capitalize()} {differ} from those of the bundle, "
                f"and {is_or_are(len(self.other_data))} not verified: {joined(self.other_data)}."
            )
        if self.session is not None:
            made = self.session
            cores = "" if made.cores is None else f", {numbered(made.cores, 'core')}"
            found = [f"{name} {theirs} (here {own})" for name, (theirs, own) in self.versions.items()]
            with_others = f", with {listed(found)}" if found else ""
            lines.append(
                f"Its last session began {made.started} under Python {made.python} on {made.system} "
                f"{made.processor}{cores}{with_others}."
            )
        others = self.cells[~self.cells["is_same"]]
        if len(others):
            shown = others.drop(columns="is_same").dropna(axis=1, how="all")
            lines.append(shown.to_string(index=False, float_format="{:.6g}".format))
        return "\n".join(lines)


def verify_bundle(
    path: str | Path,
    *,
    share: float = SHARE,
    random_state: int | None = None,
    n_jobs: int = -1,
    allow_modules: Collection[str] = (),
    progress: Callable[[str], object] | None = None,
) -> Verification:
    """Fit a random part of the cells of a bundle again and compare the scores.

    The bundle may come from a stranger: its config may do what any config may, and its data files must lie
    below the working directory.  Nothing is written.  Scores are the same if they differ by at most 1e-6; times
    are not compared.

    Parameters
    ----------
    path : str or Path
        A file of `write_bundle`.
    share : float, default=0.1
        Share of the cells, above 0 and at most 1; at least one cell.
    random_state : int or None, default=None
        Seed of the draw; None for another draw each time, which who made the bundle cannot foresee.
    n_jobs : int, default=-1
        Maximum number of cells fitted in parallel; -1 for as many as the cores allow.
    allow_modules : collection of str, default=()
        Additional packages that models may come from.  Their code is executed.
    progress : callable or None, default=None
        Called with a line of text before the first fit, and after each tenth of them.

    Returns
    -------
    Verification

    Raises
    ------
    ConfigError
        If the file is no bundle, a data set is missing, a model is not installed or not allowed, or there is
        nothing to compare.
    ValueError
        If `share` is not above 0 and at most 1.
    """
    if share != 1:
        check_fraction("share", share)
    bundle = read_bundle(path)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if random_state is None else random_state
    with tempfile.TemporaryDirectory() as folder:
        # An empty folder for results, so that no stored cell stands for a fitted one.
        config = parse_config({**bundle.record.config, "results_dir": folder}, bundle.name)
        bundle.record.check_cells(config)
        planned = plan(config.without_missing(), allow_modules=allow_modules)
    jobs, other_data = _same_cells(bundle, planned)
    if not jobs:
        why = f"{joined(other_data)} {'differs' if len(other_data) == 1 else 'differ'}" if other_data else ""
        raise ConfigError(f"{path} has no cell with scores that can be fitted here{why and f': {why}'}")
    rng = np.random.default_rng(seed)
    drawn = [jobs[i] for i in sorted(rng.permutation(len(jobs))[: math.ceil(share * len(jobs))])]
    found = _fit(drawn, config, planned, n_jobs, progress)
    records = [_compared(job, bundle.outcomes[key], found[i]) for i, (key, job) in enumerate(drawn)]
    return Verification(
        bundle.name,
        sum(outcome.is_score for outcome in bundle.outcomes.values()),
        pd.DataFrame(records),
        seed,
        other_data,
        _differing_versions(bundle, [job for _, job in drawn]),
        bundle.record.sessions[-1] if bundle.record.sessions else None,
    )


def _same_cells(bundle: Bundle, planned: Plan) -> tuple[list[tuple[str, Job]], tuple[str, ...]]:
    """Cells with scores that have the same data, split, noise and seed here, and data sets that differ."""
    here = {_place(job): job for job in planned.jobs}
    jobs, differing = [], dict[str, None]()
    for cell in bundle.record.cells:
        place = cell.dataset, cell.noise_kind, cell.noise_rate, cell.repeat, cell.model
        job, outcome = here.get(place), bundle.outcomes.get(cell.key)
        if job is None or outcome is None or not outcome.is_score:
            continue
        if job.setting == cell.setting:
            jobs.append((cell.key, job))
        else:
            differing[cell.dataset] = None
    return jobs, tuple(differing)


def _place(job: Job) -> tuple[Any, ...]:
    return job.dataset, job.noise_kind, float(job.noise_rate), job.repeat, job.model.name


def _fit(
    drawn: list[tuple[str, Job]],
    config: Config,
    planned: Plan,
    n_jobs: int,
    progress: Callable[[str], object] | None,
) -> dict[int, Outcome]:
    """Outcomes of the cells, by their places in the list."""
    datasets = {job.dataset: planned.datasets[job.dataset] for _, job in drawn}
    cells = ((str(i), job) for i, (_, job) in enumerate(drawn))
    n_workers = min(worker_count(n_jobs, config.threads), len(drawn))
    limits = Limits(config.time_limit, config.memory_limit)
    found: dict[int, Outcome] = {}
    step = math.ceil(len(drawn) / 10)
    with closing(
        fit_locally(cells, datasets, n_workers=n_workers, threads=config.threads, limits=limits)
    ) as fitted:
        for key, outcome in fitted:
            if progress is not None and len(found) % step == 0:
                progress(f"{len(found)} of {numbered(len(drawn), 'cell')} fitted again")
            found[int(key)] = outcome
    return found


def _compared(job: Job, bundled: Outcome, here: Outcome) -> dict[str, Any]:
    """Row of `Verification.cells`."""
    names = dict(zip(("dataset", "noise_kind", "noise_rate", "repeat", "model"), _place(job), strict=True))
    distances = {
        name: _distance(value, here.scores.get(name))
        for name, value in bundled.scores.items()
        if name not in TIMES
    }
    worst = max(distances, key=lambda name: distances[name])
    worst = worst if distances[worst] > TOLERANCE else "accuracy"
    return names | {
        "measure": worst,
        "bundled": bundled.scores[worst],
        "here": here.scores.get(worst),
        "is_same": here.is_score and distances[worst] <= TOLERANCE,
        "error": here.error,
    }


def _distance(one: float | None, other: float | None) -> float:
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    return abs(one - other)


def _differing_versions(bundle: Bundle, jobs: list[Job]) -> dict[str, tuple[str, str]]:
    """Packages of the models whose versions differ from those of the last session of the bundle."""
    here = dict(version for job in jobs for version in job.model.versions)
    theirs = bundle.record.sessions[-1].versions if bundle.record.sessions else {}
    return {
        name: (theirs[name], version)
        for name, version in here.items()
        if name in theirs and theirs[name] != version
    }
