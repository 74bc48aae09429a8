"""Subsets of categories in the splits of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ._kernels.coding import Columns
from ._kernels.nodes import Nodes


class Subsets(NamedTuple):
    """Categories that splits send to one side: that which missing values do not go to.

    All other categories go where missing values go, also those that no training row of the node has.

    Attributes
    ----------
    of_node : int32 array of shape (n_nodes,)
        Subset of each node; -1 for leaves and for splits at a threshold.
    offsets : int64 array of shape (n_subsets + 1,)
        Start of each subset in `values`.
    values : float64 array
        Numbers of the categories, sorted within a subset.
    """

    of_node: NDArray[np.int32]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def read(cls, nodes: Nodes, columns: Columns) -> Self:
        """Read the subsets of grown nodes, and set the thresholds of these nodes to NaN."""
        divides = (nodes.feature >= 0) & columns.categorical[nodes.feature]
        inner = np.flatnonzero(divides)
        first, feature, missing_left = (
            nodes.threshold[inner].astype(np.int64),
            nodes.feature[inner],
            nodes.missing_left[inner],
        )
        nodes.threshold[inner] = np.nan
        n, n_left = nodes.divided[first], nodes.divided[first + 1]
        sizes = np.where(missing_left, n - n_left, n_left)
        codes = nodes.divided[_ranges(first + 2 + np.where(missing_left, n_left, 0), sizes)]
        keys = np.arange(sizes.size).repeat(sizes) << 32 | codes  # values of a column ascend with its codes
        keys.sort()
        values = columns.values[columns.offsets[feature].repeat(sizes) + (keys & 0xFFFFFFFF)]
        return cls(_numbered(divides), _offsets(sizes), values)

    def of(self, node: int) -> NDArray[np.float64]:
        """Subset of one node."""
        subset = self.of_node[node]
        return self.values[self.offsets[subset] : self.offsets[subset + 1]]

    def take(self, nodes: NDArray[np.int64]) -> Self:
        """Subsets of some nodes; -1 stands for a leaf."""
        subsets = np.where(nodes < 0, -1, self.of_node[nodes])
        kept = subsets[subsets >= 0]
        sizes = np.diff(self.offsets)[kept]
        values = self.values[_ranges(self.offsets[kept], sizes)]
        return type(self)(_numbered(subsets >= 0), _offsets(sizes), values)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the subsets of several trees."""
        n_subsets = np.cumsum([0] + [part.offsets.size - 1 for part in parts])
        of_node = [
            np.where(part.of_node < 0, -1, part.of_node + n)
            for part, n in zip(parts, n_subsets[:-1], strict=True)
        ]
        sizes = [np.diff(part.offsets) for part in parts]
        return cls(
            np.concatenate(of_node).astype(np.int32),
            _offsets(np.concatenate(sizes)),
            np.concatenate([part.values for part in parts]),
        )


def _ranges(begin: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ``arange(begin, begin + size)`` of all pairs."""
    starts: NDArray[np.int64] = (begin - _offsets(sizes)[:-1]).repeat(sizes)
    return starts + np.arange(sizes.sum())


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


def _numbered(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Number the True elements from 0; -1 for the others."""
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)
