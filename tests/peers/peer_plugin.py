"""Pytest plugin that puts our classes in the place of other libraries', for the libraries' own tests.

The environment variable ``PEER`` is the library.  Tests that are expected to fail are listed with the reason in
``expected_failures.toml``.  One that passes although it is listed fails.
"""

import importlib
import os
import re
import tomllib
from pathlib import Path

import pytest
import sklearn.ensemble
import sklearn.tree

from robust_splits import RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier
from robust_splits.tree import Tree

PEER = os.environ["PEER"]
LISTED = tomllib.loads(Path(__file__).with_name("expected_failures.toml").read_text(encoding="utf-8"))[PEER]


def pytest_configure(config):
    """Replace scikit-learn's classes before the modules of tests import them."""
    config.addinivalue_line("filterwarnings", "ignore")
    if PEER == "imbalanced-learn":
        importlib.import_module("imblearn.ensemble")  # whose classes derive from scikit-learn's
        importlib.import_module("imblearn.under_sampling")
    sklearn.ensemble.RandomForestClassifier = RobustForestClassifier
    sklearn.ensemble.ExtraTreesClassifier = RobustExtraTreesClassifier
    sklearn.tree.DecisionTreeClassifier = RobustDecisionTreeClassifier
    # Some tests compare the impurities of two trees.
    Tree.impurity = property(lambda tree: 1 - (tree.values**2).sum(axis=1))


def pytest_collection_modifyitems(items):
    """Mark the listed tests."""
    reasons = {test: entry["reason"] for entry in LISTED.get("failures", []) for test in entry["tests"]}
    unused = dict(reasons)
    for item in items:
        name = f"{item.module.__name__.rpartition('.')[2]}::{item.name}"
        for test, reason in reasons.items():
            if re.fullmatch(test, name):
                unused.pop(test, None)
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
                break
    modules = {item.module.__name__.rpartition(".")[2] for item in items}
    missing = [test for test in unused if test.partition("::")[0] in modules]
    if missing:
        raise pytest.UsageError(f"expected_failures.toml lists tests that do not exist: {missing}")
