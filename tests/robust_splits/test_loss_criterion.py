"""Criteria from losses, against the criteria that the losses are known to induce."""

import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from boostnoise import get_loss
from robust_splits import (
    DistributionCriterion,
    Entropy,
    GeneralizedCrossEntropy,
    Gini,
    LossCriterion,
    Misclassification,
    NegativeExponential,
    RobustDecisionTreeClassifier,
    SqrtGini,
)

SHARES = np.concatenate([[1e-6, 1e-3], np.linspace(0.01, 0.99, 33), [1 - 1e-3, 1 - 1e-6]])


def exponential(y, margin):
    with np.errstate(over="ignore"):
        return np.exp(np.where(y == 1, -margin, margin))


def hinge(y, margin):
    return np.maximum(0, 1 - np.where(y == 1, margin, -margin))


def zero_one(y, margin):
    return ((margin > 0) != y).astype(float)


def impurities(criterion):
    return np.array([criterion.impurity([1 - p, p]) for p in SHARES])


@pytest.mark.parametrize(
    ("loss", "criterion", "factor"),
    [
        (get_loss("ce"), Entropy(), 1),
        (get_loss("gce", q=0.5), GeneralizedCrossEntropy(0.5), 1),
        (get_loss("gce", q=0.9), GeneralizedCrossEntropy(0.9), 1),
        (get_loss("mse"), Gini(), 1),
        (get_loss("mae"), Misclassification(), 2),
        (get_loss("negative_exponential", mu=np.log(4)), NegativeExponential(0.5), 1),
        (get_loss("distribution", dist=norm(0.5)), DistributionCriterion(norm(0.5)), 1),
        (exponential, SqrtGini(), 1),
        (hinge, Misclassification(), 2),
        (zero_one, Misclassification(), 1),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_known_losses(loss, criterion, factor):
    np.testing.assert_allclose(impurities(LossCriterion(loss)), factor * impurities(criterion), rtol=2e-6)


def test_pure_nodes_have_no_impurity():
    """With label smoothing, even the best prediction for a pure node loses something."""

    def smoothed(y, margin):
        target = np.where(y == 1, 0.9, 0.1)
        return target * np.logaddexp(0, -margin) + (1 - target) * np.logaddexp(0, margin)

    criterion = LossCriterion(smoothed)
    assert criterion.impurity([0, 5]) == criterion.impurity([5, 0]) == 0
    entropy = Entropy()
    p, q = (0.1, 0.9), (0.5, 0.5)
    assert criterion.gain([1, 0], [0, 1]) == pytest.approx(entropy.impurity(q) - entropy.impurity(p), rel=1e-5)


def test_trees():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"max_depth": 4, "random_state": 0}
    induced = RobustDecisionTreeClassifier(LossCriterion(get_loss("ce")), **settings).fit(X, y)
    entropy = RobustDecisionTreeClassifier("entropy", **settings).fit(X, y)
    np.testing.assert_array_equal(induced.predict_proba(X), entropy.predict_proba(X))
    again = clone(induced).fit(X, y)
    assert again.criterion == induced.criterion
    assert hash(again.criterion) == hash(induced.criterion)
    copy = pickle.loads(pickle.dumps(induced.criterion))
    assert copy == induced.criterion != LossCriterion(hinge)
    with pytest.raises(ValueError, match="LossCriterion is for two classes, got 3"):
        RobustDecisionTreeClassifier(induced.criterion).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        (3, TypeError, "loss of LossCriterion must be callable or have a method value, got 3"),
        (lambda y, margin: 0.0, ValueError, r"must return an array of shape \(\d+,\), got \(\)"),
        (lambda y, margin: np.log(margin), ValueError, "must not be NaN or -inf"),
    ],
)
def test_bad_losses(loss, error, message):
    with np.errstate(all="ignore"), pytest.raises(error, match=message):
        LossCriterion(loss)
