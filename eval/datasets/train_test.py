"""Train/test splits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._group_holdout import hold_out_groups
from .dataset import Dataset

Rows = NDArray[np.int64]


def split(dataset: Dataset, test_fraction: float | None, stratify: bool, seed: int) -> tuple[Rows, Rows]:
    """Split into training and test rows, by the data set's own split if it has one, else at random.

    Rows of a group stay together, and the test rows are then about `test_fraction` of all.

    Raises
    ------
    ValueError
        If there are too few rows or groups, or too few rows of a class to stratify.
    """
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    # Imported here because the import is slow and a finished run does not need it.
    from sklearn.model_selection import train_test_split

    y = dataset.y
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
