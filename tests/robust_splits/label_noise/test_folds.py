import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, StratifiedKFold

from robust_splits.label_noise.folds import integer_seed, make_folds, make_weighted_folds

CODES = np.repeat([0, 1, 2], [40, 20, 10])


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


def test_groups_must_be_known():
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


def test_seeds():
    assert integer_seed(None) == 0
    assert integer_seed(np.int64(7)) == 7
    for make in (np.random.RandomState, np.random.default_rng):
        assert integer_seed(make(3)) == integer_seed(make(3)) != integer_seed(make(4))


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
