"""Compiled loops of ``_leaf_values.py``: normalised powers of class counts, and hierarchical shrinkage."""

from __future__ import annotations

from .compile import outer_kernel


@outer_kernel()
def normalise_powers(counts, power, values):
    """Write ``n_k^power / sum_j n_j^power`` of each node to `values`."""
    n_nodes, n_classes = counts.shape
    for node in range(n_nodes):
        total = 0.0
        if power == 1.0:
            for k in range(n_classes):
                total += counts[node, k]
            for k in range(n_classes):
                values[node, k] = counts[node, k] / total
            continue
        max_count = 0.0
        for k in range(n_classes):
            max_count = max(max_count, counts[node, k])
        for k in range(n_classes):
            # Relative to the largest count, so that no power overflows and their sum does not underflow.
            values[node, k] = (counts[node, k] / max_count) ** power
            total += values[node, k]
        for k in range(n_classes):
            values[node, k] /= total


@outer_kernel()
def shrink_towards_parents(values, weight, left, shrinkage):
    """Apply hierarchical shrinkage to `values` in place."""
    n_nodes, n_classes = values.shape
    # Bottom-up, replace each value by its shrunk difference from the parent's; top-down, sum the differences.
    for node in range(n_nodes - 1, -1, -1):
        if left[node] >= 0:
            share = weight[node] / (weight[node] + shrinkage)
            for child in range(left[node], left[node] + 2):
                for k in range(n_classes):
                    values[child, k] = (values[child, k] - values[node, k]) * share
    for node in range(n_nodes):
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                for k in range(n_classes):
                    values[child, k] += values[node, k]
    # Rounding may take the sums out of [0, 1].  Clipping comes last, so that no other value depends on it.
    for node in range(n_nodes):
        for k in range(n_classes):
            values[node, k] = min(max(values[node, k], 0.0), 1.0)
