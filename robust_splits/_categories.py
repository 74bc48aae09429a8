"""Columns of categories in data frames, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def rank_categories(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Replace pandas categories with their ranks 0, 1, ..., in the order of the categories.

    Sets ``_categories`` on the estimator, a dict of column names to lists of categories.  Without `reset`, uses
    these categories instead of those of `X`.

    Parameters
    ----------
    estimator : BaseRobustTrees
    X : array-like or DataFrame
    reset : bool

    Returns
    -------
    array-like or DataFrame
        `X` itself if there is nothing to replace.  Missing and unknown categories are NaN.
    """
    is_frame = hasattr(X, "iloc") and hasattr(X, "columns")
    if reset:
        is_frame = is_frame and X.columns.is_unique  # other frames are rejected with the other checks of X
        names = [name for name, dtype in X.dtypes.items() if hasattr(dtype, "categories")] if is_frame else []
        estimator._categories = {name: X[name].cat.categories.tolist() for name in names}
    known = {name: categories for name, categories in estimator._categories.items() if is_frame and name in X}
    if not known:
        return X
    import pandas as pd  # imported already, as X is a frame

    X = X.copy(deep=False)
    for name, categories in known.items():
        ranks = pd.Index(categories).get_indexer(pd.Index(X[name].astype(object)))
        X[name] = np.where(ranks < 0, np.nan, ranks)
    return X
