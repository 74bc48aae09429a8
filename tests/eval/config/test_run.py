import pytest

from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError

MINIMAL = {"datasets": ["iris"], "models": ["adaboost"], "noise": [{"kind": "uniform", "rates": [0.1]}]}


def parse(**changes):
    return parse_config({**MINIMAL, **changes}, "run")


def test_defaults():
    config = parse()
    assert (config.repeats, config.test_fraction, config.random_state) == (3, 0.2, 0)
    assert config.stratify
    assert config.resume
    assert config.output_dir.as_posix() == "results/run"


def test_models():
    config = parse(
        models=[
            "xgboost",
            {"name": "deep", "module": "xgboost", "model": "XGBClassifier", "params": {"max_depth": 9}},
            {"module": "sklearn.svm", "model": "SVC"},
            {"name": "quiet", "model": "lightgbm", "params": {"num_leaves": 7}},
        ]
    )
    assert [model.name for model in config.models] == ["xgboost", "deep", "SVC", "quiet"]
    assert config.models[0].module == "xgboost"
    assert config.models[0].model == "XGBClassifier"
    assert config.models[3].model == "LGBMClassifier"
    assert config.models[3].params == {"num_leaves": 7}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repets": 3}, "repets: unexpected key (did you mean 'repeats'?); allowed keys: datasets, models, noise, repeats,"),
        ({"name": "x"}, "name: unexpected key"),
        ({"repeats": "3"}, 'repeats: must be an integer, got "3"'),
        ({"repeats": True}, "repeats: must be an integer, got true"),
        ({"repeats": 0}, "repeats: must be greater than or equal to 1, got 0"),
        ({"folds": 1}, "folds: must be greater than or equal to 2, got 1"),
        ({"metric": "acuracy"}, "metric: must be 'accuracy', 'balanced_accuracy', 'macro_f1' or 'roc_auc' (did you mean 'accuracy'?), got"),
        ({"threads": 0}, "threads: must be greater than or equal to 1, got 0"),
        ({"time_limit": 0}, "time_limit: must be greater than 0, got 0"),
        ({"time_limit": "1h"}, 'time_limit: must be a number, got "1h"'),
        ({"memory_limit": -1}, "memory_limit: must be greater than 0, got -1"),
        ({"test_fraction": 1.0}, "test_fraction: must be less than 1, got 1.0"),
        ({"random_state": -1}, "random_state: must be greater than or equal to 0, got -1"),
        ({"datasets": []}, "datasets: must have at least 1 item, got []"),
        ({"datasets": ["irs"]}, "datasets[0]: unknown data set (did you mean 'iris'?); must be an object with 'path' and 'target', or one of breast_cancer, digits, iris, wine"),
        ({"datasets": [3]}, "datasets[0]: must be the name of a data set, or an object"),
        ({"datasets": [{"path": 3, "target": "y", "name": "x"}]}, "datasets[0]: path must be a string"),
        ({"datasets": ["iris", "iris"]}, "two data sets are named 'iris'"),
        ({"models": ["ada"]}, "models[0]: unknown model 'ada'; known models: adaboost, gbm, hist_gbm,"),
        ({"models": [{"name": "x"}]}, "models[0]: 'model' is missing"),
        ({"models": [3]}, "models[0]: must be the name of a model, or an object"),
        ({"noise": [3]}, "noise[0]: must be a JSON object, got 3"),
        ({"datasets": [{"path": "a.csv", "target": 1.0}]}, "datasets[0].target: must be the name or position of a column, got 1.0"),
        ({"results_dir": "a\u0000b"}, "results_dir: must be printable"),
        ({"results_dir": ""}, "results_dir: must be printable and not blank"),
        ({"tables": ["ela", "ela"]}, "tables: must not have duplicates"),
        ({"figures": ["time", "time"]}, "figures: must not have duplicates"),
        ({"figures": ["elan"]}, "figures[0]: must be 'ela', 'rla', 'retention', 'accuracy'"),
        ({"ela_fig": {"fig_size": [100, 100], "fig_dpi": 2000}}, "fig_size times fig_dpi must be at most 20000 pixels"),
        ({"models": [{"module": "os;", "model": "X"}]}, "models[0].module: must be the name of a public module"),
        ({"models": [{"module": "a", "model": "b.c"}]}, "models[0].model: must be the name of a class"),
        ({"models": ["gbm", {"name": "gbm", "model": "adaboost"}]}, "two models are named 'gbm'"),
        ({"models": [{"name": " ", "model": "gbm"}]}, "models[0].name: must be printable and not blank"),
        ({"models": [{"name": "a\x1b[2J", "model": "gbm"}]}, "models[0].name: must be printable"),
        ({"noise": [{"kind": "uniform", "rates": [1.1]}]}, "noise[0].rates[0]: must be less than or equal to 1, got 1.1"),
        ({"noise": [{"kind": "uniform", "rates": [-0.1]}]}, "noise[0].rates[0]: must be greater than or equal to 0"),
        ({"noise": [{"kind": "uniform", "rates": [0.1, 0.1]}]}, "noise[0].rates: has the same rate twice"),
        ({"noise": 2 * MINIMAL["noise"]}, "two noise objects are named 'uniform'; put all rates of a kind into one object"),
        ({"tables": ["elas"]}, "tables[0]: must be 'accuracy', 'balanced_accuracy'"),
        ({"ela_fig": {"fig_size": [3]}}, "ela_fig.fig_size"),
        ({"ela_fig": {"plot_kwargs": [{}, {}]}}, "ela_fig.plot_kwargs: must be empty or have one object per model (1), got 2"),
    ],
)  # fmt: skip
def test_mistakes_give_one_line(refusal, changes, message):
    assert message in refusal(parse, **changes)


def test_every_problem_has_its_line():
    with pytest.raises(ConfigError) as error:
        parse(repeats=0, random_state=-1)
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a\\b", "store.sqlite", "store.sqlite-wal"])
def test_the_folder_of_a_run_lies_next_to_the_store(name):
    with pytest.raises(ConfigError, match=r"^name: must .*, got '"):
        parse_config(MINIMAL, name)


def test_all_runs_of_a_folder_share_a_store():
    configs = [parse_config({**MINIMAL, "results_dir": "there"}, name) for name in ("a", "b")]
    assert {config.store_path.as_posix() for config in configs} == {"there/store.sqlite"}
    assert {config.output_dir.as_posix() for config in configs} == {"there/a", "there/b"}


@pytest.mark.parametrize(
    ("datasets", "sentence"),
    [
        (["iris"], "the labels of the data, which may be wrong; noisyaudit estimates how many are."),
        (["imbalanced_linear", "checkerboard2x2"], "the right labels of synthetic data."),
        ([{"path": "a.csv", "target": "y", "noisy": {"rules": "r"}}], "checked labels."),
        (
            [{"set": "iris", "labels": "noisy"}, {"set": "iris", "name": "again"}],
            "estimated right labels (iris) and the labels of the data, which may be wrong (again); noise and "
            "overlapping classes cannot be told apart without checked labels, and noisyaudit --prediction gives "
            "intervals of what is possible; noisyaudit estimates how many are.",
        ),
        (
            ["iris", "imbalanced_linear", "wine"],
            "the labels of the data, which may be wrong (iris, wine) and the right labels of synthetic data "
            "(imbalanced_linear); noisyaudit estimates how many are.",
        ),
    ],
)
def test_whose_labels_models_are_tested_on(datasets, sentence):
    assert parse(datasets=datasets).test_labels == f"Tested on {sentence}"


def test_noise_in_test_labels_that_are_noisy_themselves():
    datasets = ["wine", {"set": "iris", "labels": "noisy"}]
    with pytest.raises(
        ConfigError, match="'label' changes test labels, but scores on data set 'iris' are estimated"
    ):
        parse(datasets=datasets, noise=[{"kind": "label", "rates": [0.1]}])
    parse(datasets=datasets, noise=[{"kind": "label", "rates": [0.1], "noise_on": "train"}])


def test_noise_in_test_labels_is_noted():
    noise = [
        {"kind": "uniform", "rates": [0.1]},
        {"kind": "label", "rates": [0.1]},
        {"kind": "pair_flip", "rates": [0.1], "noise_on": "train+test"},
    ]
    config = parse(noise=noise)
    scored = "noise models are scored on noisy test labels"
    assert config.scored_on() == f"Under label and pair_flip (train+test) {scored}"
    assert config.scored_on("label") == f"Under label {scored}"
    assert config.scored_on("uniform") == ""
    assert parse(noise=[{"kind": "label", "rates": [0.1], "noise_on": "train"}]).scored_on() == ""


def test_data_sets_whose_repeats_share_their_test_rows():
    keys = {"path": "a.csv", "target": "y", "annotators": ["ann", "bob", "cid"], "noisy": {"rules": "r"}}
    config = parse(
        datasets=[
            {**keys, "name": "unchecked", "unchecked": "train"},
            {**keys, "name": "split", "split": "part"},
            {**keys, "name": "sample", "split": "part", "train_rows": 50},
            {**keys, "name": "random"},
        ],
        noise=[
            {"kind": "given", "labels": ["rules", "majority", "one_annotator"]},
            {"kind": "uniform", "rates": [0.2]},
        ],
    )
    assert config.sets_with_own_split == ["unchecked", "split", "sample"]
    assert config.resampled_fraction == 0.2  # of the others
    assert parse(fixed_split=True).sets_with_own_split == ["iris"]


def test_a_fixed_split_and_folds():
    with pytest.raises(ConfigError, match="fixed_split: must be false with folds"):
        parse(fixed_split=True, folds=5)
