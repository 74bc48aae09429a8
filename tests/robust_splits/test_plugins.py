import sys

import numpy as np
import pytest

from boostnoise import GeneralizedCrossEntropy, RobustLGBMClassifier, get_loss
from robust_splits import FunctionCriterion, Gini, RobustForestClassifier, get_criterion
from robust_splits.plugins import load_plugin, package_of, plugin_names, plugins

SOURCE = """
from boostnoise import GeneralizedCrossEntropy
from robust_splits import Gini

def constant(left, right):
    return 1.0

gini = Gini()

def half(q=0.5):
    return GeneralizedCrossEntropy(q=q)

def nonsense():
    return 3
"""


X = np.random.default_rng(0).normal(size=(100, 3))
y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


@pytest.fixture
def package(plugin_package):
    plugin_package(
        "some_extensions",
        SOURCE,
        criteria={"constant": "some_extensions:constant", "own_gini": "some_extensions:gini", "bad": "some_extensions:half.__name__"},
        losses={"half": "some_extensions:half", "lost": "some_extensions:lost", "nonsense": "some_extensions:nonsense", "ce": "some_extensions:half", "no-name": "some_extensions:half"},
    )  # fmt: skip
    yield
    sys.modules.pop("some_extensions", None)


@pytest.mark.usefixtures("package")
def test_names_of_an_installed_package():
    assert plugin_names("criteria", ()) == ["bad", "constant", "own_gini"]
    assert plugin_names("losses", ["ce"]) == ["half", "lost", "nonsense"]
    assert plugins("noise") == {}
    assert package_of(plugins("losses")["half"]) == "some_extensions"
    assert "some_extensions" not in sys.modules
    assert load_plugin("losses", "half")(q=1).q == 1
    assert "some_extensions" in sys.modules


@pytest.mark.usefixtures("package")
def test_criteria():
    assert get_criterion("own_gini") == Gini()
    assert isinstance(get_criterion("constant"), FunctionCriterion)
    settings = {"n_estimators": 3, "random_state": 0}
    one, other = (
        RobustForestClassifier(criterion=criterion, **settings).fit(X, y) for criterion in ("own_gini", Gini())
    )
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    with pytest.raises(ValueError, match=r"criterion 'constant' takes no parameter, got 'constant\(1\)'"):
        get_criterion("constant(1)")
    with pytest.raises(ValueError, match=r"'bad' of boostnoise\.criteria must be a Criterion or a function"):
        get_criterion("bad")
    with pytest.raises(ValueError, match=r"known are gini, .*, xgboost, bad, constant, own_gini, and 'ane'"):
        get_criterion("constnt")


@pytest.mark.usefixtures("package")
def test_losses():
    assert get_loss("half", q=0.25) == GeneralizedCrossEntropy(q=0.25)
    one, other = (
        RobustLGBMClassifier(n_estimators=5, loss=loss, loss_params={"q": 0.3}).fit(X, y).predict_proba(X)
        for loss in ("half", "gce")
    )
    np.testing.assert_array_equal(one, other)
    with pytest.raises(TypeError, match=r"q=0.3 has no effect; pass parameters of the loss as loss_params"):
        RobustLGBMClassifier(loss="half", q=0.3).fit(X, y)
    with pytest.raises(ValueError, match=r"loss 'half' has no parameter 'r'; allowed parameters: q"):
        get_loss("half", r=1)
    with pytest.raises(ValueError, match=r"'nonsense' of boostnoise.losses must make a Loss, got 3"):
        get_loss("nonsense")
    with pytest.raises(
        ValueError, match=r"'lost' .* cannot be loaded from some_extensions:lost .*AttributeError"
    ):
        get_loss("lost")
    with pytest.raises(ValueError, match=r"allowed losses: ce, .*, unbiased, half, lost, nonsense"):
        get_loss("haf")


def test_built_in_names_come_first(package):
    assert type(get_loss("ce")).__name__ == "CrossEntropy"
    assert "no-name" not in plugins("losses")


def test_a_name_of_two_packages_is_refused(package, plugin_package):
    plugin_package("other_extensions", "", losses={"half": "other_extensions:half"})
    with pytest.raises(
        ValueError, match=r"'half' .* two packages, .*_extensions and .*_extensions; uninstall one"
    ):
        get_loss("half")
    assert type(get_loss("ce")).__name__ == "CrossEntropy"  # other names are not affected
    assert get_criterion("own_gini") == Gini()


def test_a_package_whose_import_fails(plugin_package):
    plugin_package(
        "broken_extensions", "raise SystemExit('no\\nway')", losses={"half": "broken_extensions:half"}
    )
    with pytest.raises(ValueError, match=r"package broken_extensions: SystemExit: no way$"):
        get_loss("half")
