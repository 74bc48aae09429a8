"""Split criteria: what they are called, their parameters, and the gain of one split.

A criterion is a frozen dataclass: plain data that compares, hashes, prints and pickles.  Its arithmetic is
compiled, in `_gain.py`; the tree grower and the method `Criterion.gain` call the same kernels.

Notation: a node holds weighted class counts n_k, n = sum n_k, p_k = n_k / n, and K is the number of classes.
The gain of a split into L and R is ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

References
----------
.. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
.. [2] Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984.
.. [3] Dietterich, Kearns & Mansour, "Applying the weak learning framework to understand and improve C4.5",
       ICML 1996.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# How the compiled kernels know a criterion; `_gain.py` dispatches on these numbers.
GINI, ENTROPY, MISCLASSIFICATION, SQRT_GINI, GCE, NEGATIVE_EXPONENTIAL = range(6)


@dataclass(frozen=True)
class Criterion:
    """Base of all criteria; use a subclass."""

    code: ClassVar[int]

    @property
    def parameter(self) -> float:
        """The number handed to the compiled kernel; 0 where a criterion has no parameter."""
        values = dataclasses.astuple(self)
        return float(values[0]) if values else 0.0

    def gain(self, left_counts: ArrayLike, right_counts: ArrayLike) -> float:
        """Gain of the split of one node, at the node's own scale.

        Parameters
        ----------
        left_counts, right_counts : array-like of shape (n_classes,)
            Weighted class counts of the two children: not negative, each with a positive sum.

        Returns
        -------
        float
            ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

        Raises
        ------
        ValueError
            If the counts are not two such vectors of one length.

        Examples
        --------
        >>> from robust_splits import Gini
        >>> Gini().gain([0, 7], [7, 0])
        0.5
        """
        from ._gain import node_gain

        left = _check_counts("left_counts", left_counts)
        right = _check_counts("right_counts", right_counts)
        if left.shape != right.shape:
            raise ValueError(
                f"left_counts and right_counts must have one length, got {left.size} and {right.size}"
            )
        return float(node_gain(self.code, self.parameter, left, right))

    def impurity(self, counts: ArrayLike) -> float:
        """Impurity I(p) of one node.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Weighted class counts: not negative, with a positive sum.

        Returns
        -------
        float
            The impurity; 0 for a pure node.

        Raises
        ------
        ValueError
            If `counts` is not such a vector.
        """
        from ._gain import weighted_impurity

        counts = _check_counts("counts", counts)
        total = counts.sum()
        return float(weighted_impurity(self.code, self.parameter, counts, total) / total)


@dataclass(frozen=True)
class Gini(Criterion):
    """``I(p) = 1 - sum p_k^2``, the minimum of squared error (Wilton & Ye, Theorem 1; CART)."""

    code = GINI


@dataclass(frozen=True)
class Entropy(Criterion):
    """``I(p) = -sum p_k ln p_k`` in nats, the minimum of cross entropy (Wilton & Ye, Theorem 1)."""

    code = ENTROPY


@dataclass(frozen=True)
class Misclassification(Criterion):
    """``I(p) = 1 - max p_k``, the minimum of the conservative losses: 0-1, MAE, infinity norm.

    A node stops exactly where the parent's majority classes stay majority classes in both children of every
    split (Wilton & Ye, Theorem 5).
    """

    code = MISCLASSIFICATION


@dataclass(frozen=True)
class SqrtGini(Criterion):
    """``I(p) = sqrt(K/(K-1) (1 - sum p_k^2))``, the minimum of exponential loss; DKM for two classes.

    Wilton & Ye, Theorem 1; Dietterich, Kearns & Mansour 1996.
    """

    code = SQRT_GINI


@dataclass(frozen=True)
class GeneralizedCrossEntropy(Criterion):
    """Minimum of generalised cross entropy (Wilton & Ye, Corollary 2.1).

    ``I(p) = (1 - (sum p_k^(1/(1-q)))^(1-q)) / q`` for 0 < q < 1, entropy for q = 0, and
    ``(1 - max p_k) / q`` for q >= 1.

    Parameters
    ----------
    q : float, default=0.7
        Not negative.
    """

    q: float = 0.7
    code = GCE

    def __post_init__(self) -> None:
        _check_parameter(self, "q", 0.0, np.inf)


@dataclass(frozen=True)
class NegativeExponential(Criterion):
    """Minimum of the negative exponential loss ``min{1, exp(-v - mu)}`` (Wilton & Ye, Theorem 8).

    ``I(p) = min{1 - max p_k, lam sqrt((K-1)/K (1 - sum p_k^2))}`` with ``lam = 2 exp(-mu)``.  Larger values
    stop earlier: `lam` = 1 is `Misclassification`, and `lam` = 0 stands for the limit, which orders splits as
    `SqrtGini` does and whose gain is that of `SqrtGini`.

    Parameters
    ----------
    lam : float, default=0.5
        In [0, 1].
    """

    lam: float = 0.5
    code = NEGATIVE_EXPONENTIAL

    def __post_init__(self) -> None:
        _check_parameter(self, "lam", 0.0, 1.0)


CRITERIA: dict[str, type[Criterion]] = {
    "gini": Gini,
    "entropy": Entropy,
    "misclassification": Misclassification,
    "sqrt_gini": SqrtGini,
    "gce": GeneralizedCrossEntropy,
    "negative_exponential": NegativeExponential,
}


def get_criterion(criterion: str | Criterion) -> Criterion:
    """Criterion object from its name.

    Parameters
    ----------
    criterion : str or Criterion
        A name, with its parameter in brackets where it has one and the default will not do:
        ``"gini"``, ``"gce"``, ``"gce(0.4)"``, ``"negative_exponential(0.25)"``.  An object is handed back.

    Returns
    -------
    Criterion

    Raises
    ------
    ValueError
        If the name is unknown (the message lists those known) or the parameter is out of range.
    TypeError
        If `criterion` is neither a string nor a criterion.

    Examples
    --------
    >>> from robust_splits import get_criterion
    >>> get_criterion("negative_exponential(0.25)")
    NegativeExponential(lam=0.25)
    """
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str):
        raise TypeError(f"criterion must be a name or a Criterion, got {criterion!r}")
    match = re.fullmatch(r"(\w+)(?:\(([^()]*)\))?", criterion)
    name, argument = match.groups() if match else (criterion, None)
    if name not in CRITERIA:
        raise ValueError(f"criterion {criterion!r} is unknown; known are {', '.join(CRITERIA)}")
    if argument is None:
        return CRITERIA[name]()
    if not dataclasses.fields(CRITERIA[name]):
        raise ValueError(f"criterion {name!r} takes no parameter, got {criterion!r}")
    try:
        value = float(argument)
    except ValueError:
        raise ValueError(f"the parameter of criterion {name!r} must be a number, got {criterion!r}") from None
    return CRITERIA[name](*[value])


def _check_parameter(criterion: Criterion, name: str, low: float, high: float) -> None:
    value = getattr(criterion, name)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} of {type(criterion).__name__} must be a number, got {value!r}")
    if not low <= value <= high or not np.isfinite(value):
        allowed = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f"finite and at least {low:g}"
        raise ValueError(f"{name} of {type(criterion).__name__} must be {allowed}, got {value!r}")


def _check_counts(name: str, counts: ArrayLike) -> NDArray[np.float64]:
    array = np.ascontiguousarray(counts, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector with one count per class, got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise ValueError(f"{name} must be finite, not negative, with a positive sum; got {counts!r}")
    return array
