import importlib
import sys

import pytest
from boostnoise.eval.config import ModelSpec
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models import ALLOWED_PACKAGES, SHORT_NAMES, build, packages_of, version_of
from sklearn.base import is_classifier
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier


def make(model, allowed=ALLOWED_PACKAGES, seed=5, **params):
    if "." in model:
        module, _, model = model.rpartition(".")
        spec = ModelSpec.model_validate({"module": module, "model": model, "params": params})
    else:
        spec = ModelSpec.model_validate({"model": model, "params": params})
    return build(spec, seed=seed, threads=1, allowed=allowed)


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_short_names(name):
    estimator = make(name)
    assert is_classifier(estimator)
    parameters = estimator.get_params()
    assert parameters["random_state"] == 5
    assert parameters.get("n_jobs", 1) == 1


def test_parameters_and_nested_estimators():
    estimator = make(
        "sklearn.ensemble.AdaBoostClassifier",
        base_estimator={
            "module": "sklearn.tree",
            "model": "DecisionTreeClassifier",
            "params": {"criterion": "entropy", "max_depth": 6, "random_state": 7},
        },
        n_estimators=50,
    )
    assert isinstance(estimator, AdaBoostClassifier)
    assert isinstance(estimator.estimator, DecisionTreeClassifier)
    assert estimator.estimator.max_depth == 6
    assert (estimator.random_state, estimator.estimator.random_state) == (5, 7)


def test_pipelines():
    estimator = make(
        "sklearn.pipeline.Pipeline",
        steps=[
            ["scale", {"module": "sklearn.preprocessing", "model": "StandardScaler"}],
            [
                "forest",
                {"module": "sklearn.ensemble", "model": "RandomForestClassifier", "params": {"n_jobs": 8}},
            ],
        ],
    )
    assert estimator.get_params()["forest__n_jobs"] == 1
    assert estimator.get_params()["forest__random_state"] == 5


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("os.system", {}, "package 'os' is not allowed; allowed are boostnoise, lightgbm"),
        ("subprocess.Popen", {"args": ["true"]}, "package 'subprocess' is not allowed"),
        ("builtins.eval", {}, "package 'builtins' is not allowed"),
        ("sklearn.utils.os", {}, "module 'sklearn.utils' has no class 'os'|is not a scikit-learn estimator"),
        ("sklearn.datasets.fetch_openml", {}, "is not a scikit-learn estimator"),
        ("sklearn.nonsense.Forest", {}, "module 'sklearn.nonsense' cannot be imported"),
        ("sklearn.ensemble.Forest", {}, "module 'sklearn.ensemble' has no class 'Forest'"),
        ("sklearn.linear_model.LinearRegression", {}, "is not a classifier"),
        ("sklearn.preprocessing.StandardScaler", {}, "is not a classifier"),
        ("sklearn.svm.SVC", {"gama": 1}, "does not take these parameters: .*'gama'"),
        (
            "sklearn.pipeline.Pipeline",
            {"steps": [], "memory": "cache"},
            "parameter 'memory' is not allowed",
        ),
        ("lightgbm.LGBMClassifier", {"output_model": "x"}, "parameter 'output_model' is not allowed"),
        ("xgboost.XGBClassifier", {"max_dpth": 1}, "has no parameter 'max_dpth'"),
        ("boostnoise.RobustXGBClassifier", {"max_dpth": 1}, "has no parameter 'max_dpth'"),
        ("lightgbm.LGBMClassifier", {"num_leafs": 1}, "has no parameter 'num_leafs'"),
        ("lightgbm.LGBMClassifier", {"fs": "x"}, "parameter 'fs' is not allowed"),
        ("lightgbm.LGBMClassifier", {"machines": "x:1"}, "parameter 'machines' is not allowed"),
        ("lightgbm.LGBMClassifier", {"num_threads": 8}, "has no parameter 'num_threads'"),
        ("boostnoise.eval.runner.Store", {}, "module 'boostnoise.eval.runner' is not public"),
        ("boostnoise.data.evil.Evil", {}, "module 'boostnoise.data.evil' is not public"),
        ("sklearn.ensemble.VotingClassifier", {"estimators": ["a"]}, "cannot be built"),
        (
            "sklearn.model_selection.GridSearchCV",
            {
                "estimator": {
                    "module": "sklearn.pipeline",
                    "model": "Pipeline",
                    "params": {"steps": [["a", {"module": "sklearn.svm", "model": "SVC"}]]},
                },
                "param_grid": [{"memory": ["cache"]}],
            },
            "parameter 'memory' is not allowed",
        ),
        (
            "sklearn.ensemble.BaggingClassifier",
            {"estimator": {"module": "shutil", "model": "rmtree", "params": {"path": "/"}}},
            "package 'shutil' is not allowed",
        ),
        (
            "sklearn.ensemble.VotingClassifier",
            {"estimators": [["a", {"module": "subprocess", "model": "Popen"}]]},
            "package 'subprocess' is not allowed",
        ),
    ],
)
def test_what_is_not_built(model, params, message, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(ConfigError, match=message):
        make(model, **params)


def test_an_allowed_module_may_not_lend_out_a_foreign_class(tmp_path, monkeypatch):
    (tmp_path / "lender.py").write_text("from sklearn.svm import SVC\nfrom foreign import Foreign\n")
    (tmp_path / "foreign.py").write_text(
        "from sklearn.base import BaseEstimator, ClassifierMixin\nclass Foreign(ClassifierMixin, BaseEstimator): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(ConfigError, match="package 'lender' is not allowed"):
        make("lender.SVC")
    assert "lender" not in sys.modules
    assert make("lender.SVC", allowed=ALLOWED_PACKAGES | {"lender"})
    with pytest.raises(ConfigError, match="is defined in foreign, which is not allowed"):
        make("lender.Foreign", allowed=ALLOWED_PACKAGES | {"lender"})


def test_packages_of_nested_estimators():
    spec = ModelSpec.model_validate(
        {
            "module": "sklearn.ensemble",
            "model": "BaggingClassifier",
            "params": {"estimator": {"module": "xgboost", "model": "XGBClassifier"}},
        }
    )
    assert packages_of(spec) == ["sklearn", "xgboost"]


def test_a_new_version_of_a_booster_counts_for_the_robust_one():
    spec = ModelSpec.model_validate({"model": "robust_xgboost"})
    assert "xgboost" in packages_of(spec)


def test_a_module_without_distribution_counts_by_its_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    versions = set()
    for name in ("one_module", "two_module"):
        (tmp_path / f"{name}.py").write_text(f"NAME = {name!r}")
        importlib.invalidate_caches()
        versions.add(version_of(name))
    assert len(versions) == 2
    assert "" not in versions
