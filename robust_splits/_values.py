"""The class probabilities that a tree gives its nodes: leaf values and hierarchical shrinkage."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ._kernels.leaf_values import normalise_powers, shrink_towards_parents
from .criteria import Criterion, GeneralizedCrossEntropy

LEAF_VALUES = "'proportions', 'majority', 'gce' or 'gce(q)' with a number q of at least 0"


def leaf_value_power(leaf_value: object, criterion: Criterion) -> float:
    """The power to which proportions are raised before they are normalised; infinite for the majority.

    Raises
    ------
    ValueError
        If `leaf_value` is none of those known.
    """
    if leaf_value == "proportions":
        return 1.0
    if leaf_value == "majority":
        return np.inf
    match = re.fullmatch(r"gce(?:\((.*)\))?", leaf_value) if isinstance(leaf_value, str) else None
    if match:
        q = criterion.q if isinstance(criterion, GeneralizedCrossEntropy) else GeneralizedCrossEntropy().q
        try:
            q = q if match.group(1) is None else GeneralizedCrossEntropy(float(match.group(1))).q
        except ValueError:
            raise ValueError(f"leaf_value must be {LEAF_VALUES}, got {leaf_value!r}") from None
        return 1 / (1 - q) if q < 1 else np.inf
    raise ValueError(f"leaf_value must be {LEAF_VALUES}, got {leaf_value!r}")


def node_values(counts: NDArray[np.float64], power: float, seed: int) -> NDArray[np.float64]:
    """Values of all nodes from their class counts, both of shape (n_nodes, n_classes).

    The minimisers of the losses (Wilton & Ye 2024): proportions of cross entropy and squared error, their
    powers normalised of generalised cross entropy, and the majority class of the conservative losses (Theorem
    3), one of several drawn by `seed`.
    """
    if np.isfinite(power):
        values = np.empty_like(counts)
        normalise_powers(counts, power, values)
        return values
    largest = counts == counts.max(axis=1, keepdims=True)
    order = np.random.RandomState(seed).random_sample(counts.shape)
    values = np.zeros_like(counts)
    values[np.arange(len(counts)), np.where(largest, order, -1.0).argmax(axis=1)] = 1.0
    return values


def shrink(
    values: NDArray[np.float64], weight: NDArray[np.float64], left: NDArray[np.int32], shrinkage: float
) -> None:
    """Hierarchical shrinkage of node values, in place (Agarwal et al., ICML 2022).

    Along a path from the root, shrunk(child) = shrunk(parent) + (value(child) - value(parent)) / (1 +
    shrinkage / n(parent)), with n the weights.
    """
    if shrinkage > 0:
        shrink_towards_parents(values, weight, left, shrinkage)
