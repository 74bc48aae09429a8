"""Buffers for the categories of a node in one column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNRANKED = -1


class Categories(NamedTuple):
    """Buffers for the categories of a node in one column.

    Attributes
    ----------
    first_key : int64 array of shape (max_categories + 1,)
        Where the keys of a category start.
    codes : int64 array of shape (max_categories,)
        Code of each category.
    inverse_weights, scores : float64 arrays of shape (max_categories,)
        Inverse of each category's weight, and the score that it is ranked by.
    order : int64 array of shape (max_categories,)
        The categories in the order of their ranks.
    class_weights, class_scores, products : float64 arrays of shape (n_classes,)
        Weight and score of each class, and the score after the next power step.
    halves : float64 array of shape (2, n_classes)
        Class counts of two children.
    best : int64 array of shape (max_categories + 1,)
        How many categories the best split so far divides, and their codes in their order.
    rank_of : int64 array of shape (n_codes + 1,)
        Rank of each code while rows are divided or shuffled, and otherwise `UNRANKED`.
    """

    first_key: NDArray[np.int64]
    codes: NDArray[np.int64]
    inverse_weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    order: NDArray[np.int64]
    class_weights: NDArray[np.float64]
    class_scores: NDArray[np.float64]
    products: NDArray[np.float64]
    halves: NDArray[np.float64]
    best: NDArray[np.int64]
    rank_of: NDArray[np.int64]


def new_categories(n_codes: int, max_categories: int, n_classes: int) -> Categories | None:
    """Allocate buffers for columns of up to `n_codes` categories and nodes with up to `max_categories` of them.

    Returns None if no column has categories.
    """
    if n_codes == 0:
        return None
    return Categories(
        first_key=np.empty(max_categories + 1, dtype=np.int64),
        codes=np.empty(max_categories, dtype=np.int64),
        inverse_weights=np.empty(max_categories),
        scores=np.empty(max_categories),
        order=np.empty(max_categories, dtype=np.int64),
        class_weights=np.empty(n_classes),
        class_scores=np.empty(n_classes),
        products=np.empty(n_classes),
        halves=np.empty((2, n_classes)),
        best=np.empty(max_categories + 1, dtype=np.int64),
        rank_of=np.full(n_codes + 1, UNRANKED, dtype=np.int64),
    )
