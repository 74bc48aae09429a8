"""Rank codes: every column as the rank of each value among the column's distinct values.

Comparing codes is comparing values, so splits found on codes are exact; and codes depend on X alone, so all
trees, criteria and label vectors over the same rows share them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RankCodes:
    """The columns of X as integers.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_samples), uint8, uint16 or uint32
        The rank of each value in its column; the narrowest type that holds them all.
    values : ndarray of shape (sum of distinct values,), float64
        The sorted distinct values of all columns, one column after the other.
    offsets : ndarray of shape (n_features + 1,), int64
        Where each column begins in `values`.
    """

    codes: NDArray[np.unsignedinteger]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]


def encode(X: NDArray[np.floating]) -> RankCodes:
    """Rank-code the columns of `X`, an array of finite numbers of shape (n_samples, n_features)."""
    n_samples, n_features = X.shape
    codes = np.empty((n_features, n_samples), dtype=np.uint8)
    distinct = []
    for j in range(n_features):
        column, rank = np.unique(np.ascontiguousarray(X[:, j]), return_inverse=True)
        needed = np.min_scalar_type(column.size - 1)
        if needed.itemsize > codes.itemsize:
            codes = codes.astype(needed)
        codes[j] = rank
        distinct.append(column.astype(np.float64))
    offsets = np.zeros(n_features + 1, dtype=np.int64)
    np.cumsum([column.size for column in distinct], out=offsets[1:])
    return RankCodes(codes, np.concatenate(distinct), offsets)
