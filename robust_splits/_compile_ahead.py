"""The program of the helper process: compile kernels for a fit and predictions, and save them on disk.

Arguments: the kind of search, and the name of the dtype; see `start_helper`.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from typing import Any, Literal

import numpy as np
from numba import typeof

from ._kernels import children, inputs, listed_rows, partition, random_search, scan, search, sorting
from ._kernels.coding import Column
from ._kernels.criterion_codes import GINI
from ._kernels.nodes import GrowthSettings
from ._rows import read_only


def compile_growing(kind: str) -> None:
    """Compile the kernels that the grower calls, the last ones first; for `kind`, see `start_helper`."""
    i, x, integers, floats = 0, 0.0, np.zeros(1, dtype=np.int64), np.zeros(1)
    codes, words = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint64)
    table = floats if kind == "other" else None
    gini: Literal[True] | None = True if kind != "other" else None
    exhaustive: Literal[True] | None = True if kind != "random" else None
    random: Literal[True] | None = True if kind == "random" else None
    places = np.zeros(1, dtype=np.int32)
    samples = inputs.Samples(i, i, places, floats)
    measure = inputs.Measure(GINI, x, floats, i)
    growth = GrowthSettings(i, i, i, i, x, x, i, kind == "random")
    scratch = inputs.new_scratch(1, 2).for_search(gini is not None, categories=False)
    searched = inputs.Search(
        samples,
        measure,
        growth,
        scratch,
        integers,
        integers,
        places,
        words,
        x,
        table,
        gini,
        exhaustive,
        random,
        None,
        None,
    )
    node = scan.Node(floats, i, x, x, x, x, x)
    column, sorted_column = Column(codes, i, i, i), scan.SortedColumn(integers, True, i, i, i, i)
    gathered, values = search.Gathered(i, i, i, False), search.Values(floats, floats, x, False)
    calls: list[tuple[Any, ...]] = [
        (partition.copy_codes, words[:, None], integers, i, i, words),
        (scan.describe, i, x, floats, i, table),
        (search.gather, column, integers, i, i, i, integers),
    ]
    if kind == "random":
        calls += [(random_search.search_random, searched, node, gathered, values, x, None, None)]
    else:
        calls += [
            (listed_rows.gather_listed, column, places, integers, places, i, i, integers),
            (search.count_skipped, integers, i, i, floats, floats),
            (search.count_codes, column, integers, i, i, samples, scratch.histogram, i),
            (search.fill_histogram, integers, samples, i, i, scratch.histogram),
            (search.list_cells, scratch.histogram, i, i, i, table, scratch.cells, integers),
            (sorting.sort_keys, integers, integers, scratch.keys.short, integers, i, i),
            (search.scan_column, searched, node, sorted_column, x, table, gini, None),
        ]
    calls += [
        (partition.partition, column, integers, i, i, i, i, None, integers),
        (listed_rows.update_places, integers, i, i, places),
        (children.find_only_class, i, samples, floats, x),
    ]
    for kernel, *arguments in reversed(calls):
        kernel.compile(tuple(map(typeof, arguments)))
    if kind == "other":
        importlib.import_module("._kernels.reduction", __package__)  # compiles it


def compile_prediction(dtype: np.dtype[Any]) -> None:
    """Compile what forests need after growing, and for a second pass, for rows of a `dtype`, by small calls."""
    # Not imported before, because that takes long enough to compile some kernels.
    from ._kernels.smoothing import SmoothedTree, SmoothingGrid, add_smoothed
    from ._kernels.walk import LANES, add_leaf_values, leaves_of
    from ._packed_trees import pack, pack_leaf_values
    from ._soft_labels import SoftLabels
    from .tree import Tree

    stump = Tree(
        feature=np.array([0, -1, -1], dtype=np.int32),
        threshold=np.array([0.0, np.nan, np.nan]),
        missing_left=np.zeros(3, dtype=bool),
        left=np.array([1, -1, -1], dtype=np.int32),
        weight=np.array([2.0, 1.0, 1.0]),
        n_rows=np.array([2, 1, 1]),
        gain=np.array([0.5, 0.0, 0.0]),
        class_or_row=np.array([-1, 0, 1], dtype=np.int32),
        mixed_counts=np.empty((0, 2)),
    )
    X = read_only(np.zeros((LANES, 1), dtype=dtype))
    labels, no_rows = np.zeros(LANES, dtype=np.int32), np.zeros(LANES, dtype=bool)
    weight, sums, n_trees = stump.weight, np.zeros((LANES, 1, 1)), np.zeros(LANES)
    steps = pack([stump], dtype)
    smoothed = SmoothedTree(steps, stump.n_rows, weight, stump.counts, weight)
    grid = SmoothingGrid(np.array([2]), np.zeros(1), np.empty(1))
    add_smoothed(X, labels, no_rows, smoothed, None, grid, sums, n_trees)
    stump.pruned(3)
    add_leaf_values(pack_leaf_values([stump]), leaves_of(X, steps), np.zeros((LANES, 2)))
    SoftLabels.from_probabilities(np.eye(2)).draw(np.ones(1, dtype=np.uint64), np.ones(2))


def _exit_with_parent() -> None:
    """Exit when the pipe to the parent breaks."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    compile_growing(sys.argv[1])
    compile_prediction(np.dtype(sys.argv[2]))
