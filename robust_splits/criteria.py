"""Split criteria: what they are called, their parameters, and the gain of one split.

A criterion is a frozen dataclass: plain data that compares, hashes, prints and pickles.  Its arithmetic is
compiled, in ``_gain.py``; the tree grower and the method `Criterion.gain` call the same kernel.

Notation: a node holds weighted class counts n_k, n = sum n_k, p_k = n_k / n, and K is the number of classes.
The gain of an impurity I, for a split of S into L and R, is ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

References
----------
.. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
.. [2] Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984.
.. [3] Dietterich, Kearns & Mansour, "Applying the weak learning framework to understand and improve C4.5",
       ICML 1996.
.. [4] Yang, Gao & Li, "On the robust splitting criterion of random forest", ICDM 2019.
.. [5] Mantas & Abellán, "Credal-C4.5: decision tree based on imprecise probabilities to classify noisy data",
       Expert Systems with Applications 41, 2014.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._kernels.codes import (
    CREDAL,
    CREDAL_RATIO,
    ENTROPY,
    FUNCTION,
    GCE,
    GINI,
    MISCLASSIFICATION,
    NEGATIVE_EXPONENTIAL,
    PAIRWISE,
    SQRT_GINI,
    TWOING,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Criterion:
    """Base of all criteria; use a subclass."""

    code: ClassVar[int]

    @property
    def parameter(self) -> float:
        """The number handed to the compiled kernel; 0 where a criterion has no parameter."""
        values = dataclasses.astuple(self)
        return float(values[0]) if values else 0.0

    @property
    def table(self) -> NDArray[np.float64]:
        """What else the compiled kernel needs; empty for most."""
        return np.empty(0)

    @property
    def compiled(self) -> Any:
        """The compiled function that the grower calls, of type ``_gain.REDUCTION``."""
        from ._kernels.gain import reduction

        return reduction

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError if the criterion cannot deal with this number of classes."""

    def gain(self, left_counts: ArrayLike, right_counts: ArrayLike) -> float:
        """Gain of the split of one node, at the node's own scale.

        Parameters
        ----------
        left_counts, right_counts : array-like of shape (n_classes,)
            Weighted class counts of the two children: not negative, each with a positive sum.

        Returns
        -------
        float
            For an impurity ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

        Raises
        ------
        ValueError
            If the counts are not two such vectors of one length, or too many classes for the criterion.

        Examples
        --------
        >>> from robust_splits import Gini
        >>> Gini().gain([0, 7], [7, 0])
        0.5
        """
        left = _check_counts("left_counts", left_counts)
        right = _check_counts("right_counts", right_counts)
        if left.shape != right.shape:
            raise ValueError(
                f"left_counts and right_counts must have one length, got {left.size} and {right.size}"
            )
        self.check_classes(left.size)
        table = np.ascontiguousarray(self.table, dtype=np.float64)
        reduction = self.compiled.ctypes(
            self.code, self.parameter, _pointer(table), table.size, _pointer(left + right), _pointer(left),
            _pointer(right), left.size,
        )  # fmt: skip
        return self._gain_of(float(reduction), float(left.sum() + right.sum()))

    def _gain_of(self, reduction: float, n: float) -> float:
        """The gain of a node of weight n from what the kernel returns."""
        return reduction / n


@dataclass(frozen=True)
class Impurity(Criterion):
    """Base of the criteria that are a difference of impurities."""

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
        from ._kernels.gain import weighted_impurity

        counts = _check_counts("counts", counts)
        self.check_classes(counts.size)
        total = counts.sum()
        return float(weighted_impurity(self.code, self.parameter, self.table, counts, total) / total)


@dataclass(frozen=True)
class Gini(Impurity):
    """``I(p) = 1 - sum p_k^2``, the minimum of squared error (Wilton & Ye, Theorem 1; CART)."""

    code = GINI


@dataclass(frozen=True)
class Entropy(Impurity):
    """``I(p) = -sum p_k ln p_k`` in nats, the minimum of cross entropy (Wilton & Ye, Theorem 1)."""

    code = ENTROPY


@dataclass(frozen=True)
class Misclassification(Impurity):
    """``I(p) = 1 - max p_k``, the minimum of the conservative losses: 0-1, MAE, infinity norm.

    A node stops exactly where the parent's majority classes stay majority classes in both children of every
    split (Wilton & Ye, Theorem 5).
    """

    code = MISCLASSIFICATION


@dataclass(frozen=True)
class SqrtGini(Impurity):
    """``I(p) = sqrt(K/(K-1) (1 - sum p_k^2))``, the minimum of exponential loss; DKM for two classes.

    Wilton & Ye, Theorem 1; Dietterich, Kearns & Mansour 1996.
    """

    code = SQRT_GINI


@dataclass(frozen=True)
class GeneralizedCrossEntropy(Impurity):
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
class NegativeExponential(Impurity):
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


@dataclass(frozen=True)
class Twoing(Criterion):
    """``g = (n_L n_R / n^2) / 4 (sum_k |p_Lk - p_Rk|)^2`` (Breiman et al. 1984).

    Under uniform noise of rate eta on two classes its expectation shrinks by (1 - 2 eta)^2 for all splits alike
    (Ghosh, Manwani & Sastry 2017, Theorem 3.1).
    """

    code = TWOING


@dataclass(frozen=True)
class Pairwise(Criterion):
    """The pairwise gain ``g = |N_L- N_R+ - N_L+ N_R-| / 2`` of two classes (Yang, Gao & Li 2019).

    Under class-conditional noise its expectation shrinks by ``|1 - tau_+ - tau_-|`` for all splits alike
    (Theorem 1 there).  It counts pairs of rows; where nodes are compared, in best-first growth or by
    ``min_impurity_decrease``, g / n^2 takes its place.
    """

    code = PAIRWISE

    def check_classes(self, n_classes: int) -> None:
        """Two classes, or one."""
        if n_classes > 2:
            raise ValueError(f"criterion 'pairwise' is for two classes, got {n_classes}")

    def _gain_of(self, reduction: float, n: float) -> float:
        return reduction * n


@dataclass(frozen=True)
class Credal(Criterion):
    """Imprecise information gain of Credal-C4.5 (Mantas & Abellán 2014).

    H* is the largest entropy, in nats, of all p with ``n_k/(n+s) <= p_k <= (n_k+s)/(n+s)``: the mass s fills up
    the smallest counts.  ``g = H*(S) - (w_L H*(L) + w_R H*(R)) / (n + s)``, with w the counts of the children
    and s added to that of the child with the larger H*.

    Parameters
    ----------
    s : float, default=1.0
        Not negative, in the unit of the weights: with weights that sum to 1, s = 1 lets hardly any split pass.
    gain_ratio : bool, default=False
        Whether the gain is divided by the entropy of the split, as in the original.
    """

    s: float = 1.0
    gain_ratio: bool = False

    def __post_init__(self) -> None:
        _check_parameter(self, "s", 0.0, np.inf)
        if not isinstance(self.gain_ratio, bool | np.bool_):
            raise TypeError(f"gain_ratio of Credal must be True or False, got {self.gain_ratio!r}")

    @property
    def code(self) -> int:  # type: ignore[override]
        """The gain and the gain ratio have their own numbers."""
        return CREDAL_RATIO if self.gain_ratio else CREDAL


@dataclass(frozen=True)
class FunctionCriterion(Criterion):
    """A criterion of your own, compiled with Numba.

    Parameters
    ----------
    function : callable
        ``function(left, right)`` takes two float64 arrays of shape (n_classes,), the weighted class counts of
        the children, and returns the gain of the split, as a float, at the node's own scale.  It must be code
        that Numba compiles, and not change its arguments.  To be pickled it must be importable.  Where it
        raises an exception or returns what is not finite, ``fit`` stops with a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_splits import FunctionCriterion
    >>> def balance(left, right):
    ...     n_left, n_right = left.sum(), right.sum()
    ...     difference = np.abs(left / n_left - right / n_right).sum()
    ...     return difference * n_left * n_right / (n_left + n_right) ** 2
    >>> FunctionCriterion(balance).gain([0, 7], [7, 0])
    0.5
    """

    function: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    code = FUNCTION

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function of FunctionCriterion must be callable, got {self.function!r}")

    @property
    def parameter(self) -> float:
        """None."""
        return 0.0

    def _gain_of(self, reduction: float, n: float) -> float:
        if not np.isfinite(reduction):
            raise ValueError(
                f"the function of {self!r} must return a finite number; it did not, or raised an error"
            )
        return reduction / n

    @property
    def compiled(self) -> Any:
        """The function, compiled when it is first asked for.

        Raises
        ------
        TypeError
            If Numba cannot compile it.
        """
        return _compile(self.function)


@lru_cache(maxsize=128)
def _compile(function: Callable[..., float]) -> Any:
    from ._kernels.gain import compile_gain

    return compile_gain(function)


CRITERIA: dict[str, type[Criterion]] = {
    "gini": Gini,
    "entropy": Entropy,
    "misclassification": Misclassification,
    "sqrt_gini": SqrtGini,
    "gce": GeneralizedCrossEntropy,
    "negative_exponential": NegativeExponential,
    "twoing": Twoing,
    "pairwise": Pairwise,
    "credal": Credal,
}

# The names of the losses that they minimise, and others used in the field.
ALIASES = {
    "mse": "gini",
    "ce": "entropy",
    "log_loss": "entropy",
    "conservative": "misclassification",
    "dkm": "sqrt_gini",
    "ne": "negative_exponential",
    "ranking": "pairwise",
}


def get_criterion(criterion: str | Criterion) -> Criterion:
    """Criterion object from its name.

    Parameters
    ----------
    criterion : str or Criterion
        A name, with its parameter in brackets where it has one and the default will not do:
        ``"gini"``, ``"gce"``, ``"gce(0.4)"``, ``"negative_exponential(0.25)"``.  Known by other names as well:
        mse, ce, log_loss, conservative, dkm, ne, ranking.  An object is handed back.

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
    name = ALIASES.get(name, name)
    if name not in CRITERIA:
        known = ", ".join([*CRITERIA, *ALIASES])
        raise ValueError(
            f"criterion {criterion!r} is unknown; known are {known}, and 'ane' as the criterion of an estimator"
        )
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


def _pointer(array: NDArray[np.float64]) -> Any:
    import ctypes

    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _check_counts(name: str, counts: ArrayLike) -> NDArray[np.float64]:
    array = np.ascontiguousarray(counts, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector with one count per class, got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise ValueError(f"{name} must be finite, not negative, with a positive sum; got {counts!r}")
    return array
