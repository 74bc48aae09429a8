import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, StratifiedKFold

from robust_splits.label_noise.folds import check_folds, hold_out, integer_seed, make_folds, make_weighted_folds

CODES = np.repeat([0, 1, 2], [40, 20, 10])
RNG = np.random.default_rng(0)
GROUPS = RNG.integers(60, size=1000)
Y = ((GROUPS % 3 == 0) ^ (RNG.random(1000) < 0.1)).astype(np.int64)


def test_folds_are_those_of_scikit_learn():
    expected = StratifiedKFold(5, shuffle=True, random_state=3).split(CODES, CODES)
    for found, fold in zip(make_folds(CODES, 5, seed=3), expected, strict=True):
        np.testing.assert_array_equal(found[0], fold[0])
        np.testing.assert_array_equal(found[1], fold[1])


def test_the_training_rows_of_each_fold_have_every_class():
    codes = np.append(CODES, [3, 4, 4])  # a single row of class 3, two of class 4
    predicted = []
    for seen, unseen in make_folds(codes, 5):
        assert set(codes[seen]) == set(range(5))
        assert not set(seen) & set(unseen)
        assert seen.size + unseen.size == codes.size
        predicted.extend(unseen.tolist())
    assert sorted(predicted) == [row for row in range(codes.size) if codes[row] != 3]


def test_there_are_no_more_folds_than_rows_of_the_largest_class():
    assert len(make_folds(np.array([0, 0, 0, 1, 1]), 5)) == 3
    with pytest.raises(ValueError, match="at least two rows of one class"):
        make_folds(np.array([0, 1, 2]), 5)


def test_groups_stay_together():
    groups = np.arange(CODES.size) % 7
    folds = make_folds(CODES, 5, groups)
    assert len(folds) == 5
    for seen, unseen in folds:
        assert not set(groups[seen]) & set(groups[unseen])
    assert len(make_folds(CODES, 5, np.arange(CODES.size) % 2)) == 2
    with pytest.raises(ValueError, match="at least two groups"):
        make_folds(CODES, 5, np.zeros(CODES.size))
    with pytest.raises(ValueError, match="training rows lack the classes of the other rows"):
        make_folds(CODES, 3, CODES)


def test_a_class_of_one_group_stays_in_training_with_its_group():
    codes = np.append(CODES, [3, 3])
    groups = np.append(np.arange(CODES.size) % 7, [2, 2])
    for seen, unseen in make_folds(codes, 5, groups):
        assert (codes[seen] == 3).sum() == 2
        assert not set(groups[seen]) & set(groups[unseen])


def test_missing_groups_are_rejected():
    for missing in (None, np.nan):
        groups = np.array(["a", "b", missing] * 24, dtype=object)[: CODES.size]
        with pytest.raises(ValueError, match="groups contains 23 missing values"):
            make_folds(CODES, 3, groups)


def test_a_splitter_or_splits():
    groups = np.arange(CODES.size) % 4
    assert len(make_folds(CODES, GroupKFold(4), groups)) == 4
    splits = [(np.arange(35), np.arange(35, 70)), (np.arange(0, 70, 2), np.arange(1, 70, 2))]
    (seen, unseen), second = make_folds(CODES, splits)
    assert set(CODES[seen]) == {0, 1, 2}  # rows of classes 1 and 2 have been moved
    np.testing.assert_array_equal(unseen, np.arange(35, 40))
    np.testing.assert_array_equal(second[1], splits[1][1])


def test_seeds_become_integers():
    assert integer_seed(None) == 0
    assert integer_seed(np.int64(7)) == 7
    for make in (np.random.RandomState, np.random.default_rng):
        assert integer_seed(make(3)) == integer_seed(make(3)) != integer_seed(make(4))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be at least 2 folds, got 1"),
        ("few", "cv must be a number of folds, a splitter or a list of splits, got 'few'"),
        ([], "cv must have at least one split, got none"),
        ((split for split in ()), r"cv is a generator, which .* only once; pass list\(cv\)"),
    ],
)
def test_bad_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        check_folds(cv)


def test_rows_without_weight_are_left_out():
    codes = np.arange(30) % 2
    weight = (np.arange(30) % 3).astype(float)
    used = np.flatnonzero(weight)
    for cv in (4, StratifiedKFold(4, shuffle=True, random_state=0)):
        folds = make_weighted_folds(codes, weight, cv)
        for (seen, unseen), (some, others) in zip(folds, make_folds(codes[used], 4), strict=True):
            np.testing.assert_array_equal(seen, used[some])
            np.testing.assert_array_equal(unseen, used[others])
    splits = [(np.arange(20), np.arange(30) >= 20)]
    ((seen, unseen),) = make_weighted_folds(codes, weight, splits)
    np.testing.assert_array_equal(seen, used[used < 20])
    np.testing.assert_array_equal(unseen, used[used >= 20])
    for none in (None, codes.astype(float)):  # no weights, or a class without any
        folds = make_weighted_folds(codes, none, 3)
        for found, expected in zip(folds, make_folds(codes, 3), strict=True):
            np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.25, 0.3, 0.5, 0.8])
def test_a_holdout_has_whole_groups_and_the_classes_of_all_rows(fraction):
    _, rows = hold_out(Y, fraction, GROUPS, stratify=True, seed=0)
    assert np.intersect1d(GROUPS[rows], np.delete(GROUPS, rows)).size == 0
    assert rows.size / Y.size == pytest.approx(fraction, abs=0.04)
    assert Y[rows].mean() == pytest.approx(Y.mean(), abs=0.05)
    assert (np.diff(rows) > 0).all()


def test_a_holdout_depends_on_the_seed():
    one, same, other = (hold_out(Y, 0.2, GROUPS, stratify=False, seed=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert set(one) != set(other)


def test_a_holdout_of_few_groups_or_rows():
    groups = np.repeat([0, 1, 2], 4)
    _, rows = hold_out(np.arange(12) % 2, 0.05, groups, stratify=True, seed=0)
    assert np.unique(groups[rows]).size == 1
    _, rows = hold_out(np.array([0, 1, 0, 1]), 0.1, np.arange(4), stratify=True, seed=0)
    assert 0 < rows.size < 4
    with pytest.raises(ValueError, match="a single group"):
        hold_out(Y, 0.2, np.zeros_like(Y), stratify=True, seed=0)
