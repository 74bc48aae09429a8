import numpy as np
import pytest

from boostnoise.eval.datasets.synthetic import make_synthetic


@pytest.mark.parametrize(
    ("name", "n_rows", "share"),
    [
        ("checkerboard2x2", 30_000, 0.5),
        ("checkerboard4x4", 30_000, 0.5),
        ("imbalanced_linear", 40_000, 0.9),
        ("imbalanced_asymmetric_linear", 40_000, 0.8),
    ],
)
def test_sizes_and_shares(name, n_rows, share):
    X, y = make_synthetic(name)
    assert X.shape == (n_rows, 2)
    # Five standard deviations of a share.
    assert abs(y.mean() - share) < 5 * np.sqrt(share * (1 - share) / n_rows)
    again = make_synthetic(name)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert (make_synthetic(name, seed=1)[0] != X).any()


@pytest.mark.parametrize("side", [2, 4])
def test_checkerboards(side):
    X, y = make_synthetic(f"checkerboard{side}x{side}")
    assert X.min() >= 0
    assert X.max() <= side
    counts = np.histogram2d(*X.T, bins=side)[0]
    assert (abs(counts - 30_000 / side**2) < 5 * np.sqrt(30_000 / side**2)).all()
    for i in range(side):
        for j in range(side):
            square = (X.astype(int) == [i, j]).all(axis=1)
            assert set(y[square]) == {int(i % 2 == j % 2)}


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("imbalanced_linear", [0.5, 0], [1, 1]), ("imbalanced_asymmetric_linear", [0.5, 0.4], [0.7, 0.6])],
)
def test_rectangles(name, low, high):
    X, y = make_synthetic(name)
    for label, corners in ((1, [[0, 0], [0.5, 1]]), (0, [low, high])):
        points = X[y == label]
        assert (points >= corners[0]).all()
        assert (points <= corners[1]).all()
        np.testing.assert_allclose(points.min(axis=0), corners[0], atol=0.01)
        np.testing.assert_allclose(points.max(axis=0), corners[1], atol=0.01)
        np.testing.assert_allclose(points.mean(axis=0), np.mean(corners, axis=0), atol=0.02)


def test_unknown_names():
    with pytest.raises(ValueError, match="unknown synthetic data set 'spiral'"):
        make_synthetic("spiral")
