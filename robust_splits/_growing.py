"""Grow trees: draw the rows, and run the compiled grower in ``_kernels/grower.py``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ._kernels.coding import Columns
from ._kernels.grower import Workspace, grow_nodes
from ._kernels.inputs import Measure
from ._kernels.nodes import GrowthSettings
from ._kernels.random import count_draws
from ._soft_labels import SoftLabels
from ._stored_tree import GrownTree, store
from ._subsets import Subsets
from ._threads import map_in_threads
from .criterion import Criterion
from .tree import Tree

MAX_SEED = int(np.iinfo(np.int32).max)
EVERY_ROW = np.empty(0, dtype=np.int64)  # as row of each label, if each row has one


@dataclass(frozen=True)
class Sample:
    """Training rows, labels and weights.

    Attributes
    ----------
    columns : Columns
    labels : int32 array of shape (n_samples,), or (n_labels,) if labels are soft
        Class numbers.
    weights : float64 array of shape (n_samples,)
    n_classes : int
    groups : int64 array of shape (n_samples,) or None
        Number of the group of each row, from 0 without gaps; bootstrap samples draw whole groups.
    soft_labels : SoftLabels or None
        None if each row has one label.
    """

    columns: Columns
    labels: NDArray[np.int32]
    weights: NDArray[np.float64]
    n_classes: int
    groups: NDArray[np.int64] | None = None
    soft_labels: SoftLabels | None = None

    @classmethod
    def of(
        cls,
        columns: Columns,
        labels: NDArray[np.int32] | SoftLabels,
        weights: NDArray[np.float64],
        n_classes: int,
        groups: NDArray[np.int64] | None,
    ) -> Self:
        """Sample of rows with labels of either form."""
        if isinstance(labels, SoftLabels):
            return cls(columns, labels.classes, weights, n_classes, groups, labels)
        return cls(columns, labels, weights, n_classes, groups)

    def with_soft_labels(self, p: NDArray[np.float64]) -> Self:
        """The same rows with probabilities of shape (n_samples, n_classes) as labels."""
        soft = SoftLabels.from_probabilities(p)
        return replace(self, labels=soft.classes, soft_labels=soft)

    def weighted_by_class(self, class_weights: NDArray[np.float64]) -> Self:
        """The same rows with the weight of each label multiplied by that of its class."""
        if self.soft_labels is None:
            return replace(self, weights=self.weights * class_weights[self.labels])
        soft, weights = self.soft_labels.weighted(class_weights, self.weights)
        return replace(self, weights=weights, soft_labels=soft)

    def class_totals(self) -> NDArray[np.float64]:
        """Number of labels of each class, or the sum of their probabilities."""
        shares = None if self.soft_labels is None else self.soft_labels.shares
        return np.bincount(self.labels, weights=shares, minlength=self.n_classes).astype(np.float64)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.weights.size

    @cached_property
    def row_of_label(self) -> NDArray[np.int64]:
        """Row of each label, shape (n_labels,)."""
        return np.arange(self.n_samples) if self.soft_labels is None else self.soft_labels.rows

    @cached_property
    def label_weights(self) -> NDArray[np.float64]:
        """Weight of each label, shape (n_labels,)."""
        return self.weights if self.soft_labels is None else self.weights_of(np.arange(self.labels.size))

    def weights_of(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weights of some labels, given by number."""
        if self.soft_labels is None:
            return self.weights[labels]
        return self.weights[self.soft_labels.rows[labels]] * self.soft_labels.shares[labels]

    @cached_property
    def has_unit_weights(self) -> bool:
        """Whether all weights are 1."""
        return bool((self.weights == 1.0).all())

    @cached_property
    def has_weight(self) -> NDArray[np.bool_] | None:
        """Mask of the rows with positive weight, shape (n_samples,); None if all weights are positive."""
        return None if self.weights.all() else self.weights > 0

    @cached_property
    def has_integer_weights(self) -> bool:
        """Whether all weights are integers."""
        return are_integers(self.weights)

    def __sizeof__(self) -> int:
        # Joblib's Dask backend sends what is large once to each worker, not with every tree.
        arrays = [
            *self.columns.codes,
            *self.columns.listed,
            *self.columns,
            self.labels,
            self.weights,
            self.groups,
        ]
        if self.soft_labels is not None:
            arrays += vars(self.soft_labels).values()
        return sum(getattr(array, "nbytes", 0) for array in arrays)


@dataclass(frozen=True)
class TreeSettings:
    """Settings that a tree is grown with, apart from its rows and seeds.

    Attributes
    ----------
    criterion : Criterion
    growth : GrowthSettings
    leaf_power : float
        See `leaf_value_power`.
    shrinkage : float
    n_draws : int
        Number of rows drawn with replacement; 0 takes all rows as they are.
    balanced : bool
        Whether to reweight the rows of each tree so that all its classes have equal weight.
    monotonic : int8 array of shape (n_features,) or None
        Signs of the monotonic constraints.
    ccp_alpha : float
        Strength of cost-complexity pruning.
    """

    criterion: Criterion
    growth: GrowthSettings
    leaf_power: float
    shrinkage: float
    n_draws: int = 0
    balanced: bool = False
    monotonic: NDArray[np.int8] | None = None
    ccp_alpha: float = 0.0


def are_integers(weights: NDArray[np.float64]) -> bool:
    """Whether all weights are integers."""
    return bool((weights == np.floor(weights)).all())


@dataclass(frozen=True, eq=False)
class RowDraws:
    """How the trees of a forest draw their rows.

    Attributes
    ----------
    n_samples : int
    n_draws : int
        Number of rows drawn with replacement; 0 takes all rows as they are.
    groups : int64 array of shape (n_samples,) or None
        See `Sample`.
    has_weight : bool array of shape (n_samples,) or None
        Mask of the rows with positive weight; None if all weights are positive.
    """

    n_samples: int
    n_draws: int
    groups: NDArray[np.int64] | None
    has_weight: NDArray[np.bool_] | None

    @classmethod
    def of(cls, sample: Sample, n_draws: int) -> Self:
        """Draws of the rows of a sample."""
        return cls(sample.n_samples, n_draws, sample.groups, sample.has_weight)

    def counts(self, state: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Draw rows, and count how often each was drawn, shape (n_samples,)."""
        n_units = self.n_samples if self.groups is None else int(self.groups.max()) + 1
        n_draws = max(1, round(self.n_draws * n_units / self.n_samples))
        while True:
            counts = np.zeros(n_units)
            count_draws(state, n_draws, counts)
            counts = counts if self.groups is None else counts[self.groups]
            if self.has_weight is None or counts[self.has_weight].any():
                return counts  # otherwise, all drawn rows have weight 0

    def rows(self, seed: int) -> NDArray[np.int64]:
        """Rows that a tree has drawn, each as often as it was drawn."""
        rows = np.arange(self.n_samples)
        return rows if not self.n_draws else np.repeat(rows, self.counts(start_draws(seed)).astype(np.int64))


def start_draws(seed: int) -> NDArray[np.uint64]:
    """State of the random numbers that draw the rows of a tree."""
    return np.full(1, seed + 1, dtype=np.uint64)


def drawn_weights(sample: Sample, settings: TreeSettings, seed: int) -> NDArray[np.float64]:
    """Weights of the labels for one tree: sample weights times the number of times each label was drawn."""
    if not settings.n_draws:
        weights = sample.label_weights
    else:
        state = start_draws(seed)
        weights = RowDraws.of(sample, settings.n_draws).counts(state)
        if sample.soft_labels is not None:
            weights = sample.soft_labels.draw(state, weights)
        if not sample.has_unit_weights:
            weights = weights * sample.weights[sample.row_of_label]
    if settings.balanced:
        classes = np.bincount(sample.labels, weights=weights, minlength=sample.n_classes)
        share = weights.sum() / (classes > 0).sum()
        # The product of two tiny weights would underflow to 0; scaling by a power of two is exact.
        scale = -np.frexp(share)[1]
        classes = np.maximum(np.ldexp(classes, scale), np.finfo(float).tiny)
        weights = np.ldexp(weights, scale) * share / classes[sample.labels]
    return weights


def grow_trees(
    sample: Sample, settings: TreeSettings, seeds: Sequence[tuple[int, int]], n_threads: int
) -> list[GrownTree]:
    """Grow a tree for each pair of seeds, in threads."""
    thread_local = threading.local()

    def grow_one(pair: tuple[int, int]) -> GrownTree:
        if not hasattr(thread_local, "workspace"):
            thread_local.workspace = Workspace(sample.columns, _max_labels(sample, settings), sample.n_classes)
        return grow_tree(sample, settings, pair, thread_local.workspace)

    return map_in_threads(grow_one, seeds, n_threads)


def _max_labels(sample: Sample, settings: TreeSettings) -> int:
    """Bound on the number of labels that one tree counts."""
    if sample.soft_labels is None or not settings.n_draws or sample.groups is not None:
        return sample.labels.size
    return min(sample.labels.size, settings.n_draws)


def grow_tree(
    sample: Sample, settings: TreeSettings, seeds: tuple[int, int], workspace: Workspace | None = None
) -> GrownTree:
    """Grow one tree; the first seed draws the rows, the second seeds everything else."""
    criterion = settings.criterion
    weights, labels = drawn_weights(sample, settings, seeds[0]), sample.labels
    rows = EVERY_ROW if sample.soft_labels is None else sample.soft_labels.rows
    draws_labels = sample.soft_labels is None or settings.n_draws > 0
    if sample.soft_labels is not None and settings.n_draws:  # which has more labels than draws
        drawn = np.flatnonzero(weights)
        labels, weights, rows = labels[drawn], weights[drawn], rows[drawn]
    compiled = criterion.compiled  # which stays in memory as long as this function runs
    measure = Measure(
        criterion.code, criterion.parameter, np.ascontiguousarray(criterion.table), compiled.address
    )
    nodes = grow_nodes(
        sample.columns,
        labels,
        weights,
        rows,
        sample.n_classes,
        measure,
        settings.growth,
        seeds[1] + 1,
        (sample.has_integer_weights and draws_labels and not settings.balanced) or are_integers(weights),
        workspace,
        settings.monotonic,
    )
    subsets = Subsets.read(nodes, sample.columns) if sample.columns.categorical.any() else None
    arrays = nodes._asdict()
    del arrays["divided"]  # which `subsets` replaces
    tree = Tree(
        **arrays,
        subsets=subsets,
        leaf_power=settings.leaf_power,
        shrinkage=settings.shrinkage,
        seed=seeds[1],
    )
    return store(tree.pruned_by_cost(settings.ccp_alpha) if settings.ccp_alpha > 0 else tree)
