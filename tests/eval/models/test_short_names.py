import pytest

from boostnoise.eval.models.short_names import SHORT_NAMES, VARIANT_PARAMETERS, WRAPPERS, parse_name


def test_summaries_are_single_lines():
    assert all(name.summary and "\n" not in name.summary for name in SHORT_NAMES.values())
    assert set(VARIANT_PARAMETERS) <= set(SHORT_NAMES)


def test_groups_are_contiguous():
    groups = [name.group for name in SHORT_NAMES.values()]
    assert sorted(groups, key=groups.index) == groups


def test_a_name_with_all_its_parts():
    parsed = parse_name("cleanlab+robust_forest:gce(0.4)")
    assert (parsed.parameter, parsed.variant) == ("criterion", "gce(0.4)")
    assert parsed.description({"max_depth": 3}) == {
        "module": "boostnoise.eval",
        "model": "CleanlabClassifier",
        "params": {
            "estimator": {
                "module": "robust_splits",
                "model": "RobustForestClassifier",
                "params": {"criterion": "gce(0.4)", "max_depth": 3},
            }
        },
    }
    assert parsed.prefix == "estimator__"


def test_a_prefix_with_parameters_of_its_own():
    assert parse_name("balanced+gbm").description({}) == {
        "module": "boostnoise",
        "model": "RobustClassifier",
        "params": {
            "estimator": {"module": "sklearn.ensemble", "model": "GradientBoostingClassifier", "params": {}},
            "passes": 1,
            "decision": "balanced_accuracy",
        },
    }
    assert parse_name("gbm").prefix == ""
    assert all(wrapper.summary and "\n" not in wrapper.summary for wrapper in WRAPPERS.values())


def test_descriptions_are_copies():
    before = dict(SHORT_NAMES["xgboost_dart"].params)
    described = parse_name("xgboost_dart").description({"rate_drop": 0.5})
    described["params"]["booster"] = "gbtree"
    assert SHORT_NAMES["xgboost_dart"].params == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "unknown model ''; known models: adaboost"),
        (
            "xgbost",
            "unknown model 'xgbost' .did you mean 'xgboost'..; known models: adaboost, .* or a class with its module",
        ),
        ("cleanlab+", "unknown model 'cleanlab\\+'"),
        ("cleanlab+cleanlab+gbm", "unknown model"),
        ("gbm+cleanlab", "unknown model 'gbm\\+cleanlab'"),
        ("cleanlab:gbm", "unknown model"),
        ("xgboost:gce", "unknown model 'xgboost:gce'; only robust_tree, robust_forest"),
        ("xgboost:", "unknown model 'xgboost:'; only robust_tree, robust_forest"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(ValueError, match=message):
        parse_name(name)
