"""XGBoost callbacks: change parameters during training, and record a learning curve."""

from __future__ import annotations

from typing import Any

from xgboost.callback import EarlyStopping, TrainingCallback

from .learning_curve import LearningCurve, Schedule


class ScheduledParameters(TrainingCallback):
    """Set parameters of the booster by a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Set what changes before this round; never stops training."""
        changes = self.schedule.changes(epoch)
        if changes:
            model.set_param(changes)
        return False


class CurveRecorder(TrainingCallback):
    """Record the last metric of the last evaluation set."""

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Record the loss of this round; returns whether to stop."""
        metrics = list(evals_log.values())[-1]
        return self.curve.record(list(metrics.values())[-1][-1])


def stops_early(callbacks: Any) -> bool:
    """Whether one of the callbacks is early stopping."""
    return any(isinstance(callback, EarlyStopping) for callback in callbacks or ())
