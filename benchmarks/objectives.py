"""Time of training with robust objectives, relative to built-in ones; README.md here says how to read it."""

from __future__ import annotations

import gc
import json
import os
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import lightgbm
import numpy as np
import xgboost
from _cells import comma_separated
from numpy.typing import NDArray

from boostnoise import lightgbm_objective, xgboost_objective

# Rows and classes; all have the same number of columns.
SETS = {"binary": (200_000, 2), "multiclass": (100_000, 10)}
N_COLUMNS = 30
NOISE_RATE = 0.2
SEED = 0
OWN = "built-in"
LIBRARIES = ("xgboost", "lightgbm")

Record = dict[str, Any]
Derivatives = tuple[NDArray[np.float32], NDArray[np.float32]]


class Timed:
    """An objective, and the seconds that it has taken."""

    def __init__(self, objective: Any) -> None:
        self.objective = objective
        self.seconds = 0.0

    def __call__(self, margin: NDArray[Any], rows: Any) -> Derivatives:
        """Gradient and curvature."""
        begin = perf_counter()
        derivatives: Derivatives = self.objective(margin, rows)
        self.seconds += perf_counter() - begin
        return derivatives

    def __deepcopy__(self, _: Any) -> Timed:  # LightGBM copies its parameters
        return self


class Contest:
    """A library on a data set, which it has read and binned before anything is timed."""

    def __init__(self, library: str, X: NDArray[np.float32], y: NDArray[np.int64], threads: int) -> None:
        self.n_classes = int(y.max()) + 1
        several = {} if self.n_classes == 2 else {"num_class": self.n_classes}
        self.rows: Any
        if library == "xgboost":
            own = "binary:logistic" if self.n_classes == 2 else "multi:softprob"
            # The intercept is given to all, so that none has to estimate it and all grow from the same.
            start = xgboost_objective("ce").base_score(y)
            self.parameters: Record = {"objective": own, "nthread": threads, "base_score": start, **several}
            self.rows = xgboost.QuantileDMatrix(X, y, nthread=threads)
        else:
            own = "binary" if self.n_classes == 2 else "multiclass"
            self.parameters = {
                "objective": own,
                "num_threads": threads,
                "verbose": -1,
                "metric": "None",
                **several,
            }
            start = lightgbm_objective("ce").init_score(y)
            self.rows = lightgbm.Dataset(X, y, init_score=start, params=self.parameters).construct()
        self.library = library

    def objective(self, loss: str) -> Any:
        """A loss as the library calls it, None for its own objective."""
        make = xgboost_objective if self.library == "xgboost" else lightgbm_objective
        return None if loss == OWN else Timed(make(loss, n_classes=self.n_classes))

    def seconds(self, objective: Any, iterations: int) -> float:
        """How long it takes to train."""
        gc.collect()
        begin = perf_counter()
        if self.library == "xgboost":
            xgboost.train(self.parameters, self.rows, iterations, obj=objective)
        else:
            own = {} if objective is None else {"objective": objective}
            lightgbm.train(self.parameters | own, self.rows, iterations)
        return perf_counter() - begin


def synthetic(rows: int, classes: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Normal features, labels from a linear model with noise, of which some are then wrong."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(rows, N_COLUMNS)).astype(np.float32)
    scores = X @ rng.normal(size=(N_COLUMNS, classes)) + rng.gumbel(size=(rows, classes))
    y = scores.argmax(axis=1)
    wrong = rng.random(rows) < NOISE_RATE
    y[wrong] = (y[wrong] + rng.integers(1, classes, size=wrong.sum())) % classes
    return X, y


def spread(name: str, values: list[float]) -> Record:
    """Median and quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75]).tolist()
    return {name: middle, f"{name}_q1": low, f"{name}_q3": high}


@click.command(context_settings={"max_content_width": 120, "show_default": True})
@click.option(
    "--losses", default="ce,gce", callback=comma_separated(), metavar="NAME,...", help="Losses, by their names."
)
@click.option(
    "--libraries", default="xgboost,lightgbm", callback=comma_separated(LIBRARIES), metavar="NAME,..."
)
@click.option("--sets", default="binary,multiclass", callback=comma_separated(SETS), metavar="NAME,...")
@click.option("--rounds", type=click.IntRange(min=1), default=5, help="How often everything is timed.")
@click.option("--iterations", type=click.IntRange(min=1), default=50, help="Rounds of boosting.")
@click.option("--threads", type=click.IntRange(min=1), default=2, help="Threads of the libraries.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="File for all numbers."
)
def main(
    losses: list[str],
    libraries: list[str],
    sets: list[str],
    rounds: int,
    iterations: int,
    threads: int,
    json_file: Path | None,
) -> None:
    """Seconds of training with robust objectives, relative to the library's own."""
    records: list[Record] = []
    for name, library in product(sets, libraries):
        contest = Contest(library, *synthetic(*SETS[name]), threads)
        objectives = {loss: contest.objective(loss) for loss in (OWN, *losses)}
        taken: dict[str, list[float]] = {contender: [] for contender in objectives}
        computing: dict[str, list[float]] = {loss: [] for loss in losses}
        for objective in objectives.values():
            contest.seconds(objective, 2)
        for _ in range(rounds):
            for contender, objective in objectives.items():
                before = 0.0 if objective is None else objective.seconds
                taken[contender].append(contest.seconds(objective, iterations))
                if objective is not None:
                    computing[contender].append(objective.seconds - before)
        for loss in losses:
            ratios = np.divide(taken[loss], taken[OWN]).tolist()
            record = {"set": name, "library": library, "loss": loss, **spread("seconds", taken[loss])}
            record |= {**spread("own_seconds", taken[OWN]), **spread("ratio", ratios), "ratios": ratios}
            record |= spread("share", np.divide(computing[loss], taken[OWN]).tolist())
            records.append(record)
            told = f"{record['seconds']:.2f} s, own {record['own_seconds']:.2f} s"
            quartiles = f"{record['ratio_q1']:.3f} to {record['ratio_q3']:.3f}"
            ratio = f"ratio {record['ratio']:.3f} ({quartiles}), objective {record['share']:.3f}"
            click.echo(f"{name:<11}{library:<9}{loss:<16}{told}, {ratio}")
    if json_file:
        versions = {of: version(of) for of in ("boostnoise", "lightgbm", "numpy", "scipy", "xgboost")}
        about = {"rounds": rounds, "iterations": iterations, "threads": threads, "cores": os.cpu_count()}
        json_file.write_text(json.dumps(about | {"versions": versions, "records": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
