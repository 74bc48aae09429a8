"""What is installed: every module, and nothing that is slow to import."""

import re
import subprocess
import sys
import zipfile
from importlib import metadata

import pytest

import boostnoise


@pytest.mark.release
def test_the_wheel_holds_every_file_of_the_packages(root, tmp_path):
    # Built from a copy, so that the checkout stays clean.
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", root, copy], check=True, capture_output=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path / "dist", copy],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    assert sdist.stat().st_size > 0
    installed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = subprocess.run(
        ["git", "ls-files", "boostnoise", "eval", "robust_splits"],
        check=True,
        capture_output=True,
        text=True,
        cwd=copy,
    ).stdout.split()
    assert len(files) > 100
    assert installed == {re.sub("^eval/", "boostnoise/eval/", file) for file in files}


@pytest.mark.parametrize("package", ["boostnoise", "boostnoise.eval", "robust_splits"])
def test_importing_a_package_is_cheap(package, slow_imports, tmp_path):
    assert slow_imports(f"import {package}", cwd=tmp_path) == set()


@pytest.mark.parametrize("package", ["boostnoise", "boostnoise.eval", "robust_splits"])
def test_every_public_name_is_there(package):
    module = __import__(package, fromlist=["__all__"])
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name).__doc__


def test_the_version_is_that_of_the_distribution():
    assert boostnoise.__version__ == metadata.version("boostnoise")


def test_a_python_started_in_the_checkout_finds_everything(root):
    code = "import boostnoise.eval, robust_splits; boostnoise.eval.ela, robust_splits.Gini"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
