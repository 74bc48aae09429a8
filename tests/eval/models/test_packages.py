import importlib

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.extensions.versions import version_of
from boostnoise.eval.models.packages import described_classes, packages_of


def packages(model):
    """Packages that a model of a config depends on."""
    return packages_of(described_classes(ModelSpec.model_validate(model)))


def test_packages_of_nested_estimators():
    bagging = {
        "module": "sklearn.ensemble",
        "model": "BaggingClassifier",
        "params": {"estimator": {"module": "xgboost", "model": "XGBClassifier"}},
    }
    assert packages(bagging) == ["sklearn", "xgboost"]


def test_packages_of_filters_and_search_candidates():
    assert packages("cleanlab+xgboost") == ["boostnoise", "cleanlab", "xgboost"]
    assert packages("robust+gbm") == ["boostnoise", "lightgbm", "sklearn", "xgboost"]
    candidates = [{"module": "lightgbm", "model": "LGBMClassifier"}]
    boosting = {"model": "adaboost", "search": {"params": {"estimator": candidates}}}
    assert packages(boosting) == ["lightgbm", "sklearn"]


def test_version_of_a_module_without_distribution_is_a_hash_of_its_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    versions = set()
    for name in ("one_module", "two_module"):
        (tmp_path / f"{name}.py").write_text(f"NAME = {name!r}")
        importlib.invalidate_caches()
        versions.add(version_of(name))
    assert len(versions) == 2
    assert "" not in versions
