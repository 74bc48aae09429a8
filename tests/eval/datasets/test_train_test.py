import dataclasses

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split

from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.loader import load_dataset
from boostnoise.eval.datasets.train_test import fix_split, split

WINE = load_dataset(DatasetSpec.model_validate("wine"))


def test_stratified_splits_keep_class_proportions():
    train, test = split(WINE, 0.25, True, 0)
    assert sorted([*train, *test]) == list(range(178))
    shares = [np.bincount(WINE.y[rows]) / rows.size for rows in (train, test)]
    np.testing.assert_allclose(*shares, atol=0.02)
    other = split(WINE, 0.25, False, 0)[1]
    assert other.size == test.size
    assert set(other) != set(test)


def test_the_split_of_the_data_set_takes_precedence():
    is_test = np.arange(178) % 4 == 1
    train, test = split(dataclasses.replace(WINE, is_test=is_test), 0.1, True, 0)
    np.testing.assert_array_equal(is_test[test], True)
    np.testing.assert_array_equal(is_test[train], False)
    assert train.size + test.size == 178


def test_a_fixed_split_is_that_of_scikit_learn():
    fixed = fix_split(WINE, 0.2, False, 0)
    train, test = train_test_split(np.arange(178), train_size=0.8, random_state=0)
    for seed in (0, 1):
        found = split(fixed, None, False, seed)
        assert [rows.tolist() for rows in found] == [sorted(train), sorted(test)]


def test_too_few_rows():
    with pytest.raises(ValueError, match="test_size = 1 should be greater or equal to the number of classes"):
        split(WINE, 0.001, True, 0)


def test_groups_stay_together():
    groups = np.arange(178) // 6
    train, test = split(dataclasses.replace(WINE, groups=groups), 0.2, True, 0)
    assert sorted([*train, *test]) == list(range(178))
    assert np.intersect1d(groups[train], groups[test]).size == 0
    assert test.size / 178 == pytest.approx(0.2, abs=0.06)


def test_a_group_with_all_rows_of_a_class():
    dataset = dataclasses.replace(WINE, y=(np.arange(178) < 9).astype(np.int64), groups=np.arange(178) // 9)
    with pytest.raises(ValueError, match="the training rows have only one class"):
        split(dataset, 0.5, True, 0)
    assert not dataset.y[split(dataset, 0.5, True, 1)[1]].any()


def test_folds_test_every_row_once():
    parts = [split(WINE, 0.2, True, 3, (5, fold)) for fold in range(5)]
    assert np.sort(np.concatenate([test for _, test in parts])).tolist() == list(range(178))
    for train, test in parts:
        assert np.intersect1d(train, test).size == 0
        assert np.bincount(WINE.y[test]) / test.size == pytest.approx(np.bincount(WINE.y) / 178, abs=0.05)
    expected = StratifiedKFold(5, shuffle=True, random_state=3).split(WINE.X, WINE.y)
    for (train, test), (other_train, other_test) in zip(parts, expected, strict=True):
        assert train.tolist() == other_train.tolist()
        assert test.tolist() == other_test.tolist()
    assert not np.array_equal(split(WINE, 0.2, True, 4, (5, 0))[1], parts[0][1])
    assert not np.array_equal(split(WINE, 0.2, False, 3, (5, 0))[1], parts[0][1])


def test_folds_keep_groups_together():
    groups = np.arange(178) // 3
    grouped = dataclasses.replace(WINE, groups=groups)
    for fold in range(3):
        train, test = split(grouped, 0.2, True, 0, (3, fold))
        assert np.intersect1d(groups[train], groups[test]).size == 0


def test_training_rows_are_drawn_from_those_of_the_split():
    train, test = split(WINE, 0.25, True, 5)
    drawn = {}
    for n in (30, 100):
        drawn[n], same = split(dataclasses.replace(WINE, train_rows=n), 0.25, True, 5)
        assert same.tolist() == test.tolist()
        assert drawn[n].size == n
        assert np.isin(drawn[n], train).all()
        assert np.bincount(WINE.y[drawn[n]]) / n == pytest.approx(np.bincount(WINE.y) / 178, abs=0.03)
    assert np.isin(drawn[30], drawn[100]).all()
    other = split(dataclasses.replace(WINE, train_rows=30), 0.25, True, 6)[0]
    assert not np.array_equal(other, drawn[30])
    for n in (2, 134):
        with pytest.raises(ValueError, match=f"train_rows must be from 3 to 133, got {n}"):
            split(dataclasses.replace(WINE, train_rows=n), 0.25, True, 5)
