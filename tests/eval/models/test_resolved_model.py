from importlib.metadata import version

import pytest

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models.resolved_model import resolve, resolve_all

SVC = {"module": "sklearn.svm", "model": "SVC"}


def resolved(model):
    return resolve(ModelSpec.model_validate(model))


def test_versions_are_those_of_the_packages_that_make_the_scores():
    numpy_and_sklearn = {"numpy": version("numpy"), "sklearn": version("scikit-learn")}
    assert dict(resolved("gbm").versions) == numpy_and_sklearn
    assert dict(resolved("robust_lightgbm").versions) == numpy_and_sklearn | {
        "boostnoise": version("boostnoise"),
        "lightgbm": version("lightgbm"),
        "xgboost": version("xgboost"),
    }


def test_classes_of_nested_estimators():
    pipeline = {"module": "sklearn.pipeline", "model": "Pipeline", "params": {"steps": [["svm", SVC]]}}
    model = resolved(pipeline)
    assert model.classes == (("sklearn.pipeline", "Pipeline"), ("sklearn.svm", "SVC"))
    assert not model.selects_columns
    columns = {"module": "sklearn.compose", "model": "ColumnTransformer", "params": {"transformers": []}}
    pipeline["params"]["steps"].insert(0, ["columns", columns])
    assert resolved(pipeline).selects_columns


def test_classes_that_are_not_allowed():
    specs = [ModelSpec.model_validate("gbm"), ModelSpec(name="Own", module="own", model="Forest")]
    with pytest.raises(ConfigError, match=r"models\[1\] \(Own\): package 'own' is not allowed"):
        resolve_all(specs)
    *_, own = resolve_all(specs, ["own"])
    assert own.packages == ("own",)
    assert own.allowed == {"own"}
