"""Leaf values: class proportions raised to a power, and hierarchical shrinkage."""

from __future__ import annotations

from .compile import outer_kernel


@outer_kernel()
def normalise_powers(counts, power, values):
    n_nodes, n_classes = counts.shape
    for node in range(n_nodes):
        most = 0.0
        for k in range(n_classes):
            most = max(most, counts[node, k])
        total = 0.0
        for k in range(n_classes):
            # Relative to the largest, so that no power is too large or too small.
            value = counts[node, k] if power == 1.0 else (counts[node, k] / most) ** power
            values[node, k] = value
            total += value
        for k in range(n_classes):
            values[node, k] /= total


@outer_kernel()
def shrink_towards_parents(values, weight, left, shrinkage):
    n_nodes, n_classes = values.shape
    # From the leaves up to differences from the parent, and down again to their sums.
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
    # Sums of differences may leave [0, 1] by rounding.  Last, so that no other value depends on it.
    for node in range(n_nodes):
        for k in range(n_classes):
            values[node, k] = min(max(values[node, k], 0.0), 1.0)
