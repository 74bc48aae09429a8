"""The examples in docstrings give what they show."""

import doctest
import importlib

import pytest

MODULES = [
    "boostnoise.distribution_loss",
    "boostnoise.hooks",
    "boostnoise.lightgbm_classifier",
    "boostnoise.linter",
    "boostnoise.metrics",
    "boostnoise.xgboost_classifier",
    "boostnoise.eval.metrics",
    "boostnoise.eval.noise_by_class",
    "boostnoise.eval.noise_given",
    "boostnoise.eval.readable",
    "boostnoise.eval.statistics",
    "boostnoise.losses",
    "boostnoise.transition",
    "boostnoise.transition_estimation",
    "robust_splits.bounds",
    "robust_splits.criteria",
    "robust_splits.decision_tree",
    "robust_splits.distribution",
    "robust_splits.export",
    "robust_splits.forest",
    "robust_splits.impurity_curves",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, attempted = doctest.testmod(importlib.import_module(name))
    assert attempted > 0
    assert failed == 0
