"""Base classes of split criteria.

A criterion is a frozen dataclass, so it compares, hashes, prints and pickles.  `Criterion.gain` and the tree
grower call the same compiled kernel, in ``_kernels``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._checks import check_counts, check_split

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Criterion:
    """Abstract base class of all criteria."""

    code: ClassVar[int]
    corrects_noise: ClassVar[bool] = False  # whether `clean_proportions` changes what estimators predict

    @property
    def parameter(self) -> float:
        """Parameter of the compiled kernel; 0 for a criterion without one."""
        values = dataclasses.astuple(self)
        return float(values[0]) if values else 0.0

    @property
    def table(self) -> NDArray[np.float64]:
        """Lookup table of the compiled kernel; empty for most criteria."""
        return np.empty(0)

    @property
    def compiled(self) -> Any:
        """Compiled function of type ``REDUCTION`` (see ``_kernels/gain.py``) that the grower calls."""
        from ._kernels.reduction import reduction

        return reduction

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the criterion does not support this number of classes."""

    def clean_proportions(self, proportions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class proportions that an estimator predicts, from those of the labels, both (n, n_classes)."""
        return proportions

    def gain(self, left_counts: ArrayLike, right_counts: ArrayLike) -> float:
        """Gain of one split, not weighted by the node's share of the total weight.

        Parameters
        ----------
        left_counts, right_counts : array-like of shape (n_classes,)
            Weighted class counts of the two children: non-negative, each with a positive sum.

        Returns
        -------
        float
            For an impurity, ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

        Raises
        ------
        ValueError
            If the counts are invalid or differ in length, or there are too many classes for the criterion.

        Examples
        --------
        >>> from robust_splits import Gini
        >>> Gini().gain([0, 7], [7, 0])
        0.5
        """
        from ._kernels.gain import call_reduction

        left, right = check_split(left_counts, right_counts)
        self.check_classes(left.size)
        reduction = call_reduction(self.compiled, self.code, self.parameter, self.table, left, right)
        return self._to_gain(reduction, float(left.sum() + right.sum()))

    def _to_gain(self, reduction: float, n: float) -> float:
        """Convert the kernel's reduction to the gain of a node of weight n."""
        return reduction / n


@dataclass(frozen=True)
class Impurity(Criterion):
    """Base class of the criteria whose gain is a decrease in impurity."""

    def impurity(self, counts: ArrayLike) -> float:
        """Impurity I(p) of one node.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Weighted class counts: non-negative, with a positive sum.

        Returns
        -------
        float
            The impurity; 0 for a pure node.

        Raises
        ------
        ValueError
            If `counts` is invalid, or there are too many classes for the criterion.
        """
        from ._kernels.gain import weighted_impurity

        counts = check_counts("counts", counts)
        self.check_classes(counts.size)
        total = counts.sum()
        return float(weighted_impurity(self.code, self.parameter, self.table, counts, total) / total)
