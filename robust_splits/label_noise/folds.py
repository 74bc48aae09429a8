"""Splits of rows whose training rows contain every class: folds and holdouts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sized
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import (
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    train_test_split,
)

Rows = NDArray[np.intp]
Folds = list[tuple[Rows, Rows]]  # rows to fit on, rows to predict

MAX_GROUP_FOLDS = 10  # of a holdout of groups: scikit-learn's time grows with the number of folds


def make_folds(codes: NDArray[np.int64], cv: Any, groups: Any = None, seed: int = 0) -> Folds:
    """Folds whose training rows contain every class; see `keep_classes_in_training`.

    A class of a single row is in all training rows, and is never predicted.

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
    if groups is not None:
        groups = np.asarray(groups)
        if missing := int(pd.isna(groups).sum()):
            raise ValueError(f"groups contains {missing} missing values")
    if isinstance(cv, Integral):
        n_folds = limit_folds(int(cv), codes, groups)
        if n_folds < 2:
            of = "rows of one class" if groups is None or np.bincount(codes).max() < 2 else "groups"
            raise ValueError(f"the rows cannot be divided into folds, which need at least two {of}")
        splits = shuffled_folds(codes, n_folds, groups, seed=seed)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = list(check_cv(cv).split(codes, codes, groups))
    completed = [keep_classes_in_training(codes, seen, unseen, groups) for seen, unseen in splits]
    folds = [(seen, unseen) for seen, unseen in completed if unseen.size]
    if not folds:
        raise ValueError(
            "the rows cannot be divided into folds: in each, training rows lack the classes of the other rows"
        )
    return folds


def limit_folds(n_folds: int, codes: NDArray[np.int64], groups: NDArray[Any] | None) -> int:
    """Number of folds, at most the number of rows of the largest class and the number of groups."""
    n_folds = min(n_folds, int(np.bincount(codes).max()))
    return n_folds if groups is None else min(n_folds, np.unique(groups).size)


def shuffled_folds(
    codes: NDArray[np.int64],
    n_folds: int,
    groups: NDArray[Any] | None = None,
    *,
    stratify: bool = True,
    seed: int | None = 0,
) -> Folds:
    """Folds of scikit-learn; some classes may be missing from training rows.

    `stratify` says whether the shares of the classes are those of all rows.  With groups, they always are, as
    nearly as possible.
    """
    if groups is not None:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    else:
        splitter = (StratifiedKFold if stratify else KFold)(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(codes, codes, groups))


def keep_classes_in_training(
    codes: NDArray[np.int64], training: Rows, others: Rows, groups: NDArray[Any] | None = None
) -> tuple[Rows, Rows]:
    """Move rows of classes that the training rows lack to the training rows, with their groups."""
    moved = ~np.isin(codes[others], codes[training])
    if groups is not None:
        moved = np.isin(groups[others], groups[others][moved])
    return np.concatenate([training, others[moved]]), others[~moved]


def hold_out(
    codes: NDArray[np.int64],
    fraction: float,
    groups: NDArray[Any] | None = None,
    *,
    stratify: bool,
    seed: int | None,
) -> tuple[Rows, Rows]:
    """Draw the training rows and the rows to hold out; a class may be missing from the training rows.

    Groups are held out as a whole.  The rows held out are then folds of scikit-learn's
    ``StratifiedGroupKFold``, as many as come closest to the fraction, of 10 folds at most.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class numbers.
    fraction : float
        Fraction of the rows to hold out.
    groups : array of shape (n,) or None, default=None
    stratify : bool
        Whether the shares of the classes are to be those of all rows.
    seed : int or None

    Raises
    ------
    ValueError
        If there is a single group, or if there are too few rows, or too few rows of a class to stratify.
    """
    if groups is None:
        training, held_out = train_test_split(
            np.arange(codes.size), test_size=fraction, random_state=seed, stratify=codes if stratify else None
        )
        return training, held_out
    strata = codes if stratify else np.zeros_like(codes)
    most = limit_folds(MAX_GROUP_FOLDS, strata, groups)
    if most < 2:
        raise ValueError("there is a single group of rows, but a split needs two")
    share = Fraction(fraction).limit_denominator(most)
    share = min(max(share, Fraction(1, most)), Fraction(most - 1, most))
    folds = [fold for _, fold in shuffled_folds(strata, share.denominator, groups, seed=seed)]
    held_out = np.sort(np.concatenate(folds[: share.numerator]))
    return np.setdiff1d(np.arange(codes.size), held_out), held_out


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
        return make_folds(codes, splits, groups)
    groups = None if groups is None else np.asarray(groups)[used]
    return [(used[seen], used[unseen]) for seen, unseen in make_folds(codes[used], cv, groups, seed)]


def check_folds(cv: Any) -> None:
    """Raise a ValueError if `cv` is an integer below 2 or a string, has no splits, or can be read only once."""
    if isinstance(cv, str):
        raise ValueError(f"cv must be a number of folds, a splitter or a list of splits, got {cv!r}")
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
