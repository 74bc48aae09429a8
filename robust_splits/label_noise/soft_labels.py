"""Soft labels: probabilities of the classes in place of one class label per row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SUM_TOLERANCE = 1e-3  # of the probabilities of a row
SEVERAL = "; to fit several targets, use sklearn.multioutput.MultiOutputClassifier"


def are_soft_labels(y: Any) -> bool:
    """Whether labels are a table of probabilities instead of a column of class labels."""
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, list | tuple) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def read_soft_labels(y: Any, n_samples: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Check a table of class probabilities.

    Parameters
    ----------
    y : array-like or DataFrame of shape (n_samples, n_classes)
        The columns of a data frame are named after the class labels; else the classes are 0, 1, ...

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The sorted class labels.
    p : float64 array of shape (n_samples, n_classes)
        In the order of the classes.

    Raises
    ------
    ValueError
        If there is not one row of `y` for each row of X, or if probabilities are not numbers in [0, 1] that sum
        to 1 in each row (within 1e-3).
    """
    classes = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(np.shape(y)[1])
    try:
        p = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"soft labels must be probabilities of shape (n, n_classes): {error}") from error
    if len(p) != n_samples:
        raise ValueError(f"X and y must have the same number of rows, got {n_samples} and {len(p)}")
    if not ((p >= 0) & (p <= 1)).all():
        wrong = p[~((p >= 0) & (p <= 1))]
        raise ValueError(f"soft labels must be probabilities in [0, 1], got {wrong[:3].tolist()}{SEVERAL}")
    sums = p.sum(axis=1)
    wrong = sums[np.abs(sums - 1) > SUM_TOLERANCE]
    if wrong.size:
        raise ValueError(f"soft labels must sum to 1 in each row, got {wrong[:3].tolist()}{SEVERAL}")
    sorted_classes, order = np.unique(classes, return_index=True)
    if sorted_classes.size < classes.size:
        raise ValueError(f"the columns of soft labels must have different names, got {classes.tolist()}")
    is_sorted = bool((order[1:] > order[:-1]).all())
    return sorted_classes, p if is_sorted else p[:, order]
