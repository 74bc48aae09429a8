"""TabICL's short name, with a package of the same interface, as the real one downloads weights."""

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
from boostnoise.eval.models.usable import why_unusable

PACKAGE = """
from sklearn.base import BaseEstimator, ClassifierMixin


class TabICLClassifier(ClassifierMixin, BaseEstimator):
    def __init__(
        self, n_estimators=8, norm_methods=None, feat_shuffle_method="latin", class_shuffle_method="shift",
        outlier_threshold=4.0, softmax_temperature=0.9, average_logits=True, support_many_classes=True, batch_size=8,
        kv_cache=False, model_path=None, allow_auto_download=True, checkpoint_version="v2", device=None,
        use_amp="auto", use_fa3="auto", offload_mode="auto", disk_offload_dir=None, random_state=42, n_jobs=None,
        verbose=False, inference_config=None,
    ):
        vars(self).update({name: value for name, value in locals().items() if name not in ("self", "__class__")})

    def fit(self, X, y):
        return self

    def predict(self, X):
        raise NotImplementedError


TabICLClassifier.__module__ = "tabicl"
"""


@pytest.fixture(autouse=True)
def tabicl(tmp_path, monkeypatch):
    own = "boostnoise.eval.models.tabicl_classifier"
    for name in [own, *(name for name in sys.modules if name.partition(".")[0] == "tabicl")]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "tabicl.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in (own, "tabicl"):
        sys.modules.pop(name, None)


def make(**settings):
    return build(resolve(ModelSpec.model_validate({"model": "tabicl", **settings})), seed=5, threads=2)


def test_it_is_a_scikit_learn_estimator_with_the_seed_and_threads_of_the_run():
    model = make(params={"n_estimators": 4})
    assert is_classifier(model)
    assert type(model).__module__ == f"{evaluation.__name__}.models.tabicl_classifier"
    assert type(clone(model)) is type(model)
    assert (model.n_estimators, model.random_state, model.n_jobs) == (4, 5, 2)
    assert make(params={"random_state": 0}).random_state == 0
    assert input_form(model) == "categories"


@pytest.mark.parametrize(
    "name",
    [
        "model_path",
        "allow_auto_download",
        "checkpoint_version",
        "device",
        "disk_offload_dir",
        "bogus",
    ],
)
def test_forbidden_parameters(name):
    with pytest.raises(ConfigError, match=f"'{name}'"):
        make(params={name: "x"})


OPTIONAL = ModelSpec.model_validate({"model": "tabicl", "optional": True})


def test_it_is_usable_with_its_weights_only(monkeypatch):
    import tabicl

    assert why_unusable(OPTIONAL) == ""
    rows = []
    monkeypatch.setattr(tabicl.TabICLClassifier, "fit", lambda model, X, y: rows.append((X.shape, set(y))))
    assert why_unusable(OPTIONAL) == ""
    assert rows == [((4, 4), {0, 1})]

    def fit(model, X, y):
        raise OSError("no route to host")

    monkeypatch.setattr(tabicl.TabICLClassifier, "fit", fit)
    assert why_unusable(OPTIONAL) == "the weights of tabicl cannot be loaded: OSError: no route to host"


def test_a_package_that_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "tabicl", None)
    assert why_unusable(OPTIONAL) in (
        "tabicl is not installed; pip install tabicl",
        "tabicl cannot be imported: import of tabicl halted; None in sys.modules",
    )


def test_estimators_keep_their_seed():
    import tabicl

    assert describe(tabicl.TabICLClassifier(), "it")["params"] == {"random_state": 42}
