import importlib
import sys

import pytest
from boostnoise.eval.config import ModelSpec
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models import ALLOWED_PACKAGES, SHORT_NAMES, build, packages_of
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
        ("os.system", {}, "package 'os' is not allowed; allowed are boostnoise, catboost"),
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
            "parameter 'memory' reads or writes files",
        ),
        ("lightgbm.LGBMClassifier", {"output_model": "x"}, "parameter 'output_model' reads or writes files"),
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
