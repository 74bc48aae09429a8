import importlib
import subprocess
import sys

import pytest
from joblib.externals.loky.backend.reduction import dumps

from boostnoise.eval.models.own_modules import (
    OwnModuleFinder,
    hint_at_own_module,
    import_from_working_directory,
    own_module_finders,
    share_with_joblib,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with modules; all that this process imports from it is unloaded afterwards."""
    for name in ("own_a", "own_b", "json", "own_package/part"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("class Own: ...\nfrom_folder = True")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_only_named_modules_are_found(folder):
    import_from_working_directory(["own_a", "own_package"])
    assert importlib.import_module("own_a").from_folder
    assert importlib.import_module("own_package.part").from_folder
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("own_b")


def test_an_installed_module_comes_first(folder):
    import_from_working_directory(["json"])
    assert importlib.util.find_spec("json").origin != str(folder / "json.py")


def test_finders_are_passed_to_other_processes_as_text(folder):
    import_from_working_directory(["own_a"])
    importlib.import_module("own_a")
    (finder,) = own_module_finders()
    assert eval(repr(finder)) == finder == OwnModuleFinder(str(folder), ("own_a",))


def test_classes_are_sent_to_processes_that_cannot_import_them(folder):
    import_from_working_directory(["own_a"])
    sent = importlib.import_module("own_a").Own
    share_with_joblib()
    (folder / "sent.pickle").write_bytes(dumps(sent))
    code = "import pickle; print(pickle.load(open('sent.pickle', 'rb')))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.stdout == "<class 'own_a.Own'>\n", done.stderr


def test_the_error_of_a_module_that_is_not_allowed_names_the_option(folder):
    import_from_working_directory(["own_a"])
    assert hint_at_own_module(ModuleNotFoundError(name="own_b.part")).endswith(" add --allow-module own_b")
    for name in (None, "own_a", "own_c"):
        assert hint_at_own_module(ModuleNotFoundError(name=name)) == ""
