"""Minimal cost-complexity pruning.

The cost of a tree is the risk of its leaves plus alpha for each leaf.  A split removes risk and adds a leaf, so
the risk removed by a subtree's splits, less alpha for each of them, is what the subtree is worth.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from ._kernels.pruning import sum_worth


def worthwhile_splits(left: NDArray[np.int32], removed: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Splits of the smallest subtree with the lowest cost, among those whose ancestors are split.

    Parameters
    ----------
    left : int32 array of shape (n_nodes,)
        Left children; -1 for a leaf.
    removed : float64 array of shape (n_nodes,)
        Risk that the split of each node removes.
    alpha : float

    Returns
    -------
    bool array of shape (n_nodes,)
    """
    worth = np.empty_like(removed)
    sum_worth(left, removed, alpha, worth)
    is_worthwhile: NDArray[np.bool_] = worth > 0
    return is_worthwhile


def cost_complexity_path(
    left: NDArray[np.int32], removed: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weakest-link pruning (Breiman et al. 1984, Section 3.3).

    Returns
    -------
    alphas : float64 array of shape (n_steps,)
        0 for the full tree, then the values at which splits are pruned, ascending.
    removed : float64 array of shape (n_steps,)
        Risk removed by the splits that remain.
    """
    n_nodes = left.size
    parent, inner = np.full(n_nodes, -1), np.flatnonzero(left >= 0)
    parent[left[inner]] = parent[left[inner] + 1] = inner
    risk, n_splits = removed.tolist(), (left >= 0).astype(int).tolist()
    for node in inner[::-1].tolist():
        for child in (left[node], left[node] + 1):
            risk[node] += risk[child]
            n_splits[node] += n_splits[child]
    links = [(risk[node] / n_splits[node], node) for node in inner.tolist()]
    heapq.heapify(links)
    alphas, remaining = [0.0], [risk[0]]
    while links:
        alpha, node = heapq.heappop(links)
        if not n_splits[node] or alpha != risk[node] / n_splits[node]:
            continue  # pruned with an ancestor, or changed since
        if alpha > alphas[-1]:
            alphas.append(alpha)
            remaining.append(0.0)
        lost, n_lost, above = risk[node], n_splits[node], parent[node]
        while above >= 0:
            risk[above] -= lost
            n_splits[above] -= n_lost
            heapq.heappush(links, (risk[above] / n_splits[above], int(above)))
            above = parent[above]
        below = [node]
        while below:
            pruned = below.pop()
            if n_splits[pruned]:
                n_splits[pruned], risk[pruned] = 0, 0.0
                below += [left[pruned], left[pruned] + 1]
        remaining[-1] = risk[0]
    return np.array(alphas), np.array(remaining)
