"""The JSON Schema says what the reader of configs does, as far as a schema can."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from boostnoise.eval.config.json_schema import config_schema
from boostnoise.eval.config.reader import load_config
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError

ROOT = Path(__file__).parents[3]
SCHEMA = config_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

# Errors of configs that a schema cannot detect.
BEYOND_SCHEMAS = re.compile(
    r"two (data sets|models|noise objects) are named|must be empty or have one object per model"
    r"|be an existing folder|no data set has noisy labels|has none of the noisy labels|'unchecked' requires|whose rows sum to 1|by their means"
    r"|times fig_dpi must be at most|must be printable|got .*\b\d+\.0\b"
)

FULL = {
    "$schema": "noisyeval.schema.json",
    "datasets": [
        "iris",
        {"set": "wine", "positive": [1], "name": "first wine"},
        {"path": "a.csv", "target": "y", "drop": ["id", 0], "categorical": "ordinal", "missing": "keep",
         "noisy": {"rule": "r"}, "annotators": {"path": "c.csv", "row": "i", "annotator": "a", "label": "l", "id": 3}},
        {"path": "b.svm", "test_path": "b.LIBSVM", "max_rows": 1000},
        {"path": "c", "format": "arff", "target": -1, "split": "part"},
        {"openml": 24},
    ],
    "models": [
        "adaboost",
        {"model": "gbm", "params": {"n_estimators": 50}},
        {"module": "sklearn.svm", "model": "SVC"},
        {"name": "deep", "module": "xgboost", "model": "XGBClassifier", "params": {}},
    ],
    "noise": [
        {"kind": "uniform", "rates": [0.1, 0]},
        {"kind": "class_conditional", "rates": [[0.1, 0.3], [[0.5, 0.5], [0, 1]]], "noise_on": "train+test"},
        {"kind": "mahalanobis", "name": "near"},
        {"kind": "label", "rates": [0.5], "noise_on": "train"},
        {"kind": "given", "labels": ["rule", "dawid_skene"], "rate": 0.2},
    ],
    "repeats": 5,
    "test_fraction": 0.5,
    "stratify": False,
    "random_state": 3,
    "results_dir": "out",
    "resume": True,
    "tables": ["ela", "mean_rla"],
    "ela_fig": {"save_fig": False, "fig_size": [3, 4.5], "fig_dpi": 100, "fig_title": "a", "fig_cmap": "viridis"},
    "rla_fig": {"plot_kwargs": [{}, {"color": "red"}, {}, {}]},
}  # fmt: skip


def refusal(config):
    """What the reader says against a config; None if nothing."""
    try:
        parse_config(config, "run")
    except ConfigError as error:
        return str(error)
    return None


def json_blocks(path):
    return re.findall(r"^```json\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def objects(schema):
    if isinstance(schema, dict):
        if "additionalProperties" in schema and "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_every_key_is_described_and_has_its_default():
    described = list(objects(SCHEMA))
    # Config, data sets with their annotators, models with their search and early stopping, metrics, figures, kinds of
    # noise.
    assert len(described) == 1 + 2 + 3 + 1 + 1 + 11
    for schema in described:
        assert schema["additionalProperties"] is False
        for key, value in schema["properties"].items():
            assert value["description"].endswith("."), key
            assert ("default" in value) != (
                key in {*schema.get("required", ()), "$schema", "name", "module"}
            ), key
    for schema in SCHEMA["$defs"].values():
        assert schema["description"].endswith(".")
        assert "\n" not in schema["description"]


def test_names_are_offered():
    data_sets, models = (SCHEMA["$defs"][name]["anyOf"][0] for name in ("DatasetSpec", "ModelSpec"))
    assert {"iris", "checkerboard2x2", "covtype"} < set(data_sets["enum"])
    names = {"adaboost", "robust_xgboost", "robust_forest:ane", "robust_tree:dkm", "robust_lightgbm:alpha"}
    assert names < set(models["anyOf"][0]["enum"])
    figures = SCHEMA["$defs"]["LabelSpec"]["properties"]["noise_on"]
    assert (figures["enum"], figures["default"]) == (["train", "train+test"], "train+test")


@pytest.mark.filterwarnings("ignore:models. .* is left out")
def test_configs_and_examples_that_come_with_the_project(tmp_path, monkeypatch):
    configs = [path for path in (ROOT / "configs").glob("*.json") if "data_dir" not in path.read_text()]
    assert len(configs) > 0
    for path in configs:
        VALIDATOR.validate(json.loads(path.read_text()))
        load_config(path)
    (own_data, *_), (data_sets, *_) = map(json_blocks, (ROOT / "README.md", ROOT / "docs" / "config.md"))
    VALIDATOR.validate(json.loads(own_data))
    VALIDATOR.validate(FULL | {"datasets": json.loads(data_sets)})


def test_the_full_config():
    assert refusal(FULL) is None
    VALIDATOR.validate(FULL)


KEYS = st.sampled_from(
    sorted({key for schema in objects(SCHEMA) for key in schema["properties"]} | {"extra", "nam", "Set"})
)
VALUES = st.sampled_from(
    [None, True, False, -1, 0, 1, 3, 3.0, 4, 0.5, 1.5, 10**400, -(10**30), "", " ", "iris", "wine", "gbm", "a.csv",
     "b.SVM", "a.txt", "a/b", "a\nb", "onehot", "keep", "csv", "svmlight", "train", "uniform", "label", "sklearn.svm",
     "_private", "a.b.c", "mean_ela", "9", [], {}, [0.1, 0.1], [[0.2, 0.3]], [[[0.5, 0.5], [0.5, 0.5]]], [0.2, 0.2],
     ["iris", "iris"], [None], ["y", True], [3, 4], {"model": "gbm"}, {"kind": "mahalanobis"}, {"kind": "uniform"},
     {"path": "d.parquet", "target": 0}, ["ela", "ela"], [True]]
)  # fmt: skip


def check_agreement(config):
    valid, said = VALIDATOR.is_valid(config), refusal(config)
    if said is None:
        assert valid, [error.message for error in VALIDATOR.iter_errors(config)]
    elif valid:
        assert all(BEYOND_SCHEMAS.search(line) for line in said.splitlines()), said


@given(st.data())
@settings(max_examples=300)
def test_schema_and_reader_agree(mutated, data):
    check_agreement(data.draw(mutated(FULL, VALUES, KEYS)))


@pytest.mark.parametrize(
    "changes", [{"datasets": [{"set": "iris", "path": None}]}, {"models": [{"model": "gbm", "module": None}]}]
)
def test_they_agree_on_null(changes):
    check_agreement(FULL | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"repets": 1},
        {"repeats": "3"},
        {"repeats": True},
        {"test_fraction": 1},
        {"datasets": []},
        {"datasets": ["irs"]},
        {"datasets": [{"path": "a.csv"}]},
        {"datasets": [{"path": "a.CSV", "target": None}]},
        {"datasets": [{"path": "a.svm", "target": 0}]},
        {"datasets": [{"set": "iris", "openml": 24}]},
        {"datasets": [{"set": "iris", "target": 0}]},
        {"datasets": [{"path": "a.csv", "target": 0, "test_path": "b.csv", "split": "s"}]},
        {"datasets": [{"path": "a.csv", "target": 0, "test_path": "b"}]},
        {"models": ["ada"]},
        {"models": [{"name": "x"}]},
        {"models": [{"model": "SVC"}]},
        {"models": [{"module": "os;", "model": "X"}]},
        {"noise": [{"kind": "unform", "rates": [0.1]}]},
        {"noise": [{"kind": "uniform", "rates": [1.5]}]},
        {"noise": [{"kind": "uniform", "rates": [0.1, 0.1]}]},
        {"noise": [{"kind": "mahalanobis", "rates": [0.7]}]},
        {"noise": [{"kind": "given", "labels": []}]},
        {"datasets": [{"path": "a.csv", "target": 0, "noisy": ["b"]}]},
        {"datasets": [{"path": "a.csv", "target": 0, "annotators": ["b"]}]},
        {"datasets": [{"path": "a.csv", "target": 0, "annotators": {"path": "b.csv", "row": "i"}}]},
        {"datasets": [{"path": "a.csv", "target": 0, "unchecked": "keep"}]},
        {"datasets": [{"path": "a.csv", "target": 0, "checked": "b"}]},
        {"datasets": [{"path": "a.csv", "target": 0, "labels": "noisy", "noisy": {"a": "b"}}]},
        {"datasets": [{"set": "checkerboard2x2", "labels": "noisy"}]},
        {"tables": ["ela", "ela"]},
        {"results_dir": "a\u0000b"},
        {"$schema": 3},
    ],
)
def test_mistakes_are_seen_in_an_editor(changes):
    assert not VALIDATOR.is_valid(FULL | changes)
    assert refusal(FULL | changes) is not None
