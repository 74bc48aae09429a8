"""What the command noisyeval costs beside the fits themselves; README.md here says how to read it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Self

import click
import joblib
import numpy as np
import pandas as pd
import psutil
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

HERE = Path(__file__).resolve()
STUDY = HERE.parent.parent / "configs" / "depth6trees50.json"
COMMAND = Path(sys.executable).with_name("noisyeval")
MB = 1e6

Record = dict[str, Any]


class Watched(ClassifierMixin, BaseEstimator):
    """An estimator that tells for each fit its CPU seconds, and the memory of its process alone."""

    def __init__(self, estimator: Any = None, log: str = "") -> None:
        self.estimator = estimator
        self.log = log

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the estimator, or one that does nothing."""
        start = time.process_time()
        self.fitted_ = (DummyClassifier() if self.estimator is None else self.estimator).fit(X, y)
        self.fit_seconds_ = time.process_time() - start
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict, and tell."""
        start = time.process_time()
        predicted = np.asarray(self.fitted_.predict(X))
        seconds = self.fit_seconds_ + time.process_time() - start
        memory = psutil.Process().memory_info()
        with Path(self.log).open("a") as file:
            file.write(f"{os.getpid()} {seconds} {(memory.rss - getattr(memory, 'shared', 0)) / MB}\n")
        return predicted


def watched(name: str, log: Path, estimator: Record | None = None) -> Record:
    """A model of a config."""
    params = {"log": str(log)} | ({"estimator": estimator} if estimator else {})
    return {"name": name, "module": HERE.stem, "model": "Watched", "params": params}


def seconds_of(config: Path, *options: str) -> float:
    """Wall time of the whole command."""
    start = time.perf_counter()
    subprocess.run(  # noqa: S603 - our own command
        [COMMAND, config, *options],
        cwd=HERE.parent,
        env=os.environ | {"BOOSTNOISE_CACHE": str(config.parent / "cache")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def measure(name: str, content: Record, log: Path, jobs: int, rounds: int) -> Record:
    """Run a config once with all to do, and then with nothing left to do."""
    config = log.with_name(f"{name}.json")
    config.write_text(json.dumps(content))
    options = ["--allow-module", HERE.stem, "--jobs", str(jobs)]
    seconds = seconds_of(config, *options)
    again = [seconds_of(config, *options) for _ in range(rounds)]
    redrawn = [seconds_of(log.with_name("results") / name, "--redraw") for _ in range(rounds)]
    told = [line.split() for line in log.read_text().splitlines()]
    cpu = sum(float(spent) for _, spent, _ in told)
    record = {
        "name": name,
        "cells": len(told),
        "jobs": jobs,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "ratio": seconds * jobs / cpu,
        "own_ms": 1000 * (seconds * jobs - cpu) / len(told),
        "again_seconds": again,
        "redraw_seconds": redrawn,
    }
    print(f"{name}: {len(told)} cells, {jobs} side by side")  # noqa: T201
    print(f"  {seconds:.1f} s; {cpu:.1f} CPU seconds of fit and predict, ratio {record['ratio']:.3f}")  # noqa: T201
    print(f"  {record['own_ms']:.1f} ms beside them per cell")  # noqa: T201
    print(f"  {median(again):.2f} s with nothing left to do")  # noqa: T201
    print(f"  {median(redrawn):.2f} s to write all files again")  # noqa: T201
    for share in (0.1, 1.0):
        some = told[: math.ceil(share * len(told))]
        record[f"mb_after_{len(some)}"] = most = max(float(mb) for _, _, mb in some)
        print(f"  {most:.0f} MB at most in a process in the first {len(some)} cells")  # noqa: T201
    return record


@click.command()
@click.argument("what", type=click.Choice(["study", "cells"]))
@click.option("--jobs", default=joblib.cpu_count(), show_default="all cores", help="Cells side by side.")
@click.option("--cells", default=2000, show_default=True, help="For cells: how many.")
@click.option("--rounds", default=3, show_default=True, help="Runs with nothing left to do.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="File for all numbers."
)
def main(what: str, jobs: int, cells: int, rounds: int, json_file: Path | None) -> None:
    """Measure a run of the 2020 study's config, or of many cells that take no time."""
    if what == "study" and "BOOSTNOISE_DATA" not in os.environ:
        raise click.UsageError("study needs the environment variable BOOSTNOISE_DATA: the folder of data")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "log"
        if what == "study":
            content = json.loads(STUDY.read_text())
            data = Path(os.environ["BOOSTNOISE_DATA"]) / "data" / "boosting_with_label_noise"
            models = [
                watched(model["name"], log, {key: model[key] for key in ("module", "model", "params")})
                for model in content["models"]
            ]
            content |= {"data_dir": str(data), "results_dir": str(folder / "results"), "models": models}
        else:
            random = np.random.default_rng(0)
            X = random.normal(size=(1000, 20))
            table = pd.DataFrame(X).assign(label=X[:, 0] > 0)
            table.to_csv(folder / "data.csv", index=False)
            content = {
                "datasets": [{"path": str(folder / "data.csv"), "target": "label"}],
                "models": [watched("nothing", log)],
                "noise": [{"kind": "uniform", "rates": [0.0, 0.2]}],
                "repeats": cells // 2,
                "results_dir": str(folder / "results"),
            }
        record = measure(what, content, log, jobs, rounds)
    if json_file:
        json_file.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
