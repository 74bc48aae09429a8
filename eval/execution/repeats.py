"""How many repeats a planned run needs to show differences between models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..config.run import Config
from ..datasets.dataset import Dataset
from ..statistics.power import MIN_REPEATS, repeats_needed
from .plan import Plan

DIFFERENCES = (0.01, 0.02, 0.05)
DISAGREEMENT = 0.1  # share of test rows on which one of two models is right and the other wrong, if unknown


@dataclass(frozen=True)
class RepeatsNeeded:
    """Repeats that show differences between two models on a data set.

    Attributes
    ----------
    dataset : str
    test_rows : int
    sd : float
        Standard deviation of the difference of two models over repeats.
    known_from : {"store", "assumption"}
        Earlier cells, or a tenth of test rows on which only one of two models is right.
    repeats : dict of float to int or None
        Number of repeats by difference; None if 1,000 are too few.
    """

    dataset: str
    test_rows: int
    sd: float
    known_from: Literal["store", "assumption"]
    repeats: dict[float, int | None]


def repeats_by_dataset(plan: Plan) -> list[RepeatsNeeded]:
    """The repeats that a corrected resampled t-test needs on each data set whose repeats differ in test rows.

    The probability to show a difference is 80 % at α = 5 %, on one data set, without correction for multiple
    tests; see `smallest_difference`.
    """
    config = plan.config
    known = _spread(plan)
    found = []
    for name, dataset in plan.datasets.items():
        if dataset.is_test is not None:  # more repeats have no other test rows
            continue
        test_rows = max(1, round(config.resampled_fraction * dataset.y.size))
        sd = known.get(name) or math.sqrt(DISAGREEMENT / test_rows)
        repeats = {
            difference: repeats_needed(sd, difference, _share(config, dataset)) for difference in DIFFERENCES
        }
        found.append(RepeatsNeeded(name, test_rows, sd, "store" if name in known else "assumption", repeats))
    return found


def _share(config: Config, dataset: Dataset) -> float:
    """Share of test rows in those of a repeat."""
    n = dataset.y.size
    n_test = config.resampled_fraction * n
    n_train = n - n_test if dataset.train_rows is None else min(dataset.train_rows, n - n_test)
    return n_test / (n_test + n_train)


def _spread(plan: Plan) -> dict[str, float]:
    """Standard deviation of the differences of two models over the finished repeats of each data set."""
    metric = plan.config.metric
    records = [
        (job.dataset, job.noise_kind, float(job.noise_rate), job.repeat, job.model.name, score)
        for key, job in zip(plan.keys, plan.jobs, strict=True)
        if key in plan.stored and (score := plan.stored[key].scores.get(metric)) is not None
    ]
    cells = pd.DataFrame(records, columns=["dataset", "kind", "rate", "repeat", "model", "score"])
    variances: dict[str, list[float]] = {}
    for (name, *_), part in cells.groupby(["dataset", "kind", "rate"], sort=False):
        wide = part.pivot(index="repeat", columns="model", values="score").dropna()
        if len(wide) >= MIN_REPEATS and wide.shape[1] > 1:
            # The mean variance of a difference, over all pairs of models.
            covariance = np.cov(wide.to_numpy(), rowvar=False)
            k = len(covariance)
            mean = 2 * (k * np.trace(covariance) - covariance.sum()) / (k * (k - 1))
            variances.setdefault(str(name), []).append(float(mean))
    return {name: math.sqrt(np.mean(of_set)) for name, of_set in variances.items() if np.mean(of_set) > 0}
