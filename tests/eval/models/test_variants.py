import inspect

import boostnoise
import robust_splits
from boostnoise.eval.models.variants import ADAPTIVE_CRITERION, default_variant, variant_names, variants
from boostnoise.losses import LOSSES
from robust_splits.criteria import ADAPTIVE, ALIASES, CRITERIA


def test_every_variant_is_known():
    assert ADAPTIVE_CRITERION == ADAPTIVE
    assert set(variants("criterion")) == {ADAPTIVE_CRITERION, *CRITERIA}
    assert set(variant_names("criterion")) == {ADAPTIVE_CRITERION, *CRITERIA, *ALIASES}
    assert set(variants("loss")) == {*LOSSES} - {"distribution"}
    assert all(
        0 < len(line) < 150 and line.isascii()
        for parameter in ("criterion", "loss")
        for line in variants(parameter).values()
    )


def test_defaults_of_own_estimators():
    for package in (boostnoise, robust_splits):
        for name in [name for name in package.__all__ if name.endswith("Classifier")]:
            parameters = inspect.signature(getattr(package, name)).parameters
            defaults = {key: parameters[key].default for key in ("criterion", "loss") if key in parameters}
            assert default_variant(name) == defaults
    assert default_variant("SVC") == {}
