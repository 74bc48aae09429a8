import pytest

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.config.sweeps import parameter_sweeps, training_size_sweeps
from boostnoise.eval.errors import ConfigError


def parse(models=("gbm",), datasets=("iris",), **keys):
    noise = [{"kind": "uniform", "rates": [0.1]}]
    content = {"datasets": list(datasets), "models": list(models), "noise": noise, **keys}
    return parse_config(content, "run")


LEAVES = {"model": "decision_tree", "name": "tree", "params": {"criterion": "entropy"}, "sweep": {"min_samples_leaf": [1, 50]}}  # fmt: skip


def test_a_sweep_stands_for_a_model_for_each_value():
    config = parse([LEAVES, "gbm"])
    assert [spec.name for spec in config.models] == [
        "tree, min_samples_leaf 1",
        "tree, min_samples_leaf 50",
        "gbm",
    ]
    assert [spec.params for spec in config.models[:2]] == [
        {"criterion": "entropy", "min_samples_leaf": 1},
        {"criterion": "entropy", "min_samples_leaf": 50},
    ]
    again = parse_config({**config.model_dump()}, "run")
    assert again.models == config.models
    (single,) = parse([LEAVES | {"sweep": {"max_depth": [None]}}]).models
    assert (single.name, single.params["max_depth"]) == ("tree, max_depth null", None)


def test_a_sweep_over_a_parameter_of_a_wrapped_model():
    models = parse([{"model": "balanced+random_forest", "sweep": {"max_depth": [2, 3]}}]).models
    assert [spec.name for spec in models] == [f"balanced+random_forest, max_depth {n}" for n in (2, 3)]
    (sweep,) = parameter_sweeps(models)
    assert (sweep.name, sweep.parameter) == ("balanced+random_forest", "max_depth")
    assert list(sweep.values.values()) == [2, 3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sweep": {}}, "models[0].sweep"),
        ({"sweep": {"a": [1], "b": [2]}}, "models[0].sweep"),
        ({"sweep": {"max_depth": []}}, "models[0].sweep.max_depth"),
        ({"sweep": {"max_depth": 3}}, "models[0].sweep.max_depth: must be a list, got 3"),
        (
            {"sweep": {"criterion": ["gini", "entropy"]}},
            "'sweep' must not have 'criterion', which 'params' sets",
        ),
        ({"sweep": {"max_depth": [3, 3]}}, "two models are named 'tree, max_depth 3'"),
    ],
)
def test_mistakes(refusal, changes, message):
    assert message in refusal(parse, [LEAVES | changes])


def test_models_that_differ_in_one_number_are_found():
    gamma = [
        {"model": "xgboost", "name": f"$\\gamma={g}$", "params": {"gamma": g, "max_depth": 6}}
        for g in (5, 0, 1)
    ]
    other = {"model": "xgboost", "name": "deep", "params": {"gamma": 0, "max_depth": 9}}
    (sweep,) = parameter_sweeps(parse([*gamma, other, "gbm"]).models)
    assert (sweep.name, sweep.parameter) == ("XGBClassifier", "gamma")
    assert sweep.values == {"$\\gamma=0$": 0, "$\\gamma=1$": 1, "$\\gamma=5$": 5}
    assert parameter_sweeps(parse(["gbm", "xgboost"]).models) == []
    named = [{"model": "xgboost", "name": name, "params": {"booster": name}} for name in ("dart", "gbtree")]
    assert parameter_sweeps(parse(named).models) == []


def test_several_lines_of_one_parameter():
    first, second = parameter_sweeps(
        parse([LEAVES, LEAVES | {"model": "random_forest", "name": "forest"}]).models
    )
    assert (first.name, second.name) == ("tree", "forest")
    assert list(first.values.values()) == list(second.values.values()) == [1, 50]


def test_sweeps_have_names_of_their_own():
    trees = [
        {
            "model": "decision_tree",
            "name": f"{criterion}{depth}",
            "params": {"criterion": criterion, "max_depth": depth},
        }
        for criterion in ("gini", "entropy")
        for depth in (1, 2)
    ]
    assert [sweep.name for sweep in parameter_sweeps(parse(trees).models)] == [
        "gini1 and others",
        "entropy1 and others",
    ]


def test_a_number_that_is_no_float_is_no_value_of_a_sweep():
    models = [{"model": "xgboost", "name": str(i), "params": {"gamma": 10**400 + i}} for i in range(2)]
    assert parameter_sweeps(parse(models).models) == []


def test_numbers_of_training_rows_stand_for_data_sets():
    config = parse(datasets=[{"set": "iris", "train_rows": [100, 30]}, {"set": "wine", "train_rows": 40}])
    assert [(spec.name, spec.train_rows) for spec in config.datasets] == [
        ("iris, train_rows 100", 100),
        ("iris, train_rows 30", 30),
        ("wine", 40),
    ]
    (sweep,) = training_size_sweeps(config.datasets)
    assert (sweep.name, sweep.parameter) == ("iris", "training rows")
    assert sweep.values == {"iris, train_rows 30": 30, "iris, train_rows 100": 100}
    assert parse_config(config.model_dump(), "run").datasets == config.datasets


@pytest.mark.parametrize("value", [[], "all", 1, [100, 1], True, [True], 2.0, [[100]], {"rows": 100}])
def test_a_wrong_number_of_training_rows_is_one_problem(value):
    message = (
        r"^datasets\[0\].train_rows: must be an integer of at least 2, or a list of such integers, got [^\n]*$"
    )
    with pytest.raises(ConfigError, match=message):
        parse(datasets=[{"set": "iris", "train_rows": value}])
    with pytest.raises(
        ConfigError, match=r"^datasets\[0\].train_rows: must have at most 1000 items, got [^\n]*$"
    ):
        parse(datasets=[{"set": "iris", "train_rows": list(range(2, 1003))}])


def test_the_quick_form_has_few_training_rows():
    many = parse(datasets=[{"set": "checkerboard2x2", "train_rows": [100, 5000]}, "iris"]).quick()
    assert [(spec.train_rows, spec.max_rows) for spec in many.datasets] == [(100, None), (None, 1000)]
    large = parse(datasets=[{"set": "checkerboard2x2", "train_rows": 5000}]).quick()
    assert [(spec.train_rows, spec.max_rows) for spec in large.datasets] == [(None, 1000)]


def test_folds():
    assert parse(folds=4).repeats == 4
    assert parse(folds=4, repeats=8).resampled_fraction == 1 / 4
    assert parse(folds=4, repeats=8).quick().repeats == 4
    with pytest.raises(ConfigError, match=r"repeats: must be a multiple of folds \(4\), got 6"):
        parse(folds=4, repeats=6)


def test_numbers_of_criteria():
    criteria = ["ne(0.5)", "ne(1e-3)", "gce(0.5)", "entropy", "ne(x)", "ne(.)"]
    models = [
        {"model": "robust_tree", "name": name, "params": {"criterion": name, "max_depth": 3}}
        for name in criteria
    ]
    (sweep,) = parameter_sweeps([ModelSpec(**model) for model in models])
    assert (sweep.parameter, sweep.values) == ("parameter of ne", {"ne(1e-3)": 0.001, "ne(0.5)": 0.5})
    swept = {"model": "robust_tree", "name": "tree", "sweep": {"criterion": ["ne(0)", "ne(0.5)", "ne(1)"]}}
    (sweep,) = parameter_sweeps(parse([swept]).models)
    assert (sweep.name, list(sweep.values.values())) == ("tree", [0, 0.5, 1])


def test_a_sweep_does_not_repeat_long_parameters_without_limit():
    swept = {"model": "decision_tree", "params": {"x": "y" * 100_000}, "sweep": {"max_depth": list(range(60))}}
    with pytest.raises(ConfigError, match=r"models: a sweep of 60 values makes 6,00\d,\d* characters of JSON"):
        parse([swept])
