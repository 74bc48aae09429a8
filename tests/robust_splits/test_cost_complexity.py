"""Minimal cost-complexity pruning."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from robust_splits import RobustDecisionTreeClassifier, RobustForestClassifier


def noisy_sample(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("alpha", [5e-3, 2e-2, 1.0])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_are_those_of_scikit_learn(alpha, criterion):
    X, y = noisy_sample()
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(X, y)
    ours = RobustDecisionTreeClassifier(criterion, random_state=0, ccp_alpha=alpha)
    if criterion == "entropy":  # which is in bits there
        ours.set_params(ccp_alpha=alpha * np.log(2))
    ours.fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_the_path_is_that_of_scikit_learn():
    X, y = noisy_sample()
    theirs = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
    tree = RobustDecisionTreeClassifier("gini", random_state=0)
    ours = tree.cost_complexity_pruning_path(X, y)
    assert (np.diff(ours.ccp_alphas) > 0).all()
    np.testing.assert_allclose(ours.ccp_alphas[-10:], theirs.ccp_alphas[-10:])
    np.testing.assert_allclose(ours.impurities[-10:], theirs.impurities[-10:])
    for i in np.flatnonzero(np.diff(ours.ccp_alphas) > 1e-6)[::4]:
        alpha, impurity = ours.ccp_alphas[i : i + 2].mean(), ours.impurities[i]
        pruned = clone(tree).set_params(ccp_alpha=alpha).fit(X, y).tree_
        leaves = pruned.left < 0
        shares = pruned.weight[leaves] / pruned.weight[0]
        assert shares @ (1 - (pruned.proportions[leaves] ** 2).sum(axis=1)) == pytest.approx(impurity)


def test_gains_of_other_criteria_have_no_impurity():
    X, y = noisy_sample(200)
    path = RobustDecisionTreeClassifier("twoing").cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas.size > 3
    assert np.isnan(path.impurities).all()


def test_the_trees_of_a_forest_are_pruned():
    X, y = noisy_sample()
    full = RobustForestClassifier(5, random_state=0, min_samples_split=2, passes=1).fit(X, y)
    pruned = clone(full).set_params(ccp_alpha=0.005).fit(X, y)
    for a, b in zip(full.estimators_, pruned.estimators_, strict=True):
        assert 1 < b.get_n_leaves() < a.get_n_leaves() / 2


def test_invalid_values():
    X, y = noisy_sample(50)
    for value in (-1.0, np.nan, "auto"):
        with pytest.raises((ValueError, TypeError), match="ccp_alpha must be a finite number of at least 0"):
            RobustDecisionTreeClassifier(ccp_alpha=value).fit(X, y)
