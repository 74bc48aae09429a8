import numpy as np
import pytest
from scipy.optimize import minimize

from boostnoise.ensemble.mixture import PRIOR_ROWS, label_likelihoods, mixture_weights

T = np.array([[0.9, 0.1], [0.3, 0.7]])


def test_likelihoods_of_labels_and_of_soft_labels():
    p, q = np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    given = np.array([[1.0, 0.0], [0.25, 0.75]])
    found = label_likelihoods([p, q], T, given)
    first = [0.8 * 0.9 + 0.2 * 0.3, 0.5 * 0.9 + 0.5 * 0.3]
    np.testing.assert_allclose(found[0], first)
    noisy = np.array([0.4, 0.6]) @ T
    np.testing.assert_allclose(found[1, 0], noisy[0] ** 0.25 * noisy[1] ** 0.75)
    missing = np.array([[np.nan, np.nan], [0.4, 0.6]])
    assert np.isnan(label_likelihoods([p, missing], T, given)[0]).tolist() == [False, True]


def test_weights_have_the_highest_posterior():
    """The same maximum as that of a general optimiser, of the likelihood times a Dirichlet prior."""
    rng = np.random.default_rng(0)
    likelihoods = rng.uniform(0.05, 1, size=(300, 3)) * [1.0, 0.9, 0.8]
    weight = rng.uniform(0.5, 2, size=300)

    def loss(logits):
        shares = np.exp(logits) / np.exp(logits).sum()
        return -weight @ np.log(likelihoods @ shares) - PRIOR_ROWS * np.log(shares).sum()

    logits = minimize(loss, np.zeros(3), method="BFGS").x
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(mixture_weights(likelihoods, weight), expected, atol=1e-3)


def test_models_of_little_use_get_no_weight():
    rng = np.random.default_rng(0)
    good, poor = rng.uniform(0.6, 1, size=2000), rng.uniform(0.1, 0.3, size=2000)
    assert mixture_weights(np.column_stack([good, poor]), np.ones(2000)).tolist() == [1, 0]
    same = mixture_weights(np.column_stack([good, good]), np.ones(2000))
    np.testing.assert_allclose(same, [0.5, 0.5])
    assert mixture_weights(np.empty((0, 2)), np.empty(0)) == pytest.approx([0.5, 0.5])
