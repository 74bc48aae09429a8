"""Leading models of a run in progress."""

from __future__ import annotations

import numpy as np

from ..execution.plan import Progress
from ..metrics.outcome import Outcome
from ..metrics.robustness import ela


class Leaders:
    """Rank the models of a run by mean ELA over the cells that all of them have finished.

    Models without any ELA yet, such as one that always fails, are ignored.

    Parameters
    ----------
    progress : Progress
        The first progress event of the run.
    """

    def __init__(self, progress: Progress) -> None:
        plan = progress.plan
        self._models = [model.name for model in plan.config.models]
        columns = {name: column for column, name in enumerate(self._models)}
        rows: dict[tuple[object, ...], int] = {}  # cells without the model
        baselines: dict[tuple[object, ...], int] = {}  # the row without noise, for A_0
        self._places: dict[str, list[tuple[int, int]]] = {}
        baseline_of = {}
        for key, job in zip(plan.keys, plan.jobs, strict=True):
            group = (job.dataset, job.noise_kind, job.repeat)
            row = rows.setdefault((*group, job.noise_rate), len(rows))
            if job.noise_rate == 0:
                baselines[group] = row
            baseline_of[row] = group
            self._places.setdefault(key, []).append((row, columns[job.model.name]))
        # -1 where there are no cells without noise, because true labels are unknown.
        self._baseline = np.array([baselines.get(baseline_of[row], -1) for row in range(len(rows))])
        self._accuracy = np.full((len(rows), len(self._models)), np.nan)
        for key, outcome in plan.finished.items():
            self.add(key, outcome)

    def add(self, key: str, outcome: Outcome) -> None:
        """Add the outcome of a cell."""
        accuracy = outcome.scores.get("accuracy")
        if outcome.is_score and accuracy is not None:
            for place in self._places[key]:
                self._accuracy[place] = accuracy

    def best(self, n: int = 3) -> list[tuple[str, float]]:
        """The n best models at most, best first, with their mean ELA."""
        baseline = np.where(self._baseline[:, None] < 0, np.nan, self._accuracy[self._baseline])
        losses = ela(self._accuracy, baseline)
        (ranked,) = np.nonzero(np.isfinite(losses).any(axis=0))
        common = np.isfinite(losses[:, ranked]).all(axis=1)
        if not common.any():
            return []
        means = losses[np.ix_(common, ranked)].mean(axis=0)
        order = np.argsort(means, kind="stable")[:n]
        return [(self._models[ranked[i]], float(means[i])) for i in order]
