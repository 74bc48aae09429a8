"""Folds of rows for choices on noisy labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sized
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

Rows = NDArray[np.intp]
Folds = list[tuple[Rows, Rows]]  # rows to fit on, rows to predict


def make_folds(codes: NDArray[np.int64], cv: Any, groups: Any = None, seed: int = 0) -> Folds:
    """Folds whose training rows contain every class.

    Rows of a class that would be missing from the training rows of a fold are moved there.  So a class of a
    single row is in all training rows, and is never predicted.

    Parameters
    ----------
    codes : array of shape (n,)
        Class numbers.
    cv : int, cross-validation splitter or iterable of splits
        Number of stratified folds, at most the number of rows of the largest class; or what makes the splits.
    groups : array-like of shape (n,) or None
        Groups of rows that stay together.
    seed : int
        Seed of stratified folds.

    Raises
    ------
    ValueError
        If no row can be predicted, or if a group is missing.
    """
    if groups is not None and (missing := int(pd.isna(np.asarray(groups)).sum())):
        raise ValueError(f"groups contains {missing} missing values")
    splitter = cv
    if isinstance(cv, Integral):
        n_folds = min(int(cv), int(np.bincount(codes).max()))
        if n_folds < 2:
            raise ValueError("the rows cannot be divided into folds, which need at least two rows of one class")
        if groups is not None:
            n_folds = min(n_folds, np.unique(groups).size)
            if n_folds < 2:
                raise ValueError("the rows cannot be divided into folds, which need at least two groups")
        stratified = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = stratified(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(check_cv(splitter).split(codes, codes, groups))
    classes = np.arange(codes.max() + 1)
    folds = []
    for seen, unseen in splits:
        moved = np.isin(codes[unseen], np.setdiff1d(classes, codes[seen]))
        if not moved.all():
            folds.append((np.concatenate([seen, unseen[moved]]), unseen[~moved]))
    if not folds:
        raise ValueError(
            "the rows cannot be divided into folds: in each, training rows lack the classes of the other rows"
        )
    return folds


def make_weighted_folds(
    codes: NDArray[np.int64], weight: NDArray[Any] | None, cv: Any, groups: Any = None, seed: int = 0
) -> Folds:
    """`make_folds` of the rows whose weight is not zero, or of all rows if a class has no weight."""
    if weight is None or np.unique(codes[weight > 0]).size <= codes.max():
        return make_folds(codes, cv, groups, seed)  # each fit needs every class
    used = np.flatnonzero(weight)
    if not isinstance(cv, Integral) and not hasattr(cv, "split"):  # splits of all rows
        rows = np.arange(codes.size)
        splits = [(np.intersect1d(rows[seen], used), np.intersect1d(rows[unseen], used)) for seen, unseen in cv]
        return make_folds(codes, splits)
    groups = None if groups is None else np.asarray(groups)[used]
    return [(used[seen], used[unseen]) for seen, unseen in make_folds(codes[used], cv, groups, seed)]


def check_folds(cv: Any) -> None:
    """Raise a ValueError if `cv` is an integer below 2, has no splits, or can be read only once."""
    if isinstance(cv, Integral) and cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv!r}")
    if isinstance(cv, Iterator):
        raise ValueError(f"cv is a {type(cv).__name__}, which can be read only once; pass list(cv)")
    if isinstance(cv, Sized) and not len(cv):
        raise ValueError("cv must have at least one split, got none")


def integer_seed(random_state: Any) -> int:
    """Integer seed from any `random_state` that the libraries accept; 0 for None, as their default is fixed."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    return 0 if random_state is None else int(random_state)
