import numpy as np
import pytest

from boostnoise.eval import FunctionNoise


def to_first(y, noise_rate, rng):
    return np.where(rng.random(y.size) < noise_rate, 0, y)


def by_column(y, X, n_classes, noise_rate, rng, column, offset=1):
    return np.where(X[:, column] < noise_rate, (y + offset) % n_classes, y)


Y = np.repeat(["a", "b", "c"], 100)


def test_labels_are_class_numbers_for_the_function():
    noisy = FunctionNoise(to_first, 0.4).corrupt(Y, random_state=1)
    assert set(noisy.labels[noisy.flipped]) == {"a"}
    assert noisy.flipped[100:].mean() == pytest.approx(0.4, abs=0.1)
    assert noisy.noise_rate == 0.4
    again = FunctionNoise(to_first, 0.4).corrupt(Y, random_state=1)
    np.testing.assert_array_equal(noisy.labels, again.labels)


def test_it_gets_the_features_only_if_it_asks_for_them():
    X = np.linspace(0, 1, 300)[:, None]
    noise = FunctionNoise(by_column, 0.5, {"column": 0})
    assert noise.needs_features
    assert not FunctionNoise(to_first, 0.5).needs_features
    noisy = noise.corrupt(Y, X)
    np.testing.assert_array_equal(noisy.flipped, X[:, 0] < 0.5)
    assert noisy.labels[0] == "b"
    assert FunctionNoise(by_column, 0.5, {"column": 0, "offset": 2}).corrupt(Y, X).labels[0] == "c"
    X[0] = np.nan
    assert not noise.corrupt(Y, X).flipped[0]
    with pytest.raises(ValueError, match="X must be given"):
        noise.corrupt(Y)


def test_training_labels_do_not_depend_on_the_test_rows():
    train, test = np.arange(200), np.arange(200, 300)
    noise = FunctionNoise(to_first, 0.5)
    one, clean = noise.corrupt_split(Y, train, test, random_state=0)
    other, noisy = noise.corrupt_split(Y, train, test, noise_on="train+test", random_state=0)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(clean, Y[test])
    assert (noisy != Y[test]).mean() == pytest.approx(0.5, abs=0.2)


def test_a_function_cannot_change_the_true_labels():
    def in_place(y, rng):
        y[:] = 0
        return y

    noisy = FunctionNoise(in_place, 0.5).corrupt(Y)
    np.testing.assert_array_equal(noisy.flipped, Y != "a")


@pytest.mark.parametrize(
    ("function", "rate", "params", "error", "message"),
    [
        (3, 0.1, {}, TypeError, "function of noise must be callable, got 3"),
        (to_first, 1.1, {}, ValueError, r"noise_rate of FunctionNoise must be a number in \[0, 1\], got 1.1"),
        (lambda labels: labels, 0.1, {}, ValueError, "must have an argument 'y'; allowed: y, noise_rate, X, n_classes, rng"),
        (by_column, 0.1, {}, ValueError, "noise by_column needs a value of 'column' in 'params'"),
        (by_column, 0.1, {"colum": 1}, ValueError, "noise by_column has no parameter 'colum'; parameters: column, offset"),
        (to_first, 0.1, {"y": 1}, ValueError, "noise to_first has no parameter 'y'; parameters: none"),
    ],
)  # fmt: skip
def test_mistakes(function, rate, params, error, message):
    with pytest.raises(error, match=message):
        FunctionNoise(function, rate, params)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y: y[:-1], r"noise <lambda> must return an array of shape \(300,\), got \(299,\)"),
        (lambda y: y + 1, "noise <lambda> must return class numbers from 0 to 2"),
        (lambda y: y + 0.5, "must return class numbers from 0 to 2"),
        (lambda y: None, r"must return an array of shape \(300,\), got \(\)"),
    ],
)
def test_functions_that_return_nonsense(function, message):
    with pytest.raises(ValueError, match=message):
        FunctionNoise(function, 0.1).corrupt(Y)
