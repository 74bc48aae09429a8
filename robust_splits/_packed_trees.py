"""Trees in the form that predictions read, and walks of rows down them in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ._kernels.walk import LeafValues, Splits, Steps, leaves_of, pack_tree
from ._rows import Rows, copied_bytes, read_only
from ._subsets import Subsets
from ._threads import map_in_threads, split_range

MIN_WALKS_PER_THREAD = 1 << 15  # of a row down a tree; fewer take less time than starting a thread
# Limits the memory for the leaves of a prediction.  The fewer rows at once, the more often the trees are read.
ROWS_AT_ONCE = 1 << 15
LEAVES_AT_ONCE = 1 << 22  # if that allows more rows
MAX_COPIED_BYTES = 1 << 22  # of rows that are not in C order


class PackableTree(Protocol):
    """A tree that can be packed for predictions: a `Tree` or a `StoredTree`."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including leaves."""

    @property
    def feature(self) -> NDArray[np.integer]:
        """Features of the splits, with or without -1 for leaves."""

    @property
    def splits(self) -> Splits:
        """Features, thresholds and children of the splits."""

    @property
    def subsets(self) -> Subsets | None:
        """Subsets of categories; None if no column is categorical."""

    @property
    def mixed_counts(self) -> NDArray[Any]:
        """Class counts of the leaves with several classes, shape (n_mixed, n_classes)."""

    @property
    def n_value_rows(self) -> int:
        """Number of leaves whose class probabilities are not a one and zeros."""

    def write_leaf_values(self, class_or_row: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """Write the class probabilities of the leaves; see `LeafValues`."""


def pack(trees: Sequence[PackableTree], dtype: np.dtype[Any], n_threads: int = 1) -> Steps:
    """Pack the nodes of trees for rows of a `dtype`, float32 or float64."""
    sizes = np.array([tree.n_nodes for tree in trees], dtype=np.int64)
    ends = sizes.cumsum()
    bits = int(sizes.max() - 1).bit_length()
    highest_feature = max(int(tree.feature.max(initial=0)) for tree in trees)
    narrow = dtype == np.float32 and bits + 1 + highest_feature.bit_length() <= 32
    word: type[np.uint32 | np.uint64] = np.uint32 if narrow else np.uint64
    nodes = np.empty(ends[-1], dtype=[("threshold", dtype), ("word", word)])
    pattern = np.dtype(f"i{dtype.itemsize}")
    infinity = dtype.type(np.inf).view(pattern)

    def pack_one(pair: tuple[PackableTree, int]) -> None:
        tree, end = pair
        own, splits = nodes[end - tree.n_nodes : end], tree.splits
        with np.errstate(over="ignore"):  # beyond single precision
            rounded = splits.threshold.astype(dtype)
        rounded_bits, thresholds = rounded.view(pattern), own["threshold"].view(pattern)
        pack_tree(splits, rounded, rounded_bits, infinity, bits, thresholds, own["word"])

    map_in_threads(pack_one, list(zip(trees, ends.tolist(), strict=True)), n_threads)
    parts = [tree.subsets for tree in trees if tree.subsets is not None]
    subsets = Subsets.join(parts) if parts else None
    return Steps(nodes, ends - sizes, word(bits + 1), word((1 << bits) - 1), subsets)


def pack_leaf_values(trees: Sequence[PackableTree]) -> LeafValues:
    """Class probabilities of the leaves of trees, which is too little work for threads."""
    sizes = np.array([(tree.n_nodes, tree.n_value_rows) for tree in trees], dtype=np.int64)
    roots, first_rows = np.ascontiguousarray((sizes.cumsum(axis=0) - sizes).T)
    n_nodes, n_rows = sizes.sum(axis=0)
    n_classes = trees[0].mixed_counts.shape[1]
    packed = LeafValues(np.empty(n_nodes, dtype=np.int32), np.empty((n_rows, n_classes)), roots, first_rows)
    for tree, root, first in zip(trees, roots.tolist(), first_rows.tolist(), strict=True):
        nodes, rows = slice(root, root + tree.n_nodes), slice(first, first + tree.n_value_rows)
        tree.write_leaf_values(packed.class_or_row[nodes], packed.values[rows])
    return packed


def map_leaves(use: Callable[[slice, NDArray[np.int32]], None], X: Rows, steps: Steps, n_threads: int) -> None:
    """Find the leaves of all rows in all trees, in threads, and pass them to `use`.

    Parameters
    ----------
    use : callable
        Called with a slice of the rows and their leaves, of shape (n_trees, n_rows).
    X : array or sparse array of shape (n_samples, n_features)
        In any memory order.  An array in C order is not copied, anything else a part at a time.
    steps : Steps
        Packed nodes of the trees for rows of this type.
    n_threads : int
        Maximum number of threads.
    """
    n_rows = X.shape[0]
    n_threads = min(n_threads, 1 + n_rows * steps.roots.size // MIN_WALKS_PER_THREAD)
    rows_at_once = max(ROWS_AT_ONCE, LEAVES_AT_ONCE // steps.roots.size)
    n_parts = max(n_threads, n_rows // rows_at_once, copied_bytes(X) // MAX_COPIED_BYTES)

    def find(rows: slice) -> None:
        use(rows, leaves_of(read_only(X[rows]), steps))

    map_in_threads(find, split_range(n_rows, n_parts), n_threads)


def find_leaves(X: Rows, steps: Steps, n_threads: int = 1) -> NDArray[np.int64]:
    """Leaf of each row in each tree, shape (n_samples, n_trees); see `map_leaves`."""
    found = np.empty((X.shape[0], steps.roots.size), dtype=np.int64)

    def keep(rows: slice, leaves: NDArray[np.int32]) -> None:
        found[rows] = leaves.T

    map_leaves(keep, X, steps, n_threads)
    return found


class PackedTrees:
    """The trees of a forest in the form that predictions read.

    Attributes
    ----------
    trees : sequence of PackableTree
    leaf_values : LeafValues
        Those of all trees.
    """

    def __init__(self, trees: Sequence[PackableTree], n_threads: int) -> None:
        self.trees = trees
        self.leaf_values = pack_leaf_values(trees)
        self._n_threads = n_threads
        self._steps: dict[np.dtype[Any], Steps] = {}

    @classmethod
    def cached(cls, cache: list[Self], trees: Sequence[PackableTree], n_threads: int) -> Self:
        """The packed trees in `cache`, packed anew if the forest has other trees now."""
        if not cache or list(map(id, cache[0].trees)) != list(map(id, trees)):
            cache[:] = [cls(trees, n_threads)]
        return cache[0]

    def steps(self, dtype: np.dtype[Any]) -> Steps:
        """Packed nodes for rows of a `dtype`."""
        if dtype not in self._steps:
            self._steps[dtype] = pack(self.trees, dtype, self._n_threads)
        return self._steps[dtype]
