"""The configs that come with the project."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import load_config, reference, run
from boostnoise.eval.config.line_styles import check_options
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.config.sweeps import parameter_sweeps
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.resolved_model import resolve
from boostnoise.eval.papers.published_numbers import against_published, read_published
from boostnoise.eval.papers.run_claims import RUN_CLAIMS
from boostnoise.eval.real_noise.catalogue import read_catalogue

STUDY = ["50stumps", "depth6trees50", "xgb_gamma", "xgb_lambda"]


def test_quickstart(root):
    config = load_config(root / "configs" / "quickstart.json")
    assert len(config.datasets) == 3
    assert config.repeats == 3
    assert [(spec.kind, spec.rates) for spec in config.noise] == [
        ("uniform", [0.0, 0.1, 0.2, 0.3, 0.4]), ("by_class", [0.0, 0.1, 0.2, 0.3]),
    ]  # fmt: skip
    used = {model.model for model in config.models}
    assert used >= {
        "AdaBoostClassifier", "GradientBoostingClassifier", "XGBClassifier", "LGBMClassifier",
        "RandomForestClassifier", "RobustForestClassifier", "RobustLGBMClassifier",
    }  # fmt: skip


@pytest.fixture
def study(root, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "boosting_with_label_noise"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("x,y\n1,1\n")
    monkeypatch.chdir(tmp_path)
    return lambda name: load_config(root / "configs" / f"{name}.json")


@pytest.mark.parametrize("name", STUDY)
def test_configs_of_the_2020_study(name, study):
    config = study(name)
    assert (config.test_fraction, config.random_state) == (0.2, 7)
    assert config.noise[0].kind == "label"
    assert config.noise[0].rates == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    for model in config.models:
        estimator = build(resolve(model), seed=0, threads=1)
        assert estimator.n_estimators == 50
        assert estimator.random_state == 7
    check_options(config.ela_fig, "ela_fig")
    check_options(config.rla_fig, "rla_fig")


def test_depths_and_criteria(study):
    for name, depth in (("50stumps", 1), ("depth6trees50", 6)):
        ada, gbm, xgb = (build(resolve(model), seed=0, threads=1) for model in study(name).models)
        assert (ada.estimator.criterion, ada.estimator.max_depth) == ("entropy", depth)
        assert (gbm.max_depth, gbm.learning_rate) == (depth, 0.1)
        assert (xgb.max_depth, xgb.learning_rate, xgb.reg_lambda, xgb.reg_alpha, xgb.gamma) == (
            depth,
            0.1,
            0.1,
            0,
            0,
        )


@pytest.mark.filterwarnings("ignore:models. .* is left out")
@pytest.mark.parametrize("name", ["reference", "reference_large"])
def test_the_configs_of_the_references(root, name):
    config, scores = load_config(root / "configs" / f"{name}.json"), reference(name)
    required = [model.name for model in config.models if not model.optional]
    assert [*required, "catboost"] == scores["model"].unique().tolist()
    listed = json.loads((root / "configs" / f"{name}.json").read_text())["models"]
    assert {"model": "catboost", "optional": True} in listed
    assert [dataset.name for dataset in config.datasets] == scores["dataset"].unique().tolist()
    assert [noise.name for noise in config.noise] == scores["noise_kind"].unique().tolist()
    assert config.repeats == scores["repeat"].nunique()


@pytest.mark.parametrize("name", ["real_noise", "real_noise_unchecked"])
def test_real_noise_is_weighed_by_domain(root, name):
    config = load_config(root / "configs" / f"{name}.json")
    groups = {stem: group for group in read_catalogue().values() for stem in group.sets}
    found = {Path(spec.path).stem: spec for spec in config.datasets}
    if name == "real_noise":
        assert set(found) == set(groups) - {"music_annotators"}
    for stem, spec in found.items():
        parts = spec.domain.split("/")
        assert parts[0] == groups[stem].domain
        assert len(parts) == 1 or parts[1] in (groups[stem].name, stem)
        assert (spec.labels == "noisy") == (name == "real_noise_unchecked")
    assert len({spec.domain.split("/")[0] for spec in config.datasets}) >= 9


@pytest.mark.release
@pytest.mark.usefixtures("fits_in_this_process")
def test_real_noise(root, tmp_path, monkeypatch, data_root):
    """The config, with one model and few rows, on the files themselves."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(data_root / "data")
    config = load_config(root / "configs" / "real_noise.json")
    content = json.loads((root / "configs" / "real_noise.json").read_text())
    short = parse_config(
        content | {"models": ["decision_tree"], "repeats": 1, "noise": content["noise"][:1]}, "short"
    )
    found = run(short, n_jobs=1).scores
    assert len(config.datasets) == 62
    assert found["error"].isna().all()
    rates = found[found["noise_rate"] > 0].groupby(["noise_kind", "dataset"])["realised_rate"].first()
    assert rates["real (heuristic)"].between(0.01, 0.3).all()
    # As the README of the files says.
    assert rates["real (heuristic)", "jira_hbase"] == pytest.approx(0.26, abs=0.03)
    assert (rates["real (ma)"] < rates["real (ag)"]).mean() > 0.9
    assert rates["real (compas)", "recidivism"] == pytest.approx(0.36, abs=0.03)
    assert rates["real (one_annotator)", "music"] == pytest.approx(0.44, abs=0.03)
    assert rates["real (dawid_skene)", "music"] < rates["real (majority)", "music"]


# Tables of published numbers by config.
PAPERS = {
    "ghosh_2017_table_1": "ghosh_2017_table_1",
    "ghosh_2017_table_1_svm": "ghosh_2017_table_1",
    "ghosh_2017_table_1_svm_gaussian": "ghosh_2017_table_1",
    "ghosh_2017_table_1_svm_quadratic": "ghosh_2017_table_1",
    "ghosh_2017_table_2": "ghosh_2017_table_2",
    "ghosh_2017_table_2_svm": "ghosh_2017_table_2",
    "wilton_2024_table_2": "wilton_2024_table_2",
    "wilton_2024_table_4": "wilton_2024_table_4",
    "wilton_2024_table_5": "wilton_2024_table_5",
    "yang_2019_table_3": "yang_2019_table_3",
    "yang_2019_table_3_exchanged": "yang_2019_table_3",
    "yang_2019_table_3_exchanged_no_bootstrap": "yang_2019_table_3",
}
# As those, with the ranges of parameters of the paper; too slow even in their quick form.
PAPER_GRIDS = [
    f"ghosh_2017_table_{table}_paper_grid" for table in ("1_svm", "1_svm_gaussian", "1_svm_quadratic", "2_svm")
]
LIMITS = {"C": (0.01, 500), "gamma": (0.001, 10)}
WITHOUT_TABLES = [
    "ghosh_2017_figure_1a", "ghosh_2017_figure_1b", "wilton_2024_figure_6", "wilton_2024_figure_6_binary",
    "wilton_2024_table_2_embeddings", "wilton_2024_table_3", "wilton_2024_table_3_embeddings",
    "wilton_2024_table_4_embeddings", "wilton_2024_table_5_embeddings", "wilton_2024_tables_2_4", "yang_2019_figure_2",
    "yang_2019_trees",
]  # fmt: skip
TWO_CLASSES = [
    "2020_first_tree", "wilton_2024_figure_6_binary", "wilton_2024_table_2", "wilton_2024_table_2_embeddings",
    "wilton_2024_table_4", "wilton_2024_table_4_embeddings", "wilton_2024_tables_2_4", "yang_2019_figure_2",
    "yang_2019_table_3", "yang_2019_table_3_exchanged", "yang_2019_table_3_exchanged_no_bootstrap", "yang_2019_trees",
]  # fmt: skip
OPEN_QUESTIONS = [
    "column_sampling", "dropout", "forests", "gamma_depth12", "lambda_depth12", "learning_rate", "row_sampling",
]  # fmt: skip


# Studies of the slides of 2020, and how many values of a parameter each compares.
EXPLANATIONS = {"adaboost_rounds": 7, "first_tree": 4, "max_bin": 8}


def test_all_studies_of_papers_are_known(root):
    assert sorted(path.stem for path in (root / "configs" / "studies").glob("*.json")) == sorted(
        [
            *PAPERS,
            *PAPER_GRIDS,
            *WITHOUT_TABLES,
            *(f"2020_{name}" for name in [*OPEN_QUESTIONS, *EXPLANATIONS]),
        ]
    )


@pytest.mark.parametrize("name", PAPER_GRIDS)
def test_grids_of_the_paper(root, name):
    """They differ from the configs of the smaller grids in the grids and repeats alone."""
    slow, fast = (
        load_config(root / "configs" / "studies" / f"{stem}.json")
        for stem in (name, name.removesuffix("_paper_grid"))
    )
    (svm,), (smaller,) = slow.models, fast.models
    assert svm.model_copy(update={"search": None}) == smaller.model_copy(update={"search": None})
    build(resolve(svm), seed=0, threads=1)
    ranges = {key: (min(values), max(values)) for key, values in svm.search.params.items()}
    assert ranges == {key: LIMITS[key.removeprefix("model__")] for key in smaller.search.params}
    assert slow.repeats == 10
    assert slow.model_copy(update={"name": fast.name, "models": fast.models, "repeats": fast.repeats}) == fast


@pytest.mark.parametrize("name", WITHOUT_TABLES)
def test_studies_without_published_numbers(root, name):
    config = load_config(root / "configs" / "studies" / f"{name}.json")
    rates = [[0.4, 0.4]] if name == "yang_2019_figure_2" else [0.0, 0.1, 0.2, 0.3, 0.4]
    assert config.noise[0].rates == rates
    for model in config.models:
        build(resolve(model), seed=0, threads=1)


@pytest.mark.parametrize("name", OPEN_QUESTIONS)
def test_open_questions_of_the_2020_study(root, study, name):
    config = study(f"studies/2020_{name}")
    assert config.noise[0].kind == "label"
    assert {build(resolve(model), seed=0, threads=1).n_estimators for model in config.models} == {50}
    sweeps = parameter_sweeps(config.models)
    assert sum(len(sweep.values) for sweep in sweeps) == len(config.models) >= 5


@pytest.mark.release
@pytest.mark.usefixtures("fits_in_this_process")
def test_the_quick_form_of_a_sweep(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick = load_config(root / "configs" / "studies" / "ghosh_2017_figure_1b.json").quick()
    assert [dataset.train_rows for dataset in quick.datasets] == [100, 200, 400, 700, 1000]
    found = run(quick, n_jobs=1).scores
    leaves = found[found["model"] == "tree, min_samples_leaf 50"]
    without = leaves[leaves["noise_rate"] == 0].set_index("dataset")["accuracy"]
    assert without.iloc[-1] > without.iloc[0] + 0.3


@pytest.mark.parametrize(("name", "table"), PAPERS.items())
def test_studies_have_the_cells_of_the_published_table(root, name, table):
    config, published = load_config(root / "configs" / "studies" / f"{name}.json"), read_published(table)
    for model in config.models:
        build(resolve(model), seed=0, threads=1)
        of_model = published[published["model"] == model.name]
        for dataset in config.datasets:
            cells = of_model[of_model["dataset"] == dataset.name]
            assert len(cells) > 1
            rates = {noise.name: {round(rate, 9) for rate, _ in noise.noise_by_rate} for noise in config.noise}
            assert all(rate in rates[kind] for kind, rate in cells[["noise_kind", "noise_rate"]].to_numpy())


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_explanations_of_the_2020_study(study, name):
    config = study(f"studies/2020_{name}")
    assert config.noise[0].kind == "label"
    for model in config.models:
        build(resolve(model), seed=0, threads=1)
    assert sum(len(sweep.values) for sweep in parameter_sweeps(config.models)) == EXPLANATIONS[name]


def write_small_data(config, classes, rows=80):
    """A small file for each data set of a config that is read from a file: two informative columns of four."""
    for position, dataset in enumerate(config.datasets):
        if dataset.path is None:
            continue
        rng = np.random.default_rng(position)
        n_classes = classes if dataset.positive is None else max(dataset.positive) + 2
        target = rng.permutation(np.arange(rows) % n_classes)
        table = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
        table[["a", "b"]] += np.column_stack([target, target % 2])
        table["target"] = target
        table["split"] = np.where(np.arange(rows) % 4 > 0, "train", "test")
        if dataset.split is None and "split" not in dataset.drop:
            del table["split"]
        path = Path(dataset.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)


# Configs with the data sets of one study and the models of another.
COMBINED = {"wilton_2024_figure_6_binary", "wilton_2024_table_4_embeddings", "wilton_2024_table_5_embeddings"}
# Without 2020_adaboost_rounds, which has 10,000 rounds in its quick form too.
QUICK = [*PAPERS, *WITHOUT_TABLES, *(f"2020_{name}" for name in [*OPEN_QUESTIONS, "first_tree", "max_bin"])]


@pytest.mark.release
@pytest.mark.parametrize("name", [name for name in QUICK if name not in COMBINED])
@pytest.mark.usefixtures("fits_in_this_process")
def test_quick_forms_of_studies(root, study, name):
    config = study(f"studies/{name}")
    write_small_data(config, classes=2 if name in TWO_CLASSES else 3)
    quick = config.quick()
    assert (quick.name, quick.repeats) == (f"{name}_quick", config.folds or 1)
    from_files = [dataset for dataset in quick.datasets if dataset.path is not None]
    short = quick.model_copy(update={"datasets": from_files[:1] or quick.datasets})
    found = run(short, n_jobs=1)
    assert found.scores["error"].isna().all()
    accuracy = found.scores.groupby("model")["accuracy"].mean()
    assert set(accuracy.index) == {model.name for model in config.models}
    assert accuracy.gt(0.2).all()
    table = PAPERS.get(name, name)
    if name in PAPERS:
        n_cells = found.scores.groupby(["dataset", "model", "noise_kind", "noise_rate"]).ngroups
        assert 5 <= len(against_published(found, table).reproduced) <= n_cells
    elif name in RUN_CLAIMS and name != "ghosh_2017_figure_1b":  # the quick form lacks its large sizes
        assert against_published(found, table).claims["ours"].notna().all()
