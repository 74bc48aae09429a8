import os

import pytest

from boostnoise.eval.config.base import validate
from boostnoise.eval.config.dataset_spec import SETS, DatasetSpec
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError


def parse(**keys):
    return validate(DatasetSpec, keys)


def parse_all(*datasets):
    content = {"datasets": list(datasets), "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0]}]}
    return parse_config(content, "run").datasets


def test_defaults():
    (spec,) = parse_all("wine")
    assert spec == parse(set="wine") == DatasetSpec(name="wine", set="wine")
    assert (spec.categorical, spec.missing, spec.drop, spec.positive) == ("onehot", "error", [], None)
    assert len(set(SETS)) == len(SETS) == 11


def test_domains_of_all_data_sets_or_none():
    (one, other) = parse_all({"set": "iris", "domain": "plants/iris"}, {"set": "wine", "domain": "food"})
    assert (one.domain, other.domain) == ("plants/iris", "food")
    with pytest.raises(ConfigError, match="data set 'wine' has no 'domain', but others have"):
        parse_all({"set": "iris", "domain": "plants"}, "wine")


def test_names():
    assert parse(path="a/b.csv", target=0).name == "b"
    assert parse(path="a/w8a", format="svmlight").name == "w8a"
    assert parse(openml=24).name == "OpenML 24"
    assert parse(openml="iris").name == "iris"
    assert parse(set="iris", name="other").name == "other"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "has no source; add 'path' and 'target', 'set', or 'openml'"),
        ({"set": "iris", "domain": "plants//iris"}, "must be a name, or names with '/' between them, got 'plants//iris'"),
        ({"set": "iris", "domain": "plants "}, "must be a name, or names with '/' between them"),
        ({"set": "iris", "copies": "together", "group": "g"}, "has both 'group' and \"copies\": \"together\""),
        ({"set": "iris", "copies": "together", "split": "s"}, '"copies": "together" requires a random split'),
        ({"set": "iris", "openml": 61}, "has several sources (set, openml); only one is allowed"),
        ({"set": "isolet"}, "unknown data set; must be an object with 'path' and 'target', or one of breast_cancer,"),
        ({"set": ["iris"]}, "unknown data set; must be an object with 'path' and 'target', or one of breast_cancer,"),
        ({"set": "iris", "target": "y"}, "'target' is not allowed, because the set 'iris'"),
        ({"set": "iris", "format": "csv"}, "'format' requires 'path'"),
        ({"set": "iris", "checked": "y"}, "'checked' requires \"labels\": \"noisy\""),
        ({"set": "checkerboard2x2", "labels": "noisy"}, "'labels' must be 'right', because those of the set 'check"),
        (
            {"path": "a.csv", "target": 0, "noisy": {"a": "b"}, "labels": "noisy"},
            "'labels' must be 'right' with 'noisy' or 'annotators', because models are tested on the right",
        ),
        ({"openml": 24, "test_path": "a.csv"}, "'test_path' requires 'path'"),
        ({"openml": True}, "openml: must be the name or the ID of a data set"),
        ({"openml": 2.0}, "openml: must be the name or the ID of a data set"),
        ({"openml": -1}, "openml: must be the name or the ID of a data set, got -1"),
        ({"openml": [24]}, "openml: must be the name or the ID of a data set, got [24]"),
        ({"path": "a.csv"}, "'target' is missing"),
        ({"path": "a.svm", "target": 0}, "'target' is not allowed, because rows of svmlight files"),
        ({"path": "a.xls", "target": 0}, "path: must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .arff, .svm, .libsvm, .svmlight, be a"),
        ({"path": "a.csv", "target": 0, "test_path": "a.t"}, "test_path: must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .arff"),
        ({"path": "a.csv", "target": 0, "test_path": "."}, "test_path: must end in .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .arff"),
        ({"path": "a.csv", "target": 0, "test_path": "b.csv", "split": "s"}, "has both 'split' and 'test_path'"),
        ({"path": "a.csv", "target": 0, "test_path": "a.csv"}, "'test_path' must be another file than 'path'"),
        ({"name": "x", "path": "x" * 5000, "target": 0}, "path: must have at most 4096 characters"),
        ({"path": "a.csv", "target": 0, "format": "xls"}, "format: must be 'csv', 'parquet', 'arff' or 'svmlight'"),
        ({"set": "iris", "drop": "y"}, "drop: must be a list of names or positions of columns"),
        ({"set": "iris", "drop": [0.5]}, "drop: must be the name or position of a column"),
        ({"set": "iris", "split": False}, "split: must be the name or position of a column"),
        ({"set": "iris", "categorical": "hash"}, "categorical: must be 'onehot' or 'ordinal'"),
        ({"set": "iris", "missing": None}, "missing: must be 'error', 'drop_rows', 'impute' or 'keep'"),
        ({"set": "iris", "positive": []}, "positive: must have at least 1 item"),
        ({"set": "iris", "separator": ";"}, "'separator' requires 'path'"),
        ({"path": "a.arff", "target": 0, "separator": ";"}, "'separator' is only allowed for CSV files, but the format is arff"),
        ({"path": "a.csv", "target": 0, "separator": "::"}, "separator: must"),
        ({"set": "iris", "max_rows": 3}, "max_rows: must be greater than or equal to 4"),
        ({"set": "iris", "max_row": 3}, "max_row: unexpected key (did you mean 'max_rows'?); allowed keys: name, set, format, separator, decimal, encoding, missing_values, path, openml"),
    ],
)  # fmt: skip
def test_mistakes_give_one_line(refusal, keys, message):
    assert message in refusal(parse, **keys)


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.parquet", "c.SVM", ".hidden.csv", "README.md"):
        (tmp_path / name).touch()
    (tmp_path / "d.csv").mkdir()
    return tmp_path


def test_each_file_of_a_folder_is_a_data_set(folder):
    with pytest.warns(UserWarning, match=r"ignored files of unknown format: README.md"):
        specs = parse_all("iris", {"path": str(folder), "target": -1, "missing": "keep"})
    assert [spec.name for spec in specs] == ["iris", "a", "b", "c"]
    assert specs[1] == parse(path=str(folder / "a.parquet"), format="parquet", target=-1, missing="keep")
    assert specs[3] == parse(path=str(folder / "c.SVM"), format="svmlight", missing="keep")


def test_with_a_format_each_file_of_a_folder_has_it(folder):
    specs = parse_all({"path": str(folder), "format": "svmlight"})
    assert [(spec.name, spec.format) for spec in specs] == [(n, "svmlight") for n in ("README", "a", "b", "c")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": None}, "datasets: 'target' is missing for "),
        ({"name": "mine"}, "datasets[0]: 'name' is not allowed"),
        ({"test_path": "a.csv"}, "datasets[0]: 'test_path' is not allowed"),
        ({"format": "csv", "target": None}, "datasets[0]: 'target' is missing"),
    ],
)
def test_keys_that_are_not_allowed_with_folders(refusal, folder, changes, message):
    (folder / "README.md").unlink()
    assert message in refusal(parse_all, {"path": str(folder), "target": 0, **changes})


def test_folders_without_data_and_files_of_one_name(tmp_path, folder):
    with pytest.raises(ConfigError, match=r"datasets: folder .* has no file that ends in .csv"):
        parse_all({"path": str(folder / "d.csv"), "target": 0})
    (folder / "README.md").rename(folder / "a.csv")
    with pytest.raises(ConfigError, match="two data sets are named 'a'"):
        parse_all({"path": str(folder), "target": 0})


@pytest.mark.parametrize("name", [b"a\x1b[2J.csv", b" .csv", b"\xff.csv"])
def test_names_of_files_that_cannot_be_printed(tmp_path, name):
    try:
        (tmp_path / os.fsdecode(name)).touch()
    except OSError:
        pytest.skip("no file can have this name here")
    with pytest.raises(ConfigError, match="file names must be printable and not blank") as error:
        parse_all({"path": str(tmp_path), "target": 0})
    assert str(error.value).isprintable()
