"""Extensions through a whole run: objects in `compare`, and names of installed packages in a config."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import boostnoise
from boostnoise import Comparison, GeneralizedCrossEntropy, RobustLGBMClassifier
from boostnoise.eval import ConfigError, FunctionNoise, Metric, UniformNoise, load_run
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.execution.dask_worker import fit
from boostnoise.eval.execution.plan import plan
from boostnoise.eval.execution.worker_handle import Limits
from robust_splits import FunctionCriterion, RobustDecisionTreeClassifier, plugins

pytestmark = pytest.mark.release  # worker processes import all libraries


class Own(ClassifierMixin, BaseEstimator):
    def __init__(self, depth=2):
        self.depth = depth

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def balance(left, right):
    n_left, n_right = left.sum(), right.sum()
    return np.abs(left / n_left - right / n_right).sum() * n_left * n_right / (n_left + n_right) ** 2


def to_first(y, noise_rate, rng):
    return np.where(rng.random(y.size) < noise_rate, 0, y)


def first_recall(y_true, y_pred):
    return (y_pred[y_true == 0] == 0).mean()


for own in (Own, Own.__init__, Own.fit, Own.predict, balance, to_first, first_recall):
    own.__module__ = "__main__"  # as in a notebook: no other process can import them


@pytest.fixture
def compare(tmp_path):
    def compare(**options):
        defaults = {
            "models": [Own(), RobustDecisionTreeClassifier(FunctionCriterion(balance), max_depth=2)],
            "datasets": ["iris"],
            "noise": [UniformNoise(0.2), FunctionNoise(to_first, 0.3)],
            "metric": first_recall,
            "progress": False,
        }
        return boostnoise.compare(**defaults | options, results_dir=tmp_path, repeats=1, n_jobs=1)

    return compare


def test_objects_of_a_notebook(compare, tmp_path):
    found = compare()
    assert found.scores["error"].isna().all()
    assert list(found.scores["noise_kind"].unique()) == ["uniform", "to_first"]
    noisy = found.scores[(found.scores["noise_kind"] == "to_first") & (found.scores["noise_rate"] == 0.3)]
    assert noisy["realised_rate"].between(0.1, 0.3).all()
    assert (noisy["first_recall"] >= noisy["balanced_accuracy"]).all()
    assert "first recall" in str(found)
    found.plot("first_recall")
    # The same cells, fitted again by nobody.
    again = compare(progress=lambda progress: pytest.fail("fitted") if progress.job else None)
    np.testing.assert_array_equal(again.scores["first_recall"], found.scores["first_recall"])
    # A record needs no object.
    code = f"from boostnoise.eval import load_run; print(load_run({str(tmp_path)!r}).scores['first_recall'].tolist())"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    np.testing.assert_array_equal(json.loads(shown), found.scores["first_recall"])
    assert Comparison.load(tmp_path).scores.equals(found.scores)


def test_another_definition_is_fitted_again(compare):
    fitted = []

    def count(progress):
        if progress.job is not None:
            fitted.append(progress.job.model.name)

    compare(progress=count, noise=0.2)
    assert len(fitted) == 4

    def predict(self, X):
        return self.tree_.predict(X) * 0

    kept = Own.predict
    Own.predict = predict
    try:
        found = compare(progress=count, noise=0.2)
    finally:
        Own.predict = kept
    assert fitted[4:] == ["Own", "Own"]
    assert (found.scores.loc[found.scores["model"] == "Own", "first_recall"] == 1).all()


def test_a_loss_and_metrics(compare):
    metrics = [Metric(first_recall, name="recall"), "missing"]
    with pytest.raises(ConfigError, match=r"metrics\[1\]: no installed package has such a metric"):
        compare(metrics=metrics)
    models = {"gce": RobustLGBMClassifier(n_estimators=3, loss=GeneralizedCrossEntropy(0.5))}
    models["by name"] = RobustLGBMClassifier(n_estimators=3, loss="gce", loss_params={"q": 0.5})
    found = compare(models=models, metric="accuracy", metrics=metrics[:1], noise=to_first)
    assert found.scores["error"].isna().all()
    wide = found.scores.pivot_table("log_loss", "noise_rate", "model", sort=False)
    np.testing.assert_array_equal(wide["gce"], wide["by name"])
    assert list(wide.index) == [0, 0.1, 0.2, 0.3, 0.4]
    assert found.scores["recall"].notna().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": lambda labels: labels}, "noise '<lambda>': noise <lambda> must have an argument 'y'"),
        ({"metric": lambda y_true: 1}, "metric: name of Metric must be an identifier"),
        ({"metrics": [Metric(lambda y_true: 1, name="one")]}, r"metrics\[0\]: a metric must be a function of"),
        ({"metric": Metric(first_recall, maximum=2)}, "metric: must be 'accuracy', "),
    ],
)
def test_mistakes_are_found_before_any_fit(compare, options, message):
    with pytest.raises(ConfigError, match=message):
        compare(**options, progress=lambda progress: pytest.fail("fitted"))


def test_an_error_of_an_own_function_fails_its_cells_alone(compare):
    def refuse(y, noise_rate):
        raise RuntimeError("no noise today")

    found = compare(noise={"kind": refuse, "rates": 0.1})
    failed = found.scores["noise_rate"] > 0
    assert (found.scores.loc[failed, "error"] == "RuntimeError: no noise today").all()
    assert found.scores.loc[~failed, "error"].isna().all()


SOURCE = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier

class Stump(DecisionTreeClassifier):
    def __init__(self, random_state=None):
        super().__init__(max_depth=1, random_state=random_state)

def to_last(y, n_classes, noise_rate, rng, offset=1):
    return np.where(rng.random(y.size) < noise_rate, n_classes - offset, y)

def worst(y_true, y_pred):
    return min((y_pred[y_true == k] == k).mean() for k in set(y_true))

def corners():
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    return X, np.where(X[:, 0] > 0, "right", "left")

def broken():
    return 3
"""
CONFIG = {
    "datasets": ["corners"],
    "models": ["stump", "robust+stump"],
    "noise": [{"kind": "to_last", "rates": [0.2], "params": {"offset": 2}}],
    "metric": "worst",
    "repeats": 1,
}


@pytest.fixture
def package(plugin_package, tmp_path):
    names = {
        "models": {"stump": "run_extensions:Stump"},
        "noise": {"to_last": "run_extensions:to_last"},
        "metrics": {"worst": "run_extensions:worst"},
        "datasets": {"corners": "run_extensions:corners", "broken": "run_extensions:broken"},
    }
    plugin_package("run_extensions", SOURCE, **names)
    yield {**CONFIG, "results_dir": str(tmp_path / "results")}
    sys.modules.pop("run_extensions", None)


def test_names_of_an_installed_package(package, tmp_path):
    found = boostnoise.eval.run(parse_config(package, "study"), n_jobs=1)
    assert found.scores["error"].isna().all()
    clean = found.scores[found.scores["noise_rate"] == 0]
    assert (clean["worst"] > 0.9).all()
    noisy = found.scores[found.scores["noise_rate"] > 0]
    assert noisy["realised_rate"].between(0.02, 0.2).all()  # the first of two classes stays as it is
    assert found.config.noise[0].name == "to_last (offset=2)"
    (job, *_) = plan(parse_config(package, "study")).jobs
    assert ("run_extensions", "1.0") in job.model.versions
    # The record is read where the package is missing.
    sys.path.remove(str(tmp_path))
    plugins._points.cache_clear()
    again = load_run(package["results_dir"], "study")
    assert again.scores.equals(found.scores)
    with pytest.raises(ConfigError, match="unknown model 'stump'"):
        parse_config(package, "study")


def test_another_version_of_the_package_is_fitted_again(package, tmp_path):
    keys = set(plan(parse_config(package, "study")).keys)
    metadata = tmp_path / "run_extensions-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))
    assert keys.isdisjoint(plan(parse_config(package, "study")).keys)


def test_a_module_path_is_still_refused(package):
    package["models"] = [{"module": "run_extensions", "model": "worst"}]
    with pytest.raises(ConfigError, match="package 'run_extensions' is not allowed"):
        plan(parse_config(package, "study"))
    package["models"] = [{"module": "run_extensions", "model": "Stump"}]
    plan(parse_config(package, "study"))


def test_a_misspelt_kind_of_noise(package):
    package["noise"] = [{"kind": "to_lst", "rates": [0.1]}]
    with pytest.raises(ConfigError, match=r"noise: unknown kind 'to_lst' \(did you mean 'to_last'\?\)"):
        parse_config(package, "study")


def test_a_data_set_that_cannot_be_made(package):
    package["datasets"] = ["broken"]
    with pytest.raises(ConfigError, match=r"must be a function that returns \(X, y\), but TypeError"):
        plan(parse_config(package, "study"))


def test_a_worker_of_a_cluster_has_the_same_versions(compare, tmp_path, monkeypatch):
    compare()
    config = load_run(tmp_path, "comparison").config
    (key, job), *_ = zip((found := plan(config)).keys, found.jobs, strict=True)
    monkeypatch.setattr("boostnoise.eval.execution.dask_worker.version_of", lambda package: "9.9")
    outcome = fit(key, job, found.datasets[job.dataset], 1, Limits())
    assert outcome.error.startswith("a worker of the cluster has other package versions: ")


def test_a_script_of_a_user(tmp_path):
    """Everything is defined in a script, which worker processes do not import."""
    script = tmp_path / "study.py"
    script.write_text(
        textwrap.dedent(
            """
            from dataclasses import dataclass
            import numpy as np
            import boostnoise
            from boostnoise import Loss, RobustXGBClassifier

            @dataclass(frozen=True)
            class Squared(Loss):
                scale: float = 1.0
                binary_only = True

                def value(self, y, margin):
                    return self.scale * (2 * y - 1 - margin) ** 2 / 2

                def gradient(self, y, margin):
                    return self.scale * (margin - 2 * y + 1)

                def exact_hessian(self, y, margin):
                    return np.full_like(margin, self.scale)

            found = boostnoise.compare(
                [RobustXGBClassifier(loss=Squared(2.0), n_estimators=5)], ["breast_cancer"], 0.2,
                repeats=1, progress=False,
            )
            print(found.scores["error"].isna().all(), found.scores["accuracy"].min() > 0.7)
            """
        )
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_metric_of_one_comparison_is_not_one_of_the_next(compare, tmp_path):
    compare(name="first")
    second = compare(name="second", metric="accuracy", datasets=["wine"])
    assert "first_recall" not in second.scores
    assert "first recall" not in second.report(tmp_path / "second.html").read_text()
    with pytest.raises(
        ConfigError, match="metric: must be 'accuracy', 'balanced_accuracy', 'macro_f1' or 'roc_auc'"
    ):
        compare(metric="first_recall")


def test_objects_reach_the_workers_of_a_cluster(compare):
    distributed = pytest.importorskip("distributed")
    local = compare().scores
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0
    ) as cluster:
        found = compare(name="cluster", scheduler=cluster.scheduler_address, resume=False).scores
    assert found["error"].isna().all()
    np.testing.assert_array_equal(found["first_recall"], local["first_recall"])
