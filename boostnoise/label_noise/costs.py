"""Costs of wrong predictions, and the predictions with the least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.softmax import Floats


def check_costs(costs: Any, name: str, n_classes: int | None = None) -> Floats:
    """Check a cost matrix.

    Parameters
    ----------
    costs : array-like of shape (K, K)
        ``costs[i, j]`` is the cost of predicting class j for a row of class i.
    name : str
        Name of the argument, for messages.
    n_classes : int or None, default=None
        K, if it is known.

    Returns
    -------
    ndarray of shape (K, K)

    Raises
    ------
    TypeError, ValueError
        If it is no square matrix of finite numbers, is for another number of classes, or a wrong prediction of
        a class costs less than the right one.
    """
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a matrix of numbers, got {costs!r:.60}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"{name} must be a square matrix, one row for each class, got shape {matrix.shape}")
    if n_classes is not None and len(matrix) != n_classes:
        raise ValueError(f"{name} has costs for {len(matrix)} classes, but there are {n_classes}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite")
    cheaper = np.argwhere(matrix < np.diag(matrix)[:, np.newaxis])
    if cheaper.size:
        i, j = cheaper[0].tolist()
        raise ValueError(
            f"{name}: predicting class number {j} for a row of class number {i} costs {matrix[i, j]:g}, less "
            f"than the right prediction, {matrix[i, i]:g}; rows of the matrix are the right classes"
        )
    return matrix


def cheapest_classes(p: Floats, costs: Floats) -> NDArray[np.intp]:
    """Class number with the least expected cost, ``sum_i p_i costs[i, j]``, of each row; the first of equals.

    Parameters
    ----------
    p : array of shape (n, K)
        Probabilities of the clean classes.
    costs : array of shape (K, K)
    """
    cheapest: NDArray[np.intp] = (p @ costs).argmin(axis=1)
    return cheapest
