"""Hold out whole groups of rows."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

MAX_FOLDS = 10  # scikit-learn's time grows with the number of folds


def hold_out_groups(
    y: NDArray[np.int64], groups: NDArray[np.int64], fraction: float, *, stratify: bool, seed: int | None
) -> NDArray[np.int64]:
    """Draw groups with about a fraction of the rows.

    They are folds of scikit-learn's ``StratifiedGroupKFold``, as many as come closest to the fraction, of 10
    folds at most.

    Parameters
    ----------
    y : int array of shape (n_samples,)
        Class numbers.
    groups : int array of shape (n_samples,)
    fraction : float
    stratify : bool
        Whether the shares of the classes are to be those of all rows.
    seed : int or None

    Returns
    -------
    int array
        Sorted positions of the rows that are held out.

    Raises
    ------
    ValueError
        If there is a single group.
    """
    # Imported here because the import is slow and a finished run does not need it.
    from sklearn.model_selection import StratifiedGroupKFold

    strata = y if stratify else np.zeros_like(y)
    most = min(MAX_FOLDS, np.unique(groups).size, int(np.bincount(strata).max()))
    if most < 2:
        raise ValueError("there is a single group of rows, but a split needs two")
    share = min(max(Fraction(fraction).limit_denominator(most), Fraction(1, most)), Fraction(most - 1, most))
    splitter = StratifiedGroupKFold(share.denominator, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = [fold for _, fold in splitter.split(strata, strata, groups)]
    return np.sort(np.concatenate(folds[: share.numerator]))
