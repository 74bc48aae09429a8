"""Split criteria corrected for class-conditional label noise (Ghosh, Manwani & Sastry 2017, Remark 3.6)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kernels import criterion_codes as codes
from .criteria import get_criterion
from .criterion import Criterion
from .label_noise.transition_matrix import check_matrix_size, check_transition_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class CorrectedCriterion(Criterion):
    """Another criterion, applied to estimates of the clean class counts.

    With the transition matrix T of the noise, noisy counts n have the expectation ``T' c``, where c are the
    clean counts.  Each node and child is scored with ``T'^-1 n``, which has the expectation c and the same sum
    as n (Ghosh, Manwani & Sastry 2017, Remark 3.6).  Chance makes some of these counts negative.  They are set
    to 0, and the others are scaled to the sum of n.

    Estimators apply the same correction to what they predict, so ``predict_proba`` predicts the probabilities
    of the clean classes.  The leaves of a tree keep the noisy counts.  In a forest, the correction comes after
    the average over the trees, whose leaves may be too small to be corrected one by one.

    For two classes, the gains of gini, twoing and pairwise are functions of differences between proportions,
    which the correction multiplies by a constant.  It does not change the order of splits by these, unless a
    count is negative, but it does change the predictions.

    Parameters
    ----------
    criterion : str or Criterion
        The other criterion; see `get_criterion`.
    T : array-like of shape (n_classes, n_classes)
        Transition matrix, with an inverse: ``T[i, j]`` is the probability of label j in class i.  Kept as a
        tuple.  ``transition_matrix_`` of `RobustForestClassifier` is an estimate of it.

    Raises
    ------
    TypeError
        If `T` does not contain numbers, or `criterion` is neither a name nor a criterion.
    ValueError
        If `T` is not a transition matrix or is singular, or `criterion` is unknown or a `CorrectedCriterion`.

    Examples
    --------
    >>> from robust_splits import CorrectedCriterion, Entropy
    >>> T = [[0.9, 0.1], [0.4, 0.6]]
    >>> noisy = [9, 1], [4, 6]  # ten rows of each class
    >>> round(CorrectedCriterion("entropy", T).gain(*noisy), 4), round(Entropy().gain([10, 0], [0, 10]), 4)
    (0.6931, 0.6931)
    """

    criterion: str | Criterion
    T: ArrayLike
    code = codes.FUNCTION
    corrects_noise = True

    def __post_init__(self) -> None:
        # Tuples, unlike arrays, can be compared and hashed.
        other = get_criterion(self.criterion)
        if isinstance(other, CorrectedCriterion):
            raise ValueError("criterion must not be a CorrectedCriterion itself; multiply the matrices instead")
        object.__setattr__(self, "criterion", other)
        object.__setattr__(self, "T", tuple(map(tuple, check_transition_matrix(self.T).tolist())))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def parameter(self) -> float:
        """Parameter of the other criterion."""
        return self._other.parameter

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """The other criterion and the inverse of T; see ``_kernels/corrected_reduction.py``."""
        other = np.ravel(self._other.table)
        head = [float(self._compiled.address), float(self._other.code), float(other.size)]
        return np.concatenate([head, other, self._inverse.ravel()])

    @property
    def compiled(self) -> Any:
        """The function that corrects counts and calls that of the other criterion."""
        from ._kernels.corrected_reduction import corrected_reduction

        return corrected_reduction

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if T is for another number of classes, or the other criterion is."""
        check_matrix_size(self._matrix.tolist(), n_classes)
        self._other.check_classes(n_classes)

    def clean_proportions(self, proportions: ArrayLike) -> NDArray[np.float64]:
        """Class proportions without noise, from those of noisy labels.

        Parameters
        ----------
        proportions : array-like of shape (n, n_classes)
            Non-negative, with rows that sum to 1.

        Returns
        -------
        float array of shape (n, n_classes)
            ``T'^-1 p`` of each row p, with negative entries set to 0 and the others scaled to the sum 1.

        Raises
        ------
        ValueError
            If the proportions have another shape.
        """
        p = np.asarray(proportions, dtype=np.float64)
        if p.shape[1:] != (len(self._inverse),):
            raise ValueError(f"proportions must have shape (n, {len(self._inverse)}), got {p.shape}")
        clean = np.maximum(p @ self._inverse, 0.0)
        return np.asarray(clean / clean.sum(axis=1, keepdims=True))

    def _to_gain(self, reduction: float, n: float) -> float:
        return self._other._to_gain(reduction, n)

    @property
    def _other(self) -> Criterion:
        return get_criterion(self.criterion)

    @property
    def _matrix(self) -> NDArray[np.float64]:
        return np.array(self.T, dtype=np.float64)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        return np.asarray(np.linalg.inv(self._matrix), dtype=np.float64)

    @cached_property
    def _compiled(self) -> Any:
        """Compiled function of the other criterion, which stays in memory as long as this one."""
        return self._other.compiled
