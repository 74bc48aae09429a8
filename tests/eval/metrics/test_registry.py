"""A measure is declared in the registry alone."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from boostnoise.eval.metrics.registry import METRICS, check_metric, higher_is_better, label_of, short_label_of


def test_labels():
    assert label_of("ela") == "ELA, equalised loss of accuracy"
    assert label_of("ela", "roc_auc") == "ELA, equalised loss of ROC AUC"
    assert short_label_of("ela") == "ELA"
    assert short_label_of("retention", "macro_f1") == "retention of macro F1"
    assert short_label_of("leaves", "macro_f1") == "leaves of a tree"
    for metric in METRICS:
        assert "{" not in label_of(metric, "balanced_accuracy")
        assert "{" not in short_label_of(metric, "balanced_accuracy")


def test_directions():
    high = {"accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "retention"}
    assert {metric for metric in METRICS if higher_is_better(metric)} == high


def test_unknown_metrics():
    for function in (check_metric, higher_is_better):
        with pytest.raises(
            ValueError, match=r"^metric must be one of accuracy, .*, area_under_ela, got 'speed'$"
        ):
            function("speed")


ENTRY = """    Measure(
        "brier", "Brier score", 0.0, 2.0,
        score=lambda p: float(((p.scores - (p.y[:, None] == range(p.scores.shape[1]))) ** 2).sum(axis=1).mean()),
    ),
"""


# The command, whose fits need no worker.
RUN = """
from boostnoise.eval.cli.main import main
from boostnoise.eval.execution import cell, runner

def fit(cells, datasets, **_):
    for key, job in cells:
        yield key, cell.run_cell(job, datasets[job.dataset])

runner.fit_locally = fit
main(["study.json"])
"""


@pytest.mark.release
def test_one_entry_makes_a_measure(root, tmp_path):
    """In a copy of the packages with one more entry it is in scores, store, config, tables, plots and report."""
    code = tmp_path / "code"
    shutil.copytree(root / "boostnoise", code / "boostnoise")
    shutil.copytree(root / "eval", code / "boostnoise" / "eval")
    shutil.copytree(root / "robust_splits", code / "robust_splits")
    registry = code / "boostnoise" / "eval" / "metrics" / "registry.py"
    text = registry.read_text()
    end = text.index(")\nTIMED = (")
    registry.write_text(text[:end] + ENTRY + text[end:])
    (tmp_path / "study.json").write_text(
        json.dumps(
            {
                "datasets": ["iris"],
                "models": [
                    "decision_tree",
                    {"name": "bayes", "module": "sklearn.naive_bayes", "model": "GaussianNB"},
                ],
                "noise": [{"kind": "uniform", "rates": [0.3]}],
                "repeats": 1,
                "tables": ["mean_brier"],
                "figures": ["brier", "brier_by_dataset"],
                "ela_fig": {"save_fig": False, "fig_dpi": 30},
                "rla_fig": {"save_fig": False},
            }
        )
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(code)},
    )
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results" / "study"
    scores = pd.read_csv(results / "scores.csv")
    assert scores["brier"].between(0, 2).all()
    # A tree of pure leaves predicts probabilities 0 and 1, whose score is twice the error rate.
    trees = scores[scores["model"] == "decision_tree"]
    assert (trees["brier"] - 2 * (1 - trees["accuracy"])).abs().max() < 1e-12
    assert "Brier score: uniform noise" in done.stdout
    assert {"brier.png", "brier.svg", "brier_by_dataset.png"} < {path.name for path in results.iterdir()}
    assert '"brier":"Brier score"' in (results / "report.html").read_text()
