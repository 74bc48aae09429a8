"""Runs of `compare`: store, estimators of the user, interrupts, scripts."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boostnoise import Comparison, compare
from boostnoise.eval import Progress, load_config, plan
from boostnoise.eval.errors import ConfigError

TREE = DecisionTreeClassifier(max_depth=2)


@pytest.mark.usefixtures("fits_in_this_process")
def test_it_shares_the_store_with_the_command():
    models = ["decision_tree", AdaBoostClassifier(TREE, n_estimators=3)]
    first = compare(models, ["iris"], 0.2, repeats=2, progress=False)
    config = {
        "datasets": ["iris"],
        "models": [
            {"name": "other name", "model": "decision_tree"},
            {"model": "adaboost", "params": {"estimator": {"module": "sklearn.tree", "model": "DecisionTreeClassifier", "params": {"max_depth": 2}}, "n_estimators": 3}},
        ],
        "noise": [{"kind": "uniform", "rates": [0.2]}],
        "repeats": 2,
    }  # fmt: skip
    Path("study.json").write_text(json.dumps(config))
    planned = plan(load_config("study.json"))
    assert len(planned.keys) == 8
    assert not planned.pending
    written = first.to_config("again.json")
    again = load_config(written)
    assert again.model_copy(update={"name": "comparison"}) == first.config
    assert plan(again).keys == planned.keys
    # In memory, the same data are the same cells.
    X, y = load_iris(return_X_y=True)
    seen = []
    models = {"t": DecisionTreeClassifier(), "a": AdaBoostClassifier(TREE, n_estimators=3)}
    flowers = {"flowers": (X, np.array(["setosa", "versicolor", "virginica"])[y])}
    second = compare(models, flowers, [0.2], repeats=2, name="second", progress=seen.append)
    assert [(event.done, event.total) for event in seen] == [(8, 8)]
    assert second.scores["accuracy"].tolist() == first.scores["accuracy"].tolist()
    assert Comparison.load(name="second").scores.equals(second.scores)
    suffixes = {path.suffix for path in Path("results").rglob("*") if path.is_file()}
    assert suffixes == {".sqlite", ".sqlite-claims", ".parquet"}


def test_estimators_of_the_user(tmp_path, monkeypatch):
    (tmp_path / "my_learners.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Guess(DummyClassifier):\n"
        "    def __init__(self, strategy='most_frequent', random_state=None):\n"
        "        super().__init__(strategy=strategy, random_state=random_state)\n"
        "def halve(X):\n"
        "    return X / 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import my_learners

    guess = my_learners.Guess("uniform")
    halve = FunctionTransformer(my_learners.halve)
    models = {"guess": guess, "within": make_pipeline(StandardScaler(), halve, guess)}
    compared = compare(models, ["iris"], 0.2, repeats=1, progress=False, n_jobs=1)
    assert compared.scores["error"].isna().all()
    assert compared.scores["accuracy"].between(0.1, 0.6).all()


@pytest.mark.usefixtures("fits_in_this_process")
def test_an_estimator_may_be_of_a_class_that_configs_may_not_name():
    model = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=2)
    found = compare(model, "iris", [0.0], repeats=1, n_jobs=1, progress=False)
    assert found.scores["error"].isna().all()
    with pytest.raises(ConfigError, match="GridSearchCV is not an allowed class"):
        compare([{"module": "sklearn.model_selection", "model": "GridSearchCV"}], "iris", progress=False)


@pytest.mark.usefixtures("fits_in_this_process")
def test_an_interrupt_keeps_what_is_finished():
    def stop(progress: Progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare([TREE, GaussianNB()], ["iris"], [0.2, 0.4], repeats=1, n_jobs=1, progress=stop)
    stopped = Comparison.load("results")
    assert stopped.scores["accuracy"].notna().sum() == 3
    assert stopped.ela().isna().to_numpy().any()
    assert "not fitted yet" in str(stopped)
    seen = []
    done = compare([TREE, GaussianNB()], ["iris"], [0.2, 0.4], repeats=1, n_jobs=1, progress=seen.append)
    assert seen[0].cached == 3
    assert done.ela().notna().to_numpy().all()


@pytest.mark.release
def test_a_script_needs_no_guard_and_is_quiet():
    Path("script.py").write_text(
        "from boostnoise import compare\n"
        "from sklearn.naive_bayes import GaussianNB\n"
        "print(compare([GaussianNB()], ['iris'], 0.2, repeats=1, n_jobs=1))\n"
    )
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("comparison: 1 model on 1 data set under uniform noise, 1 repeat\n")
