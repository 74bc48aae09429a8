import numpy as np
import pytest
from boostnoise.eval import LabelNoise, UniformNoise
from scipy.stats import binomtest, chisquare


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.4, 0.9, 1.0])
def test_uniform_rate(rate):
    y = np.arange(20_000) % 4
    noisy = UniformNoise(rate).corrupt(y, random_state=0)
    flipped = noisy.labels != y
    np.testing.assert_array_equal(noisy.flipped, flipped)
    assert noisy.realised_rate == flipped.mean()
    assert binomtest(int(flipped.sum()), y.size, rate).pvalue > 1e-3


def test_uniform_reaches_the_other_classes_alike():
    y = np.arange(30_000) % 5
    noisy = UniformNoise(0.5).corrupt(y, random_state=1)
    for true in range(5):
        others = np.bincount(noisy.labels[(y == true) & noisy.flipped], minlength=5)
        assert others[true] == 0
        assert chisquare(np.delete(others, true)).pvalue > 1e-3


def test_uniform_on_any_labels():
    y = np.array(["cat", "dog", "eel"] * 100)
    noisy = UniformNoise(0.5).corrupt(y, random_state=0)
    assert set(noisy.labels) == set(y)
    # A class that the rows at hand lack can still be drawn.
    noisy = UniformNoise(0.9).corrupt(y[y != "eel"], classes=["cat", "dog", "eel"], random_state=0)
    assert "eel" in noisy.labels


def test_same_seed_same_labels():
    y = np.arange(100) % 3
    first, again, other = (
        UniformNoise(0.3).corrupt(y, random_state=seed).labels for seed in ([1, 2], [1, 2], [1, 3])
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_uniform_leaves_test_labels_alone():
    y = np.arange(100) % 3
    noisy, y_test = UniformNoise(0.5).corrupt_split(y, np.arange(80), np.arange(80, 100), random_state=0)
    assert noisy.flipped.any()
    np.testing.assert_array_equal(y_test, y[80:])


def draws_of_the_study(y_train, y_test, classes, rate, seed):
    """The protocol of the 2020 study, word for word and one draw at a time."""
    rng = np.random.RandomState(seed)
    y_train, y_test = list(y_train), list(y_test)
    a = rng.choice(len(y_train), int(rate * len(y_train)))
    b = rng.choice(len(y_test), int(rate * len(y_test)))
    for i in a:
        y_train[i] = rng.choice([c for c in sorted(classes) if c != y_train[i]])
    for i in b:
        y_test[i] = rng.choice([c for c in sorted(classes) if c != y_test[i]])
    return y_train, y_test


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.9])
def test_label_noise_is_that_of_the_study(rate):
    rng = np.random.default_rng(0)
    y_train, y_test = rng.choice(["a", "b", "c"], 200), rng.choice(["a", "b", "c"], 50)
    expected = draws_of_the_study(y_train, y_test, "cab", rate, 7)
    y = np.concatenate([y_test, y_train])
    noisy, noisy_test = LabelNoise(rate).corrupt_split(y, np.arange(50, 250), np.arange(50), random_state=7)
    assert noisy.labels.tolist() == expected[0]
    assert noisy_test.tolist() == expected[1]
    np.testing.assert_array_equal(noisy.flipped, noisy.labels != y_train)
    # Drawn with replacement, some rows are changed back or changed twice.
    assert noisy.realised_rate <= rate


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, "0.1", True, None])
def test_bad_rates(rate):
    with pytest.raises(ValueError, match=r"rate of UniformNoise must be a number in \[0, 1\]"):
        UniformNoise(rate)


def test_bad_labels():
    with pytest.raises(ValueError, match="classes must hold two labels at least"):
        UniformNoise(0.1).corrupt([1, 1, 1])
    with pytest.raises(ValueError, match="y holds a label that is not in classes"):
        UniformNoise(0.1).corrupt([1, 2, 3], classes=[1, 2])
