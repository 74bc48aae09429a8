import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from boostnoise.eval import ByClassNoise, ClassConditionalNoise, LabelNoise, PairFlipNoise, UniformNoise


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.4, 0.9, 1.0])
def test_uniform_rate(rate):
    y = np.arange(20_000) % 4
    noisy = UniformNoise(rate).corrupt(y, random_state=0)
    flipped = noisy.labels != y
    np.testing.assert_array_equal(noisy.flipped, flipped)
    assert noisy.realised_rate == flipped.mean()
    assert binomtest(int(flipped.sum()), y.size, rate).pvalue > 1e-3


def test_uniform_flips_to_each_other_class_equally_often():
    y = np.arange(30_000) % 5
    noisy = UniformNoise(0.5).corrupt(y, random_state=1)
    for true in range(5):
        others = np.bincount(noisy.labels[(y == true) & noisy.flipped], minlength=5)
        assert others[true] == 0
        assert chisquare(np.delete(others, true)).pvalue > 1e-3


def test_uniform_with_string_labels():
    y = np.array(["cat", "dog", "eel"] * 100)
    noisy = UniformNoise(0.5).corrupt(y, random_state=0)
    assert set(noisy.labels) == set(y)
    # A class without rows can be drawn too.
    noisy = UniformNoise(0.9).corrupt(y[y != "eel"], classes=["cat", "dog", "eel"], random_state=0)
    assert "eel" in noisy.labels


def test_draws_of_uniform_noise_are_stable():
    """Published scores depend on these draws."""
    labels = UniformNoise(0.4).corrupt(np.arange(30) % 3, random_state=[3, 5]).labels
    assert "".join(map(str, labels)) == "212011210010012012002102022012"


def draws_of_the_study(y_train, y_test, classes, rate, seed):
    """Reference implementation of the draws of the 2020 study."""
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
def test_label_noise_reproduces_the_study(rate):
    rng = np.random.default_rng(0)
    y_train, y_test = rng.choice(["a", "b", "c"], 200), rng.choice(["a", "b", "c"], 50)
    expected = draws_of_the_study(y_train, y_test, "cab", rate, 7)
    y = np.concatenate([y_test, y_train])
    noisy, noisy_test = LabelNoise(rate).corrupt_split(y, np.arange(50, 250), np.arange(50), random_state=7)
    assert noisy.labels.tolist() == expected[0]
    assert noisy_test.tolist() == expected[1]
    np.testing.assert_array_equal(noisy.flipped, noisy.labels != y_train)
    # Rows are drawn with replacement, so some are changed twice, or back.
    assert noisy.realised_rate <= rate


def test_label_noise_needs_an_integer_seed():
    with pytest.raises(ValueError, match=r"^random_state of LabelNoise must be an int .* got a Generator"):
        LabelNoise(0.1).corrupt([1, 2], random_state=np.random.default_rng(0))


def test_label_noise_without_test_rows():
    expected = draws_of_the_study("abc" * 50, "", "abc", 0.3, 7)[0]
    assert LabelNoise(0.3).corrupt(list("abc" * 50), random_state=7).labels.tolist() == expected


def test_pair_flip_flips_to_the_next_class():
    y = np.array(["cat", "dog", "eel"] * 100)
    noisy = PairFlipNoise(0.4).corrupt(y, random_state=0)
    following = {"cat": "dog", "dog": "eel", "eel": "cat"}
    assert noisy.flipped.any()
    assert all(following[a] == b for a, b in zip(y[noisy.flipped], noisy.labels[noisy.flipped], strict=True))
    assert (PairFlipNoise(1.0).corrupt(y).labels == [following[label] for label in y]).all()


@pytest.mark.parametrize(
    ("rate", "n_classes", "rates"),
    [(0.2, 2, [0.1, 0.3]), (0.5, 3, [0.3, 0.9, 0.3]), (0.1, 4, [0.05, 0.15, 0.05, 0.15])],
)
def test_noise_by_class_is_three_times_as_high_in_every_second_class(rate, n_classes, rates):
    T = ByClassNoise(rate).transition_matrix(np.arange(n_classes))
    np.testing.assert_allclose(1 - np.diag(T), rates)
    off_diagonal = T[~np.eye(n_classes, dtype=bool)].reshape(n_classes, -1)
    np.testing.assert_allclose(off_diagonal, off_diagonal[:, :1].repeat(n_classes - 1, axis=1))


def test_pairs_of_rates_follow_the_order_of_the_classes():
    y = np.array(["-"] * 5000 + ["+"] * 5000)  # "+" is sorted before "-"
    noisy = ClassConditionalNoise([0.4, 0.2]).corrupt(y, random_state=0)
    for label, rate in (("+", 0.4), ("-", 0.2)):
        assert binomtest(int(noisy.flipped[y == label].sum()), 5000, rate).pvalue > 1e-3
    assert noisy.noise_rate == pytest.approx(0.3)


def test_a_pair_is_equivalent_to_a_matrix():
    pair, matrix = ClassConditionalNoise((0.1, 0.3)), ClassConditionalNoise(np.array([[0.9, 0.1], [0.3, 0.7]]))
    assert pair == matrix
    assert hash(pair) == hash(matrix)
    assert pair.noise_rate == pytest.approx(0.2)
    np.testing.assert_array_equal(pair.transition_matrix([0, 1]), [[0.9, 0.1], [0.3, 0.7]])


def test_labels_of_probability_zero_are_never_drawn():
    T = [[0, 0.5, 0.5], [0, 1, 0], [0.25, 0.75, 0]]
    y = np.arange(9000) % 3
    labels = ClassConditionalNoise(T).corrupt(y, random_state=0).labels
    assert [sorted(set(labels[y == true])) for true in range(3)] == [[1, 2], [1], [0, 1]]
    assert binomtest(int((labels[y == 2] == 0).sum()), 3000, 0.25).pvalue > 1e-3


def test_rows_that_sum_to_less_than_one_by_rounding():
    T = np.full((10, 10), 1 / 9)
    np.fill_diagonal(T, 0)
    noisy = ClassConditionalNoise(T).corrupt(np.arange(50_000) % 10, random_state=0)
    assert noisy.flipped.all()


@pytest.mark.parametrize(
    ("T", "message"),
    [
        ([[0.9, 0.2], [0.3, 0.7]], "got row sums"),
        ([[1.1, -0.1], [0, 1]], "got"),
        ([0.1, 1.1], "got"),
        ([[np.nan, 1], [0, 1]], "got"),
        ([0.1, 0.2, 0.3], r"got shape \(3,\)"),
        ([[1.0]], r"got shape \(1, 1\)"),
        ([[0.5, 0.5]], r"got shape \(1, 2\)"),
        ([[0.5, 0.5], [1]], "got"),
        (["0.1", "0.3"], "got"),
        ([True, False], "got"),
        ("ab", "got"),
        (None, "got"),
    ],
)
def test_invalid_matrices(T, message):
    with pytest.raises(
        ValueError, match=f"^T must be a square matrix .* or a pair of probabilities, {message}"
    ):
        ClassConditionalNoise(T)


def test_a_matrix_for_another_number_of_classes():
    with pytest.raises(ValueError, match="the rates are for 2 classes, but there are 3"):
        ClassConditionalNoise([0.1, 0.3]).corrupt([1, 2, 3])
