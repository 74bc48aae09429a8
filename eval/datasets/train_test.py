"""Train/test splits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._group_holdout import hold_out_groups
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


def _split_all(
    dataset: Dataset, test_fraction: float | None, stratify: bool, seed: int, fold: tuple[int, int] | None
) -> tuple[Rows, Rows]:
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    # Imported here because the import is slow and a finished run does not need it.
    from sklearn.model_selection import train_test_split

    y = dataset.y
    if fold is not None:
        return _fold(dataset, *fold, stratify, seed)
    if dataset.groups is not None:
        assert test_fraction is not None  # noqa: S101 - for the type checker: only given splits have none
        test = hold_out_groups(y, dataset.groups, test_fraction, stratify=stratify, seed=seed)
        train = np.setdiff1d(np.arange(y.size), test)
        if np.unique(y[train]).size < 2:
            raise ValueError("the training rows have only one class, because groups stay together")
        return train, test
    train, test = train_test_split(
        np.arange(y.size), test_size=test_fraction, random_state=seed, stratify=y if stratify else None
    )
    return train, test


def _fold(dataset: Dataset, n_folds: int, fold: int, stratify: bool, seed: int) -> tuple[Rows, Rows]:
    """Split into the rows outside a fold of cross-validation and those in it."""
    from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

    folds: Any
    if dataset.groups is not None:
        folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    else:
        folds = (StratifiedKFold if stratify else KFold)(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes need not be in every fold
        splits = list(folds.split(np.zeros(dataset.y.size), dataset.y, dataset.groups))
    train, test = splits[fold]
    if np.unique(dataset.y[train]).size < 2:
        raise ValueError("the training rows of a fold have only one class")
    return train, test
