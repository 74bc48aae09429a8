import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_classification

from boostnoise.eval import AuditedNoise
from boostnoise.eval.noise import audited
from boostnoise.label_noise.judges import judge_labels

X, RIGHT = make_classification(400, 6, n_informative=4, flip_y=0, class_sep=1.5, random_state=0)
WRONG = np.random.default_rng(1).random(RIGHT.size) < np.where(RIGHT == 1, 0.2, 0.05)
Y = np.where(WRONG, 1 - RIGHT, RIGHT)
ROWS = np.arange(Y.size)
TRAIN, TEST = ROWS[ROWS % 4 > 0], ROWS[ROWS % 4 == 0]


def changes(rate, y=Y, features=X):
    """Probability that each label changes."""
    return 1 - AuditedNoise(rate).label_probabilities(y, features)[np.arange(len(y)), y]


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.2])
def test_the_mean_of_the_rows_is_the_rate(rate):
    p = AuditedNoise(rate).label_probabilities(Y, X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert p.min() >= 0
    assert changes(rate).mean() == pytest.approx(rate, abs=1e-12)
    assert changes(rate).max() <= 0.5 + 1e-12


def test_the_transition_matrix_is_that_of_the_audit_times_a_factor():
    names, features = np.array(["a", "b", "c"]), np.column_stack([X, X[:, 0] > 0.8])
    y = np.where(features[:, -1] > 0, 2, Y)
    y[::9] = 0
    T = judge_labels(features, y).transition_matrix
    p = AuditedNoise(0.05).label_probabilities(names[y], features)
    of_class = np.array([p[y == k].mean(axis=0) for k in range(3)])
    scale = 0.05 / ((1 - np.diag(T)) @ np.bincount(y) / y.size)
    np.testing.assert_allclose(of_class, np.eye(3) + scale * (T - np.eye(3)), atol=1e-12)


def test_rates_of_classes_are_kept_where_rows_are_at_their_limit():
    low, high = changes(0.01), changes(0.22)
    assert (high == 0.5).sum() > 20 > (low == 0.5).sum() == 0
    for label in (0, 1):
        assert high[label == Y].mean() == pytest.approx(22 * low[label == Y].mean())


def test_noise_makes_labels_worse_in_doubtful_rows():
    flips = changes(0.1)
    assert flips[WRONG].sum() / flips.sum() < 0.1 < WRONG.mean()  # wrong labels are hardly corrected
    near = np.abs(X[:, 1]) < np.quantile(np.abs(X[:, 1]), 0.3)
    by_features = np.where(near & (np.random.default_rng(0).random(Y.size) < 0.4), 1 - RIGHT, RIGHT)
    ratios = [p[near].mean() / p[~near].mean() for p in (flips, changes(0.1, by_features))]
    assert ratios[0] < 1.4 < ratios[1]


def test_labels_are_drawn_from_their_probabilities():
    noise = AuditedNoise(0.2)
    draws = [noise.corrupt(Y, X, random_state=seed) for seed in range(5)]
    flips = sum(int(draw.flipped.sum()) for draw in draws)
    assert binomtest(flips, 5 * Y.size, 0.2).pvalue > 1e-3
    assert {draw.noise_rate for draw in draws} == {0.2}
    less = AuditedNoise(0.1).corrupt(Y, X, random_state=0)
    assert 0 < less.flipped.sum() == (less.flipped & draws[0].flipped).sum()


def test_nothing_is_learned_from_test_rows(monkeypatch):
    noisy, y_test = AuditedNoise(0.1).corrupt_split(Y, TRAIN, TEST, X, random_state=[1, 2])
    np.testing.assert_array_equal(y_test, Y[TEST])
    other_X, other_y = X.copy(), Y.copy()
    other_X[TEST], other_y[TEST] = np.nan, 0
    monkeypatch.setattr(audited, "_audits", {})
    again, _ = AuditedNoise(0.1).corrupt_split(other_y, TRAIN, TEST, other_X, random_state=[1, 2])
    np.testing.assert_array_equal(noisy.labels, again.labels)
    assert len(audited._audits) == 1
    with pytest.raises(ValueError, match=r"noise_on must be one of train, got 'train\+test'"):
        AuditedNoise(0.1).corrupt_split(Y, TRAIN, TEST, X, noise_on="train+test")


def test_an_audit_is_for_all_rates_and_the_latest_are_kept(monkeypatch):
    found = []
    monkeypatch.setattr(audited, "_audits", {})
    monkeypatch.setattr(audited, "_audit", lambda X, y, n: found.append(X[0, 0]) or 1 - np.eye(2)[y])
    for rate in (0.1, 0.2):
        changes(rate)
    assert len(found) == 1
    for shift in range(1, 12):
        changes(0.1, features=X + shift)
    assert len(audited._audits) == audited.MAX_AUDITS < len(found) == 12


def test_classes_without_training_rows_and_missing_values():
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    noisy = AuditedNoise(0.2).corrupt(2 * Y, gaps, classes=[0, 1, 2, 3], random_state=0)
    assert set(noisy.labels) == {0, 2}
    with pytest.raises(ValueError, match=r"^X must be finite"):
        AuditedNoise(0.2).corrupt(Y, np.where(X > 2, np.inf, X))
    with pytest.raises(ValueError, match="y must contain at least two classes in the training rows, got one"):
        AuditedNoise(0.2).corrupt([0, 0], [[1.0], [2.0]], classes=[0, 1])


def test_noise_that_cannot_be_had():
    with pytest.raises(ValueError, match=r"rate 0.5 would change half or more .* possible rate is about 0.22"):
        changes(0.5)
    with pytest.raises(ValueError, match="the audit finds no noise in the training rows"):
        changes(0.1, RIGHT, np.column_stack([RIGHT, RIGHT]))
    with pytest.raises(ValueError, match="the probabilities do not distinguish the classes"):
        changes(0.1, np.random.default_rng(3).permutation(Y))
    for rate in (0.6, -0.1, True):
        with pytest.raises(ValueError, match=r"noise_rate of AuditedNoise must be a number in \[0, 0.5\]"):
            AuditedNoise(rate)
