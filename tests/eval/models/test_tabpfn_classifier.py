"""TabPFN's short name, with a package of the same interface, as the weights of the real one need a licence."""

import sys

import pytest
from sklearn.base import clone, is_classifier

from boostnoise import eval as evaluation
from boostnoise.eval import ConfigError
from boostnoise.eval.comparison.from_estimators import describe
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.input_form import input_form
from boostnoise.eval.models.resolved_model import resolve

PACKAGE = """
import os
from sklearn.base import BaseEstimator, ClassifierMixin

IMPORTED_IN = os.getcwd()


class TabPFNClassifier(ClassifierMixin, BaseEstimator):
    def __init__(
        self, *, n_estimators="auto", softmax_temperature="auto", balance_probabilities=False,
        average_before_softmax=False, ignore_pretraining_limits=False, model_path="auto", device="auto",
        inference_config=None, random_state=0, n_jobs=None,
    ):
        vars(self).update({name: value for name, value in locals().items() if name not in ("self", "__class__")})

    def fit(self, X, y):
        return self

    def predict(self, X):
        raise NotImplementedError

TabPFNClassifier.__module__ = "tabpfn"
"""


@pytest.fixture(autouse=True)
def tabpfn(tmp_path, monkeypatch):
    own = "boostnoise.eval.models.tabpfn_classifier"
    for name in [own, *(name for name in sys.modules if name.partition(".")[0] == "tabpfn")]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "tabpfn.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in (own, "tabpfn"):
        sys.modules.pop(name, None)


def make(**settings):
    return build(resolve(ModelSpec.model_validate({"model": "tabpfn", **settings})), seed=5, threads=1)


def test_it_is_a_scikit_learn_estimator_that_the_run_seeds():
    model = make(params={"n_estimators": 2})
    assert is_classifier(model)
    assert type(model).__module__ == f"{evaluation.__name__}.models.tabpfn_classifier"
    assert type(clone(model)) is type(model)
    assert (clone(model).n_estimators, clone(model).random_state) == (2, 5)
    assert make(params={"random_state": 0}).random_state == 0
    assert input_form(model) == "categories"


@pytest.mark.parametrize("name", ["model_path", "device", "inference_config", "n_jobs", "bogus"])
def test_forbidden_parameters(name):
    with pytest.raises(ConfigError, match=f"'{name}'"):
        make(params={name: "x"})
    with pytest.raises(ConfigError, match=f"'{name}'"):
        make(search={"params": {name: ["x", "y"]}})


def test_the_working_directory_is_another_during_the_import(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make()
    assert str(tmp_path) not in sys.modules["tabpfn"].IMPORTED_IN


def test_estimators_keep_their_seed():
    import tabpfn

    assert describe(tabpfn.TabPFNClassifier(), "it")["params"] == {"random_state": 0}
    assert describe(tabpfn.TabPFNClassifier(random_state=None), "it")["params"] == {"random_state": None}
