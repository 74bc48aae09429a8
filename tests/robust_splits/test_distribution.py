"""Criteria from distributions, against equivalent criteria and the definition, minimised by SciPy."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from robust_splits import (
    DistributionCriterion,
    Misclassification,
    NegativeExponential,
    RobustDecisionTreeClassifier,
    RobustForestClassifier,
)

# Proportions of the second class, including extreme ones.
SHARES = np.concatenate([[1e-6, 1e-3], np.linspace(0.01, 0.99, 33), [1 - 1e-3, 1 - 1e-6]])

NORMAL = DistributionCriterion(stats.norm(0.5))


def minus_exponential(mu):
    """The distribution of mu - Exp(1), a reflected Weibull distribution."""
    return stats.weibull_max(1, loc=mu)


def impurities(criterion):
    return np.array([criterion.impurity([1 - p, p]) for p in SHARES])


def brute_force(distribution):
    """inf_v {p F(-v) + (1 - p) F(v)}: the best on a grid, refined locally, or at infinite v."""
    grid = np.linspace(-40, 40, 16_001)
    mirrored, plain = distribution.cdf(-grid), distribution.cdf(grid)
    lowest = []
    for p in SHARES:

        def risk(v, p=p):
            return p * distribution.cdf(-v) + (1 - p) * distribution.cdf(v)

        risks = p * mirrored + (1 - p) * plain
        near = grid[risks.argmin()]
        refined = minimize_scalar(
            risk, bounds=(near - 0.01, near + 0.01), method="bounded", options={"xatol": 1e-9}
        )
        lowest.append(min(risks.min(), refined.fun, p, 1 - p))
    return np.array(lowest)


@pytest.mark.parametrize(
    "distribution",
    [
        stats.logistic(),
        stats.uniform(-1, 2),
        stats.bernoulli(0),
        stats.norm(0, 3),
        stats.cauchy(),
        minus_exponential(0),
    ],
    ids=["logistic", "uniform", "0-1 loss", "normal", "cauchy", "exponential"],
)
def test_losses_whose_minimum_is_the_misclassification_rate(distribution):
    np.testing.assert_allclose(
        impurities(DistributionCriterion(distribution)), impurities(Misclassification()), rtol=1e-9, atol=0
    )


@pytest.mark.parametrize("mu", [np.log(2), 0.8, 1.0, 2.5, 8.0])
def test_the_exponential_distribution_gives_the_negative_exponential_criterion(mu):
    criterion, same = DistributionCriterion(minus_exponential(mu)), NegativeExponential(2 * np.exp(-mu))
    np.testing.assert_allclose(impurities(criterion), impurities(same), rtol=1e-6)


@pytest.mark.parametrize(
    "distribution",
    [
        stats.norm(0.5),
        stats.norm(2, 0.7),
        stats.gumbel_l(1),
        stats.gumbel_r(0.4),
        stats.t(3, 1),
        stats.bernoulli(0.3),
    ],
    ids=["normal", "narrow normal", "gumbel_l", "gumbel_r", "t", "bernoulli"],
)
def test_the_impurity_is_the_least_risk_and_concave(distribution):
    criterion = DistributionCriterion(distribution)
    np.testing.assert_allclose(impurities(criterion), brute_force(distribution), rtol=1e-6, atol=1e-12)
    values = [criterion.impurity([100 - n, n]) for n in range(101)]
    assert values[0] == values[-1] == 0
    np.testing.assert_allclose(values, values[::-1], rtol=1e-6)
    assert np.diff(values, n=2).max() < 1e-15


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(lambda n: n[0] + n[1] and n[2] + n[3]))
def test_the_gain_is_the_difference_of_the_impurities(counts):
    left, right = np.array(counts[:2]), np.array(counts[2:])
    n = left.sum() + right.sum()
    children = left.sum() / n * NORMAL.impurity(left) + right.sum() / n * NORMAL.impurity(right)
    assert NORMAL.gain(left, right) == pytest.approx(NORMAL.impurity(left + right) - children, abs=1e-14)
    assert NORMAL.gain(left, right) > -1e-14


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=2_000) > 0.3).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_tree_as_the_negative_exponential_criterion(data, weighted):
    # Continuous columns and large leaves, so that no two splits have the same gain.
    weight = np.random.default_rng(1).uniform(0.5, 2, 2_000) if weighted else None
    trees = [
        RobustDecisionTreeClassifier(criterion, min_samples_leaf=40, random_state=0).fit(*data, weight).tree_
        for criterion in (DistributionCriterion(minus_exponential(np.log(4))), NegativeExponential(0.5))
    ]
    assert trees[0].n_nodes > 10
    for name in ("feature", "threshold", "left", "counts"):
        np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees))


def test_clones_and_pickles(data):
    forest = RobustForestClassifier(3, criterion=NORMAL, random_state=0, n_jobs=2)
    expected = forest.fit(*data).predict_proba(data[0])
    for same in (
        clone(forest).fit(*data),
        pickle.loads(pickle.dumps(forest)),
        pickle.loads(pickle.dumps(clone(forest))),
    ):
        np.testing.assert_array_equal(same.fit(*data).predict_proba(data[0]), expected)
    np.testing.assert_array_equal(impurities(pickle.loads(pickle.dumps(NORMAL))), impurities(NORMAL))


def test_one_class_has_no_impurity_and_three_are_too_many():
    assert NORMAL.impurity([3]) == NORMAL.gain([3], [4]) == 0
    for refused in (
        lambda: NORMAL.impurity([1, 2, 3]),
        lambda: NORMAL.gain([1, 2, 3], [3, 2, 1]),
        lambda: RobustDecisionTreeClassifier(NORMAL).fit([[1], [2], [3]], [0, 1, 2]),
    ):
        with pytest.raises(ValueError, match="DistributionCriterion is for two classes, got 3"):
            refused()


@pytest.mark.parametrize("distribution", ["norm", None, 3, np.tanh])
def test_other_objects_than_distributions_are_rejected(distribution):
    with pytest.raises(
        TypeError, match=r"must be a frozen distribution of scipy\.stats, with methods cdf and ppf; got"
    ):
        DistributionCriterion(distribution)


@pytest.mark.filterwarnings("ignore")
def test_a_distribution_with_nan_is_rejected():
    with pytest.raises(ValueError, match=r"cdf and ppf of .* NaN"):
        DistributionCriterion(stats.norm(0, -1))


def test_equal_distributions_make_equal_criteria():
    model = RobustDecisionTreeClassifier(criterion=DistributionCriterion(stats.norm(0.5)))
    assert clone(model).criterion == model.criterion == NORMAL
    assert hash(clone(model).criterion) == hash(NORMAL)
    assert DistributionCriterion(stats.norm(0.6)) != NORMAL
    assert NegativeExponential(0.5) != NORMAL
