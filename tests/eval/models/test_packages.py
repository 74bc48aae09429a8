import importlib

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.models.packages import packages_of, version_of


def test_packages_of_nested_estimators():
    spec = ModelSpec.model_validate(
        {
            "module": "sklearn.ensemble",
            "model": "BaggingClassifier",
            "params": {"estimator": {"module": "xgboost", "model": "XGBClassifier"}},
        }
    )
    assert packages_of(spec) == ["sklearn", "xgboost"]


def test_packages_of_filters_and_search_candidates():
    assert packages_of(ModelSpec.model_validate("cleanlab+xgboost")) == ["boostnoise", "cleanlab", "xgboost"]
    assert packages_of(ModelSpec.model_validate("audit+gbm")) == ["boostnoise", "sklearn"]
    candidates = [{"module": "lightgbm", "model": "LGBMClassifier"}]
    spec = ModelSpec.model_validate({"model": "adaboost", "search": {"params": {"estimator": candidates}}})
    assert packages_of(spec) == ["lightgbm", "sklearn"]


def test_robust_boosters_depend_on_their_library():
    spec = ModelSpec.model_validate({"model": "robust_xgboost"})
    assert "xgboost" in packages_of(spec)


def test_version_of_a_module_without_distribution_is_a_hash_of_its_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    versions = set()
    for name in ("one_module", "two_module"):
        (tmp_path / f"{name}.py").write_text(f"NAME = {name!r}")
        importlib.invalidate_caches()
        versions.add(version_of(name))
    assert len(versions) == 2
    assert "" not in versions
