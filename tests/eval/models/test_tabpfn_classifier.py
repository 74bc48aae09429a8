import pytest

pytest.importorskip("tabpfn")

from sklearn.base import clone, is_classifier

from boostnoise.eval import ConfigError
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.tabpfn_classifier import TabPFNClassifier


def make(**params):
    return build(ModelSpec.model_validate({"model": "tabpfn", "params": params}), seed=5, threads=1)


def test_it_is_a_scikit_learn_estimator_that_the_run_seeds():
    model = make(n_estimators=2)
    assert is_classifier(model)
    assert type(clone(model)) is TabPFNClassifier
    assert (clone(model).n_estimators, clone(model).random_state) == (2, 5)


@pytest.mark.parametrize("name", ["model_path", "device", "inference_config", "n_jobs", "bogus"])
def test_forbidden_parameters(name):
    with pytest.raises(ConfigError, match=f"'{name}'"):
        make(**{name: "x"})
