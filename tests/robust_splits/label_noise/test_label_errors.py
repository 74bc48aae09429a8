from contextlib import suppress

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

from boostnoise import LabelErrors, find_label_errors
from robust_splits import RobustForestClassifier
from robust_splits.label_noise.clean_posterior import IndistinctClassesError, estimate_clean_posterior
from robust_splits.label_noise.label_errors import clean_shares
from robust_splits.label_noise.noise_scenarios import noise_scenarios

T3 = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])


def as_of_a_model(p):
    """Probabilities that vary by chance, as those of models do."""
    varied = p * np.exp(0.5 * np.random.default_rng(1).normal(size=p.shape))
    return varied / varied.sum(axis=1, keepdims=True)


@pytest.mark.release
@pytest.mark.parametrize("T", [T3, np.array([[0.95, 0.05], [0.25, 0.75]])], ids=["three", "two"])
def test_probabilities_are_calibrated(T, draw_overlapping):
    clean, y, p = draw_overlapping(T, sharpness=30.0)
    found = find_label_errors(y, as_of_a_model(p))
    wrong = y != clean
    assert found.noise_rate == pytest.approx(wrong.mean(), abs=0.02)
    assert found.p_wrong.mean() == pytest.approx(found.noise_rate, abs=0.02)
    np.testing.assert_allclose(found.transition_matrix, T, atol=0.04)
    for label in range(len(T)):
        assert found.p_wrong[y == label].mean() == pytest.approx(wrong[y == label].mean(), abs=0.04)
    np.testing.assert_array_equal(found.clean_probabilities[np.arange(y.size), y], 1 - found.p_wrong)
    for p_clean in (found.clean_probabilities, *noise_scenarios(found, y).all()):
        np.testing.assert_allclose(p_clean.sum(axis=1), 1)
        np.testing.assert_allclose(p_clean.mean(axis=0), np.bincount(clean) / clean.size, atol=0.03)
    low, high = found.noise_rate_interval
    assert low < wrong.mean() < high < low + 0.04
    for n in (100, 1000, int(wrong.sum()), y.size // 2):
        first = found.ranking[:n]
        assert found.p_wrong[first].mean() == pytest.approx(wrong[first].mean(), abs=0.1)
    assert (np.diff(found.p_wrong[found.ranking]) <= 1e-12).all()


def test_the_upper_end_of_the_interval(draw_overlapping):
    _, y, p = draw_overlapping(T3, sharpness=4.0)
    found = find_label_errors(y, p)
    s = estimate_clean_posterior(y, p).best_bins.standard_error
    r = found.noise_rate_without_overlap
    m = (p.argmax(axis=1) != y).mean() - r
    assert m > 0
    assert found.noise_rate_interval[1] == pytest.approx(r + 0.8 * np.sqrt((2 * s) ** 2 + m**2))
    clean = found.transition_matrix_without_overlap
    shares = clean_shares(clean, np.bincount(y) / y.size)
    assert r == pytest.approx(shares @ (1 - np.diag(clean)))


def separated(n_unusual, n=2000):
    """Two separated classes.  The first rows have the features of the other class."""
    y = np.arange(n) % 2
    of_label = np.random.default_rng(0).uniform(0.95, 1, n)
    of_label[:n_unusual] = 1 - of_label[:n_unusual]
    p = np.where(y == 1, of_label, 1 - of_label)
    return y, np.column_stack([1 - p, p])


def test_a_few_unusual_rows_may_be_right():
    assert find_label_errors(*separated(30, n=20_000)).noise_rate == 0
    assert find_label_errors(*separated(40)).noise_rate == pytest.approx(0.016, abs=0.004)


def test_labels_without_noise_are_ranked():
    y, p = separated(0)
    found = find_label_errors(y, p)
    assert found.noise_rate_without_overlap < 1e-3
    for label in (0, 1):
        ranked = found.ranking[y[found.ranking] == label][:5]
        assert set(ranked) == set(np.flatnonzero(y == label)[np.argsort(p[y == label, label])[:5]])


@pytest.mark.release
@pytest.mark.parametrize("sharpness", [2.0, 4.0])
def test_what_may_be_overlap_is_not_promised(sharpness, draw_overlapping):
    clean, y, p = draw_overlapping(T3, sharpness=sharpness)
    wrong = y != clean
    for probabilities in (p, as_of_a_model(p)):
        found = find_label_errors(y, probabilities)
        low, high = found.noise_rate_interval
        assert low <= found.noise_rate < wrong.mean() < high
        assert found.noise_rate_without_overlap == pytest.approx(wrong.mean(), abs=0.06)
        assert found.p_wrong[found.ranking[:1000]].sum() < wrong[found.ranking[:1000]].sum()
    exact = find_label_errors(y, p)
    assert exact.noise_rate_interval[0] < 1e-3
    assert exact.p_wrong.max() < 0.05


@pytest.mark.parametrize("n_classes", [2, 3])
def test_overlapping_classes_without_noise(n_classes):
    """No label is wrong, though a third is not the most probable one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    p = np.exp(X[:, :n_classes])
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random(1500)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    forest = RobustForestClassifier(passes=1, oob_score=True, random_state=0).fit(X, y)
    found = find_label_errors(y, forest.oob_decision_function_)
    assert found.noise_rate_without_overlap > 0.05
    assert found.noise_rate_interval[0] < 0.02
    assert found.p_wrong[found.ranking[:50]].mean() < 0.3


def test_bayes_formula_with_the_known_matrix(draw_overlapping):
    """The ranking is between that by probability and that by Bayes' formula with the true matrix."""
    T = np.array([[0.98, 0.02], [0.3, 0.7]])
    clean, y, p = draw_overlapping(T, sharpness=6.0)
    wrong, rows = y != clean, np.arange(y.size)
    right = np.linalg.solve(T.T, p.T).T
    exact = 1 - right[rows, y] * T[y, y] / p[rows, y]
    scores = {"exact": exact, "plain": 1 - p[rows, y]}
    found = find_label_errors(y, p)
    scores["found"] = -np.argsort(found.ranking).astype(float)
    precision = {name: average_precision_score(wrong, score) for name, score in scores.items()}
    assert precision["plain"] + 0.02 < precision["found"] <= precision["exact"] + 1e-9


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_forests_out_of_bag(load):
    X, clean = load(return_X_y=True)
    rng = np.random.default_rng(0)
    flip = rng.random(clean.size) < 0.15
    y = np.where(flip, (clean + rng.integers(1, clean.max() + 1, clean.size)) % (clean.max() + 1), clean)
    wrong = y != clean
    forest = RobustForestClassifier(passes=1, oob_score=True, random_state=0).fit(X, y)
    found = find_label_errors(y, forest.oob_decision_function_)
    assert found.noise_rate == pytest.approx(wrong.mean(), abs=0.05)
    n = int(wrong.sum())
    assert wrong[found.ranking[:n]].mean() > 0.75
    assert (found.suggested[wrong] == clean[wrong]).mean() > 0.9
    assert (found.suggested != y).all()
    clean_forest = RobustForestClassifier(passes=1, oob_score=True, random_state=0).fit(X, clean)
    without = find_label_errors(clean, clean_forest.oob_decision_function_)
    assert without.noise_rate < 0.01
    assert without.noise_rate_interval[0] == 0


def test_labels_of_any_type_and_any_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    names = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    y = np.where(rng.random(300) < 0.1, np.where(names == "no", "yes", "no"), names)
    forest = RobustForestClassifier(n_estimators=20, passes=1, random_state=0)
    p = cross_val_predict(forest, X, y, method="predict_proba")
    found = find_label_errors(y, p)
    assert isinstance(found, LabelErrors)
    assert found.classes.tolist() == ["no", "yes"]
    assert set(zip(y.tolist(), found.suggested.tolist(), strict=True)) == {("no", "yes"), ("yes", "no")}


def test_certain_and_useless_probabilities():
    y = np.repeat([0, 1], 50)
    sure = find_label_errors(y, np.eye(2)[y])
    assert (sure.noise_rate, sure.p_wrong.max()) == (0, 0)
    rng = np.random.default_rng(0)
    for useless in (np.full((100, 2), 0.5), rng.dirichlet([1, 1], size=100)):
        with pytest.raises(IndistinctClassesError, match="do not distinguish the classes"):
            find_label_errors(y, useless)
    almost_equal = np.column_stack([0.5 - 1e-15 * np.arange(100), 0.5 + 1e-15 * np.arange(100)])
    assert np.isfinite(find_label_errors(y, almost_equal).p_wrong).all()


def test_shares_of_the_clean_classes():
    T = np.array([[0.9, 0.1], [0.2, 0.8]])
    np.testing.assert_allclose(clean_shares(T, np.array([0.55, 0.45])), [0.5, 0.5], atol=2e-3)
    np.testing.assert_allclose(clean_shares(np.eye(2), np.array([0.3, 0.7])), [0.3, 0.7])
    almost_singular = np.array([[0.51, 0.49], [0.49, 0.51]])
    shares = clean_shares(almost_singular, np.array([0.6, 0.4]))  # which no shares of classes lead to
    assert 0.5 < shares[0] < 0.8


@pytest.mark.release
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2, 0.3, 0.4])
def test_intervals_cover_the_noise_rate(rate):
    """Where classes overlap little, and where the features tell less."""
    covered = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = expit(rng.normal(scale=5.0 if seed % 2 else 2.0, size=500))
        right = rng.random(500) < p
        y = right ^ (rng.random(500) < rate)
        q = rate + (1 - 2 * rate) * p
        with suppress(IndistinctClassesError):
            low, high = find_label_errors(y, np.column_stack([1 - q, q])).noise_rate_interval
            covered.append(low <= (y != right).mean() <= high)
    assert len(covered) >= 18  # at a rate of 0.4, labels may be as good as random
    assert np.mean(covered) >= 0.85


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1, None], np.full((3, 2), 0.5), "missing labels"),
        ([0, 0, 0], np.full((3, 1), 1.0), "at least two classes"),
        ([0.1, 1.5, 2.7], np.full((3, 3), 1 / 3), "[Cc]ontinuous"),
        ([0, 1, 1], np.full((3, 3), 1 / 3), r"shape \(3, 2\)"),
    ],
)
def test_bad_labels_and_probabilities(y, p, message):
    with pytest.raises(ValueError, match=message):
        find_label_errors(y, p)
