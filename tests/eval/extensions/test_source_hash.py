import importlib
import os

import pytest

from boostnoise.eval.extensions import versions
from boostnoise.eval.extensions.source_hash import source_hash
from boostnoise.eval.extensions.versions import version_of


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes modules into a folder of the search path."""
    monkeypatch.syspath_prepend(tmp_path)

    def write_files(**sources):
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        importlib.invalidate_caches()

    return write_files


@pytest.mark.parametrize(
    "statement",
    [
        "import hidden_helper",
        "import numpy, hidden_helper as h",
        "from hidden_helper import SHIFT",
        "def fit():\n    from hidden_helper import SHIFT",
        "import hidden_between",
        "import hidden_folder.part",
        "from hidden_package import part",
    ],
)
def test_a_change_of_what_a_module_imports_changes_its_version(write, statement):
    write(
        hidden_model=statement,
        hidden_between="import hidden_helper, hidden_model",  # in a circle
        hidden_folder__in__part="import hidden_helper",
        hidden_package__in____init__="",
        hidden_package__in__part="from . import other",
        hidden_package__in__other="import hidden_helper",
        hidden_helper="SHIFT = 1",
    )
    before = version_of("hidden_model")
    assert before == version_of("hidden_model")
    write(hidden_helper="SHIFT = 2")
    assert version_of("hidden_model") not in ("", before)


def test_what_is_not_imported_does_not_count(write):
    write(hidden_model="import hidden_helper, numpy, json", hidden_helper="", hidden_other="SHIFT = 1")
    before = version_of("hidden_model")
    write(hidden_other="SHIFT = 2")
    assert version_of("hidden_model") == before


def test_nothing_is_executed_and_anything_can_be_read(write):
    write(
        hidden_model="import hidden_helper, hidden_missing, __main__\nraise SystemExit",
        hidden_helper="no python(",
    )
    assert source_hash("hidden_model")
    assert source_hash("hidden_missing") == ""


def test_the_folder_does_not_count(write, tmp_path, monkeypatch):
    write(hidden_model="import hidden_helper", hidden_helper="")
    before = source_hash("hidden_model")
    (tmp_path / "elsewhere").mkdir()
    for name in ("hidden_model", "hidden_helper"):
        (tmp_path / f"{name}.py").rename(tmp_path / "elsewhere" / f"{name}.py")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    importlib.invalidate_caches()
    assert source_hash("hidden_model") == before


def test_source_in_a_folder_without_init_is_hashed(write):
    write(hidden_folder__in__model="SHIFT = 1")
    before = version_of("hidden_folder")
    write(hidden_folder__in__model="SHIFT = 2")
    assert version_of("hidden_folder") not in ("", before)


def test_folders_and_pipes_with_names_of_modules_are_not_read(write, tmp_path):
    write(hidden_folder__in__model="SHIFT = 1")
    before = source_hash("hidden_folder")
    (tmp_path / "hidden_folder" / "folder.py").mkdir()
    os.mkfifo(tmp_path / "hidden_folder" / "pipe.py")
    assert source_hash("hidden_folder") == before


def test_packages_in_development_mode_are_hashed(write, tmp_path):
    write(hidden_model="SHIFT = 1")
    info = tmp_path / "hidden_model-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hidden_model\nVersion: 0.1\n")
    assert version_of("hidden_model") == "0.1"
    (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    before = version_of("hidden_model")
    assert before.startswith("0.1+")
    write(hidden_model="SHIFT = 2")
    assert version_of("hidden_model") != before


@pytest.mark.parametrize("package", ["sklearn", "numpy", "boostnoise", "robust_splits"])
def test_installed_packages_have_their_version(package, monkeypatch):
    monkeypatch.setattr(versions, "source_hash", None)
    assert version_of(package)[0].isdigit()
