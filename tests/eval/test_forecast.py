import numpy as np
import pandas as pd
import pytest
from boostnoise.eval import forecast as module
from boostnoise.eval.config import parse_config
from boostnoise.eval.forecast import Forecast, Pair, forecast, in_one_line, in_words, rendered
from boostnoise.eval.planning import plan
from boostnoise.eval.runner import run
from boostnoise.eval.store import Outcome, Store
from rich.console import Console

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAD = {"name": "bad", "module": "sklearn.tree", "model": "DecisionTreeClassifier", "params": {"max_depth": -1}}


@pytest.fixture
def make(tmp_path):
    def make(**changes):
        content = {
            "datasets": ["iris"],
            "models": [TREE],
            "noise": [{"kind": "uniform", "rates": [0.2]}],
            "repeats": 2,
            "results_dir": str(tmp_path / "results"),
        }
        return parse_config({**content, **changes}, "run")

    return make


def text(what):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_times_of_earlier_cells_are_used(make, monkeypatch):
    monkeypatch.setattr(module, "run_cell", None)  # no trial is made
    config = make()
    with Store(config.store_path) as store:
        for key, seconds in zip(plan(config).cells, (10.0, 20.0), strict=False):
            store.put(plan(config).cells[key], Outcome(accuracy=0.5, fit_seconds=seconds, predict_seconds=1.0))
    foretold = forecast(plan(config), 2)
    assert foretold.pairs == [Pair("iris", "tree", 4, 2, 0, 2, seconds=16.0, known_from="store")]
    assert foretold.seconds == 16.0  # two cells side by side
    line = in_one_line(foretold, "run")
    assert line == (
        "run: 4 cells, 2 finished, 2 to run; about 16 s of fits with 2 cells side by side, "
        "going by the times of earlier cells"
    )


def test_with_nothing_to_run(make):
    run(make(), n_jobs=1)
    foretold = forecast(plan(make()), 1)
    assert foretold.pairs == [Pair("iris", "tree", 4, 4, 0, 0)]
    assert foretold.seconds == 0
    assert in_one_line(foretold, "run") == "run: 4 cells, 4 finished, 0 to run"


def test_a_trial_tells_how_time_grows_with_rows(make, monkeypatch):
    sizes = []

    def quadratic(job, dataset, allowed):
        sizes.append(dataset.y.size)
        assert job.noise_rate == 0
        assert np.unique(dataset.y).size == 2
        return Outcome(accuracy=0.5, fit_seconds=(dataset.y.size / 4000) ** 2, predict_seconds=0.0)

    monkeypatch.setattr(module, "run_cell", quadratic)
    config = make(datasets=[{"set": "checkerboard2x2", "name": "c"}])
    (n_rows,) = (dataset.y.size for dataset in plan(config).datasets.values())
    foretold = forecast(plan(config), 1)
    assert sizes[:2] == [250, 1000]
    assert sizes[-1] <= n_rows
    assert foretold.pairs[0].seconds == pytest.approx((n_rows / 4000) ** 2)
    assert foretold.pairs[0].known_from == "trial"
    assert "quick fits on a part of the rows" in in_one_line(foretold, "run")


def test_a_true_trial(make, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(700, 3)), columns=list("abc"))
    frame["y"] = (frame["a"] > 0).astype(int)
    frame["part"] = ["train", "test"] * 350
    frame.to_csv(tmp_path / "a.csv", index=False)
    config = make(datasets=["iris", {"path": str(tmp_path / "a.csv"), "target": "y", "split": "part"}])
    foretold = forecast(plan(config), 3)
    assert [pair.known_from for pair in foretold.pairs] == ["trial", "trial"]
    assert all(0 < pair.seconds < 60 for pair in foretold.pairs)
    assert not (tmp_path / "results").exists()


def test_a_trial_that_fails_says_so(make):
    foretold = forecast(plan(make(models=[BAD])), 1)
    assert foretold.pairs[0].seconds is None
    assert foretold.seconds is None
    assert "bad on iris fails on a part of the rows: InvalidParameterError" in text(rendered(foretold))
    assert in_one_line(foretold, "run") == "run: 4 cells, 0 finished, 4 to run"


def test_when_time_is_short_the_others_tell(make, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", -1.0)
    config = make(models=["adaboost", TREE])
    with Store(config.store_path) as store:
        planned = plan(config)
        store.put(planned.cells[planned.keys[0]], Outcome(accuracy=0.5, fit_seconds=2.0, predict_seconds=0.0))
    tree = forecast(plan(config), 1).pairs[1]
    assert (tree.model, tree.seconds, tree.known_from) == ("tree", 2.0, "others")


def test_failed_cells_are_counted(make):
    config = make(models=[BAD, TREE])
    run(config, n_jobs=1)
    foretold = forecast(plan(config), 1)
    assert [(p.cells, p.finished, p.failed, p.pending) for p in foretold.pairs] == [(4, 0, 4, 4), (4, 4, 0, 0)]
    assert "4 to run (4 of them failed before)" in in_one_line(foretold, "run")


def test_a_run_takes_no_less_than_its_longest_cell():
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
def test_in_words(seconds, words):
    assert in_words(seconds) == words
