"""Runs on data whose test labels are as noisy as the others, and whose right labels only the tests know."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from boostnoise import compare
from boostnoise.eval import cell_labels, load_run, plan
from boostnoise.eval.execution import plan as planning
from boostnoise.eval.report.html.page import render_page

pytestmark = pytest.mark.usefixtures("fits_in_this_process")

MODELS = {"plain": LogisticRegression(), "balanced": LogisticRegression(class_weight="balanced")}


@pytest.fixture(scope="module")
def data():
    """Features, noisy and right labels.  Of one class 55 % of the labels are wrong, so most are those of the other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    right = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X, np.where(rng.random(500) < 0.55, 0, right), right


def test_scores_are_those_on_right_labels(data, tmp_path, monkeypatch):
    """By noisy labels the worse model is ahead; the estimates are nearer to the truth, and in its order."""
    X, y, right = data
    monkeypatch.chdir(tmp_path)
    settings = {"noise": {"uniform": [0.1]}, "repeats": 2, "test_fraction": 0.5, "progress": False}
    runs = {
        labels: compare(MODELS, {"mine": (X, y)}, labels=labels, name=labels, **settings)
        for labels in ("right", "noisy")
    }
    given, estimated = (
        run.scores[run.scores["noise_rate"] == 0].groupby("model")["accuracy"].mean() for run in runs.values()
    )
    planned, true = plan(runs["noisy"].config), {name: [] for name in MODELS}
    for repeat in range(2):
        cells = cell_labels(planned, "mine", "uniform", 0.0, repeat)
        assert cells["true_label"].isna().all()
        train, test = (cells[cells["part"] == part].index for part in ("train", "test"))
        for name, model in MODELS.items():
            true[name].append(model.fit(X[train], y[train]).score(X[test], right[test]))
    true = pd.DataFrame(true).mean()
    assert given["plain"] > given["balanced"] + 0.03
    assert true["balanced"] > true["plain"] + 0.2
    assert estimated["balanced"] > estimated["plain"] + 0.1
    assert ((estimated - true).abs() < 0.6 * (given - true).abs()).all()


def test_reports_say_that_scores_are_estimates(data, tmp_path, monkeypatch):
    X, y, right = data
    frame = pd.DataFrame(X).assign(y=y, seen=pd.Series(right, dtype="Int64").where(np.arange(500) < 300))
    monkeypatch.chdir(tmp_path)
    described = {"mine": {"data": frame, "target": "y", "labels": "noisy", "checked": "seen"}}
    settings = {"noise": {"uniform": [0.1]}, "repeats": 1, "progress": False}
    found = compare(MODELS, described, **settings)
    assert set(found.scores["test_labels"]) == {"estimated"}
    assert "Tested on estimated right labels; noise and overlapping" in str(found).replace("\n", " ")
    assert "best estimated accuracy of 2 models" in found.verdict().replace("two", "2")
    assert found.plot("accuracy").get_ylabel() == "estimated accuracy"
    assert "Estimated accuracy" in found.to_markdown("accuracy") + found.to_latex("accuracy")
    assert "measure: estimated accuracy" in render_page(load_run("results"))
    cells = cell_labels(plan(found.config), "mine", "uniform", 0.1)
    known = cells["true_label"].dropna()
    assert sorted(known.index) == list(range(300))
    assert (known == right[known.index]).all()

    def refuse(dataset):
        raise AssertionError("finished cells need no audit")

    monkeypatch.setattr(planning, "estimate_clean_labels", refuse)
    again = compare(MODELS, described, **settings)
    pd.testing.assert_frame_equal(again.scores, found.scores)
