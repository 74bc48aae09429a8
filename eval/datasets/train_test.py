"""Train/test splits."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from .dataset import Dataset, draw_rows

Rows = NDArray[np.int64]


def split(
    dataset: Dataset,
    test_fraction: float | None,
    stratify: bool,
    seed: int,
    fold: tuple[int, int] | None = None,
) -> tuple[Rows, Rows]:
    """Split into training and test rows, by the data set's own split if it has one, else at random.

    Rows of a group stay together, and the test rows are then about `test_fraction` of all.  If the data set has
    a number of training rows, as many are drawn.

    Parameters
    ----------
    dataset : Dataset
    test_fraction : float or None
        None if the data set has its own split.
    stratify : bool
    seed : int
    fold : tuple of (int, int) or None, default=None
        Number of folds of cross-validation, and the one that is tested.

    Raises
    ------
    ValueError
        If there are too few rows or groups, or too few rows of a class to stratify.
    """
    train, test = _split_all(dataset, test_fraction, stratify, seed, fold)
    if dataset.train_rows is not None:
        y = dataset.y[train]
        fewest = np.unique(y).size
        if not fewest <= dataset.train_rows <= train.size:
            raise ValueError(f"train_rows must be from {fewest} to {train.size}, got {dataset.train_rows}")
        train = train[draw_rows(y, dataset.train_rows, dataset.name, seed)]
    return train, test


def fix_split(dataset: Dataset, test_fraction: float, stratify: bool, seed: int) -> Dataset:
    """Give a data set without a split of its own the test rows of a random split.

    Parameters
    ----------
    dataset, test_fraction, stratify, seed : see `split`

    Raises
    ------
    ValueError
        See `split`.
    """
    _, test = _split_all(dataset, test_fraction, stratify, seed, None)
    return dataclasses.replace(dataset, is_test=np.isin(np.arange(dataset.y.size), test))


def _split_all(
    dataset: Dataset, test_fraction: float | None, stratify: bool, seed: int, fold: tuple[int, int] | None
) -> tuple[Rows, Rows]:
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    # Imported here because the import is slow and a finished run does not need it.
    from robust_splits.label_noise.folds import hold_out, shuffled_folds

    y, groups = dataset.y, dataset.groups
    if fold is not None:
        n_folds, number = fold
        folds = shuffled_folds(y, n_folds, groups, stratify=stratify, seed=seed)
        train, test = folds[number]
        reason = "the training rows of a fold have only one class"
    else:
        assert test_fraction is not None  # noqa: S101 - for the type checker: only given splits have none
        train, test = hold_out(y, test_fraction, groups, stratify=stratify, seed=seed)
        reason = "the training rows have only one class, because groups stay together"
    if (fold is not None or groups is not None) and np.unique(y[train]).size < 2:
        raise ValueError(reason)
    return train, test
