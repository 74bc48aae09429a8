"""Initialise the root of a tree."""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel
from .nodes import GrowthSettings, Nodes, Waiting, init_node, keep_counts
from .scan import Samples


@outer_kernel()
def _write_rows(weights, labels, class_bits, rows, counts):
    """Write the rows of positive weight in the format of `scan`, and add up the class counts.

    Returns the number of these rows, and their weight.
    """
    n, total = uintp(0), 0.0
    for i in range(weights.shape[0]):
        weight, label = weights[i], labels[i]
        payload = i
        if class_bits > 0:
            payload = (np.int64(weight) << class_bits) | label
        rows[n] = (i << 32) | payload
        n += uintp(weight > 0.0)  # no unpredictable branch
        counts[uintp(label)] += weight
        total += weight
    return np.int64(n), total


def init_root(
    samples: Samples, rows: NDArray[np.int64], nodes: Nodes, waiting: Waiting, growth: GrowthSettings
) -> tuple[int, bool, int]:
    """Initialise the root, and write its rows, those of positive weight, to `rows`.

    Most of this is not compiled, because that would take longer than it saves.  Returns the number of rows,
    whether to search the root for a split, and the number of leaves with several classes.
    """
    counts = waiting.counts[0]
    counts[:] = 0.0
    n, weight = _write_rows(samples.weights, samples.labels, samples.class_bits, rows, counts)
    present = np.flatnonzero(counts)
    only_class = int(present[0]) if present.size == 1 else -1
    waiting.constant[0] = 0
    waiting.order[0] = 0
    waiting.free[:] = np.arange(waiting.free.size)[::-1]
    waits = init_node.py_func(nodes, waiting, 0, 0, 0, n, 0, weight, only_class, growth)
    n_mixed = 0
    if not waits and only_class < 0:
        n_mixed = keep_counts.py_func(nodes, 0, counts, n_mixed)
    return n, waits, n_mixed
