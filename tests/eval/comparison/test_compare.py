import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectPercentile, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import boostnoise.eval.comparison.compare
from boostnoise import Comparison, compare
from boostnoise.eval import Progress, load_config, plan
from boostnoise.eval.comparison.from_estimators import describe
from boostnoise.eval.errors import ConfigError
from robust_splits import RobustForestClassifier

TREE = DecisionTreeClassifier(max_depth=2)
IRIS = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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


@pytest.mark.usefixtures("fits_in_this_process")
def test_it_shares_the_store_with_the_command():
    first = compare(
        ["decision_tree", AdaBoostClassifier(TREE, n_estimators=3)], ["iris"], 0.2, repeats=2, progress=False
    )
    config = {
        "datasets": ["iris"],
        "models": [
            {"name": "other name", "model": "decision_tree"},
            {"model": "adaboost", "params": {"estimator": {"module": "sklearn.tree", "model": "DecisionTreeClassifier", "params": {"max_depth": 2}}, "n_estimators": 3}},
        ],
        "noise": [{"kind": "uniform", "rates": [0.2]}],
        "repeats": 2,
    }  # fmt: skip
    Path("study.json").write_text(json.dumps(config))
    planned = plan(load_config("study.json"))
    assert len(planned.keys) == 8
    assert not planned.pending
    written = first.to_config("again.json")
    again = load_config(written)
    assert again.model_copy(update={"name": "comparison"}) == first.config
    assert plan(again).keys == planned.keys
    # In memory, the same data are the same cells.
    X, y = IRIS
    seen = []
    models = {"t": DecisionTreeClassifier(), "a": AdaBoostClassifier(TREE, n_estimators=3)}
    flowers = {"flowers": (X, np.array(["setosa", "versicolor", "virginica"])[y])}
    second = compare(models, flowers, [0.2], repeats=2, name="second", progress=seen.append)
    assert [(event.done, event.total) for event in seen] == [(8, 8)]
    assert second.scores["accuracy"].tolist() == first.scores["accuracy"].tolist()
    assert Comparison.load(name="second").scores.equals(second.scores)
    suffixes = {path.suffix for path in Path("results").rglob("*") if path.is_file()}
    assert suffixes == {".sqlite", ".parquet"}


class Mine(ClassifierMixin, BaseEstimator):
    """A class that other processes cannot import."""


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
        ({"p": make_pipeline(FunctionTransformer(np.arctan2), SVC())}, ["iris"], {}, ConfigError, "models['p'].steps[0][1].func: "),
        ([TREE], None, {}, TypeError, "datasets must be a list or a dict, got NoneType"),
        ([TREE], load_wine(), {}, TypeError, "datasets must be a list or a dict; to pass a Bunch, name it"),
        ([TREE], ["none.svm"], {}, ConfigError, "no such file: none.svm"),
        ([TREE], [IRIS], {}, ConfigError, "datasets[0]: data in memory need a name"),
        ([TREE], ["iris"], {"noise": "unifrom"}, ConfigError, "noise[0].kind: must be one of 'uniform'"),
        ([TREE], ["irsi"], {}, ConfigError, "datasets[0]: unknown data set (did you mean 'iris'?)"),
        ([TREE], {"a": {"data": IRIS, "tagret": 3}}, {}, ConfigError, "unexpected key (did you mean 'target'?)"),
        ([TREE], ["iris"], {"noise": None}, TypeError, "noise[0] must be a kind of noise, a rate or a dict, got None"),
        ([TREE], ["iris"], {"noise": [0.1, "x"]}, TypeError, "noise[0] must be a kind of noise, a rate or a dict, got 0.1"),
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


# The example of mixed types in scikit-learn's user guide, with columns by name and by type.
NUMERIC = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
CATEGORICAL = make_pipeline(OneHotEncoder(handle_unknown="ignore"), SelectPercentile(chi2, percentile=50))
BY_NAME = ColumnTransformer([("num", NUMERIC, ["age", "fare"]), ("cat", CATEGORICAL, ["port", "sex", "class"])])
BY_TYPE = ColumnTransformer(
    [
        ("num", NUMERIC, make_column_selector(dtype_exclude=["category", "string", object])),
        ("cat", CATEGORICAL, make_column_selector(dtype_include=["category", "string", object])),
    ]
)


def passengers(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(1, 80, n)),
            "fare": rng.lognormal(3, 1, n),
            "port": pd.Categorical(rng.choice(["C", "Q", "S"], n)),
            "sex": rng.choice(["female", "male"], n),
            "class": pd.Categorical(rng.choice([1, 2, 3], n), ordered=True),
        }
    )
    survived = (frame["sex"] == "female") ^ (rng.random(n) < 0.05)
    return frame.assign(survived=np.where(survived, "yes", "no"))


@pytest.mark.usefixtures("fits_in_this_process")
def test_pipelines_and_native_categories():
    pipelines = [make_pipeline(clone(columns), LogisticRegression()) for columns in (BY_NAME, BY_TYPE)]
    models = {
        "by name": pipelines[0],
        "by type": pipelines[1],
        "search": {"module": "sklearn.pipeline", "model": "Pipeline", "params": {"steps": [
            ["columns", describe(BY_NAME, "columns")],
            ["model", {"module": "sklearn.linear_model", "model": "LogisticRegression"}],
        ]}, "search": {"params": {"columns__cat__selectpercentile__percentile": [20, 80]}, "folds": 2}},
        "xgboost": {"model": "xgboost", "params": {"n_estimators": 20}},
        "lightgbm": {"model": "lightgbm", "params": {"n_estimators": 20}},
        "hist_gbm": {"model": "hist_gbm", "params": {"max_iter": 20}},
        "robust_xgboost": {"model": "robust_xgboost", "params": {"budget": 1}},
        "cleanlab+lightgbm": {"model": "cleanlab+lightgbm", "params": {"n_estimators": 20}},
        "robust_forest": {"model": "robust_forest", "params": {"n_estimators": 20}},
    }  # fmt: skip
    found = compare(models, {"passengers": (passengers(), "survived")}, noise=0.1, repeats=1, progress=False)
    assert found.scores["error"].isna().all()
    means = found.scores.groupby("model")["accuracy"].mean()
    assert (means > 0.85).all()
    assert set(means.index) == set(models)


@pytest.mark.usefixtures("fits_in_this_process")
def test_pipelines_for_text_and_numbers():
    rng = np.random.default_rng(0)
    spam = rng.random(200) < 0.5
    words = np.where(spam, "win a big prize now", "the minutes of our meeting")
    frame = pd.DataFrame(
        {
            "the text": [" ".join(rng.permutation(line.split())[:3]) for line in words],
            "sender": rng.integers(40, size=200).astype(str) + np.where(spam, "x", "y"),
            "length": rng.lognormal(5, 1, 200),
            "spam": spam,
        }
    )
    columns = make_column_transformer(
        (TfidfVectorizer(ngram_range=(1, 2)), "the text"),
        (TargetEncoder(random_state=0), ["sender"]),
        (FunctionTransformer(np.log1p), ["length"]),
    )
    models = {
        "text": make_pipeline(columns, LogisticRegression()),
        "forest": make_pipeline(clone(columns), RobustForestClassifier(n_estimators=10)),
        "lightgbm": make_pipeline(clone(columns), LGBMClassifier(n_estimators=20)),
    }
    found = compare(models, {"mails": (frame, "spam")}, noise=0.1, repeats=1, progress=False)
    assert found.scores["error"].isna().all()
    assert found.scores.query("noise_rate == 0")["accuracy"].min() > 0.9


@pytest.mark.usefixtures("fits_in_this_process")
def test_groups_and_weights():
    frame = passengers(150)
    frame = frame.loc[frame.index.repeat(3)].assign(family=np.repeat(np.arange(len(frame)), 3), w=1.0)
    noisy = np.random.default_rng(0).random(len(frame) // 3) < 0.4
    flip = np.repeat(noisy, 3)
    frame["survived"] = np.where(flip, frame["survived"].map({"yes": "no", "no": "yes"}), frame["survived"])
    models = {
        "memory": KNeighborsClassifier(1),
        "pipeline": make_pipeline(clone(BY_NAME), LogisticRegression()),
        "search": {"model": "lightgbm", "search": {"params": {"n_estimators": [1, 50]}, "folds": 2}},
        "early": {"model": "xgboost", "params": {"n_estimators": 20}, "early_stopping": {}},
        "robust_xgboost": {"model": "robust_xgboost", "params": {"budget": 0, "n_estimators": 20}},
    }
    keys = {"target": "survived", "missing": "impute"}
    data = {
        "by row": {"data": frame.drop(columns=["w", "family"]), **keys},
        "by family": {"data": frame.drop(columns="w"), **keys, "group": "family"},
    }
    found = compare(models, data, noise=0.0, repeats=1, progress=False)
    assert found.scores["error"].isna().all()
    clean = found.scores.set_index(["dataset", "model"])["accuracy"]
    assert clean["by row", "memory"] > 0.9  # a copy of each test row is among the training rows
    assert clean["by family", "memory"] < 0.7
    with pytest.raises(ConfigError, match=r"\(memory\): takes no weights of rows, but data set 'weighted'"):
        compare(models, {"weighted": {"data": frame, "target": "survived", "weight": "w"}}, progress=False)
    del models["memory"]
    weighted = {"weighted": {"data": frame, "target": "survived", "weight": "w", "group": "family"}}
    found = compare(models, weighted, noise=0.2, repeats=1, progress=False)
    assert found.scores["error"].isna().all()


def test_estimators_of_the_user(tmp_path, monkeypatch):
    (tmp_path / "my_learners.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Guess(DummyClassifier):\n"
        "    def __init__(self, strategy='most_frequent', random_state=None):\n"
        "        super().__init__(strategy=strategy, random_state=random_state)\n"
        "def halve(X):\n"
        "    return X / 2\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import my_learners

    guess = my_learners.Guess("uniform")
    halve = FunctionTransformer(my_learners.halve)
    models = {"guess": guess, "within": make_pipeline(StandardScaler(), halve, guess)}
    compared = compare(models, ["iris"], 0.2, repeats=1, progress=False, n_jobs=1)
    assert compared.scores["error"].isna().all()
    assert compared.scores["accuracy"].between(0.1, 0.6).all()


@pytest.mark.usefixtures("fits_in_this_process")
def test_an_interrupt_keeps_what_is_finished():
    def stop(progress: Progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare([TREE, GaussianNB()], ["iris"], [0.2, 0.4], repeats=1, n_jobs=1, progress=stop)
    stopped = Comparison.load("results")
    assert stopped.scores["accuracy"].notna().sum() == 3
    assert stopped.ela().isna().to_numpy().any()
    assert "not fitted yet" in str(stopped)
    seen = []
    done = compare([TREE, GaussianNB()], ["iris"], [0.2, 0.4], repeats=1, n_jobs=1, progress=seen.append)
    assert seen[0].cached == 3
    assert done.ela().notna().to_numpy().all()


@pytest.mark.release
def test_a_script_needs_no_guard_and_is_quiet():
    Path("script.py").write_text(
        "from boostnoise import compare\n"
        "from sklearn.naive_bayes import GaussianNB\n"
        "print(compare([GaussianNB()], ['iris'], 0.2, repeats=1, n_jobs=1))\n"
    )
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("comparison: 1 model on 1 data set under uniform noise, 1 repeat\n")


def test_function_and_module_names_do_not_clash():
    assert callable(boostnoise.compare)
    assert boostnoise.eval.comparison.compare.compare is compare


@pytest.mark.usefixtures("fits_in_this_process")
def test_an_estimator_may_be_of_a_class_that_configs_may_not_name(tmp_path):
    model = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=2)
    found = compare(model, "iris", [0.0], repeats=1, results_dir=tmp_path, n_jobs=1, progress=False)
    assert found.scores["error"].isna().all()
    with pytest.raises(ConfigError, match="GridSearchCV is not an allowed class"):
        compare(
            [{"module": "sklearn.model_selection", "model": "GridSearchCV"}],
            "iris",
            results_dir=tmp_path,
            progress=False,
        )
