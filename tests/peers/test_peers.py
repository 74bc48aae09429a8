"""scikit-learn's own tests of trees, forests and bagging pass with our classes, but for listed ones."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sklearn

MODULES = [
    "sklearn.tree.tests.test_tree",
    "sklearn.tree.tests.test_monotonic_tree",
    "sklearn.ensemble.tests.test_forest",
    "sklearn.ensemble.tests.test_bagging",
]


LISTED = tomllib.loads(Path(__file__).with_name("expected_failures.toml").read_text(encoding="utf-8"))


@pytest.mark.release
@pytest.mark.skipif(
    not sklearn.__version__.startswith(f"{LISTED['version']}."),
    reason=f"expected_failures.toml is for scikit-learn {LISTED['version']}",
)
def test_tests_of_scikit_learn(tmp_path):
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "peer_plugin",
        "-p",
        "no:cacheprovider",
        "--pyargs",
        *MODULES,
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    assert counts["passed"] > 1000
    assert counts["xfailed"] < 150
