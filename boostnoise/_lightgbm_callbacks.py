"""LightGBM callbacks: change parameters during training, record a learning curve, and count trees."""

from __future__ import annotations

from typing import Any

from lightgbm import Booster
from lightgbm.callback import CallbackEnv, EarlyStopException, early_stopping

from .learning_curve import LearningCurve, Schedule


class ScheduledParameters:
    """Set parameters of the booster by a schedule."""

    before_iteration = True
    order = 10  # as `lightgbm.reset_parameter`

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def __call__(self, env: CallbackEnv) -> None:
        changes = self.schedule.changes(env.iteration - env.begin_iteration)
        model: Any = env.model
        if changes:
            model.reset_parameter(changes)


class CurveRecorder:
    """Record the last metric of the last evaluation set."""

    before_iteration = False
    order = 30  # as `lightgbm.early_stopping`

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list or []
        if self.curve.record(results[-1][2]):
            raise EarlyStopException(env.iteration, results)


class TreeCounter:
    """Count the trees per class after each round: a round that finds no split adds none."""

    before_iteration = False
    order = 0  # before `lightgbm.early_stopping`, which ends the round

    def __init__(self) -> None:
        self.n_trees: dict[int, int] = {}  # by the number of rounds

    def __call__(self, env: CallbackEnv) -> None:
        model: Any = env.model
        self.n_trees[env.iteration + 1] = model.current_iteration()

    def drop_trees_after_the_best(self, booster: Booster) -> None:
        """Drop the trees after the best round, whose number LightGBM takes for the number of its trees."""
        n_trees = self.n_trees.get(booster.best_iteration)  # None for DART, which does not stop
        if n_trees is not None and n_trees != booster.best_iteration:
            booster.model_from_string(booster.model_to_string(num_iteration=n_trees))
            booster.best_iteration = n_trees


def stops_early(callbacks: Any) -> bool:
    """Whether one of the callbacks is early stopping."""
    cls = type(early_stopping(1, verbose=False))
    return any(isinstance(callback, cls) for callback in callbacks or ())
