import dataclasses

import numpy as np
import pytest

from boostnoise.eval.config.dataset_spec import DatasetSpec
from boostnoise.eval.datasets.dataset import load_dataset
from boostnoise.eval.datasets.train_test import split

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
