import numpy as np
import pytest

from boostnoise.eval.datasets.dataset import Dataset
from boostnoise.eval.datasets.estimated_labels import estimate_clean_labels
from boostnoise.eval.errors import ConfigError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
RIGHT = (X[:, 0] > 0).astype(np.int64)
Y = np.where(RNG.random(300) < 0.2, 1 - RIGHT, RIGHT)


def estimated(y=Y, checked=None, groups=None):
    checked = np.full(y.size, -1) if checked is None else checked
    return estimate_clean_labels(Dataset("a", X, y, np.arange(2), checked=checked, groups=groups))


def test_right_labels_are_more_probable_than_the_noisy_ones():
    first_checked = np.where(np.arange(300) < 20, RIGHT, -1)
    p = estimated(checked=first_checked).clean_probabilities
    assert (p[:20] == np.eye(2)[RIGHT[:20]]).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[np.arange(300), RIGHT].mean() > 0.85 > (Y == RIGHT).mean()
    np.testing.assert_array_equal(estimated().clean_probabilities[20:], p[20:])


def test_no_row_is_judged_by_its_group():
    """Copies of a row with the same wrong label confirm one another, unless they are a group."""
    pairs = np.repeat(np.arange(150), 2)
    copied = Dataset("a", X[pairs], Y[pairs], np.arange(2), checked=np.full(300, -1))
    apart = estimate_clean_labels(copied).clean_probabilities
    grouped = estimate_clean_labels(
        Dataset("a", X[pairs], Y[pairs], np.arange(2), checked=copied.checked, groups=pairs)
    )
    right = np.arange(300), RIGHT[pairs]
    assert grouped.clean_probabilities[right].mean() > apart[right].mean() + 0.02


def test_features_that_do_not_predict_the_labels():
    with pytest.raises(ConfigError, match="data set 'a': the features do not predict the labels"):
        estimated(y=np.arange(300) % 2)
