"""Theorems about criteria: the losses that they minimise, and what label noise changes.

Noise acts on expected counts: clean counts times a transition matrix.  The page docs/statements.md lists which
theorem each test shows.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robust_splits import (
    FunctionCriterion,
    NegativeExponential,
    Pairwise,
    RobustDecisionTreeClassifier,
    RobustExtraTreesClassifier,
    get_criterion,
)

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


# Losses of a prediction, a vector of probabilities of shape (K,), for each label: K numbers.
def squared_error(predicted):
    return ((predicted - np.eye(predicted.size)) ** 2).sum(axis=1)


def cross_entropy(predicted):
    with np.errstate(divide="ignore"):
        return -np.log(predicted)


def generalised_cross_entropy(q):
    return lambda predicted: (1 - predicted**q) / q


def zero_one(predicted):
    return (predicted < 1).astype(float)


def absolute_error(predicted):
    return np.abs(predicted - np.eye(predicted.size)).sum(axis=1)


def infinity_norm(predicted):
    return np.abs(predicted - np.eye(predicted.size)).max(axis=1)


CONSERVATIVE = [
    (zero_one, 1),
    (absolute_error, 2),
    (infinity_norm, 1),
    (generalised_cross_entropy(1.5), 1 / 1.5),
]


def predictions(n_classes):
    """The corners, the centre and random points of the simplex."""
    drawn = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.5), 500)
    return np.vstack([np.eye(n_classes), np.full(n_classes, 1 / n_classes), drawn])


@pytest.mark.parametrize(
    ("loss", "criterion", "factor", "power"),
    [
        (squared_error, "gini", 1, 1),
        (cross_entropy, "entropy", 1, 1),
        (generalised_cross_entropy(0.5), "gce(0.5)", 1, 2),
        (generalised_cross_entropy(0.7), "gce(0.7)", 1, 1 / 0.3),
        (generalised_cross_entropy(1.5), "gce(1.5)", 1, np.inf),
        *((loss, "misclassification", c, np.inf) for loss, c in CONSERVATIVE),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_an_impurity_is_the_least_risk_of_its_loss(loss, criterion, factor, power, n_classes):
    """It is attained at normalised powers of the class proportions, or at the majority class."""
    for p in np.random.default_rng(1).dirichlet(np.ones(n_classes), 10):
        best = np.eye(n_classes)[p.argmax()] if np.isinf(power) else p**power / (p**power).sum()
        impurity = factor * get_criterion(criterion).impurity(p)
        assert p @ loss(best) == pytest.approx(impurity, rel=1e-12)
        others = predictions(n_classes)[n_classes if np.isinf(power) else 0 :]
        assert min(p @ loss(predicted) for predicted in others) > impurity


@pytest.mark.parametrize("name", ["gini", "entropy", "gce(0.5)"])
@given(counts=arrays(int, (2, 3), elements=st.integers(0, 12)), times=st.integers(1, 5))
def test_other_losses_stop_only_at_equal_distributions(name, counts, times):
    left, right = counts + np.eye(2, 3, dtype=int)
    alike = (left * right.sum() == right * left.sum()).all()
    assert (get_criterion(name).gain(left, right) > 1e-12) == (not alike)
    assert get_criterion(name).gain(left, times * left) < 1e-12


@given(arrays(int, (2, 2), elements=st.integers(0, 6)).filter(lambda counts: counts.sum(axis=1).all()))
def test_the_pairwise_gain_is_what_a_split_removes_of_the_ranking_loss(counts):
    """Pairs of rows of both classes in the wrong order, which count half if the rows have the same score."""

    def ranking_loss(scores):
        negative, positive = (np.repeat(scores, counts[:, k]) for k in (0, 1))
        return sum((b < a) + (b == a) / 2 for a, b in itertools.product(negative, positive))

    removed = ranking_loss([0, 0]) - min(ranking_loss([0, 1]), ranking_loss([1, 0]))
    assert Pairwise().gain(*counts) == pytest.approx(removed, abs=1e-12)


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
    """Wilton & Ye, after Theorem 8: where lam finds no gain, misclassification, lam = 1, finds none."""
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


def constant(left, right):
    return 1.0


def test_a_constant_gain_gives_a_purely_random_forest():
    """Ghosh et al., Remark 3.9: its splits do not depend on the labels.

    Nodes of 40 rows have both classes.  Gini rejects the few splits with the same proportions on both sides.
    """
    rng = np.random.default_rng(0)
    X = rng.random((500, 4))
    settings = {"max_features": 1, "bootstrap": False, "min_samples_split": 40, "random_state": 0}
    for criterion, is_random in ((FunctionCriterion(constant), True), ("gini", False)):
        forest = RobustExtraTreesClassifier(5, criterion=criterion, **settings)
        first, second = (forest.fit(X, rng.integers(2, size=500)).estimators_ for _ in range(2))
        same = [
            np.array_equal(a.tree_.threshold, b.tree_.threshold, equal_nan=True)
            for a, b in zip(first, second, strict=True)
        ]
        assert all(same) == is_random
