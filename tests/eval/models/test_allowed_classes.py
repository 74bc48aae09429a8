import importlib

import pytest

from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models.allowed_classes import CLASSES, check_classes, is_listed
from boostnoise.eval.models.packages import is_installed
from boostnoise.eval.models.short_names import SHORT_NAMES

# Experimental estimators exist only after an import that enables them.
EXPERIMENTAL = {"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"}
# Their grids would bypass the checks of parameters.
SEARCHES = {"GridSearchCV", "RandomizedSearchCV"}


@pytest.fixture(scope="module")
def estimators():
    from sklearn.utils import all_estimators

    return [cls for name, cls in all_estimators() if name not in EXPERIMENTAL | SEARCHES]


def test_every_estimator_of_scikit_learn_is_listed_under_its_shortest_public_module(estimators):
    missing = [
        cls.__name__
        for cls in estimators
        if not any(
            getattr(importlib.import_module(module), cls.__name__, None) is cls
            for module in CLASSES
            if cls.__module__.startswith(module) and is_listed(module, cls.__name__)
        )
    ]
    assert missing == []


def test_nothing_else_of_scikit_learn_is_listed(estimators):
    # An older scikit-learn lacks the newest classes.
    known = {cls.__name__ for cls in estimators}
    listed = {
        model
        for module, models in CLASSES.items()
        if module.startswith("sklearn.")
        for model in models
        if hasattr(importlib.import_module(module), model)
    }
    assert listed <= known


def test_listed_classes_of_other_packages_exist():
    for module, models in CLASSES.items():
        if not module.startswith("sklearn.") and is_installed(module):
            for model in models - {"CleanlabClassifier"}:
                assert isinstance(getattr(importlib.import_module(module), model), type)


def test_every_short_name_is_listed():
    for name in SHORT_NAMES.values():
        assert is_listed(name.module, name.model)


def test_private_classes_are_never_allowed():
    check_classes([("own.models", "Forest")], {"own"})
    for module, model in [("own._models", "Forest"), ("own.models", "_Forest"), ("sklearn._x", "A")]:
        with pytest.raises(ConfigError, match="is not public"):
            check_classes([(module, model)], {"own", "sklearn"})
