"""Initialise the root of a tree."""

from __future__ import annotations

import numpy as np
from numpy import uintp
from numpy.typing import NDArray

from .compile import outer_kernel
from .inputs import Samples
from .nodes import PROGRESS, UNKNOWN, GrowthSettings, Nodes, init_node, is_final, keep_counts
from .search import NO_MISSING
from .waiting import Waiting


@outer_kernel()
def _write_rows(weights, labels, row_of_label, class_bits, rows, counts):
    """Write the rows of positive weight in the format of `inputs`, and add up the class counts.

    `row_of_label` is empty if each row has one label.  Returns the number of these rows, and their weight.
    """
    n, total = uintp(0), 0.0
    for i in range(weights.shape[0]):
        weight, label = weights[i], labels[i]
        payload = i
        if class_bits > 0:
            payload = (np.int64(weight) << class_bits) | label
        row = row_of_label[i] if row_of_label.shape[0] > 0 else i
        rows[n] = (row << 32) | payload
        n += uintp(weight > 0.0)  # no unpredictable branch
        counts[uintp(label)] += weight
        total += weight
    return np.int64(n), total


def init_root(
    samples: Samples,
    row_of_label: NDArray[np.int64],
    rows: NDArray[np.int64],
    nodes: Nodes,
    waiting: Waiting,
    growth: GrowthSettings,
    seed: int,
) -> NDArray[np.void]:
    """Initialise the root, and write its rows, those of positive weight, to `rows`; return the progress.

    With soft labels, `row_of_label` is not empty, and a row is written once for each of its labels.

    Most of this is not compiled, because that would take longer than it saves.
    """
    counts = waiting.counts[0]
    counts[:] = 0.0
    n, weight = _write_rows(samples.weights, samples.labels, row_of_label, samples.class_bits, rows, counts)
    present = np.flatnonzero(counts)
    only_class = int(present[0]) if present.size == 1 else -1
    waiting.constant[0] = 0
    waiting.priority[0] = np.inf
    waiting.entries[0] = (0, n, 0, 0, -1, -1, NO_MISSING, seed, 0.0, 1.0)
    waiting.order[0] = 0
    waiting.free[:] = np.arange(waiting.free.size)[::-1]
    progresses: NDArray[np.void] = np.zeros(1, dtype=PROGRESS)
    progress = progresses[0]
    progress.n_nodes, progress.n_leaves, progress.n_free = 1, 1, waiting.free.size - 1
    init_node.py_func(nodes, 0, n, weight, only_class)
    if not is_final.py_func(growth, n, 0, only_class):
        nodes.feature[0] = UNKNOWN
        progress.n_waiting = 1
    elif only_class < 0:
        keep_counts.py_func(nodes, 0, counts, progress)
    return progresses
