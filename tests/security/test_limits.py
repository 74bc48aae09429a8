"""Small files do not take all memory, and small configs not all time."""

import gzip
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from boostnoise.eval import run
from boostnoise.eval.cli.starter import starter_config
from boostnoise.eval.config import base as validation
from boostnoise.eval.config import run as config_module
from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.reader import parse_text
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.datasets.encoding import Encoding, FeatureEncoder, check_features
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.extensions.versions import version_of
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.resolved_model import resolve

MODEL = {"name": "nb", "module": "sklearn.naive_bayes", "model": "GaussianNB"}
SMALL = {"datasets": ["iris"], "models": [MODEL], "noise": [{"kind": "uniform", "rates": [0.1]}]}


@pytest.mark.release
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not refuse memory")
def test_a_ceiling_of_memory_holds_while_data_are_read(tmp_path, process):
    # A file of several gzip members is that of their contents; they are compressed once.
    million_rows = gzip.compress(b"1,0\n2,1\n" * 500_000)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,y\n") + 20 * million_rows)
    assert (tmp_path / "bomb.csv.gz").stat().st_size < 1_000_000
    data = '{"path": "bomb.csv.gz", "format": "csv", "target": "y"}'
    (tmp_path / "study.json").write_text(
        f'{{"datasets": [{data}], "models": ["decision_tree"], "noise": [{{"kind": "uniform", "rates": [0.1]}}]}}'
    )
    done = process(tmp_path, "study.json", "--dry-run", "--max-memory", "0.5")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "bomb" in done.stderr or "memory" in done.stderr


@pytest.mark.release
def test_a_ceiling_of_time_ends_a_run(folder, process):
    (folder / "slow.json").write_text(
        '{"datasets": ["digits"], "models": ["gbm"], "noise": [{"kind": "uniform", "rates": [0.1]}], "repeats": 1000}'
    )
    done = process(folder, "slow.json", "--max-time", "3", "-j", "1")
    assert done.returncode == 124
    assert "Traceback" not in done.stderr
    assert "slow.json" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("value", ["0", "-1", "x"])
@pytest.mark.parametrize("option", ["--max-memory", "--max-time"])
def test_ceilings_that_are_none(folder, noisyeval, option, value):
    done = noisyeval(folder, "study.json", option, value)
    assert done.exit_code == 2
    assert option in done.stderr


def test_runs_of_too_many_cells_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match=r"at most 1,000,000 cells, got 2,000,000"):
        parse_config(
            SMALL | {"models": [MODEL | {"name": str(i)} for i in range(100)], "repeats": 10_000}, "study"
        )
    monkeypatch.setattr(config_module, "MAX_CELLS", 4)
    parse_config(SMALL | {"repeats": 2}, "study")
    with pytest.raises(ConfigError, match="got 6"):
        parse_config(SMALL | {"repeats": 3}, "study")


def test_more_models_than_anybody_compares_are_refused():
    with pytest.raises(ConfigError, match="models: must have at most 10000 items"):
        parse_config(SMALL | {"models": [MODEL | {"name": str(i)} for i in range(10_001)]}, "study")


def test_versions_are_looked_up_once_for_all_models(monkeypatch, small_config):
    from boostnoise.eval.execution.plan import plan
    from boostnoise.eval.models import resolved_model

    seen = []
    monkeypatch.setattr(
        resolved_model, "version_of", lambda package: seen.append(package) or version_of(package)
    )
    plan(small_config(models=[MODEL | {"name": str(i)} for i in range(50)]))
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("number", ["1e400", "-1e999", "[1, 2e308]"])
def test_numbers_that_overflow_are_refused(number):
    with pytest.raises(ConfigError, match=r"models\[0\].params.a.*must be a finite number"):
        parse_text(f'{{"models": [{{"params": {{"a": {number}}}}}]}}')


def test_deep_nesting_is_refused():
    with pytest.raises(ConfigError, match="nested"):
        parse_text('{"a": ' + "[" * 150 + "]" * 150 + "}")


def test_imputing_takes_a_few_operations_for_all_columns(monkeypatch):
    """One at a time, each column that is set copied the list of all of them."""
    frame = pd.DataFrame(np.arange(6000.0).reshape(3, 2000)).mask(lambda x: x % 7 == 0)
    expected, calls = frame.fillna(frame.median()).to_numpy(), []
    monkeypatch.setattr(pd.DataFrame, "__setitem__", lambda *_: calls.append(1))
    encoder = FeatureEncoder("numbers", Encoding(missing="impute")).fit(check_features(frame, "impute", "x"))
    X = encoder.transform(frame)
    assert not calls
    np.testing.assert_array_equal(X, expected)


@pytest.mark.release
def test_equal_errors_have_equal_texts_in_all_processes(tmp_path, monkeypatch):
    """scikit-learn writes sets into messages, whose order depends on the process."""
    model = {"module": "sklearn.tree", "model": "DecisionTreeClassifier", "params": {"criterion": "x"}}
    texts = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        config = parse_config(SMALL | {"models": [model], "results_dir": str(tmp_path / seed)}, "study")
        texts.update(run(config, n_jobs=1).scores["error"])
    assert len(texts) == 1
    assert "criterion" in texts.pop()


@pytest.mark.parametrize(
    "changes",
    [
        {"figures": [1] * 200_000},
        {"tables": [1] * 200_000},
        {"noise": [{"kind": "uniform", "rates": [2] * 200_000}]},
        {"models": ["x" * 4000]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_messages_about_long_values_are_short(changes):
    with pytest.raises(ConfigError, match=next(iter(changes))) as caught:
        parse_config(SMALL | changes, "study")
    lines = str(caught.value).splitlines()
    assert len(lines) <= 21
    assert all(len(line) < 1000 for line in lines)


def test_configs_of_very_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(validation, "MAX_VALUES", 100)
    with pytest.raises(ConfigError, match="at most 100 values"):
        parse_text('{"models": [' + "1, " * 100 + "1]}")


def nested(levels):
    model = MODEL
    for i in range(levels):
        params = {
            "steps": [
                ["a", {"module": model["module"], "model": model["model"], "params": model.get("params", {})}]
            ]
        }
        model = {"name": f"p{i}", "module": "sklearn.pipeline", "model": "Pipeline", "params": params}
    return model


def test_estimators_are_not_nested_without_end():
    """scikit-learn takes three times as long for each level."""
    build(resolve(ModelSpec.model_validate(nested(5))), seed=0, threads=1)
    with pytest.raises(ConfigError, match="nested at most 7 deep"):
        build(resolve(ModelSpec.model_validate(nested(14))), seed=0, threads=1)


def test_a_search_over_very_many_criteria_is_refused():
    estimators = [[f"e{i}", {"module": "sklearn.tree", "model": "DecisionTreeClassifier"}] for i in range(8)]
    model = {
        "name": "v",
        "module": "sklearn.ensemble",
        "model": "VotingClassifier",
        "params": {"estimators": estimators},
        "search": {"params": {f"e{i}__criterion": ["gini", "entropy"] * 30 for i in range(8)}, "draws": 2},
    }
    with pytest.raises(ConfigError, match="combinations"):
        build(resolve(ModelSpec.model_validate(model)), seed=0, threads=1)


def test_time_is_up_even_where_python_does_not_run(tmp_path):
    """Compiled code may never return; the signal's handler in Python would wait for it."""
    code = """
import ctypes
from boostnoise.eval.cli import command as _command
_command.STOP_SECONDS = 0.5
with _command.time_limit(0.5):
    ctypes.PyDLL(None).sleep(60)  # without releasing the interpreter's lock
"""
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50)
    assert done.returncode != 0
    assert time.monotonic() - start < 45


def test_errors_of_arff_files_that_cannot_be_told(tmp_path):
    """A message may be a format of its own, with text of the file in it."""
    text = "@RELATION r\n@ATTRIBUTE a {x,z}\n@ATTRIBUTE y {0,1}\n@DATA\n'%s %s',0\n"
    (tmp_path / "a.arff").write_text(text)
    with pytest.raises(ConfigError, match=r"a\.arff cannot be read"):
        load_dataset(DatasetSpec.model_validate({"path": str(tmp_path / "a.arff"), "target": "y"}))


def test_labels_of_svmlight_files_that_are_no_numbers_of_classes(tmp_path):
    (tmp_path / "a.svm").write_text("inf 1:1\n-inf 1:2\n1 1:3\n0 1:4\n" * 4)
    with pytest.raises(ConfigError, match="infinite"):
        load_dataset(DatasetSpec.model_validate({"path": str(tmp_path / "a.svm")}))


def test_starter_configs_hold_no_control_characters(tmp_path):
    pd.DataFrame({"\u009b2Ja\u202e": [0.5, 0.7] * 20, "y": [0, 1] * 20}).to_parquet(tmp_path / "a.parquet")
    text, _ = starter_config(str(tmp_path / "a.parquet"))
    assert all(line.isprintable() for line in text.splitlines())
