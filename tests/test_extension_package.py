"""The package in examples/extension_package: installed as a user would, it passes its own tests."""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.mark.release
def test_it_installs_and_passes_its_tests(root, tmp_path):
    copy = tmp_path / "package"
    shutil.copytree(root / "examples" / "extension_package", copy)
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", site, copy], check=True)
    shutil.rmtree(copy / "noise_extensions")  # so that the installed one is tested
    path = os.pathsep.join([str(site), str(root)])
    environment = os.environ | {"PYTHONPATH": path}
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(tests, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
