import math
import pickle
from threading import Lock

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from boostnoise import RobustLGBMClassifier, RobustXGBClassifier, get_loss, xgboost_objective
from boostnoise.eval.comparison.from_estimators import describe, plain
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.extensions import own_objects
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.packages import EXTRAS, is_installed
from boostnoise.eval.models.resolved_model import resolve
from boostnoise.eval.models.short_names import SHORT_NAMES
from robust_splits import (
    Credal,
    NegativeExponential,
    NewtonGain,
    RobustDecisionTreeClassifier,
    RobustForestClassifier,
)

NAMES = [
    *SHORT_NAMES,
    "robust_forest:ane",
    "robust_tree:gce(0.4)",
    "robust_xgboost:alpha",
    "cleanlab+svm_linear",
    "robust+robust_forest",
    "balanced+robust_lightgbm",
]


def built(description, seed=5, allowed=()):
    return build(resolve(ModelSpec(name="any", **description), allowed), seed=seed, threads=1)


def settings(estimator):
    """All parameters at any depth, with classes in place of estimators."""

    def comparable(value):
        if hasattr(value, "get_params"):
            return type(value)
        if isinstance(value, list | tuple):
            return [comparable(item) for item in value]
        return "NaN" if isinstance(value, float) and math.isnan(value) else value

    return {name: comparable(value) for name, value in estimator.get_params(deep=True).items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_description_builds_the_same_model(name):
    packages = [package for package in EXTRAS if package in name]
    if not all(map(is_installed, packages)):
        pytest.skip(f"not installed: {packages}")
    spec = ModelSpec.model_validate(name)
    if name == "catboost":  # the evaluation's own class in its place is no public one
        from catboost import CatBoostClassifier

        estimator = CatBoostClassifier(random_state=5, thread_count=4, verbose=False)
    else:
        estimator = build(resolve(spec), seed=5, threads=1)
    description = describe(estimator, "it")
    again = built(description, seed=99)
    assert (description["module"], description["model"]) == (spec.module, spec.model)
    if name != "catboost":
        assert type(again) is type(estimator)
        assert settings(again) == settings(estimator)
    assert describe(again, "it") == description or name == "catboost"


@pytest.mark.parametrize(
    ("estimator", "module", "params"),
    [
        (DecisionTreeClassifier(max_depth=3, criterion="gini"), "sklearn.tree", {"max_depth": 3}),
        (RandomForestClassifier(n_jobs=4, max_features=None), "sklearn.ensemble", {"max_features": None}),
        (RandomForestClassifier(np.int64(7), max_samples=np.float64(0.5)), "sklearn.ensemble", {"n_estimators": 7, "max_samples": 0.5}),
        (XGBClassifier(max_depth=2, tree_method="hist", nthread=3), "xgboost", {"max_depth": 2, "tree_method": "hist"}),
        (LGBMClassifier(verbose=-1, num_leaves=31, path_smooth=1.0), "lightgbm", {"verbose": -1, "path_smooth": 1.0}),
        (RobustXGBClassifier(loss="gce", loss_params={"q": 0.5}, n_estimators=9), "boostnoise", {"loss": "gce", "loss_params": {"q": 0.5}, "n_estimators": 9}),
        (RobustLGBMClassifier(loss="alpha"), "boostnoise", {"loss": "alpha"}),
        (RobustForestClassifier(criterion=NegativeExponential(lam=0.25)), "robust_splits", {"criterion": "negative_exponential(0.25)"}),
        (RobustForestClassifier(criterion=NewtonGain(gamma=2)), "robust_splits", {"criterion": "newton(1.0, 2.0)"}),
        (SVC(kernel="rbf", random_state=3), "sklearn.svm", {"random_state": 3}),
    ],
)  # fmt: skip
def test_descriptions(estimator, module, params):
    expected = {"module": module, "model": type(estimator).__name__, "params": params}
    assert describe(estimator, "it") == expected
    parameters = built(expected).get_params()
    assert all(parameters[name] == value for name, value in params.items())


def test_nested_estimators():
    tree = {"module": "sklearn.tree", "model": "DecisionTreeClassifier", "params": {"max_depth": 2}}
    assert describe(AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)), "it")["params"] == {
        "estimator": tree
    }
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC(kernel="linear"))])
    assert describe(pipeline, "it") == ModelSpec.model_validate("svm_linear").model_dump(
        include={"module", "model", "params"}
    )
    voting = VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=2))], weights=[1, 2])
    again = built(describe(voting, "it")).fit(*load_iris(return_X_y=True))
    assert again.score(*load_iris(return_X_y=True)) > 0.9
    grid = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, cv=3)
    again = built(describe(grid, "it"), allowed={"sklearn"}).fit(*load_iris(return_X_y=True))
    assert again.best_params_["max_depth"] in (2, 3)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(5),
        XGBClassifier(n_estimators=3),
        LGBMClassifier(n_estimators=3, verbose=-1),
        RobustXGBClassifier(n_estimators=3),
        make_pipeline(SelectKBest(k=2), RobustDecisionTreeClassifier(max_depth=2)),
    ],
)
def test_fitting_does_not_change_the_description(estimator):
    before = describe(estimator, "it")
    estimator.fit(*load_iris(return_X_y=True))
    assert describe(estimator, "it") == before


class Local(ClassifierMixin, BaseEstimator):
    """A class of a module that no other process can import."""


def _of_this_script(X):
    return X


Local.__module__ = _of_this_script.__module__ = "__main__"


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (FunctionTransformer(Lock().__enter__), r"it\.func: .*__enter__.* cannot be sent to other processes: TypeError: .*lock"),
        (GaussianNB(priors=np.ones(3) / 3), r"it\.priors: an array cannot be written into a config; use a list"),
        (SVC(class_weight={0: 1.0, 1: 2.0}), r"it\.class_weight: a dict whose keys are not text cannot be written"),
        (SVC(random_state=np.random.RandomState(0)), r"it\.random_state: a random generator .*None for the run's seed"),
        (AdaBoostClassifier(DecisionTreeClassifier), r"it\.estimator: DecisionTreeClassifier is a class; use an instance, DecisionTreeClassifier\(\)"),
        (SVC(C=math.inf), r"it\.C: inf is not a finite number"),
    ],
)  # fmt: skip
def test_what_cannot_be_described(estimator, message):
    with pytest.raises(ConfigError, match=f"^{message}") as caught:
        describe(estimator, "it")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("estimator", "parameter", "text"),
    [
        (FunctionTransformer(lambda X: X), "func", "<lambda>"),
        (FunctionTransformer(_of_this_script), "func", "_of_this_script"),
        (GridSearchCV(SVC(), {"C": [1]}, cv=StratifiedKFold(3)), "cv", "StratifiedKFold(n_splits=3, random_state=None, shuffle=False)"),
        (XGBClassifier(objective=xgboost_objective("gce")), "objective", None),
        (RobustForestClassifier(criterion=Credal(gain_ratio=True)), "criterion", "Credal(s=1.0, gain_ratio=True)"),
        (RobustXGBClassifier(loss=get_loss("gce")), "loss", "GeneralizedCrossEntropy(q=0.7)"),
    ],
)  # fmt: skip
def test_other_objects_are_registered(estimator, parameter, text):
    reference = describe(estimator, "it")["params"][parameter]
    assert reference == describe(clone(estimator), "it")["params"][parameter]
    assert text is None or reference["object"] == text
    assert type(own_objects.resolve(reference)) is type(getattr(estimator, parameter))


def test_a_class_of_a_script_is_registered():
    described = describe(Local(), "it")
    assert (described["module"], described["model"], described["params"]) == ("own", "Local", {})
    bagging = describe(BaggingClassifier(Local()), "it")
    assert bagging["params"]["estimator"] == described
    assert type(built(bagging).estimator) is Local


def test_nothing_is_pickled(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    class Unpicklable(int):
        __reduce__ = __reduce_ex__ = __getstate__ = refuse

    for name in ("dumps", "dump"):
        monkeypatch.setattr(pickle, name, refuse)
    tree = DecisionTreeClassifier(max_depth=Unpicklable(3))
    assert describe(tree, "it")["params"] == {"max_depth": 3}
    assert type(plain(Unpicklable(3), "it")) is int
