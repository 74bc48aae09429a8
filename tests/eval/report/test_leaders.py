import pytest

from boostnoise.eval.execution.plan import Progress, plan
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.metrics.robustness import ela
from boostnoise.eval.report.leaders import Leaders


@pytest.fixture
def planned(small_config):
    models = ["adaboost", "gbm", "xgboost", {"name": "gbm again", "model": "gbm"}]
    noise = [{"kind": "uniform", "rates": [0.0, 0.2, 0.4]}, {"kind": "pair_flip", "rates": [0.2]}]
    return plan(small_config(datasets=["iris", "wine"], models=models, noise=noise))


def keys(planned, model=None, **wanted):
    """Keys of the cells whose jobs have these attributes, of one model or all."""
    return [
        key
        for key, job in zip(planned.keys, planned.jobs, strict=True)
        if model in (None, job.model.name)
        and all(getattr(job, name) == value for name, value in wanted.items())
    ]


def add(leaders, keys, accuracy):
    for key in keys:
        leaders.add(key, Outcome({"accuracy": accuracy}))


def test_there_is_none_before_a_cell_is_finished_with_and_without_noise(planned):
    leaders = Leaders(Progress(planned, 0))
    assert leaders.best() == []
    add(leaders, keys(planned, noise_rate=0.2), 0.5)
    assert leaders.best() == []


def test_only_cells_that_all_have_finished_count(planned):
    leaders = Leaders(Progress(planned, 0))
    iris = {"dataset": "iris", "repeat": 0}
    for model, accuracy in (("adaboost", 0.9), ("gbm", 0.8), ("xgboost", 0.5)):
        add(leaders, keys(planned, **iris, model=model, noise_rate=0.0), accuracy)
    # On the other data set, only one has begun, and it does badly there: no reason to fall behind.
    add(leaders, keys(planned, dataset="wine", model="adaboost"), 0.1)
    best = leaders.best()
    assert [model for model, _ in best] == ["adaboost", "gbm", "gbm again"]
    assert [loss for _, loss in best] == pytest.approx([float(ela(a, a)) for a in (0.9, 0.8, 0.8)])
    # The mean is over all common cells.
    for model, accuracy in (("adaboost", 0.3), ("gbm", 0.7), ("xgboost", 0.5)):
        add(leaders, keys(planned, **iris, model=model, noise_rate=0.4), accuracy)
    assert leaders.best(2) == [
        ("gbm", pytest.approx((2 * 0.2 / 0.8 + 0.3 / 0.8) / 3)),  # the cell without noise belongs to both kinds
        ("gbm again", pytest.approx((2 * 0.2 / 0.8 + 0.3 / 0.8) / 3)),
    ]


def test_a_model_that_fails_does_not_hold_up_the_others(planned):
    leaders = Leaders(Progress(planned, 0))
    for key in keys(planned, model="xgboost"):
        leaders.add(key, Outcome(error="no"))
    add(leaders, [key for m in ("adaboost", "gbm") for key in keys(planned, model=m)], 0.8)
    assert [model for model, _ in leaders.best()] == ["adaboost", "gbm", "gbm again"]


def test_cells_of_earlier_runs_count(planned):
    from dataclasses import replace

    stored = {key: Outcome({"accuracy": 0.8}) for key in planned.keys}
    assert len(Leaders(Progress(replace(planned, stored=stored), 0)).best(9)) == 4
