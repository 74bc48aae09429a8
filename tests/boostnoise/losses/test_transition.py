import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

from boostnoise import check_transition_matrix, get_loss
from boostnoise.losses.softmax import probabilities

RNG = np.random.default_rng(0)
T2 = [[0.8, 0.2], [0.3, 0.7]]
T3 = [[0.7, 0.2, 0.1], [0.25, 0.6, 0.15], [0.0, 0.15, 0.85]]
BINARY = RNG.normal(size=100) * RNG.choice([0.3, 3, 20], 100)
SOFTMAX = RNG.normal(size=(100, 3)) * RNG.choice([0.3, 3, 15], (100, 1))
BOTH = pytest.mark.parametrize(("margin", "T"), [(BINARY, T2), (SOFTMAX, T3)], ids=["binary", "softmax"])


@BOTH
@pytest.mark.parametrize("name", ["forward", "backward"])
def test_without_noise_they_equal_cross_entropy(name, margin, T):
    loss, y = get_loss(name, T=np.eye(len(T))), np.arange(100) % len(T)
    for method in ("value", "gradient", "exact_hessian", "irls_hessian", "fisher_hessian"):
        if (name, method) == ("forward", "exact_hessian"):
            continue  # checked below, as it is computed as a difference
        found, expected = (getattr(each, method)(y, margin) for each in (loss, get_loss("ce")))
        np.testing.assert_allclose(found, expected, rtol=1e-11, err_msg=method)
    np.testing.assert_allclose(loss.exact_hessian(y, margin), get_loss("ce").hessian(y, margin), atol=1e-15)


@BOTH
def test_backward_is_unbiased(margin, T):
    """Its mean over the noisy labels of a clean label equals cross entropy, at any margin."""
    loss, ce = get_loss("backward", T=T), get_loss("ce")
    for method in ("value", "gradient", "exact_hessian"):
        for true, row in enumerate(T):
            noisy = [getattr(loss, method)(np.full(100, label), margin) for label in range(len(T))]
            clean = getattr(ce, method)(np.full(100, true), margin)
            np.testing.assert_allclose(np.tensordot(row, noisy, 1), clean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["ce", "forward", "backward"])
def test_corrected_losses_learn_clean_probabilities_from_noisy_labels(name):
    """Their mean over noisy labels has its minimum at the clean probabilities, unlike cross entropy."""
    clean = np.array([0.6, 0.3, 0.1])
    noisy = clean @ np.array(T3)
    loss = get_loss(name) if name == "ce" else get_loss(name, T=T3)
    y = np.arange(3)

    def risk(f):
        margin = np.tile(f, (3, 1))
        return noisy @ loss.value(y, margin), noisy @ loss.gradient(y, margin)

    found = minimize(risk, np.zeros(3), jac=True, options={"gtol": 1e-9}).x
    expected = noisy if name == "ce" else clean
    np.testing.assert_allclose(probabilities(found[np.newaxis])[0], expected, atol=1e-6)


def test_forward_under_uniform_noise_at_extreme_margins():
    """Class 2 is as improbable as the class of the label, and the label is equally likely in classes 2 and 0."""
    T, y = np.full((3, 3), 0.1) + 0.7 * np.eye(3), np.array([1])
    gradient = get_loss("forward", T=T).gradient(y, np.array([[30.0, 0.0, 0.0]]))
    p = np.exp(-30.0)
    np.testing.assert_allclose(gradient, [[7 * p, -7 * p, 7 * p**2]], rtol=1e-9, atol=1e-14 * p)


def test_types_of_matrices():
    equal = [T2, np.array(T2), tuple(map(tuple, T2)), np.asfortranarray(T2)]
    for name in ("forward", "backward"):
        assert len({get_loss(name, T=T) for T in equal}) == 1
        loss = get_loss(name, T=np.array(T3, dtype=np.float32))
        loss.value(np.array([0]), np.zeros((1, 3)))
        again = pickle.loads(pickle.dumps(loss))
        assert again == loss
        np.testing.assert_array_equal(
            *(each.gradient(np.array([2]), np.zeros((1, 3))) for each in (loss, again))
        )
    matrix = check_transition_matrix(T3)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, T3)


def test_the_matrix_of_the_user_is_copied():
    T = np.array(T2)
    loss = get_loss("forward", T=T)
    T[:] = 0.5
    assert loss == get_loss("forward", T=T2)


@pytest.mark.parametrize("name", ["forward", "backward"])
@pytest.mark.parametrize(
    ("T", "error", "message"),
    [
        ("estimate", TypeError, "T must be a square matrix of numbers, got 'estimate'"),
        ([[0.5, 0.5], [1.0]], TypeError, "T must be a square matrix of numbers"),
        (None, ValueError, r"T must be square and at least 2 x 2, got shape \(\)"),
        ([[0.5, 0.5]], ValueError, r"must be square .* shape \(1, 2\)"),
        ([[1.0]], ValueError, r"at least 2 x 2, got shape \(1, 1\)"),
        ([[1.1, -0.1], [0.2, 0.8]], ValueError, r"T must contain probabilities in \[0, 1\], got T\[0, 0\] = 1.1"),
        ([[np.nan, 1], [0.2, 0.8]], ValueError, "T must contain probabilities"),
        ([[0.8, 0.3], [0.5, 0.5]], ValueError, r"the rows of T must sum to 1, got 1.1 in row 0"),
        ([[0.5, 0.5], [0.5, 0.5]], ValueError, r"T must be invertible, got .*\[\[0.5, 0.5\]"),
        (np.full((300, 300), 1 / 300), ValueError, "T must be invertible, got a singular matrix of 300 classes$"),
    ],
)  # fmt: skip
def test_bad_matrices(name, T, error, message):
    with pytest.raises(error, match=message):
        get_loss(name, T=T)


def test_matrices_for_another_number_of_classes():
    y = np.array([0, 1])
    for loss in (get_loss("forward", T=T3), get_loss("backward", T=T3)):
        with pytest.raises(ValueError, match="T is for 3 classes, but there are 2"):
            loss.check_classes(2)
        for method in (loss.value, loss.gradient, loss.exact_hessian, loss.hessian, loss.gradient_hessian):
            with pytest.raises(ValueError, match="T is for 3 classes, but there are 2"):
                method(y, np.zeros(2))
            with pytest.raises(ValueError, match="T is for 3 classes, but there are 4"):
                method(y, np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("rates", "error", "message"),
    [
        ((0.5, 0.5), ValueError, "noise_rate_pos and noise_rate_neg .* must sum to less than 1, got 0.5 and 0.5"),
        ((-0.1, 0.2), ValueError, r"noise_rate_pos of unbiased must be in \[0, 1\), got -0.1"),
        ((0.1, 1), ValueError, r"noise_rate_neg of unbiased must be in \[0, 1\), got 1"),
        (("a", 0.2), TypeError, "noise_rate_pos of unbiased must be a number, got 'a'"),
    ],
)  # fmt: skip
def test_bad_noise_rates(rates, error, message):
    with pytest.raises(error, match=message):
        get_loss("unbiased", noise_rate_pos=rates[0], noise_rate_neg=rates[1])
