"""Checks of transition matrices of label noise."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LARGEST_CONDITION = 1e12  # largest condition number of a matrix that counts as invertible


def check_transition_matrix(T: ArrayLike) -> Floats:
    """Check a transition matrix and return it as an array.

    Parameters
    ----------
    T : array-like of shape (K, K)
        ``T[i, j]`` is the probability of label j for a row of class i.

    Returns
    -------
    float array of shape (K, K)

    Raises
    ------
    TypeError
        If the entries are not numbers.
    ValueError
        If T is not square or smaller than 2 x 2, if an entry is not in [0, 1], if a row does not sum to 1
        (within 1e-6), or if T is singular, so that labels do not distinguish the classes.
    """
    try:
        matrix = np.array(T, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"T must be a square matrix of numbers, got {reprlib.repr(T)}") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise ValueError(f"T must be square and at least 2 x 2, got shape {matrix.shape}")
    probable = (matrix >= 0.0) & (matrix <= 1.0)
    if not probable.all():
        i, j = np.argwhere(~probable)[0]
        raise ValueError(f"T must contain probabilities in [0, 1], got T[{i}, {j}] = {matrix[i, j]:g}")
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 1e-6)
    if wrong.size:
        raise ValueError(f"the rows of T must sum to 1, got {sums[wrong[0]]:g} in row {wrong[0]}")
    if np.linalg.cond(matrix) > LARGEST_CONDITION:
        small = f" {matrix.tolist()}" if len(matrix) <= 3 else f" of {len(matrix)} classes"
        raise ValueError(f"T must be invertible, got a singular matrix{small}")
    return matrix


def check_matrix_size(T: Sequence[Sequence[float]], n_classes: int) -> None:
    """Raise a ValueError if a transition matrix is for another number of classes."""
    if len(T) != n_classes:
        raise ValueError(f"T is for {len(T)} classes, but there are {n_classes}")


def normalise_rows(matrix: Floats) -> Floats:
    """Scale the rows of a matrix so that each sums to 1."""
    normalised: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised
