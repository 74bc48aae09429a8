import pytest

from boostnoise.eval.models.short_names import FILTER, SHORT_NAMES, VARIANTS, parse_name


def test_every_name_is_told_on_a_line():
    assert all(name.line and "\n" not in name.line for name in SHORT_NAMES.values())
    assert set(VARIANTS) <= set(SHORT_NAMES)


def test_groups_stand_together():
    groups = [name.group for name in SHORT_NAMES.values()]
    assert sorted(groups, key=groups.index) == groups


def test_a_name_with_all_its_parts():
    parsed = parse_name(FILTER + "robust_forest:gce(0.4)")
    assert (parsed.filtered, parsed.kind, parsed.variant) == (True, "criterion", "gce(0.4)")
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


def test_parameters_of_a_name_stay_as_they_are():
    before = dict(SHORT_NAMES["xgboost_dart"].params)
    described = parse_name("xgboost_dart").description({"rate_drop": 0.5})
    described["params"]["booster"] = "gbtree"
    assert SHORT_NAMES["xgboost_dart"].params == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "unknown model ''; known are adaboost"),
        ("xgbost", "unknown model 'xgbost'; known are adaboost, .* or a class with its module"),
        ("cleanlab+", "unknown model 'cleanlab\\+'"),
        ("cleanlab+cleanlab+gbm", "unknown model"),
        ("cleanlab:gbm", "unknown model"),
        ("xgboost:gce", "a criterion or loss may only follow robust_tree, robust_forest"),
        ("xgboost:", "a criterion or loss may only follow robust_tree, robust_forest"),
    ],
)
def test_names_that_are_not_known(name, message):
    with pytest.raises(ValueError, match=message):
        parse_name(name)
