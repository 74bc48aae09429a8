import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis
from scipy.stats import binomtest, rankdata
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from boostnoise.eval import InstanceDependentNoise, MahalanobisNoise, RowNoise, UniformNoise

WINE_X, WINE_Y = load_wine(return_X_y=True)


def matrix_of_the_paper(X, y):
    """Algorithm 1 of Wilton & Ye with corrected off-diagonal entries, one pair at a time."""
    K = y.max() + 1
    d = np.zeros((K, K))
    for i in range(K):
        for j in range(K):
            a, b = X[y == i], X[y == j]
            pooled = ((len(a) - 1) * np.cov(a.T) + (len(b) - 1) * np.cov(b.T)) / (len(a) + len(b) - 2)
            d[i, j] = mahalanobis(a.mean(axis=0), b.mean(axis=0), np.linalg.pinv(pooled, rcond=1e-12))
    s = 1 / np.where(np.eye(K) > 0, np.inf, d)
    keep = np.array([sum(1 / s[i, j] for j in range(K) if j != i) for i in range(K)])
    keep = 0.5 + 0.4 * (keep - keep.min()) / (keep.max() - keep.min())
    T = (1 - keep)[:, None] * s / s.sum(axis=1, keepdims=True)
    T[np.diag_indices(K)] = keep
    return T


@pytest.mark.parametrize("load", [load_wine, load_digits])  # the covariance of the digits is singular
def test_matrix_of_the_paper(load):
    X, y = load(return_X_y=True)
    T = MahalanobisNoise().transition_matrix(y, X)
    np.testing.assert_allclose(T, matrix_of_the_paper(X, y), rtol=1e-6)
    assert (T.diagonal().min(), T.diagonal().max()) == pytest.approx((0.5, 0.9))


def test_the_rate_scales_the_matrix():
    matrices = [MahalanobisNoise(rate).transition_matrix(WINE_Y, WINE_X) for rate in (0.0, 0.15, 0.3, 0.6)]
    identity = np.eye(3)
    np.testing.assert_array_equal(matrices[0], identity)
    for matrix, factor in zip(matrices[1:], (0.5, 1, 2), strict=True):
        np.testing.assert_allclose(matrix - identity, factor * (matrices[2] - identity), atol=1e-14)
    assert matrices[3].min() >= 0


def test_classes_at_equal_distances():
    two = WINE_Y < 2
    T = MahalanobisNoise().transition_matrix(WINE_Y[two], WINE_X[two])
    np.testing.assert_allclose(T, [[0.7, 0.3], [0.3, 0.7]], rtol=1e-12)
    # An equilateral triangle, up to rounding.
    angles = 2 * np.pi * np.arange(3) / 3
    cloud = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    X = np.concatenate([cloud + 5 * np.array([np.cos(a), np.sin(a)]) for a in angles])
    T = MahalanobisNoise().transition_matrix(np.repeat([0, 1, 2], 4), X)
    np.testing.assert_allclose(T, np.where(np.eye(3) > 0, 0.7, 0.15), rtol=1e-9)


def test_classes_with_the_same_mean_are_confused_only_with_each_other():
    cloud = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    X = np.concatenate([cloud, cloud[::-1], cloud + 9])
    T = MahalanobisNoise().transition_matrix(np.repeat([0, 1, 2], 4), X)
    np.testing.assert_allclose(T, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.05, 0.05, 0.9]], atol=1e-12)
    np.testing.assert_allclose(T.sum(axis=1), 1, rtol=1e-12)


def test_constant_features_and_single_rows():
    T = MahalanobisNoise().transition_matrix([0, 1, 2], np.ones((3, 2)))
    np.testing.assert_allclose(T, np.where(np.eye(3) > 0, 0.7, 0.15), rtol=1e-12)
    p = InstanceDependentNoise(0.4).flip_probabilities([0, 1, 2], np.ones((3, 2)))
    np.testing.assert_allclose(p, 0.4)


def test_classes_without_rows_are_not_corrupted():
    T = MahalanobisNoise().transition_matrix(WINE_Y, WINE_X, classes=[-1, 0, 1, 2, 3])
    np.testing.assert_array_equal(T[[0, 4]], np.eye(5)[[0, 4]])
    np.testing.assert_array_equal(T[1:4, 1:4], MahalanobisNoise().transition_matrix(WINE_Y, WINE_X))
    noisy = InstanceDependentNoise(0.5).corrupt(WINE_Y, WINE_X, classes=[-1, 0, 1, 2, 3], random_state=0)
    assert set(noisy.labels) == {0, 1, 2}


def test_one_class_has_no_boundary():
    with pytest.raises(ValueError, match=r"^y must contain at least two classes"):
        InstanceDependentNoise(0.5).corrupt([0, 0], [[1.0], [2.0]], classes=[0, 1])


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.8, 1.0])
def test_flips_by_distance_from_the_boundary_of_discriminant_analysis(rate):
    noise = InstanceDependentNoise(rate)
    p = noise.flip_probabilities(WINE_Y, WINE_X)
    log_p = LinearDiscriminantAnalysis(priors=[1 / 3] * 3).fit(WINE_X, WINE_Y).predict_log_proba(WINE_X)
    two = np.sort(log_p, axis=1)[:, -2:]
    u = (rankdata(two[:, 1] - two[:, 0]) - 0.5) / WINE_Y.size
    expected = 2 * rate * (1 - u) if rate <= 0.5 else 1 - 2 * (1 - rate) * u
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert p.mean() == pytest.approx(rate)
    assert p.min() >= 0
    assert p.max() <= 1
    noisy = noise.corrupt(WINE_Y, WINE_X, random_state=0)
    log_p[np.arange(WINE_Y.size), WINE_Y] = -np.inf
    np.testing.assert_array_equal(noisy.labels[noisy.flipped], log_p.argmax(axis=1)[noisy.flipped])


def test_rows_near_the_boundary_are_flipped_more_often():
    X, y = load_digits(return_X_y=True)
    noise = InstanceDependentNoise(0.2)
    near = noise.flip_probabilities(y, X) > 0.2
    shares = [noise.corrupt(y, X, random_state=0).flipped[rows].mean() for rows in (near, ~near)]
    assert shares == pytest.approx([0.3, 0.1], abs=0.05)  # three standard deviations


def test_margins_of_test_rows_are_ranked_among_training_rows():
    """A row that is in both parts has the same flip probability in both."""
    y, X = np.concatenate([WINE_Y, WINE_Y]), np.concatenate([WINE_X, WINE_X])
    train, test = np.arange(178), np.arange(178, 356)
    flips = np.zeros((2, 178))
    for seed in range(400):
        noisy, y_test = InstanceDependentNoise(0.4).corrupt_split(
            y, train, test, X, noise_on="train+test", random_state=seed
        )
        flips += noisy.flipped, y_test != WINE_Y
    p = InstanceDependentNoise(0.4).flip_probabilities(WINE_Y, WINE_X)
    z = (flips - 400 * p) / np.sqrt(400 * p * (1 - p))
    assert np.abs(z).max() < 4.5
    assert np.abs(z.mean(axis=1)).max() < 0.4


def test_each_row_has_its_noise_rate():
    y, rates = np.arange(4000) % 3, np.repeat([0.0, 0.1, 0.4, 1.0], 1000)
    noisy = RowNoise(rates).corrupt(y, random_state=0)
    for rate in np.unique(rates):
        flipped = noisy.flipped[rates == rate]
        assert binomtest(int(flipped.sum()), flipped.size, rate).pvalue > 1e-3
    others = noisy.labels[noisy.flipped & (y == 1)]
    assert binomtest(int((others == 0).sum()), others.size, 0.5).pvalue > 1e-3
    higher = RowNoise(np.minimum(2 * rates, 1)).corrupt(y, random_state=0)
    assert (higher.flipped >= noisy.flipped).all()
    assert noisy.noise_rate == rates.mean()
    np.testing.assert_array_equal(
        RowNoise(0.3).corrupt(y, random_state=0).flipped, UniformNoise(0.3).corrupt(y, random_state=0).flipped
    )


def test_noise_rates_of_a_function():
    X = np.linspace(0, 1, 200)[:, np.newaxis]
    y = np.arange(200) % 2
    by_function = RowNoise(lambda X: 0.4 * X[:, 0]).corrupt(y, X, random_state=1)
    by_row = RowNoise(0.4 * X[:, 0]).corrupt(y, random_state=1)
    np.testing.assert_array_equal(by_function.labels, by_row.labels)


def test_bad_noise_rates_of_rows():
    for rates, found in (([0.2, 1.5], "1.5"), ([0.2, np.nan], "nan"), (-0.1, "-0.1")):
        with pytest.raises(ValueError, match=rf"^rates of RowNoise must be in \[0, 1\], got {found}"):
            RowNoise(rates)
    with pytest.raises(TypeError, match="rates of RowNoise must be numbers or a function, got 'abc'"):
        RowNoise("abc")
    with pytest.raises(ValueError, match=r"^rates of RowNoise must have shape \(n_samples,\), got \(1, 2\)"):
        RowNoise([[0.1, 0.2]])
    with pytest.raises(ValueError, match=r"^rates of RowNoise must contain one rate per row, got 2 for 3 rows"):
        RowNoise([0.1, 0.2]).corrupt([0, 1, 1])
    with pytest.raises(ValueError, match=r"^rates of RowNoise must be in \[0, 1\], got 7"):
        RowNoise(lambda X: X[:, 0]).corrupt([0, 1], [[7.0], [0.0]])
