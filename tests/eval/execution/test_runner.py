import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from boostnoise.eval import ConfigError, mean_curve, merge, run
from boostnoise.eval.config.reader import load_config
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.config.study2020 import parse_study_config
from boostnoise.eval.execution import runner
from boostnoise.eval.execution.cell import run_cell
from boostnoise.eval.execution.store import Store
from boostnoise.eval.execution.worker_handle import DIED, Limits
from boostnoise.eval.metrics.outcome import Outcome

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAYES = {"name": "bayes", "module": "sklearn.naive_bayes", "model": "GaussianNB"}


@pytest.fixture
def make(small_config):
    return partial(small_config, datasets=["iris", "wine"], models=[TREE, "robust_tree"])


class States(list):
    """Progress of a run: numbers of cells done, failed and in all, at each step."""

    def __call__(self, progress):
        self.append((progress.done, progress.failed, progress.total))


@pytest.mark.usefixtures("fits_in_this_process")
def test_domains_are_in_the_scores_and_fit_no_cell_again(make):
    run(make(), n_jobs=1)
    states = States()
    sets = [{"set": "iris", "domain": "plants"}, {"set": "wine", "domain": "food/drinks"}]
    scores = run(make(datasets=sets), n_jobs=1, progress=states).scores
    assert states[0] == (16, 0, 16)  # all cells are done
    assert set(zip(scores["dataset"], scores["domain"], strict=True)) == {
        ("iris", "plants"),
        ("wine", "food/drinks"),
    }


@pytest.mark.usefixtures("fits_in_this_process")
def test_scores(make):
    states = States()
    scores = run(make(), n_jobs=1, progress=states).scores
    assert len(scores) == 2 * 2 * 2 * 2
    assert scores.columns.tolist() == [
        "dataset", "noise_kind", "noise_rate", "realised_rate", "repeat", "model", "accuracy", "balanced_accuracy",
        "macro_f1", "roc_auc", "log_loss", "brier_score", "calibration_error", "leaves", "depth", "fit_seconds", "predict_seconds",
        "error",
    ]  # fmt: skip
    assert scores["accuracy"].between(0.4, 1).all()
    assert scores[["balanced_accuracy", "macro_f1", "roc_auc"]].stack().between(0.3, 1).all()
    assert (scores[["log_loss", "leaves", "depth", "fit_seconds"]] > 0).all(axis=None)
    assert scores["error"].isna().all()
    assert (scores.loc[scores["noise_rate"] == 0, "realised_rate"] == 0).all()
    assert scores.loc[scores["noise_rate"] == 0.2, "realised_rate"].between(0.05, 0.4).all()
    assert states == [(done, 0, 16) for done in range(17)]
    # Both models see the same noise.
    assert (scores.groupby(["dataset", "noise_rate", "repeat"])["realised_rate"].nunique() == 1).all()


@pytest.mark.usefixtures("fits_in_this_process")
def test_draws_are_stable(make):
    """For the same seeds the same scores, so that those of earlier versions can be had again."""
    noise = [{"kind": "uniform", "rates": [0.2, 0.4]}, {"kind": "label", "rates": [0.3]}]
    scores = run(make(datasets=["iris"], models=[TREE], noise=noise), n_jobs=1).scores
    assert (120 * scores["realised_rate"]).round().tolist() == [0, 0, 25, 19, 34, 57, 0, 0, 29, 32]


EVERY_KIND = [
    {"kind": "uniform", "rates": [0.2]},
    {"kind": "uniform", "rates": [0.2], "noise_on": "train+test"},
    {"kind": "pair_flip", "rates": [0.2]},
    {"kind": "class_conditional", "rates": [[0.1, 0.3]]},
    {"kind": "class_conditional", "rates": [[0.3, 0.1]], "name": "the other way"},
    {"kind": "mahalanobis"},
    {"kind": "instance_dependent", "rates": [0.2]},
    {"kind": "audited", "rates": [0.1]},
    {"kind": "label", "rates": [0.2]},
    {"kind": "label", "rates": [0.2], "noise_on": "train"},
]


@pytest.mark.release
def test_every_kind_of_noise_in_this_process_and_in_a_worker(make, tmp_path, monkeypatch, without_times):
    cancer = load_breast_cancer()
    given = np.where(np.arange(569) % 10 == 0, 1 - cancer.target, cancer.target)
    table = pd.DataFrame(cancer.data).assign(target=cancer.target, expert=given)
    table.to_csv(tmp_path / "cancer.csv", index=False)
    data = {"path": str(tmp_path / "cancer.csv"), "target": "target", "noisy": {"expert": "expert"}}
    noise = [*EVERY_KIND, {"kind": "given", "labels": ["expert"]}]
    changes = {"datasets": [data], "models": [TREE, "robust_tree"], "noise": noise}
    other = run(make(**changes, results_dir=str(tmp_path / "other")), n_jobs=1).scores

    def fit_backwards(cells, datasets, **_):
        for key, job in reversed([*cells]):
            yield key, run_cell(job, datasets[job.dataset])

    # No cell depends on its process, nor on what that has fitted before.
    monkeypatch.setattr(runner, "fit_locally", fit_backwards)
    one = run(make(**changes)).scores
    pd.testing.assert_frame_equal(without_times(one), without_times(other))
    assert one["error"].isna().all()
    assert one["noise_kind"].nunique() == 11
    noisy = one[one["noise_rate"] > 0].set_index("noise_kind")
    # The same for both models; on test labels too, the training labels are no others.
    assert (noisy.groupby(["noise_kind", "repeat"])["realised_rate"].nunique() == 1).all()
    for both, train in (("uniform (train+test)", "uniform"), ("label", "label (train)")):
        assert noisy.loc[both, "realised_rate"].tolist() == noisy.loc[train, "realised_rate"].tolist()
        assert noisy.loc[both, "accuracy"].mean() < noisy.loc[train, "accuracy"].mean() - 0.05
    assert noisy.loc["given (expert)", "noise_rate"].tolist() == pytest.approx([57 / 569] * 4)
    assert noisy.loc["given (expert)", "realised_rate"].between(0.05, 0.15).all()
    for metric in ("ela", "rla"):
        assert len(mean_curve(one, metric)) == 11 * 2 * 2
        assert mean_curve(one, metric)[metric].notna().all()


@pytest.mark.usefixtures("fits_in_this_process")
def test_finished_cells_are_not_fitted_again(make, without_times):
    first = run(make(), n_jobs=1).scores
    states = States()
    again = run(make(), n_jobs=1, progress=states).scores
    assert states == [(16, 0, 16)]
    pd.testing.assert_frame_equal(first, again)
    wider = run(make(models=[TREE, "robust_tree", BAYES]), n_jobs=1, progress=states).scores
    assert states[1] == (16, 0, 24)
    pd.testing.assert_frame_equal(wider[wider["model"] != "bayes"].reset_index(drop=True), first)
    fresh = run(make().model_copy(update={"resume": False}), n_jobs=1).scores
    assert (fresh["fit_seconds"] != first["fit_seconds"]).any()
    pd.testing.assert_frame_equal(without_times(fresh), without_times(first))


@pytest.mark.usefixtures("fits_in_this_process")
def test_other_configs_use_what_is_finished(make):
    """Whatever they call their data sets and models, and whatever else they hold."""
    first = run(make(), n_jobs=1).scores
    named = [{"set": "wine", "name": "red wine"}, "breast_cancer"]
    content = make(datasets=named, models=[TREE | {"name": "other"}], metric="macro_f1").model_dump()
    other = parse_config({key: value for key, value in content.items() if key != "name"}, "another run")
    states = States()
    scores = run(other, n_jobs=1, progress=states).scores
    assert states[0] == (4, 0, 8)
    same = first[(first["dataset"] == "wine") & (first["model"] == "tree")].reset_index(drop=True)
    renamed = same.assign(dataset="red wine", model="other")
    pd.testing.assert_frame_equal(scores[scores["dataset"] == "red wine"].reset_index(drop=True), renamed)


@pytest.mark.usefixtures("fits_in_this_process")
def test_cells_that_another_process_finishes_in_the_meantime_are_not_fitted_again(
    make, tmp_path, without_times
):
    """The other one is this run itself, in another folder, whose cells appear after the first few."""
    other = make(results_dir=str(tmp_path / "other"))
    there = run(other, n_jobs=1).scores
    config, done = make(), []

    def progress(state):
        done.append(state.done)
        if len(done) == 4:
            assert merge(config, [other.store_path]) == 16 - 3

    scores = run(config, n_jobs=1, progress=progress).scores
    assert done == list(range(17))
    same = (scores["fit_seconds"] == there["fit_seconds"]).sum()
    assert 16 - 3 - 3 <= same <= 16 - 3  # those that were under way already were fitted
    pd.testing.assert_frame_equal(without_times(scores), without_times(there))
    # All are wanted again: nobody's are used.
    fresh = run(config.model_copy(update={"resume": False}), n_jobs=1).scores
    assert (fresh["fit_seconds"] != scores["fit_seconds"]).all()


@pytest.mark.usefixtures("fits_in_this_process")
def test_merged_cells_are_not_fitted_again(make, tmp_path):
    parts = [make(results_dir=str(tmp_path / name), datasets=[name]) for name in ("iris", "wine")]
    tables = [run(part, n_jobs=1).scores for part in parts]
    config, states = make(), States()
    assert merge(config, [tmp_path / "iris", str(tmp_path / "wine" / "store.sqlite")]) == 16
    scores = run(config, n_jobs=1, progress=states).scores
    assert states == [(16, 0, 16)]
    pd.testing.assert_frame_equal(scores, pd.concat(tables, ignore_index=True))


@pytest.mark.usefixtures("fits_in_this_process")
def test_a_disk_that_is_full_in_the_middle(make, monkeypatch):
    class Full(Store):
        def __init__(self, path):
            super().__init__(path)
            self._connection.execute("PRAGMA max_page_count = 10")

    config = make(repeats=20, models=[TREE])
    with monkeypatch.context() as patch:
        patch.setattr(runner, "Store", Full)
        with pytest.raises(ConfigError, match=r"store.sqlite cannot be read or written: .* is full"):
            run(config)
    states = States()
    run(config, progress=states)
    assert 5 < states[0][0] < 80
    assert states[-1] == (80, 0, 80)


@pytest.mark.usefixtures("fits_in_this_process")
def test_a_failing_model_does_not_stop_the_others(make):
    bad = {"name": "bad", "model": "decision_tree", "params": {"max_depth": -1}}
    states = States()
    scores = run(make(models=[bad, TREE]), n_jobs=1, progress=states).scores
    failed = scores[scores["model"] == "bad"]
    assert failed["accuracy"].isna().all()
    assert failed["error"].str.contains("InvalidParameterError: The 'max_depth' parameter").all()
    assert scores.loc[scores["model"] == "tree", "error"].isna().all()
    assert states[-1] == (16, 8, 16)
    # Failed cells are tried again, finished ones are not.
    run(make(models=[bad, TREE]), n_jobs=1, progress=states)
    assert states[17] == (8, 0, 16)


NOTHING_LEFT = """
import sys
from boostnoise.eval import run
from boostnoise.eval.config.reader import load_config

scores = run(load_config("run.json"), n_jobs=1).scores
print(scores["accuracy"].notna().sum(), {"sklearn", "xgboost", "lightgbm", "numba"} & set(sys.modules))
"""


@pytest.mark.usefixtures("fits_in_this_process")
@pytest.mark.release
def test_a_run_with_nothing_left_loads_no_learner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40)))
    content = {
        "datasets": [{"path": "data.csv", "target": "y"}],
        "models": ["decision_tree", "xgboost", "lightgbm", "robust_tree"],
        "noise": [{"kind": "uniform", "rates": [0.1]}],
        "repeats": 1,
    }
    Path("run.json").write_text(json.dumps(content))
    assert run(load_config("run.json"), n_jobs=1).scores["accuracy"].notna().sum() == 8
    command = [sys.executable, "-c", NOTHING_LEFT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "8 set()\n"


def test_models_that_take_their_process_down_or_too_much(make, monkeypatch):
    """The run passes its limits on, and keeps what becomes of each cell."""
    asked = []

    def fit(cells, datasets, *, n_workers, threads, limits):
        asked.append((n_workers, threads, limits))
        for key, job in cells:
            fitted = job.model.name == "tree"
            yield key, run_cell(job, datasets[job.dataset]) if fitted else Outcome(error=DIED)

    monkeypatch.setattr(runner, "fit_locally", fit)
    limits = {"time_limit": 4, "memory_limit": 0.4}
    config = make(models=[BAYES | {"name": "killed"}, TREE], datasets=["iris"], repeats=1, **limits)
    states = States()
    scores = run(config, n_jobs=1, progress=states).scores
    assert asked == [(1, 1, Limits(seconds=4, gib=0.4))]
    assert states[-1] == (4, 2, 4)
    assert (scores.loc[scores["model"] == "killed", "error"] == DIED).all()
    assert scores.loc[scores["model"] == "tree", "error"].isna().all()


def test_mistakes_are_found_before_any_work(make, tmp_path):
    with pytest.raises(ConfigError, match=r"models\[1\] \(b\): sklearn\.tree\.Tree "):
        run(make(models=["adaboost", {"name": "b", "module": "sklearn.tree", "model": "Tree"}]))
    with pytest.raises(ConfigError, match=r"^threads: must be at most \d+, the number of cores"):
        run(make(threads=9999))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "results").write_text("in the way")
    with pytest.raises(ConfigError, match="cannot be written"):
        run(make())


@pytest.mark.usefixtures("fits_in_this_process")
def test_data_sets_of_all_kinds(make, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    rows = [(i % 2, i % 3, "test" if i >= 45 else "train") for i in range(60)]
    (folder / "a.csv").write_text("y,x,part\n" + "".join(f"{y},{x},{part}\n" for y, x, part in rows))
    (tmp_path / "b.svm").write_text("".join(f"{y} 1:{x} 2:1\n" for y, x, _ in rows))
    datasets = [
        {"path": str(folder), "target": "y", "split": "part"},
        {"path": str(tmp_path / "b.svm")},
        {"set": "checkerboard2x2", "max_rows": 500},
        {"set": "iris", "name": "setosa", "positive": [0]},
    ]
    scores = run(make(datasets=datasets, models=[TREE]), n_jobs=1).scores
    assert scores["dataset"].unique().tolist() == ["a", "b", "checkerboard2x2", "setosa"]
    assert scores["error"].isna().all()
    assert scores["correct_rows"].notna().equals(scores["dataset"] == "a")
    # The rows that are tested on are given, so all repeats without noise are one.
    assert scores.query("dataset == 'a' and noise_rate == 0")["accuracy"].nunique() == 1
    assert scores.query("dataset == 'checkerboard2x2' and noise_rate == 0")["accuracy"].min() > 0.85


@pytest.mark.usefixtures("fits_in_this_process")
def test_gradient_boosting_gives_the_accuracies_of_the_2020_study(data_root, tmp_path):
    """Same splits, same noise: within a few test rows, years of library versions apart."""
    published = pd.read_csv(data_root / "reference" / "boosting_with_label_noise_2020_accuracies.csv")
    published = published[(published["config"] == "50stumps") & (published["model"] == "gboost1")]
    folder = tmp_path / "data"
    folder.mkdir()
    names = ["breast-w", "diabetes", "spambase", "vertebra-column", "wdbc"]
    for name in names:
        source = data_root / "data" / "boosting_with_label_noise" / f"{name}.csv"
        (folder / f"{name}.csv").symlink_to(source)
    figure = {
        "save_fig": 0,
        "fig_size": [6, 5],
        "fig_dpi": 100,
        "fig_title": "",
        "fig_cmap": "viridis",
        "plot_kwargs": [],
    }
    config = parse_study_config(
        {
            "data_dir": str(folder),
            "results_dir": str(tmp_path / "results"),
            "test_fraction": 0.2,
            "random_state": 7,
            "noise_kinds": ["label"],
            "noise_levels": [0.1, 0.2, 0.3],
            **dict.fromkeys(
                ["disp_accs", "disp_elas", "disp_rlas", "disp_avg_elas", "disp_avg_rlas", "warm_start"], 0
            ),
            "ela_fig": figure,
            "rla_fig": figure,
            "models": [
                {
                    "name": "gboost1",
                    "module": "sklearn.ensemble",
                    "model": "GradientBoostingClassifier",
                    "params": {"n_estimators": 50, "max_depth": 1, "learning_rate": 0.1, "random_state": 7},
                }
            ],
        },
        "study",
    )
    scores = run(config, n_jobs=2).scores
    both = scores.merge(published, left_on=["dataset", "noise_rate"], right_on=["dataset", "level"])
    assert len(both) == len(names) * 4
    difference = both["accuracy_x"] - both["accuracy_y"]
    assert difference.abs().max() <= 0.02
    assert difference.abs().mean() <= 0.005
    assert (difference == 0).mean() >= 0.5


@pytest.mark.usefixtures("fits_in_this_process")
def test_arguments_are_checked_even_if_nothing_is_left_to_fit(small_config):
    config = small_config(repeats=1)
    run(config, n_jobs=np.int64(1))
    with pytest.raises(ConfigError, match=r"^n_jobs must be -1 or at least 1, got 'x'$"):
        run(config, n_jobs="x")
    for scheduler in (3, " "):
        with pytest.raises(ConfigError, match=f"^scheduler must be an address, .* got {scheduler!r}$"):
            run(config, scheduler=scheduler)
