"""Other libraries' own tests pass with our classes in the place of theirs, but for listed ones.

scikit-learn, imbalanced-learn and MAPIE ship their tests.  Those of XGBoost and LightGBM are read from checkouts of
the installed versions, in the folders ``xgboost`` and ``LightGBM`` of the directory in ``BOOSTNOISE_PEERS``.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from .substitution import Substitution

LISTED = tomllib.loads(Path(__file__).with_name("expected_failures.toml").read_text(encoding="utf-8"))


def run(peer, arguments, cwd):
    """Run the tests; return how many have passed, and how many fail as expected."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "peer_plugin", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        env=os.environ | {"PEER": peer, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}
    return counts["passed"], counts.get("xfailed", 0)


def skip_other_versions(peer):
    try:
        found = version(peer)
    except PackageNotFoundError:
        pytest.skip(f"{peer} is not installed")
    listed = LISTED[peer]["version"]
    if not f"{found}.".startswith(f"{listed}."):
        pytest.skip(f"expected_failures.toml is for {peer} {listed}, but {found} is installed")


@pytest.mark.release
@pytest.mark.parametrize(
    ("peer", "modules", "least", "most"),
    [
        (
            "scikit-learn",
            [
                "sklearn.tree.tests.test_tree",
                "sklearn.tree.tests.test_monotonic_tree",
                "sklearn.ensemble.tests.test_forest",
                "sklearn.ensemble.tests.test_bagging",
            ],
            1000,
            150,
        ),
        ("mapie", ["mapie.tests.test_calibration", "mapie.tests.test_non_regression"], 100, 0),
        (
            "imbalanced-learn",
            [
                "imblearn.ensemble.tests",
                "imblearn.under_sampling._prototype_selection.tests.test_instance_hardness_threshold",
            ],
            190,
            2,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_installed_tests(tmp_path, peer, modules, least, most):
    skip_other_versions(peer)
    passed, failed = run(peer, ["--pyargs", *modules], tmp_path)
    assert passed >= least
    assert failed <= most


@pytest.mark.release
@pytest.mark.parametrize(
    ("peer", "checkout", "modules", "substitution", "least", "most"),
    [
        (
            "xgboost",
            "xgboost",
            [
                "tests/python/test_with_sklearn.py",
                "tests/python/test_early_stopping.py",
                "tests/python/test_callback.py",
                "tests/python/test_training_continuation.py",
            ],
            Substitution("xgb", "XGBClassifier", "RobustXGBClassifier"),
            110,
            25,
        ),
        (
            "lightgbm",
            "LightGBM",
            ["tests/python_package_test/test_sklearn.py"],
            Substitution("lgb", "LGBMClassifier", "RobustLGBMClassifier"),
            440,
            40,
        ),
    ],
    ids=["xgboost", "lightgbm"],
)
def test_checked_out_tests(tmp_path, peer, checkout, modules, substitution, least, most):
    skip_other_versions(peer)
    if "BOOSTNOISE_PEERS" not in os.environ:
        pytest.skip("BOOSTNOISE_PEERS is not set")
    source = Path(os.environ["BOOSTNOISE_PEERS"]) / checkout
    for folder in ("tests", "demo/data", "examples"):
        if (source / folder).exists():
            shutil.copytree(source / folder, tmp_path / folder)
    for module in modules:
        substitution.write(source / module, tmp_path / module)
    passed, failed = 0, 0
    for module in modules:  # alone, since a test that fails may leave patches behind
        more = run(peer, [module], tmp_path)
        passed, failed = passed + more[0], failed + more[1]
    assert passed >= least
    assert failed <= most
