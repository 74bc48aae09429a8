import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from boostnoise.eval.execution import forecast as module
from boostnoise.eval.execution.forecast import Forecast, Pair, forecast
from boostnoise.eval.execution.plan import plan
from boostnoise.eval.execution.runner import run
from boostnoise.eval.execution.shared_data import open_shared
from boostnoise.eval.execution.store import Store
from boostnoise.eval.execution.worker_handle import DIED, TOO_LONG
from boostnoise.eval.metrics.outcome import Outcome
from boostnoise.eval.report.forecast_text import duration, forecast_table, summary_line

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAD = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}


@pytest.fixture
def fit_by(monkeypatch):
    """Let a function of a job and a data set stand in for the process that makes trials."""

    def fit_by(function):
        class FakeWorker:
            def __init__(self, shared, threads, limits):
                self.datasets, self.limits = open_shared(shared.fileno(), shared.layout), limits

            def fit(self, key, job):
                seconds = function(job, self.datasets[job.dataset])
                if seconds > self.limits.seconds:
                    return Outcome(error=f"{TOO_LONG} of {self.limits.seconds:g} s")
                return Outcome({"accuracy": 0.5, "fit_seconds": seconds, "predict_seconds": 0.0})

            def kill(self):
                pass

        monkeypatch.setattr(module, "WorkerHandle", FakeWorker)

    return fit_by


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Models of a user's own module."""
    (tmp_path / "forecast_models.py").write_text(
        """
import os, time
from sklearn.tree import DecisionTreeClassifier

class Sleeps(DecisionTreeClassifier):
    def fit(self, X, y):
        time.sleep(60)

class Exits(DecisionTreeClassifier):
    def fit(self, X, y):
        os._exit(3)
"""
    )
    monkeypatch.syspath_prepend(tmp_path)
    return [{"name": name, "module": "forecast_models", "model": name} for name in ("Sleeps", "Exits")]


def text(what):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_times_of_earlier_cells_are_used(small_config, monkeypatch):
    monkeypatch.setattr(module, "_fit", None)  # no trial is made
    config = small_config()
    with Store(config.store_path) as store:
        for key, seconds in zip(plan(config).cells, (10.0, 20.0), strict=False):
            store.put(
                plan(config).cells[key],
                Outcome({"accuracy": 0.5, "fit_seconds": seconds, "predict_seconds": 1.0}),
            )
    foretold = forecast(plan(config), 2)
    assert foretold.pairs == [Pair("iris", "tree", 4, 2, 0, 2, seconds=16.0, known_from="store")]
    assert foretold.seconds == 16.0  # two cells side by side
    line = summary_line(foretold, "run")
    assert line == (
        "run: 4 cells, 2 finished, 2 to run; about 16 s of fits with 2 cells at a time, "
        "estimated from the times of earlier cells"
    )


@pytest.mark.usefixtures("fits_in_this_process")
def test_with_nothing_to_run(small_config):
    run(small_config(), n_jobs=1)
    foretold = forecast(plan(small_config()), 1)
    assert foretold.pairs == [Pair("iris", "tree", 4, 4, 0, 0)]
    assert foretold.seconds == 0
    assert summary_line(foretold, "run") == "run: 4 cells, 4 finished, 0 to run"


def test_trials_estimate_how_time_grows_with_rows(small_config, fit_by):
    sizes = []

    def quadratic(job, dataset):
        sizes.append(dataset.y.size)
        assert job.noise_rate == 0
        assert np.unique(dataset.y).size == 2
        return (dataset.y.size / 4000) ** 2

    fit_by(quadratic)
    config = small_config(datasets=[{"set": "checkerboard2x2", "name": "c"}])
    (n_rows,) = (dataset.y.size for dataset in plan(config).datasets.values())
    foretold = forecast(plan(config), 1)
    assert sizes[:2] == [250, 1000]
    assert sizes[-1] <= n_rows
    assert foretold.pairs[0].seconds == pytest.approx((n_rows / 4000) ** 2)
    assert foretold.pairs[0].known_from == "trial"
    assert "trial fits on part of the rows" in summary_line(foretold, "run")


@pytest.mark.usefixtures("trials_in_this_process")
def test_data_with_a_split_of_its_own(small_config, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(700, 3)), columns=list("abc"))
    frame["y"] = (frame["a"] > 0).astype(int)
    frame["part"] = ["train", "test"] * 350
    frame.to_csv(tmp_path / "a.csv", index=False)
    config = small_config(datasets=["iris", {"path": str(tmp_path / "a.csv"), "target": "y", "split": "part"}])
    foretold = forecast(plan(config), 3)
    assert [pair.known_from for pair in foretold.pairs] == ["trial", "trial"]
    assert all(0 < pair.seconds < 60 for pair in foretold.pairs)
    assert not (tmp_path / "results").exists()


def test_training_sizes_larger_than_a_trial(small_config, fit_by):
    """The time grows with the training rows, not with those of the data set."""

    def seconds(job, dataset):
        assert dataset.train_rows is None or dataset.train_rows < dataset.y.size
        return (dataset.train_rows or dataset.y.size) / 1000

    fit_by(seconds)
    foretold = forecast(
        plan(small_config(datasets=[{"set": "checkerboard2x2", "train_rows": [100, 10_000]}])), 1
    )
    assert [pair.error for pair in foretold.pairs] == [None, None]
    np.testing.assert_allclose([pair.seconds for pair in foretold.pairs], [0.1, 10], rtol=0.01)


@pytest.mark.usefixtures("trials_in_this_process")
def test_a_trial_that_fails_says_so(small_config):
    foretold = forecast(plan(small_config(models=[BAD])), 1)
    assert foretold.pairs[0].seconds is None
    assert foretold.seconds is None
    assert "bad on iris failed in a trial fit on part of the rows: InvalidParameterError" in text(
        forecast_table(foretold)
    )
    assert summary_line(foretold, "run") == ("run: 4 cells, 0 finished, 4 to run; time unknown")


def test_times_without_a_trial_are_unknown(small_config, monkeypatch):
    monkeypatch.setattr(module, "ALL_TRIALS_SECONDS", -1.0)
    config = small_config(models=["adaboost", TREE])
    with Store(config.store_path) as store:
        planned = plan(config)
        store.put(
            planned.cells[planned.keys[0]],
            Outcome({"accuracy": 0.5, "fit_seconds": 2.0, "predict_seconds": 0.0}),
        )
    foretold = forecast(plan(config), 1)
    assert foretold.pairs[1] == Pair("iris", "tree", 4, 0, 0, 4)
    assert "tree 4 0 0 4 unknown" in " ".join(text(forecast_table(foretold)).split())
    assert "7 to run; at least 6 s of fits" in summary_line(foretold, "run")


def test_a_slow_model_leaves_time_to_the_others(small_config, fit_by):
    tried = []

    def fit(job, dataset):
        tried.append((job.dataset, job.model.name))
        return 100.0 if job.model.name == "slow" else 0.01

    fit_by(fit)
    slow = {**TREE, "name": "slow", "params": {"max_depth": 1}}
    forecast(plan(small_config(datasets=["iris", "breast_cancer"], models=[slow, BAD, TREE])), 1)
    assert tried == [
        *(("iris 1", model) for model in ("slow", "bad", "tree")),
        *((f"breast_cancer {part}", model) for part in (1, 4) for model in ("bad", "tree")),
        ("breast_cancer 1", "slow"),
    ]


@pytest.mark.parametrize(
    ("limit", "seconds", "known_from", "at_least", "takes", "line"),
    [
        (None, 10.0, "trial", True, "more than 10 s", "at least 40 s of fits"),
        (60, 10.0, "trial", True, "more than 10 s", "at least 40 s of fits"),
        (3, 3.0, "limit", False, "3 s (time limit)", "about 12 s of fits"),
    ],
)
def test_a_trial_that_does_not_end(small_config, fit_by, limit, seconds, known_from, at_least, takes, line):
    fit_by(lambda job, dataset: 100.0)
    foretold = forecast(plan(small_config(time_limit=limit)), 1)
    (pair,) = foretold.pairs
    assert (pair.seconds, pair.known_from, pair.at_least) == (seconds, known_from, at_least)
    assert foretold.at_least == at_least
    assert takes in text(forecast_table(foretold))
    assert line in summary_line(foretold, "run")


def test_no_cell_takes_longer_than_the_time_limit(small_config, fit_by):
    fit_by(lambda job, dataset: dataset.y.size / 500)
    (pair,) = forecast(plan(small_config(datasets=["checkerboard2x2"], time_limit=2)), 1).pairs
    assert (pair.seconds, pair.known_from, pair.error) == (2.0, "limit", None)


@pytest.mark.release
def test_trials_that_hang_or_crash_are_ended(small_config, mine):
    # The tree comes first: each of the others takes a process down.
    config = small_config(models=[TREE, *mine], time_limit=0.5)
    foretold = forecast(plan(config, allow_modules=["forecast_models"]), 1)
    tree, sleeps, exits = foretold.pairs
    assert (sleeps.seconds, sleeps.known_from) == (0.5, "limit")
    assert sleeps.error == "exceeded the time limit of 0.5 s"
    assert (exits.seconds, exits.error) == (None, DIED)
    assert tree.known_from == "trial"
    assert "at least 2" in summary_line(foretold, "run")


@pytest.mark.usefixtures("fits_in_this_process")
def test_failed_cells_are_counted(small_config, fit_by):
    fit_by(lambda *_: 0.1)
    config = small_config(models=[BAD, TREE])
    run(config, n_jobs=1)
    foretold = forecast(plan(config), 1)
    assert [(p.cells, p.finished, p.failed, p.pending) for p in foretold.pairs] == [(4, 0, 4, 4), (4, 4, 0, 0)]
    assert "4 to run (4 of them failed before)" in summary_line(foretold, "run")


def test_a_run_takes_at_least_as_long_as_its_longest_cell():
    pairs = [Pair("a", "m", 1, 0, 0, 1, 100.0, "store"), Pair("a", "n", 4, 0, 0, 4, 1.0, "store")]
    assert Forecast(pairs, 8).seconds == 100.0
    assert Forecast(pairs, 1).seconds == 104.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0001, "0.01 s"),
        (0.5, "0.5 s"),
        (59.6, "60 s"),
        (150, "2.5 min"),
        (3600, "60 min"),
        (4 * 86_400, "4 days"),
    ],
)
def test_duration(seconds, words):
    assert duration(seconds) == words
