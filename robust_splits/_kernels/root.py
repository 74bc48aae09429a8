"""Initialise the root of a tree.  This is not compiled, because that would take longer than it saves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .nodes import GrowthSettings, Nodes, Waiting, init_node, keep_counts
from .scan import Samples


def init_root(
    samples: Samples, rows: NDArray[np.int64], nodes: Nodes, waiting: Waiting, growth: GrowthSettings
) -> tuple[int, bool, int]:
    """Initialise the root, and write its rows, those of positive weight, in the format of `scan`.

    Returns the number of rows, whether to search the root for a split, and the number of leaves with several
    classes.
    """
    inside = np.flatnonzero(samples.weights > 0.0)
    labels, weights = samples.labels[inside], samples.weights[inside]
    payload = inside
    if samples.class_bits > 0:
        payload = (weights.astype(np.int64) << samples.class_bits) | labels
    rows[: inside.size] = (inside << 32) | payload
    counts = waiting.counts[0]
    counts[:] = np.bincount(labels, weights, minlength=counts.size)
    present = np.flatnonzero(counts)
    only_class = int(present[0]) if present.size == 1 else -1
    waiting.constant[0] = 0
    waiting.order[0] = 0
    waiting.free[:] = np.arange(waiting.free.size)[::-1]
    waits = init_node.py_func(nodes, waiting, 0, 0, 0, inside.size, 0, counts.sum(), only_class, growth)
    n_mixed = 0
    if not waits and only_class < 0:
        n_mixed = keep_counts.py_func(nodes, 0, counts, n_mixed)
    return inside.size, waits, n_mixed
