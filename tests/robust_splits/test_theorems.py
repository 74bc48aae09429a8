"""Theorems about criteria under label noise, on expected counts: clean counts times a transition matrix.

Ghosh, Manwani & Sastry 2017, Theorem 3.1; Yang, Gao & Li 2019, Theorem 1; Wilton & Ye 2024, Theorem 8.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_splits import NegativeExponential, Pairwise, RobustDecisionTreeClassifier, get_criterion

RATES = st.floats(0, 1)


@st.composite
def splits(draw, most_classes=6):
    """Class counts of two children, shape (2, n_classes), no child empty."""
    counts = draw(arrays(float, (2, draw(st.integers(2, most_classes))), elements=st.integers(0, 1_000)))
    return counts + np.eye(*counts.shape)


def uniform_noise(rate, n_classes):
    """Transition matrix: a label is wrong at this rate, with all other classes equally likely."""
    noise = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(noise, 1 - rate)
    return noise


def class_conditional_noise(positive_rate, negative_rate):
    return np.array([[1 - negative_rate, negative_rate], [positive_rate, 1 - positive_rate]])


@given(splits(most_classes=2), RATES, RATES)
def test_class_conditional_noise_scales_the_pairwise_gain(counts, positive_rate, negative_rate):
    noisy = Pairwise().gain(*counts @ class_conditional_noise(positive_rate, negative_rate))
    expected = abs(1 - positive_rate - negative_rate) * Pairwise().gain(*counts)
    assert noisy == pytest.approx(expected, rel=1e-9, abs=1e-12 * counts.sum() ** 2)


@pytest.mark.parametrize(("name", "power"), [("gini", 2), ("twoing", 2), ("misclassification", 1)])
@given(counts=splits(), share=RATES)
def test_uniform_noise_scales_the_gain(name, power, counts, share):
    """By (1 - 2 eta)^2 or 1 - 2 eta for two classes; K classes have 1 - K eta / (K - 1) in place of 1 - 2 eta."""
    n_classes = counts.shape[1]
    rate = share * (n_classes - 1) / n_classes  # up to the rate at which labels carry no information
    kept = 1 - n_classes * rate / (n_classes - 1)
    criterion = get_criterion(name)
    noisy = criterion.gain(*counts @ uniform_noise(rate, n_classes))
    assert noisy == pytest.approx(kept**power * criterion.gain(*counts), rel=1e-9, abs=1e-14)


GHOSH = {"f1": np.array([[45, 5], [25, 25]]), "f2": np.array([[29.7, 0.3], [40.3, 29.7]])}


@pytest.mark.parametrize(
    ("name", "without_noise", "with_noise"),
    [
        ("entropy", "f2", "f1"),
        ("gini", "f1", "f1"),
        ("twoing", "f1", "f1"),
        ("pairwise", "f1", "f1"),
    ],
)
def test_noise_reverses_the_order_of_two_splits_for_entropy_only(name, without_noise, with_noise):
    """The example of Ghosh, Manwani & Sastry."""

    def preferred(rate):
        noise = uniform_noise(rate, 2)
        return max(GHOSH, key=lambda f: get_criterion(name).gain(*GHOSH[f] @ noise))

    assert preferred(0.0) == without_noise
    assert preferred(0.4) == with_noise


@given(splits(), st.floats(0.01, 1))
def test_the_larger_lam_the_fewer_splits_have_a_gain(counts, lam):
    """Wilton & Ye: where the negative exponential criterion finds no gain, misclassification finds none."""
    if NegativeExponential(lam).gain(*counts) <= 0:
        assert NegativeExponential(1.0).gain(*counts) <= 1e-14


@pytest.mark.parametrize(
    ("name", "noise"),
    [
        ("gini", uniform_noise(0.3, 3)),
        ("twoing", uniform_noise(0.6, 3)),
        ("misclassification", uniform_noise(0.2, 3)),
        ("gini", uniform_noise(0.4, 2)),
        ("twoing", uniform_noise(0.8, 2)),
        ("pairwise", class_conditional_noise(0.4, 0.1)),
        ("pairwise", class_conditional_noise(0.9, 0.7)),
    ],
)
def test_a_tree_on_expected_noise_makes_a_best_clean_split(name, noise):
    """Each row with each label, weighted by how likely the noise makes it so."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, len(noise), 500)
    X[:, 0] += y
    X[:, 1] += y == 1

    def clean_gain(*data):
        tree = RobustDecisionTreeClassifier(name, max_depth=1, random_state=0).fit(*data).tree_
        left = X[:, tree.feature[0]] <= tree.threshold[0]
        return get_criterion(name).gain(*(np.bincount(y[side], minlength=len(noise)) for side in (left, ~left)))

    labels = np.tile(np.arange(len(noise)), len(y))
    noisy = clean_gain(X.repeat(len(noise), axis=0), labels, noise[y].ravel())
    assert noisy == pytest.approx(clean_gain(X, y), rel=1e-9)
