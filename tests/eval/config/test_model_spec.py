import pytest

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.run import parse_config


def parse(*models):
    noise = [{"kind": "uniform", "rates": [0.1]}]
    return parse_config({"datasets": ["iris"], "models": [*models], "noise": noise}, "run").models


def test_a_short_name_is_what_it_stands_for():
    short, spelt_out = parse(
        "robust_forest:ane",
        {
            "name": "b",
            "module": "robust_splits",
            "model": "RobustForestClassifier",
            "params": {"criterion": "ane"},
        },
    )
    assert short.name == "robust_forest:ane"
    assert short.content == spelt_out.content


def test_search_is_part_of_the_content_with_its_defaults():
    grid = {"max_depth": [2, 4]}
    plain, short, long, other = parse(
        "xgboost",
        {"model": "xgboost", "search": {"params": grid}},
        {"name": "b", "model": "xgboost", "search": {"params": grid, "folds": 5, "metric": "accuracy"}},
        {"name": "c", "model": "xgboost", "search": {"params": grid, "holdout": 0.2}},
    )
    assert short.name == "xgboost (search)"
    assert plain.content == ["xgboost", "XGBClassifier", {}]
    assert short.content == long.content != plain.content
    assert other.content != long.content
    assert other.search.folds is None


def test_it_survives_a_round_trip():
    (spec,) = parse(
        {"model": "cleanlab+svm_gaussian", "params": {"C": 2}, "search": {"params": {"gamma": [1, 2]}}}
    )
    assert spec.search.params == {"estimator__model__gamma": [1, 2]}
    assert ModelSpec.model_validate(spec.model_dump()) == spec


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("robust_forest:anne", "models[0]: criterion 'anne' is unknown; known are gini, entropy"),
        ("robust_forest:gce(x)", "models[0]: the parameter of criterion 'gce' must be a number"),
        ("robust_forest:", "models[0]: criterion '' is unknown"),
        ("robust_xgboost:gcee", "models[0]: unknown loss 'gcee' (did you mean 'gce'?); known losses: ce, mae"),
        ("robust_xgboost:distribution", "models[0]: unknown loss 'distribution'; known losses: ce"),
        ("robust_xgboost:ane", "models[0]: unknown loss 'ane'"),
        ("gbm:ane", "models[0]: unknown model 'gbm:ane'; only robust_tree"),
        ({"model": "robust_tree:ane", "params": {"criterion": "gini"}}, "models[0]: params: must not have 'criterion', which 'robust_tree:ane'"),
        ({"model": "robust_xgboost:gce", "search": {"params": {"loss": ["ce"]}}}, "models[0]: search.params: must not have 'loss'"),
        ({"model": "svm_linear", "params": [1]}, "models[0].params: must be a JSON object, got [1]"),
        ({"model": "gbm", "search": 3}, "models[0].search: must be a JSON object, got 3"),
        ({"model": "gbm", "search": {}}, "models[0].search.params: required key is missing"),
        ({"model": "gbm", "search": {"params": 3}}, "models[0].search.params: must be a JSON object, got 3"),
        ({"model": "gbm", "search": {"params": {}}}, "models[0].search.params: must have at least 1 item, got {}"),
        ({"model": "gbm", "search": {"params": {"max_depth": 3}}}, "models[0].search.params.max_depth: must be a list, got 3"),
        ({"model": "gbm", "search": {"params": {"max_depth": []}}}, "models[0].search.params.max_depth: must have at least 1 item"),
        ({"model": "gbm", "search": {"params": {"max_depth": [1]}, "fold": 3}}, "models[0].search.fold: unexpected key (did you mean 'folds'?); allowed keys: params, folds, holdout, draws, metric"),
        ({"model": "gbm", "search": {"params": {"max_depth": [1]}, "folds": 1}}, "models[0].search.folds: must be greater than or equal to 2, got 1"),
        ({"model": "gbm", "search": {"params": {"max_depth": [1]}, "holdout": 1}}, "models[0].search.holdout: must be less than 1, got 1"),
        ({"model": "gbm", "search": {"params": {"max_depth": [1]}, "folds": 3, "holdout": 0.2}}, "models[0].search: has both 'folds' and 'holdout'"),
        ({"model": "gbm", "search": {"params": {"max_depth": [1]}, "metric": "acc"}}, "models[0].search.metric: must be 'accuracy', 'balanced_accuracy'"),
        ({"model": "gbm", "search": {"params": {name: [*range(101)] for name in ("max_depth", "n_estimators")}}}, "'params' has 10201 combinations, more than 10000; set 'draws'"),
    ],
)  # fmt: skip
def test_mistakes_give_one_line(refusal, model, message):
    assert message in refusal(parse, model)


def test_a_class_with_two_public_modules_has_one_content():
    forest = {"module": "sklearn.ensemble", "model": "RandomForestClassifier", "params": {}}

    def content(module):
        filtered = {"module": module, "model": "CleanlabClassifier", "params": {"estimator": forest}}
        nested = {"module": module, "model": "CleanlabClassifier", "params": {"estimator": filtered}}
        return ModelSpec.model_validate(nested).content

    assert content("boostnoise") == content("boostnoise.eval")
    assert content("boostnoise")[:2] == [
        "boostnoise.eval",
        "CleanlabClassifier",
    ]  # as in stores of earlier versions
