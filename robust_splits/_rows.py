"""Rows of X, dense or sparse.  Sparse rows are made dense a part at a time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

Rows: TypeAlias = NDArray[np.floating] | csr_array
Features: TypeAlias = NDArray[np.floating] | csc_array


def as_dense(X: Rows | Features) -> NDArray[np.floating]:
    """`X` as an array."""
    if not issparse(X):
        return X
    dense: NDArray[np.floating] = X.toarray()
    return dense


def by_feature(X: Rows) -> Features:
    """`X` in a form whose columns can be selected."""
    return X.tocsc() if issparse(X) else X


def read_only(X: Rows) -> NDArray[np.floating]:
    """Read-only array of `X` in C order, without a copy if `X` has that order."""
    dense = np.ascontiguousarray(as_dense(X))
    # With a single memory layout and writability, Numba compiles each walk once per dtype.
    view: NDArray[np.floating] = dense.view()
    view.flags.writeable = False
    return view


def copied_bytes(X: Rows) -> int:
    """Size of the copy that `read_only` makes of `X`."""
    if not issparse(X) and X.flags.c_contiguous:
        return 0
    n_samples, n_features = X.shape
    return int(n_samples * n_features * X.dtype.itemsize)
