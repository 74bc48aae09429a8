"""The program of the helper process: compile kernels for a fit and predictions, and save them on disk.

Arguments: the kind of search, and the name of the dtype; see `start_helper`.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any

import numpy as np
from numba import typeof

from ._kernels import children, partition, scan, search, sorting
from ._kernels.criterion_codes import GINI
from ._kernels.gini_reduction import gini_reduction


def compile_growing(kind: str) -> None:
    """Compile the kernels that the grower calls, the last ones first; for `kind`, see `start_helper`."""
    i, x, integers, floats = 0, 0.0, np.zeros(1, dtype=np.int64), np.zeros(1)
    codes, words = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint64)
    table, gini = (floats, None) if kind == "other" else (None, True)
    samples = scan.Samples(1, np.zeros(1, dtype=np.int32), floats)
    node = scan.Node(floats, i, x, x, x, x, x)
    measure = scan.Measure(GINI, x, floats, gini_reduction)
    scratch = search.new_scratch(1, 2)
    scanned = (node, i, i, samples, measure, table, gini, i, x, scratch, x)
    calls: list[tuple[Any, ...]] = [
        (partition.copy_codes, words[:, None], integers, i, i, words),
        (scan.describe, i, x, floats, i, table),
    ]
    if kind == "random":
        calls += [
            (search.gather, codes, i, i, i, integers, i, i, i, i, floats, integers, floats),
            (search.search_random, i, i, i, floats, floats, node, samples, measure, i, x, scratch, x, words),
        ]
    else:
        calls += [
            (search.count_codes, codes, i, i, integers, i, i, samples, i, scratch.bins, integers),
            (search.gather, codes, i, i, i, integers, i, i, i, i, floats, integers, floats),
            (search.fill_bins, integers, samples, i, i, scratch),
            (search.list_cells, i, i, i, table, scratch),
            (sorting.sort_keys, integers, integers, scratch.short_keys, integers, i, i),
            (search.scan_keys, integers, True, i, i, *scanned),
        ]
    calls += [
        (partition.partition, codes, i, i, i, integers, i, i, integers, i, i),
        (children.find_only_class, i, samples, floats, x),
    ]
    for kernel, *arguments in reversed(calls):
        kernel.compile(tuple(map(typeof, arguments)))
    if kind == "other":
        importlib.import_module("._kernels.reduction", __package__)  # compiles it


def compile_prediction(dtype: np.dtype[Any]) -> None:
    """Compile what forests need after growing, for rows of a `dtype`, by small calls."""
    # Not imported before, because that takes long enough to compile some kernels.
    from ._kernels.walk import LANES, add_leaf_values, add_smoothed, leaves_of
    from ._validation import read_only
    from .tree import Tree

    stump = Tree(
        feature=np.array([0, -1, -1], dtype=np.int32),
        threshold=np.array([0.0, np.nan, np.nan]),
        missing_left=np.zeros(3, dtype=bool),
        left=np.array([1, -1, -1], dtype=np.int32),
        weight=np.array([2.0, 1.0, 1.0]),
        n_rows=np.array([2, 1, 1]),
        gain=np.array([0.5, 0.0, 0.0]),
        slots=np.array([-1, 0, 1], dtype=np.int32),
        mixed_counts=np.empty((0, 2)),
    )
    X = read_only(np.zeros((LANES, 1), dtype=dtype))
    labels, no_rows, weight = np.zeros(LANES, dtype=np.int32), np.zeros(LANES, dtype=bool), stump.weight
    grid, sums, n_trees = np.zeros(1), np.zeros((LANES, 1, 1)), np.zeros(LANES)
    add_smoothed(
        X, no_rows, labels, stump.steps(dtype), stump.n_rows, stump.counts, weight, weight, np.array([2]), grid,
        grid.copy(), sums, n_trees,
    )  # fmt: skip
    stump.pruned(3)
    leaves = leaves_of(X, stump.steps(dtype))
    add_leaf_values(*stump.leaf_values(), leaves[0], np.zeros((LANES, 2)))


def _exit_with_parent() -> None:
    """Exit when the pipe to the parent breaks."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    compile_growing(sys.argv[1])
    compile_prediction(np.dtype(sys.argv[2]))
