"""Class probabilities of the nodes of a grown tree: the `leaf_value` parameter and hierarchical shrinkage.

The compiled loops are in ``_kernels/leaf_values.py``.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ._kernels.leaf_values import normalise_powers, shrink_towards_parents
from .criteria import GeneralizedCrossEntropy
from .criterion import Criterion

LEAF_VALUES = "'proportions', 'majority', 'gce' or 'gce(q)' with a number q of at least 0"


def leaf_value_power(leaf_value: object, criterion: Criterion) -> float:
    """Power to which proportions are raised before normalisation; infinite for the majority class.

    Raises
    ------
    ValueError
        If `leaf_value` is unknown.
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

    The values minimise a loss (Wilton & Ye 2024, Theorem 3 and the proof of Theorem 1 d): class proportions
    minimise cross entropy and squared error, the majority class the conservative losses, and normalised powers
    of the proportions generalised cross entropy.  Ties for the majority class are broken at random with `seed`.
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


def apply_shrinkage(
    values: NDArray[np.float64], counts: NDArray[np.float64], left: NDArray[np.int32], shrinkage: float
) -> None:
    """Apply hierarchical shrinkage to node values in place (Agarwal et al., ICML 2022).

    From the root down, ``shrunk(child) = shrunk(parent) + (value(child) - value(parent)) / (1 + shrinkage /
    n(parent))``, where n is the weight of a node.
    """
    if shrinkage > 0:
        shrink_towards_parents(values, counts.sum(axis=1), left, shrinkage)
