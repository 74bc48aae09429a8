"""The scripts in `benchmarks/` run to their end on small data."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

FOREST = ["--rounds", "1", "--trees", "2", "--threads", "1"]
STUDY = ["--repeats", "1", "--jobs", "1", "scores.csv"]
MODELS = "random_forest,robust_forest,robust_lightgbm"  # not CatBoost, which is another package


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of data with two sets, `one` and `two`, as the benchmarks read them; `two` has noisy labels too."""
    folder = tmp_path_factory.mktemp("benchmarks")
    (folder / "data" / "real_noise").mkdir(parents=True)
    for seed, name in enumerate(["one", "two"]):
        X, y = make_classification(300, 5, random_state=seed)
        table = pd.DataFrame(X.astype(np.float32), columns=list("abcde")).assign(target=y)
        table.to_parquet(folder / "data" / f"{name}.parquet")
        noisy = table.assign(
            noisy_sometimes=np.where(np.arange(300) % 5 == 0, 1 - y, y),
            noisy_often=np.where(np.arange(300) % 3 == 0, 1 - y, y),
        )
        noisy.to_parquet(folder / "data" / "real_noise" / f"{name}.parquet")
    return folder


@pytest.fixture
def run(root, data, tmp_path):
    """Runs a script in an empty folder, and returns what it prints."""

    def run_script(script, *arguments, **environment):
        done = subprocess.run(
            [sys.executable, str(root / "benchmarks" / script), *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "BOOSTNOISE_DATA": str(data), "OMP_NUM_THREADS": "1", **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run_script


@pytest.mark.release
@pytest.mark.parametrize(
    ("script", "arguments", "told"),
    [
        ("learner.py", ["peers", "--sets", "one,two", "--max-bins", 16, *FOREST], "scikit-learn"),
        ("learner.py", ["criteria", "--sets", "one", *FOREST], "negative_exponential"),
        ("forest_variance.py", ["--rows", 50, "--trees", 2, "--draws", 2], "purely random"),
        (
            "corrected_criteria.py",
            ["scores.csv", "--sets", "one", "--criteria", "gini", "--repeats", 1, "--jobs", 1],
            "estimated",
        ),
        ("learner.py", ["extras", "--sets", "one", *FOREST], "shrinkage=auto"),
        ("learner.py", ["nodes", "--sets", "one", *FOREST], "2048"),
        ("learner.py", ["growth", "--rows", "300,600", "--columns", 3, *FOREST], "power"),
        (
            "bins_accuracy.py",
            ["--sets", "one,two", "--rounds", 1, "--trees", 2, "--threads", 1, "--max-bins", 16],
            "one pass",
        ),
        (
            "frontier.py",
            ["run", "--sets", "one", "--rounds", 1, "--trees", 2, "--threads", 1, "--picture", "frontier.png"],
            "relative to scikit-learn's",
        ),
        (
            "extra_trees.py",
            ["--sets", "one", "--rounds", 1, "--trees", 2, "--threads", 1],
            "relative to the forest's",
        ),
        ("sparse_rows.py", ["--sizes", "200x50", "--trees", 2, "--rounds", 1], "scikit-learn"),
        ("learner_profile.py", ["prediction", "--sets", "one", "--rounds", 1], "ns_per_step"),
        ("learner_profile.py", ["extra-trees", "--sets", "one", "--rounds", 1], "ranking"),
        ("objectives.py", ["--sets", "binary", "--rounds", 1, "--iterations", 1], "gce"),
        ("booster_price.py", ["--sets", "one", "--rounds", 1, "--threads", 1], "structure given"),
        ("losses.py", ["--sets", "one,two", "--noise-rates", "0.2", *STUDY], "sets of two classes"),
        (
            "robust_defaults.py",
            ["--sets", "one,two", "--noise", "none", "--models", MODELS, *STUDY],
            "robust_forest",
        ),
        ("robust_defaults.py", ["--real", "--sets", "one,two", "--models", MODELS, *STUDY], "robust_forest"),
        ("label_audit.py", ["--sets", "one,two", "--rates", "0.2", *STUDY], "audit"),
        ("label_audit.py", ["--real", *STUDY], "audit"),
        ("annotators.py", ["--sets", "one,two", *STUDY], "err together"),
        ("checked_rows.py", ["--sets", "one,two", "--rates", "0.2", *STUDY], "first 50, random 50"),
        ("thresholds.py", ["--real", "--rows", 90, "--models", "lightgbm", *STUDY], "costs 20:1"),
        ("thresholds.py", ["--sets", "one", "--rows", 90, "--models", "lightgbm", *STUDY], "intervals hold"),
        ("evaluation.py", ["cells", "--cells", 4, "--jobs", 1, "--rounds", 1], "4 cells"),
        ("faults.py", ["--repeats", 1, "--rounds", 1], "no problems"),
        ("false_winners.py", ["--studies", 1], "over_rows"),
        ("reference.py", [], "Mean accuracy"),
    ],
)
def test_it_runs(run, script, arguments, told):
    assert told in run(script, *arguments)


@pytest.mark.release
def test_first_fit_compiles_every_part(run, tmp_path):
    told = run("learner_profile.py", "first-fit", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert all(part in told for part in ("growing", "coding", "prediction"))


@pytest.mark.release
def test_audits_of_real_noise(run, data, tmp_path):
    told = run(
        "real_noise_audit.py", "--jobs", "1", data / "data" / "real_noise", "records.csv", "--picture", "a.png"
    )
    assert "100 rows checked" in told
    records = pd.read_csv(tmp_path / "records.csv")
    assert records["wrong"].tolist() == pytest.approx([1 / 5, 1 / 5, 1 / 3, 1 / 3] * 2)
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.release
def test_real_noise_of_a_run(run, command, data, tmp_path):
    columns = {"heuristic": "noisy_sometimes", "other": "noisy_often"}
    paths = {name: f"{data}/data/real_noise/{name}.parquet" for name in ("one", "two")}
    config = {
        "datasets": [
            {"path": path, "target": "target", "noisy": columns, "domain": name} for name, path in paths.items()
        ],
        "models": ["random_forest", "robust_forest"],
        "noise": [
            {"kind": "given", "name": "real (heuristic)", "labels": ["heuristic"]},
            {"kind": "given", "name": "real (other)", "labels": ["other"]},
            {"kind": "uniform", "rates": [0.3]},
        ],
        "repeats": 1,
        "metric": "balanced_accuracy",
    }
    unchecked = config | {
        "datasets": [
            {
                "name": f"{name}: {label}",
                "path": path,
                "target": column,
                "labels": "noisy",
                "drop": ["target", *(other for other in columns.values() if other != column)],
                "domain": f"{name}/{name}",
            }
            for name, path in paths.items()
            for label, column in columns.items()
        ],
        "noise": [{"kind": "uniform", "rates": [0.1]}],
    }
    for name, content in (("small", config), ("unchecked", unchecked)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
        subprocess.run([command, f"{name}.json", "-j", "1"], cwd=tmp_path, check=True)
    told = run("real_noise.py", "results/small", "--unchecked", "results/unchecked", "--pictures", ".")
    assert "Mean balanced_accuracy over the domains of 2 data sets" in told
    assert "A choice from estimates on 4 columns of noisy labels: loss" in told
    for name in ("real_noise", "real_noise_domains"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000


@pytest.mark.release
def test_rounds_of_adaboost(run, data, tmp_path):
    path = f"{data}/data/one.parquet"
    config = {
        "datasets": [{"path": path, "target": "target"}],
        "models": [{"model": "adaboost", "sweep": {"n_estimators": [2, 20]}}],
        "noise": [{"kind": "label", "rates": [0.0, 0.2]}],
        "repeats": 1,
    }
    (tmp_path / "small.json").write_text(json.dumps(config))
    run("adaboost_rounds.py", "small.json", "--csv", "errors.csv", "--picture", "picture.png")
    errors = pd.read_csv(tmp_path / "errors.csv").set_index(["rate", "rounds"])["training"]
    assert errors[0.0, 20] < errors[0.0, 2] < errors[0.2, 20]
    assert (tmp_path / "picture.png").stat().st_size > 10_000
