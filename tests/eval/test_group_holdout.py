import numpy as np
import pytest

from boostnoise.eval._group_holdout import hold_out_groups

RNG = np.random.default_rng(0)
GROUPS = RNG.integers(60, size=1000)
Y = ((GROUPS % 3 == 0) ^ (RNG.random(1000) < 0.1)).astype(np.int64)


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.25, 0.3, 0.5, 0.8])
def test_whole_groups_with_the_classes_of_all_rows(fraction):
    rows = hold_out_groups(Y, GROUPS, fraction, stratify=True, seed=0)
    assert np.intersect1d(GROUPS[rows], np.delete(GROUPS, rows)).size == 0
    assert rows.size / Y.size == pytest.approx(fraction, abs=0.04)
    assert Y[rows].mean() == pytest.approx(Y.mean(), abs=0.05)
    assert (np.diff(rows) > 0).all()


def test_the_seed_decides():
    one, same, other = (hold_out_groups(Y, GROUPS, 0.2, stratify=False, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert set(one) != set(other)


def test_few_groups_or_rows():
    groups = np.repeat([0, 1, 2], 4)
    rows = hold_out_groups(np.arange(12) % 2, groups, 0.05, stratify=True, seed=0)
    assert np.unique(groups[rows]).size == 1
    rows = hold_out_groups(np.array([0, 1, 0, 1]), np.arange(4), 0.1, stratify=True, seed=0)
    assert 0 < rows.size < 4
    with pytest.raises(ValueError, match="a single group"):
        hold_out_groups(Y, np.zeros_like(Y), 0.2, stratify=True, seed=0)
