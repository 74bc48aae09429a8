"""No config, and no file beside one, makes the command import or run other code than the models' own."""

import importlib
import json
import subprocess
import sys

import pytest

from boostnoise.eval.config.model_spec import ModelSpec
from boostnoise.eval.config.run import parse_config
from boostnoise.eval.errors import ConfigError
from boostnoise.eval.models.factory import build
from boostnoise.eval.models.resolved_model import resolve


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_no_module_is_imported_to_see_whether_it_holds_a_class(tmp_path, monkeypatch, noisyeval, options):
    # At its import this module makes a cache in ./cachedir, from which it unpickles results.
    monkeypatch.delitem(sys.modules, "xgboost.testing", raising=False)
    models = [{"module": "xgboost.testing", "model": "XGBClassifier"}]
    (tmp_path / "study.json").write_text(json.dumps({**SMALL, "models": models}))
    result = noisyeval(tmp_path, "study.json", *options)
    assert result.exit_code == 2
    assert "xgboost.testing.XGBClassifier" in result.stderr
    assert "xgboost.XGBClassifier" in result.stderr
    assert "xgboost.testing" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]


OWN = "from sklearn.tree import DecisionTreeClassifier\nclass Own(DecisionTreeClassifier): ...\n"
TRAP = "import pathlib\npathlib.Path('trap').touch()\n"


@pytest.mark.usefixtures("trials_in_this_process")
def test_a_module_that_was_not_named_is_not_imported_by_one_that_was(tmp_path, noisyeval):
    (tmp_path / "own_tree.py").write_text(f"import own_trap\n{OWN}")
    (tmp_path / "own_trap.py").write_text(TRAP)
    models = [{"module": "own_tree", "model": "Own"}]
    (tmp_path / "study.json").write_text(json.dumps({**SMALL, "models": models}))
    refused = noisyeval(tmp_path, "study.json", "--allow-module", "own_tree")
    assert refused.exit_code == 2
    (line,) = refused.stderr.splitlines()
    assert "module 'own_tree' cannot be imported: No module named 'own_trap'" in line
    assert line.endswith("; to import it from the working directory, add --allow-module own_trap")
    assert not (tmp_path / "trap").exists()
    both = ["--allow-module", "own_tree", "--allow-module", "own_trap"]
    assert noisyeval(tmp_path, "study.json", *both, "--dry-run").exit_code == 0
    assert (tmp_path / "trap").exists()


@pytest.mark.parametrize(
    "source", ["1 / 0", "raise SystemExit(0)", "import own_absent", "raise KeyError('x\\ny')"]
)
def test_a_module_that_raises_ends_in_one_line(tmp_path, noisyeval, source):
    (tmp_path / "own_broken.py").write_text(source)
    (tmp_path / "study.json").write_text(
        json.dumps({**SMALL, "models": [{"module": "own_broken", "model": "Own"}]})
    )
    done = noisyeval(tmp_path, "study.json", "--allow-module", "own_broken")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "module 'own_broken' cannot be imported: " in line


@pytest.mark.release
def test_no_library_finds_modules_in_the_working_directory(tmp_path, process):
    """Neither in the command, nor in its workers, nor in the processes that joblib starts there."""
    for name in ("winreg", "msvcrt", "numexpr", "torch", "bottleneck", "cupy"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    (tmp_path / "sklearn.py").write_text(TRAP)
    (tmp_path / "own_tree.py").write_text(OWN)
    bagging = {"module": "sklearn.ensemble", "model": "BaggingClassifier"}
    own = {"module": "own_tree", "model": "Own", "params": {}}
    models = [{**bagging, "params": {"n_estimators": 2, "estimator": own}}]
    settings = {"threads": 2, "repeats": 1, "ela_fig": {"save_fig": False}, "rla_fig": {"save_fig": False}}
    (tmp_path / "study.json").write_text(json.dumps({**SMALL, **settings, "models": models}))
    done = process(tmp_path, "study.json", "-q", "--allow-module", "sklearn", "--allow-module", "own_tree")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "trap").exists()


MODULES = [
    "sklearn.conftest",
    "sklearn.tests.test_common",
    "sklearn.tree.tests.test_tree",
    "sklearn.utils.estimator_checks",
    "sklearn.externals.conftest",
    "xgboost.testing",
    "xgboost.dask",
    "lightgbm.dask",
    "boostnoise.eval.cli.main",
]


@pytest.mark.parametrize("nested", [False, True], ids=["model", "nested"])
@pytest.mark.parametrize("module", MODULES)
def test_only_listed_modules_are_imported(module, nested, monkeypatch):
    imported, real = [], importlib.import_module
    monkeypatch.setattr(
        "importlib.import_module", lambda name, *rest: imported.append(name) or real(name, *rest)
    )
    described = {"module": module, "model": "SVC", "params": {}}
    if nested:
        described = {
            "module": "sklearn.ensemble",
            "model": "BaggingClassifier",
            "params": {"estimator": [described]},
        }
    with pytest.raises(ConfigError, match=f"{module}.SVC is not an allowed class"):
        build(resolve(ModelSpec.model_validate(described)), seed=0, threads=1)
    assert module not in imported


SMALL = {"datasets": ["iris"], "models": ["decision_tree"], "noise": [{"kind": "uniform", "rates": [0.1]}]}
LIGHTGBM = {"module": "lightgbm", "model": "LGBMClassifier"}
ROBUST = {"module": "boostnoise", "model": "RobustLGBMClassifier"}
EVIL = "gbdt forcedsplits_filename=/etc/passwd"


@pytest.mark.parametrize(
    "described",
    [
        *(
            {**LIGHTGBM, "params": {name: value}}
            for name in ("boosting_type", "objective", "data_sample_strategy", "interaction_constraints")
            for value in (EVIL, "gbdt\ndata=/etc/passwd", "a=b", ["a", ["b c"]], {"a": "b c"})
        ),
        {**ROBUST, "params": {"boosting_type": EVIL}},
        {**ROBUST, "params": {"data_sample_strategy": EVIL}},
        {**LIGHTGBM, "search": {"params": {"boosting_type": ["gbdt", EVIL]}}},
        {"model": "lightgbm", "params": {"boosting_type": EVIL}},
        {"model": "cleanlab+lightgbm", "params": {"boosting_type": EVIL}},
        {**LIGHTGBM, "params": {"interaction_constraints": [{"x forcedsplits_filename=/etc/passwd y": 1}]}},
        {**LIGHTGBM, "params": {"interaction_constraints": ["'forcedsplits_filename'"]}},
        {
            "module": "sklearn.calibration",
            "model": "CalibratedClassifierCV",
            "params": {"estimator": LIGHTGBM, "method": EVIL},
        },
        {
            "module": "sklearn.ensemble",
            "model": "BaggingClassifier",
            "search": {"params": {"estimator": [{**LIGHTGBM, "params": {"boosting_type": EVIL}}]}},
        },
    ],
)
def test_no_text_for_lightgbm_sets_a_second_parameter(described):
    with pytest.raises(ConfigError, match="LightGBM"):
        build(resolve(ModelSpec.model_validate(described)), seed=0, threads=1)


def test_other_text_is_taken():
    text = {"boosting_type": "goss", "interaction_constraints": "[0,1],[2,3]"}
    build(resolve(ModelSpec.model_validate({**LIGHTGBM, "params": text})), seed=0, threads=1)


def test_other_text_is_taken_beside_lightgbm():
    pytest.importorskip("catboost")
    focal = {"loss_function": "Focal:focal_alpha=0.2;focal_gamma=2"}
    catboost = {"module": "catboost", "model": "CatBoostClassifier", "params": focal}
    estimators = {"estimators": [["a", LIGHTGBM], ["b", catboost]]}
    voting = {"module": "sklearn.ensemble", "model": "VotingClassifier", "params": estimators}
    build(resolve(ModelSpec.model_validate(voting)), seed=0, threads=1)


@pytest.mark.parametrize("name", [".numba_config.yaml", "matplotlibrc"])
@pytest.mark.parametrize("arguments", [["study.json"], ["study.json", "--dry-run"], ["--list"]], ids=" ".join)
def test_no_library_takes_settings_from_the_working_directory(tmp_path, name, arguments):
    """Numba imports classes and unpickles files that its settings name; Matplotlib evaluates some of its own."""
    (tmp_path / name).write_text("cache_dir: cache\n")
    (tmp_path / "study.json").write_text('{"datasets": ["iris"], "models": ["robust_tree"]}')
    done = subprocess.run(
        [sys.executable, "-m", "boostnoise", *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert name in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"study.json", name}


def test_no_grid_within_a_model_goes_past_the_checks():
    described = {
        "module": "sklearn.model_selection",
        "model": "GridSearchCV",
        "params": {"estimator": LIGHTGBM, "param_grid": {"'forcedsplits_filename'": ["/etc/passwd"]}},
    }
    with pytest.raises(ConfigError, match="GridSearchCV is not an allowed class"):
        build(resolve(ModelSpec.model_validate(described)), seed=0, threads=1)


@pytest.mark.parametrize(
    "name",
    ["../../x", "a/b", "a?b", "a%2e", "a b", "..", "a..b", "x;y", "http://x", "a\\b", "a#b", "a:b", ".", "ü"],
)
def test_names_of_openml_are_neither_addresses_nor_paths(name):
    with pytest.raises(ConfigError, match="openml"):
        parse_config({**SMALL, "datasets": [{"openml": name}]}, "study")


@pytest.mark.parametrize("name", ["credit-g", "KDDCup09_appetency", "click.v2", "a(b)", "1590"])
def test_usual_names_of_openml_are_taken(name):
    assert parse_config({**SMALL, "datasets": [{"openml": name}]}, "study").datasets[0].openml == name


@pytest.mark.parametrize("where", ["params", "search"])
@pytest.mark.parametrize("value", ["\x1b]0;title\x07", {"\x1b[2J": 1}, [["\u202e"]]], ids=ascii)
def test_no_parameter_controls_the_terminal_when_a_model_prints_it(where, value):
    params = {"steps": value}
    model = {"module": "sklearn.pipeline", "model": "Pipeline", "params": params, "name": "p"}
    if where == "search":
        model = {**model, "params": {}, "search": {"params": {"steps": [value]}}}
    with pytest.raises(ConfigError, match="printable"):
        parse_config({**SMALL, "models": [model]}, "study")


def test_threads_and_seeds_of_estimators_in_lists_of_a_search_are_given_by_the_run():
    bagging = {"module": "sklearn.ensemble", "model": "BaggingClassifier", "params": {"n_jobs": 6}}
    described = {
        "module": "sklearn.ensemble",
        "model": "VotingClassifier",
        "params": {"estimators": [["a", {"module": "sklearn.naive_bayes", "model": "GaussianNB"}]]},
        "search": {"params": {"estimators": [[["a", bagging]]]}},
    }
    searching = build(resolve(ModelSpec.model_validate(described)), seed=7, threads=1)
    (((_, inner),),) = searching.param_grid["estimators"]
    assert (inner.n_jobs, inner.random_state) == (1, 7)


def test_every_folder_of_modules_is_a_package(root):
    """A folder without `__init__.py` is joined from all of Python's path, where a stranger's code could lie."""
    for package in ("boostnoise", "eval", "robust_splits"):
        folders = {path.parent for path in (root / package).rglob("*") if "__pycache__" not in path.parts}
        assert all((folder / "__init__.py").is_file() for folder in folders - {root})
