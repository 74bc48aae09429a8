import numpy as np
import pytest

from boostnoise import RobustClassifier, RobustLGBMClassifier
from boostnoise.ensemble.tree_mixture import TreeMixture
from robust_splits import RobustExtraTreesClassifier, RobustForestClassifier


def small_candidates():
    return [
        RobustForestClassifier(3, random_state=0),
        RobustExtraTreesClassifier(3, shrinkage=0.5, random_state=0),
        RobustLGBMClassifier(n_estimators=4, num_leaves=5, random_state=0, verbose=-1),
    ]


def fitted(n_classes, n=200):
    """A mixture, and rows with missing values, also in a column that has none in training."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(2)
    y = (X[:, 0] * 2).astype(int) % n_classes
    X[rng.random(n) < 0.2, 1] = np.nan
    model = RobustClassifier(small_candidates(), passes=1).fit(X, y)
    # All three, whatever their likelihoods.
    model._shares = np.array([0.2, 0.3, 0.5])[: len(model._fits)]
    model._shares /= model._shares.sum()
    X_new = rng.normal(size=(n, 3)).round(2)
    X_new[rng.random(X_new.shape) < 0.2] = np.nan
    return model, X_new


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predicts_as_the_classifier(n_classes):
    model, X = fitted(n_classes)
    kinds = {type(fit.estimator).__name__ for fit in model._fits}
    mixture = TreeMixture.of(model)
    mixture.check()
    np.testing.assert_allclose(mixture.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert "RobustLGBMClassifier" in kinds
    assert len(kinds) > 1
    assert mixture.predict_proba(X[:0]).shape == (0, n_classes)
