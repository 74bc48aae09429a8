import importlib
import sys

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import make_blobs
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.packages import EXTRAS, is_installed
from boostnoise.eval.models.resolved_model import resolve
from boostnoise.eval.models.short_names import SHORT_NAMES, VARIANT_PARAMETERS
from boostnoise.eval.models.variants import ADAPTIVE_CRITERION, check_variant, variants
from robust_splits.criteria import ALIASES

NEEDED = {
    "forward": {"T": [[0.9, 0.1], [0.2, 0.8]]},
    "backward": {"T": [[0.9, 0.1], [0.2, 0.8]]},
    "unbiased": {"noise_rate_pos": 0.1, "noise_rate_neg": 0.2},
}
THREE = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
TWO = make_blobs(80, centers=[[0, 0], [9, 0]], random_state=0)


def make(model, allowed=(), seed=5, **params):
    if "." in model and ":" not in model:
        module, _, model = model.rpartition(".")
        spec = ModelSpec.model_validate({"module": module, "model": model, "params": params})
    else:
        spec = ModelSpec.model_validate({"model": model, "params": params})
    return build(resolve(spec, allowed), seed=seed, threads=1)


def skip_without(*packages):
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def parameter(estimator, name):
    """Values of a parameter in an estimator and its nested estimators."""
    return [
        value
        for key, value in estimator.get_params().items()
        if key.rpartition("__")[2] == name and value is not None
    ]


@pytest.mark.parametrize(
    "name", [name for name in SHORT_NAMES if name not in ("tabicl", "tabpfn")]
)  # these download weights
def test_short_names(name):
    skip_without(SHORT_NAMES[name].module)
    estimator = make(name)
    assert is_classifier(estimator)
    assert parameter(estimator, "random_state") == [5]
    assert set(parameter(estimator, "n_jobs") + parameter(estimator, "thread_count")) <= {1}
    X, y = THREE
    assert estimator.fit(X, y).score(X, y) > 0.95
    assert estimator.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "name",
    [
        "robust+xgboost",
        "robust+robust_forest:ane",
        "robust+catboost",
        "cleanlab+xgboost",
        "cleanlab+svm_gaussian",
        "cleanlab+robust_forest:ane",
        "cleanlab+lightgbm_forest",
        "cleanlab+catboost",
    ],
)
def test_a_prefix_before_a_model(name):
    prefix, _, name = name.partition("+")
    skip_without(*(["cleanlab"] if prefix == "cleanlab" else []), *(["catboost"] if name == "catboost" else []))
    X, y = THREE
    noisy = np.where(np.arange(y.size) % 5, y, (y + 1) % 3)
    estimator = make(f"{prefix}+{name}", **({"iterations": 30} if name == "catboost" else {}))
    assert set(parameter(estimator, "random_state")) == {5}
    assert estimator.fit(X, noisy).score(X, y) > 0.9


@pytest.mark.parametrize("prefix", ["robust", "balanced"])
def test_a_correction_before_a_model(prefix):
    X, y = THREE
    noisy = np.where((y == 2) & (np.arange(y.size) % 2 == 0), 0, y)
    estimator = make(f"{prefix}+robust_forest")
    assert set(parameter(estimator, "random_state")) == {5}
    assert estimator.fit(X, noisy).score(X, y) > 0.9
    with pytest.raises(ConfigError, match=r"cannot be built: estimator must have predict_proba, got .*SVC"):
        make(f"{prefix}+svm_linear")
    with pytest.raises(ConfigError, match="takes no search: it would be scored on noisy labels"):
        search(f"{prefix}+robust_forest", {"max_depth": [2, 3]}, folds=3)


@pytest.mark.parametrize(
    ("base", "variant"),
    [(base, name) for base in VARIANT_PARAMETERS for name in variants(VARIANT_PARAMETERS[base])],
)
def test_every_variant_fits(base, variant):
    if VARIANT_PARAMETERS[base] == "criterion":
        estimator = make(f"{base}:{variant}", **({} if base == "robust_tree" else {"n_estimators": 10}))
        assert estimator.criterion == variant
    else:
        estimator = make(f"{base}:{variant}", loss_params=NEEDED.get(variant), n_estimators=10, passes=1)
        assert estimator.loss == variant
    X, y = TWO
    assert estimator.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("name", [*ALIASES, "gce(0.4)", ADAPTIVE_CRITERION])
def test_other_names_of_criteria(name):
    check_variant("criterion", name)
    assert make(f"robust_tree:{name}").criterion == name


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("robust_xgboost:forward", {}, "boostnoise.RobustXGBClassifier cannot be built: loss 'forward' needs the parameter 'T'"),
        ("robust_lightgbm:unbiased", {"loss_params": {"noise_rate_pos": 0.1}}, "loss 'unbiased' needs the parameter 'noise_rate_neg'"),
        ("robust_xgboost:gce", {"loss_params": {"Q": 1}}, "loss 'gce' has no parameter 'Q'"),
        ("robust_xgboost:gce", {"q": 0.5}, "has no parameter 'q'"),
        ("robust_xgboost", {"loss": "gcee"}, "loss 'gcee' is unknown"),
        ("robust_forest", {"criterion": "anne"}, "criterion 'anne' is unknown; known are gini"),
    ],
)  # fmt: skip
def test_parameters_that_the_estimators_reject(model, params, message):
    with pytest.raises(ConfigError, match=message):
        make(model, **params)


def test_given_parameters_override_those_of_a_short_name():
    assert make("lightgbm_forest").get_params()["subsample"] == 0.8
    assert make("lightgbm_forest", subsample=0.5).get_params()["subsample"] == 0.5
    svm = make("svm_quadratic", C=3.0, degree=2)
    assert (svm["model"].kernel, svm["model"].degree, svm["model"].C) == ("poly", 2, 3.0)


def test_dropout_changes_the_predictions():
    X, y = make_blobs(300, centers=3, cluster_std=6.0, random_state=0)
    for library in ("xgboost", "lightgbm"):
        dart, plain = (
            make(name, n_estimators=30).fit(X, y).predict_proba(X) for name in (f"{library}_dart", library)
        )
        assert abs(dart - plain).max() > 0.05


@pytest.mark.parametrize(
    ("model", "extra"),
    [("catboost", "catboost"), ("cleanlab+gbm", "cleanlab"), ("tabicl", "tabicl"), ("tabpfn", "tabpfn")],
)
def test_packages_that_are_not_installed(model, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, extra, None)
    assert extra in EXTRAS
    with pytest.raises(ConfigError, match=rf"^{extra} is not installed; pip install {extra}"):
        make(model)


def test_other_classes_of_a_package_are_not_replaced():
    pytest.importorskip("catboost")
    with pytest.raises(ConfigError, match="CatBoostRanker is not a scikit-learn estimator"):
        make("catboost.CatBoostRanker", allowed=("catboost",))


def test_threads_are_given_to_the_outermost_estimator():
    spec = ModelSpec.model_validate(
        {
            "module": "sklearn.ensemble",
            "model": "BaggingClassifier",
            "params": {
                "estimator": {"module": "sklearn.ensemble", "model": "RandomForestClassifier"},
                "n_jobs": 9,
            },
        }
    )
    bagging = build(resolve(spec), seed=0, threads=4)
    assert (bagging.n_jobs, bagging.estimator.n_jobs) == (4, 1)


def search(model, params, **settings):
    spec = ModelSpec.model_validate({"model": model, "search": {"params": params, **settings}})
    return build(resolve(spec), seed=5, threads=3)


def test_a_search():
    found = search("random_forest", {"max_depth": [1, 4], "n_estimators": [3]}, folds=3)
    assert (found.n_jobs, found.estimator.n_jobs, found.estimator.random_state) == (1, 3, 5)
    X, y = make_blobs(120, centers=8, random_state=0)
    assert found.fit(X, y).best_params_ == {"max_depth": 4, "n_estimators": 3}
    assert found.n_splits_ == 3
    drawn = search("decision_tree", {"max_depth": [*range(1, 40)]}, draws=4, metric="neg_log_loss").fit(X, y)
    again = search("decision_tree", {"max_depth": [*range(1, 40)]}, draws=4, metric="neg_log_loss").fit(X, y)
    assert len(drawn.cv_results_["params"]) == 4
    assert drawn.cv_results_["params"] == again.cv_results_["params"]
    assert len(search("decision_tree", {"max_depth": [1, 2]}, draws=4).fit(X, y).cv_results_["params"]) == 2


def test_a_search_sets_parameters_of_the_model_in_a_pipeline():
    X, y = THREE
    assert search("svm_gaussian", {"gamma": [1e9, 0.5]}, holdout=0.3).fit(X, y).best_params_ == {
        "model__gamma": 0.5
    }
    skip_without("cleanlab")
    found = search("cleanlab+svm_gaussian", {"gamma": [1e9, 0.5]}, holdout=0.3)
    assert found.fit(X, y).best_params_ == {"estimator__model__gamma": 0.5}


def test_candidates_that_are_estimators_have_seeds_and_threads():
    trees = [{"module": "sklearn.ensemble", "model": "ExtraTreesClassifier", "params": {"n_jobs": 9}}]
    (tree,) = search("adaboost", {"estimator": trees}).param_grid["estimator"]
    assert (tree.random_state, tree.n_jobs) == (5, 3)


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("gbm", {"max_dept": [1]}, "search.params: 'max_dept' cannot have the value 1: Invalid parameter 'max_dept'"),
        ("xgboost", {"max_dpth": [1]}, "has no parameter 'max_dpth'"),
        ("lightgbm", {"output_model": ["x"]}, "parameter 'output_model' is not allowed"),
        ("svm_linear", {"C__memory": [1]}, "parameter 'model__C__memory' is not allowed"),
        ("svm_linear", {"C__x": [1]}, "search.params: 'model__C__x' cannot be searched: .* has no such parameter"),
        ("random_forest", {"n_jobs": [9]}, "search.params: 'n_jobs' cannot be searched: the run sets it"),
        ("adaboost", {"estimator": [{"module": "os", "model": "system"}]}, "package 'os' is not allowed"),
        ("robust_forest", {"criterion": ["gini", "anne"]}, "criterion 'anne' is unknown"),
        ("robust_xgboost", {"loss": ["gce", "forward"]}, "loss 'forward' needs the parameter 'T'"),
        ("robust_xgboost:alpha", {"loss_params": [{"a": 2}, {"a": 0.5}]}, "a of alpha must be in"),
    ],
)  # fmt: skip
def test_candidates_that_cannot_be_built(model, params, message):
    with pytest.raises(ConfigError, match=message):
        search(model, params)


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


def test_lists_become_tuples_if_these_are_the_default():
    step = {"module": "sklearn.preprocessing", "model": "MinMaxScaler", "params": {"feature_range": [-1, 1]}}
    model = {"module": "sklearn.tree", "model": "DecisionTreeClassifier"}
    estimator = make("sklearn.pipeline.Pipeline", steps=[["scale", step], ["model", model]])
    assert estimator.fit([[0.0], [1], [2]], [0, 0, 1]).steps[0][1].feature_range == (-1, 1)


def test_names_of_columns_are_no_text_for_lightgbm():
    def pipeline(**params):
        one_hot = {"module": "sklearn.preprocessing", "model": "OneHotEncoder"}
        columns = {"module": "sklearn.compose", "model": "ColumnTransformer", "params": {
            "transformers": [["one hot", one_hot, ["marital status", "size=XL"]]],
        }}  # fmt: skip
        model = {"module": "lightgbm", "model": "LGBMClassifier", "params": params}
        return make("sklearn.pipeline.Pipeline", steps=[["columns", columns], ["model", model]])

    assert pipeline(boosting_type="goss").steps[0][1].transformers[0][2] == ["marital status", "size=XL"]
    with pytest.raises(ConfigError, match="text for LightGBM must not contain blanks, quotes or '='"):
        pipeline(boosting_type="gbdt output_model=x")


TEXT = "sklearn.feature_extraction.text"
FILES = {"module": TEXT, "model": "TfidfVectorizer", "params": {"input": "filename"}}
CACHED = {"module": "sklearn.pipeline", "model": "Pipeline", "params": {"steps": [], "memory": "cache"}}
REMOVED = {"module": "shutil", "model": "rmtree", "params": {"path": "/"}}


@pytest.mark.parametrize(
    ("model", "params", "message"),
    [
        ("os.system", {}, "package 'os' is not allowed; allowed packages: boostnoise, catboost, lightgbm"),
        ("builtins.eval", {}, "package 'builtins' is not allowed"),
        ("sklearn.utils.os", {}, "sklearn.utils.os is not an allowed class"),
        ("sklearn.datasets.fetch_openml", {}, "is not an allowed class"),
        ("sklearn.ensemble.RandomForestClasifier", {}, "did you mean sklearn.ensemble.RandomForestClassifier"),
        ("sklearn.tree.RandomForestClassifier", {}, "did you mean sklearn.ensemble.RandomForestClassifier"),
        ("sklearn.linear_model.LinearRegression", {}, "is not a classifier"),
        ("sklearn.svm.SVC", {"gama": 1}, "sklearn.svm.SVC does not take these parameters: .*'gama'"),
        ("sklearn.pipeline.Pipeline", {"steps": [], "memory": "cache"}, "parameter 'memory' is not allowed"),
        ("sklearn.pipeline.Pipeline", {"steps": [["text", FILES]]}, "parameter 'input' is not allowed"),
        ("lightgbm.LGBMClassifier", {"output_model": "x"}, "parameter 'output_model' is not allowed"),
        ("xgboost.XGBClassifier", {"max_dpth": 1}, r"a config may set \(did you mean 'max_depth'\?\)"),
        ("boostnoise.RobustXGBClassifier", {"max_dpth": 1}, "has no parameter 'max_dpth'"),
        ("lightgbm.LGBMClassifier", {"num_leafs": 1}, "has no parameter 'num_leafs'"),
        ("lightgbm.LGBMClassifier", {"fs": "x"}, "parameter 'fs' is not allowed"),
        ("lightgbm.LGBMClassifier", {"machines": "x:1"}, "parameter 'machines' is not allowed"),
        ("lightgbm.LGBMClassifier", {"num_threads": 8}, "has no parameter 'num_threads'"),
        ("boostnoise.eval.execution.runner.Store", {}, "is not an allowed class"),
        ("sklearn.ensemble.VotingClassifier", {"estimators": ["a"]}, "cannot be built"),
        ("sklearn.ensemble.BaggingClassifier", {"estimator": CACHED}, "parameter 'memory' is not allowed"),
        ("sklearn.ensemble.BaggingClassifier", {"estimator": {**REMOVED, "module": ["os"]}}, "module and model must be strings"),
        ("sklearn.ensemble.BaggingClassifier", {"estimator": REMOVED}, "package 'shutil' is not allowed"),
        ("sklearn.ensemble.VotingClassifier", {"estimators": [["a", REMOVED]]}, "package 'shutil' is not allowed"),
        ("boostnoise.eval.run", {}, "boostnoise.eval.run is not an allowed class"),
        ("boostnoise.eval.Config", {}, "boostnoise.eval.Config is not an allowed class"),
    ],
)  # fmt: skip
def test_rejected_models(model, params, message, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(ConfigError, match=message):
        make(model, **params)


def test_a_description_that_is_nested_too_deeply():
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ConfigError, match="nested"):
        parse_config({"models": [{"model": "gbm", "params": {"C": value}}]}, "run")


def test_classes_that_an_allowed_module_imports_are_not_allowed(tmp_path, monkeypatch):
    (tmp_path / "lender.py").write_text("from sklearn.svm import SVC\nfrom foreign import Foreign\n")
    (tmp_path / "foreign.py").write_text(
        "from sklearn.base import BaseEstimator, ClassifierMixin\nclass Foreign(ClassifierMixin, BaseEstimator): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(ConfigError, match="package 'lender' is not allowed"):
        make("lender.SVC")
    assert "lender" not in sys.modules
    assert make("lender.SVC", allowed={"lender"})
    with pytest.raises(ConfigError, match="is defined in foreign, which is not allowed"):
        make("lender.Foreign", allowed={"lender"})
    with pytest.raises(ConfigError, match="module 'lender' has no class 'Nothing'"):
        make("lender.Nothing", allowed={"lender"})
    with pytest.raises(ConfigError, match=r"module 'lender\.more' cannot be imported"):
        make("lender.more.SVC", allowed={"lender"})
