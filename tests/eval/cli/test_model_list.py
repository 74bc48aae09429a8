import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from boostnoise.eval.cli.model_list import print_models
from boostnoise.eval.models.short_names import SHORT_NAMES
from boostnoise.eval.models.variants import variants


def listed(**settings):
    console = Console(file=io.StringIO(), highlight=False, **settings)
    print_models(console)
    return console.file.getvalue()


def test_every_name_has_its_line():
    lines = [" ".join(line.split()) for line in listed(width=10_000).splitlines()]
    for name, known in SHORT_NAMES.items():
        assert f"{name} {known.summary}" in lines
    for kind in ("criterion", "loss"):
        for name, line in variants(kind).items():
            assert f"{name} {line}" in lines
    assert any("Needs loss_params: T." in line for line in lines)
    assert not any(line.endswith(" ") for line in listed(width=10_000).splitlines())


def test_a_narrow_terminal():
    text = listed(width=60, force_terminal=True, color_system=None)
    assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= 60


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    text = listed(width=10_000)
    assert "CatBoost (not installed; requires the extra 'catboost')" in text
    assert "mislabelled (not installed; requires the extra 'cleanlab')" in text


def test_the_command(tmp_path):
    command = Path(sys.executable).with_name("noisyeval")
    shown = subprocess.run([command, "--list"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout == listed(width=10_000)
    assert shown.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_it_is_quick(slow_imports):
    code = """
import io
from rich.console import Console
from boostnoise.eval.cli.model_list import print_models
print_models(Console(file=io.StringIO()))"""
    loaded = slow_imports(code)
    assert not loaded & {
        "numba",
        "sklearn",
        "xgboost",
        "lightgbm",
        "pandas",
        "matplotlib",
        "catboost",
        "cleanlab",
    }
