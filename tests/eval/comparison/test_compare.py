"""Configs that `compare` makes from its arguments."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import boostnoise.eval.comparison.compare
from boostnoise import compare
from boostnoise.eval.errors import ConfigError

TREE = DecisionTreeClassifier(max_depth=2)
IRIS = load_iris(return_X_y=True)


@pytest.fixture
def config_of(monkeypatch):
    """The config that `compare` would run."""

    class Stop(Exception):
        pass

    def config_of(*arguments, **options):
        def run(config, **_):
            found.append(config)
            raise Stop

        found = []
        monkeypatch.setattr("boostnoise.eval.execution.runner.run", run)
        with pytest.raises(Stop):
            compare(*arguments, progress=False, **options)
        return found[0]

    return config_of


def models_of(config):
    return [(model.name, model.module, model.model, model.params) for model in config.models]


def test_models(config_of):
    named = ["adaboost", TREE, GaussianNB(), ("bayes", GaussianNB()), ("gb", "gbm")]
    named += [{"name": "x", "model": "xgboost", "params": {"max_depth": np.int64(2)}}, DecisionTreeClassifier()]
    tree = ("sklearn.tree", "DecisionTreeClassifier")
    bayes = ("sklearn.naive_bayes", "GaussianNB", {})
    assert models_of(config_of(named, ["iris"])) == [
        ("adaboost", "sklearn.ensemble", "AdaBoostClassifier", {}),
        ("DecisionTreeClassifier(max_depth=2)", *tree, {"max_depth": 2}),
        ("GaussianNB", *bayes),
        ("bayes", *bayes),
        ("gb", "sklearn.ensemble", "GradientBoostingClassifier", {}),
        ("x", "xgboost", "XGBClassifier", {"max_depth": 2}),
        ("DecisionTreeClassifier", *tree, {}),
    ]
    by_name = {"a": TREE, "b": "adaboost", "c": {"model": "adaboost", "params": {"estimator": TREE}}}
    nested = {"module": tree[0], "model": tree[1], "params": {"max_depth": 2}}
    assert models_of(config_of(by_name, ["iris"])) == [
        ("a", *tree, {"max_depth": 2}),
        ("b", "sklearn.ensemble", "AdaBoostClassifier", {}),
        ("c", "sklearn.ensemble", "AdaBoostClassifier", {"estimator": nested}),
    ]
    assert [name for name, *_ in models_of(config_of(TREE, "iris"))] == ["DecisionTreeClassifier"]
    assert [name for name, *_ in models_of(config_of("gbm", "iris"))] == ["gbm"]


def test_datasets(config_of):
    pd.DataFrame({"x": range(9), "y": [0, 1, 1] * 3}).to_csv("mine.csv", index=False)
    file = {"path": "mine.csv", "target": "y"}
    config = config_of([TREE], ["iris", file, "rows.svm", Path("more.libsvm"), ("again", file)])
    assert [(spec.name, spec.set, spec.path) for spec in config.datasets] == [
        ("iris", "iris", None),
        ("mine", None, "mine.csv"),
        ("rows", None, "rows.svm"),
        ("more", None, "more.libsvm"),
        ("again", None, "mine.csv"),
    ]


def test_data_in_memory_become_files(config_of):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "class"})
    sets = {
        "flowers": IRIS,
        "wines": (frame, "class"),
        "half": {"data": frame, "target": "class", "max_rows": 90, "missing": "impute"},
        "digits": "digits",
        "bunch": load_wine(as_frame=True),
    }
    config = config_of([TREE], sets, results_dir="out")
    flowers, wines, half, digits, bunch = config.datasets
    assert [spec.name for spec in config.datasets] == list(sets)
    assert (flowers.target, wines.target, half.target) == ("target", "class", "class")
    assert (flowers.missing, wines.missing, half.missing) == ("keep", "keep", "impute")
    assert (digits.set, half.max_rows) == ("digits", 90)
    pd.testing.assert_frame_equal(pd.read_parquet(wines.path), frame)
    expected = frame.rename(columns={"class": bunch.target})
    pd.testing.assert_frame_equal(pd.read_parquet(bunch.path)[expected.columns], expected)
    assert {Path(spec.path).parent for spec in (flowers, wines, half)} == {Path("out/data")}


UNIFORM = {"kind": "uniform", "rates": [0.0, 0.1, 0.2, 0.3, 0.4]}


@pytest.mark.parametrize(
    ("noise", "specs"),
    [
        ("uniform", [UNIFORM]),
        (0.3, [{"kind": "uniform", "rates": [0.0, 0.3]}]),
        ([0.1, 0.2], [{"kind": "uniform", "rates": [0.0, 0.1, 0.2]}]),
        (np.arange(0, 0.5, 0.1), [UNIFORM]),
        (np.float64(0.1) * 3, [{"kind": "uniform", "rates": [0.0, 0.3]}]),
        (["uniform", "mahalanobis"], [UNIFORM, {"kind": "mahalanobis", "rates": [0.0, 0.3]}]),
        (
            {"uniform": (0, 0.2), "pair_flip": 0.25},
            [{"kind": "uniform", "rates": [0.0, 0.2]}, {"kind": "pair_flip", "rates": [0.0, 0.25]}],
        ),
        (
            {"kind": "uniform", "rates": [0.2], "noise_on": "train+test"},
            [{"kind": "uniform", "rates": [0.0, 0.2], "noise_on": "train+test", "name": "uniform (train+test)"}],
        ),
        ({"class_conditional": [[0.1, 0.3]]}, [{"kind": "class_conditional", "rates": [[0.1, 0.3]]}]),
    ],
)  # fmt: skip
def test_noise(config_of, noise, specs):
    found = [spec.model_dump() for spec in config_of([TREE], ["iris"], noise).noise]
    assert found == [{"name": spec["kind"], "noise_on": "train", **spec} for spec in specs]


def test_settings(config_of):
    config = config_of(
        [TREE], ["iris"], repeats=np.int64(2), test_fraction=0.3, stratify=False, random_state=4, metric="roc_auc",
        results_dir=Path("a/b"), name="mine", threads=2, time_limit=9.0, memory_limit=2, resume=False,
    )  # fmt: skip
    assert (config.repeats, config.test_fraction, config.stratify, config.random_state) == (2, 0.3, False, 4)
    assert (config.metric, config.output_dir, config.threads) == ("roc_auc", Path("a/b/mine"), 2)
    assert (config.time_limit, config.memory_limit, config.resume) == (9.0, 2.0, False)


@pytest.mark.parametrize(
    ("arguments", "repeats"),
    [({}, 3), ({"folds": 5}, 5), ({"folds": 5, "repeats": 10}, 10), ({"repeats": 1}, 1)],
)
def test_repeats_and_folds(config_of, arguments, repeats):
    config = config_of([TREE], ["iris"], **arguments)
    assert (config.repeats, config.folds) == (repeats, arguments.get("folds"))


@pytest.mark.parametrize(
    ("models", "datasets", "options", "error", "message"),
    [
        (None, ["iris"], {}, TypeError, "models must be a list or a dict, got NoneType"),
        ([], ["iris"], {}, ConfigError, "models: must have at least 1 item"),
        ([3], ["iris"], {}, TypeError, "models[0] must be a short name, an estimator or a dict, got 3"),
        ({1: TREE}, ["iris"], {}, TypeError, "models: names must be text, got 1"),
        ([DecisionTreeClassifier], ["iris"], {}, TypeError, "models[0]: DecisionTreeClassifier is a class; pass an instance"),
        (["adabost"], ["iris"], {}, ConfigError, "models[0]: unknown model 'adabost' (did you mean 'adaboost'?)"),
        ([IRIS], [TREE], {}, TypeError, "; the order is compare(models, datasets)"),
        ([TREE, TREE], ["iris"], {}, ConfigError, "two models are named 'DecisionTreeClassifier(max_depth=2)'"),
        ({"a": {"name": "b", "model": "gbm"}}, ["iris"], {}, ConfigError, "models['a']: two names, 'a' and 'b'"),
        ([TREE], None, {}, TypeError, "datasets must be a list or a dict, got NoneType"),
        ([TREE], load_wine(), {}, TypeError, "datasets must be a list or a dict; to pass a Bunch, name it"),
        ([TREE], ["none.svm"], {}, ConfigError, "no such file: none.svm"),
        ([TREE], [IRIS], {}, ConfigError, "datasets[0]: data in memory need a name"),
        ([TREE], ["iris"], {"noise": "unifrom"}, ConfigError, "noise[0].kind: must be one of 'uniform'"),
        ([TREE], ["irsi"], {}, ConfigError, "datasets[0]: unknown data set (did you mean 'iris'?)"),
        ([TREE], {"a": {"data": IRIS, "tagret": 3}}, {}, ConfigError, "unexpected key (did you mean 'target'?)"),
        ([TREE], ["iris"], {"noise": None}, TypeError, "noise[0] must be a kind of noise, a rate, an object like UniformNoise(0.3), a function or a dict, got None"),
        ([TREE], ["iris"], {"noise": [0.1, "x"]}, TypeError, "noise[0] must be a kind of noise, a rate, an object like UniformNoise(0.3), a function or a dict, got 0.1"),
        ([TREE], ["iris"], {"noise": {"uniform": None}}, ConfigError, "noise[0].rates: "),
        ([TREE], ["iris"], {"repeats": 0}, ConfigError, "repeats: must be greater than or equal to 1, got 0"),
        ([TREE], ["iris"], {"random_state": np.random.default_rng(0)}, ConfigError, "random_state: a random generator"),
        ([TREE], ["iris"], {"results_dir": 3}, TypeError, "results_dir must be a path, got 3"),
        ([TREE], ["iris"], {"n_jobs": 0}, ConfigError, "n_jobs must be -1 or at least 1, got 0"),
        ([TREE], ["iris"], {"progress": "yes"}, TypeError, "progress must be True, False or callable, got 'yes'"),
        ([TREE], ["iris"], {"allow_modules": "mine"}, TypeError, "allow_modules must be a list of package names, got 'mine'"),
    ],
)  # fmt: skip
def test_mistakes(models, datasets, options, error, message):
    with pytest.raises(error) as caught:
        compare(models, datasets, **{"progress": False} | options)
    assert message in str(caught.value)
    assert type(caught.value) is error
    assert not Path("results/store.sqlite").exists()


def test_function_and_module_names_do_not_clash():
    assert callable(boostnoise.compare)
    assert boostnoise.eval.comparison.compare.compare is compare
