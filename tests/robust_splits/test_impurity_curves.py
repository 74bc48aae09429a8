import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from scipy.stats import expon, logistic

from robust_splits import (
    DistributionCriterion,
    Gini,
    NewtonGain,
    RobustForestClassifier,
    plot_gain,
    plot_impurity,
)


@pytest.fixture
def ax():
    return Figure().subplots()


def sqrt_of_variance(p):
    return np.sqrt(p * (1 - p))


def least(p):
    return np.minimum(p, 1 - p)


# The formulas for two classes, independent of the package.
FORMULAS = {
    "gini": lambda p: 2 * p * (1 - p),
    "entropy": lambda p: -np.log(p**p * (1 - p) ** (1 - p)),
    "misclassification": least,
    "sqrt_gini": lambda p: 2 * sqrt_of_variance(p),
    "gce(0.5)": lambda p: 2 * (1 - np.sqrt(p**2 + (1 - p) ** 2)),
    "ne(0)": lambda p: 2 * sqrt_of_variance(p),
    "ne(0.4)": lambda p: np.minimum(least(p), 0.4 * sqrt_of_variance(p)),
    "ne(1)": least,
}


@pytest.mark.parametrize("scaled", [False, True])
def test_curves_are_the_impurities_of_two_classes(ax, scaled):
    assert plot_impurity(FORMULAS, scaled=scaled, ax=ax) is ax
    assert [line.get_label() for line in ax.lines] == list(FORMULAS)
    for line, formula in zip(ax.lines, FORMULAS.values(), strict=True):
        p, drawn = line.get_data()
        assert p[0] == 0
        assert p[-1] == 1
        assert 0.5 in p
        expected = formula(p) / (formula(np.array([0.5])) if scaled else 1)
        np.testing.assert_allclose(drawn, expected, atol=1e-14)


# Gains of two halves of 400 rows, with p and 1 - p of a class.
GAINS = {
    "gini": lambda p: (1 - 2 * p) ** 2 / 2,
    "twoing": lambda p: (1 - 2 * p) ** 2 / 4,
    "entropy": lambda p: np.log(2) - FORMULAS["entropy"](p),
    "misclassification": lambda p: abs(1 - 2 * p) / 2,
    "pairwise": lambda p: 400**2 * abs(1 - 2 * p) / 2,
}


@pytest.mark.parametrize("scaled", [False, True])
def test_gains_of_halves(ax, scaled):
    assert plot_gain(GAINS, scaled=scaled, ax=ax) is ax
    assert [line.get_label() for line in ax.lines] == list(GAINS)
    for line, formula in zip(ax.lines, GAINS.values(), strict=True):
        p, drawn = line.get_data()
        assert len(p) == 401
        expected = formula(p) / (formula(np.array([1.0])) if scaled else 1)
        np.testing.assert_allclose(drawn, expected, rtol=1e-12, atol=1e-14)


def test_curves_can_be_told_apart(ax):
    plot_impurity([f"ne({lam})" for lam in np.linspace(0, 1, 9)], ax=ax)
    styles = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(styles)) == 9
    assert same_color(styles[0][0], styles[7][0])
    assert len({line.get_marker() for line in ax.lines}) == 9
    assert [text.get_text() for text in ax.get_legend().get_texts()][1] == "ne(0.125)"


def gains_in(ax):
    return [text.get_text() for text in ax.get_legend().get_texts() if "gain" in text.get_text()]


def test_splits_of_the_paper(ax):
    """Wilton & Ye, Figure 8: lam = 0 prefers the split with a pure child, lam = 1 the other one."""
    splits = [(0, 0.5, 0.67), (0.2, 0.5, 0.8)]
    plot_impurity(["ne(0)", "ne(1)"], splits=splits, ax=ax)
    expected = []
    for name, curve in (("ne(0)", lambda p: 2 * sqrt_of_variance(p)), ("ne(1)", lambda p: 2 * least(p))):
        pure, mixed = 1 - 0.5 / 0.67 * curve(0.67), 1 - curve(0.2)
        expected += [f"{name}, 0 and 0.67: gain {pure:.3f}", f"{name}, 0.2 and 0.8: gain {mixed:.3f}"]
        assert (pure > mixed) == (name == "ne(0)")
    assert gains_in(ax) == expected


def test_the_gain_of_a_split_is_that_of_the_criterion(ax):
    plot_impurity("gini", scaled=False, splits=[(0.1, 0.25, 0.3)], ax=ax)
    gain = Gini().gain([10, 90], [90, 210])  # a quarter of the rows on the left
    assert gains_in(ax) == [f"0.1 and 0.3: gain {gain:.3f}"]
    low, high = ax.lines[-1].get_ydata()
    assert high - low == pytest.approx(gain)


def test_criteria_as_objects(ax):
    plot_impurity([Gini(), DistributionCriterion(logistic())], ax=ax)
    assert ax.lines[0].get_label() == "Gini()"
    p, drawn = ax.lines[1].get_data()
    np.testing.assert_allclose(drawn, 2 * least(p), atol=1e-12)


def test_an_impurity_that_is_zero_everywhere_stays_zero(ax):
    plot_impurity(DistributionCriterion(expon()), ax=ax)  # F(0) = 0: predicting 0 costs nothing
    assert not ax.lines[0].get_ydata().any()


def test_gains_that_are_negative_everywhere_keep_their_order(ax):
    plot_gain(NewtonGain(gamma=1000), ax=ax)
    gains = ax.lines[0].get_ydata()
    assert gains.argmin() == gains.size // 2  # both halves are equal
    assert gains.max() < 0


def test_the_default_is_the_current_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    try:
        assert plot_impurity("gini") is plot_gain("credal") is plt.gca()
    finally:
        plt.close("all")


@pytest.mark.parametrize(
    ("criteria", "options", "error", "message"),
    [
        ("twoing", {}, TypeError, "criterion 'twoing' has no impurity"),
        (["gini", "ginny"], {}, ValueError, "criterion 'ginny' is unknown; known are gini"),
        ([], {}, ValueError, "criteria must contain at least one criterion, got none"),
        (3, {}, TypeError, "criteria must be names or criteria, got 3"),
        ("gini", {"scaled": "yes"}, TypeError, "scaled must be True or False, got 'yes'"),
        ("gini", {"ax": "left"}, TypeError, r"ax must be one matplotlib.axes.Axes or None, got str"),
        ("gini", {"splits": [(0.5, 0.2, 0.8)]}, ValueError, r"from 0 to 1, the p of the left child, .*; got"),
        ("gini", {"splits": [0.2]}, ValueError, "splits must contain triples of increasing numbers"),
        ("gini", {"splits": 0.3}, TypeError, "splits must be a list of triples, got 0.3"),
        (RobustForestClassifier(), {}, TypeError, "criteria must be names or criteria"),
    ],
)
def test_bad_arguments(criteria, options, error, message):
    is_of_impurity = criteria == "twoing" or "splits" in options
    for function in [plot_impurity] if is_of_impurity else [plot_impurity, plot_gain]:
        with pytest.raises(error, match=message):
            function(criteria, **options)
