"""Tests as for any package: of each part, and of all in one run."""

from pathlib import Path

import numpy as np
import pytest
from noise_extensions.losses import TemperedCrossEntropy
from noise_extensions.models import TwoForests
from noise_extensions.noise import beyond_threshold
from scipy.optimize import approx_fprime
from sklearn.utils.estimator_checks import check_estimator

from boostnoise.eval import FunctionNoise, load_config, run


def test_the_derivatives_of_the_loss_are_those_of_its_value():
    loss, margin = TemperedCrossEntropy(0.2), np.linspace(-4, 4, 9)
    for label in (0, 1):
        y = np.full(margin.size, label)
        for derivative, function in ((loss.gradient, loss.value), (loss.exact_hessian, loss.gradient)):
            found = approx_fprime(margin, lambda f, function=function, y=y: function(y, f))
            np.testing.assert_allclose(derivative(y, margin), np.diag(found), atol=1e-6)


def test_the_noise_changes_the_rows_beyond_the_threshold():
    X = np.arange(1000.0)[:, None]
    noisy = FunctionNoise(beyond_threshold, 0.2).corrupt(np.arange(1000) % 2, X, random_state=0)
    assert not noisy.flipped[:500].any()
    assert noisy.realised_rate == pytest.approx(0.2, abs=0.03)


def test_the_model_has_the_interface_of_scikit_learn():
    check_estimator(TwoForests(n_estimators=5, random_state=0))


def test_all_names_work_in_one_study(tmp_path):
    study = load_config(Path(__file__).parents[1] / "study.json")
    scores = run(study.model_copy(update={"results_dir": str(tmp_path), "repeats": 1}), n_jobs=1).scores
    assert scores["error"].isna().all()
    assert scores["worst_recall"].between(0.3, 1).all()
