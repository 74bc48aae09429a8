"""Train/test splits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .dataset import Dataset


def split(
    dataset: Dataset, test_fraction: float | None, stratify: bool, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split into training and test rows, by the data set's own split if it has one, else at random.

    Raises
    ------
    ValueError
        If there are too few rows, or too few of a class to stratify.
    """
    if dataset.is_test is not None:
        return np.flatnonzero(~dataset.is_test), np.flatnonzero(dataset.is_test)
    # Imported here because the import is slow and a finished run does not need it.
    from sklearn.model_selection import train_test_split

    y = dataset.y
    train, test = train_test_split(
        np.arange(y.size), test_size=test_fraction, random_state=seed, stratify=y if stratify else None
    )
    return train, test
