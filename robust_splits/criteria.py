"""Split criteria: names, parameters, and the gain of one split.

A criterion is a frozen dataclass, so it compares, hashes, prints and pickles.  `Criterion.gain` and the tree
grower call the same compiled kernel, in ``_kernels``.

Notation: a node holds weighted class counts n_k; n = sum n_k, p_k = n_k / n, and K is the number of classes.
The gain of an impurity I for a split of S into L and R is ``I(S) - (n_L/n) I(L) - (n_R/n) I(R)``.

References
----------
.. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
.. [2] Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984.
.. [3] Dietterich, Kearns & Mansour, "Applying the weak learning framework to understand and improve C4.5",
       ICML 1996.
.. [4] Yang, Gao & Li, "On the robust splitting criterion of random forest", ICDM 2019.
.. [5] Mantas & Abellán, "Credal-C4.5: decision tree based on imprecise probabilities to classify noisy data",
       Expert Systems with Applications 41, 2014.
.. [6] Chen & Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ._checks import check_counts, check_flag, check_number, check_split
from ._kernels import criterion_codes as codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Criterion:
    """Abstract base class of all criteria."""

    code: ClassVar[int]

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


@dataclass(frozen=True)
class Gini(Impurity):
    """``I(p) = 1 - sum p_k^2``, the minimum of squared error (Wilton & Ye, Theorem 1 a; CART)."""

    code = codes.GINI

    @property
    def compiled(self) -> Any:
        """The function for gini alone, which compiles faster than the one for all criteria."""
        from ._kernels.gini_reduction import gini_reduction

        return gini_reduction


@dataclass(frozen=True)
class Entropy(Impurity):
    """``I(p) = -sum p_k ln p_k`` in nats, the minimum of cross entropy (Wilton & Ye, Theorem 1 b)."""

    code = codes.ENTROPY


@dataclass(frozen=True)
class Misclassification(Impurity):
    """``I(p) = 1 - max p_k``, up to a factor the minimum of every conservative loss (Wilton & Ye, Theorem 2).

    The factor is 1 for 0-1 and infinity norm loss, 2 for mean absolute error, and 1/q for generalised cross
    entropy with q >= 1 (Corollary 2.1 there).  No split of a node has a positive gain if and only if the
    majority classes of the node remain majority classes in both children of every split (Theorem 5 a there).
    """

    code = codes.MISCLASSIFICATION


@dataclass(frozen=True)
class SqrtGini(Impurity):
    """``I(p) = sqrt(K/(K-1) (1 - sum p_k^2))``, for two classes the minimum of exponential loss and DKM.

    For two classes Dietterich, Kearns & Mansour 1996, and Yang, Gao & Li 2019, Table I.  For any number, the
    limit of `NegativeExponential` as lam goes to 0 (Wilton & Ye, after Theorem 8).
    """

    code = codes.SQRT_GINI


@dataclass(frozen=True)
class GeneralizedCrossEntropy(Impurity):
    """Minimum of generalised cross entropy (Wilton & Ye, Theorem 1 d).

    ``I(p) = (1 - (sum p_k^(1/(1-q)))^(1-q)) / q`` for 0 < q < 1, entropy for q = 0, and
    ``(1 - max p_k) / q`` for q >= 1.

    Parameters
    ----------
    q : float, default=0.7
        Non-negative.
    """

    q: float = 0.7
    code = codes.GCE

    def __post_init__(self) -> None:
        check_number("q of GeneralizedCrossEntropy", self.q, low=0.0, high=np.inf)


@dataclass(frozen=True)
class NegativeExponential(Impurity):
    """Minimum of the negative exponential loss ``min{1, exp(-v - mu)}`` (Wilton & Ye, Theorem 8).

    ``I(p) = min{1 - max p_k, lam sqrt((K-1)/K (1 - sum p_k^2))}`` with ``lam = 2 exp(-mu)``.  The theorem is
    for two classes; the paper extends the impurity to K classes, without a loss.  A larger `lam` stops earlier.
    `lam` = 1 equals `Misclassification`.  `lam` = 0 means the limit, which orders splits as `SqrtGini` does;
    its gain is that of `SqrtGini`.

    Parameters
    ----------
    lam : float, default=0.5
        In [0, 1].
    """

    lam: float = 0.5
    code = codes.NEGATIVE_EXPONENTIAL

    def __post_init__(self) -> None:
        check_number("lam of NegativeExponential", self.lam, low=0.0, high=1.0)


@dataclass(frozen=True)
class Twoing(Criterion):
    """``g = (n_L n_R / n^2) / 4 (sum_k |p_Lk - p_Rk|)^2`` (Breiman et al. 1984).

    Uniform noise of rate eta on two classes multiplies the expected gain of every split by (1 - 2 eta)^2
    (Ghosh, Manwani & Sastry 2017, Theorem 3.1).
    """

    code = codes.TWOING


@dataclass(frozen=True)
class Pairwise(Criterion):
    """The pairwise gain ``g = |N_L- N_R+ - N_L+ N_R-| / 2`` of two classes (Yang, Gao & Li 2019).

    Class-conditional noise with rates ``tau_+`` and ``tau_-`` multiplies the expected gain of every split by
    ``|1 - tau_+ - tau_-|`` (Theorem 1 there).  The gain counts pairs of rows.  Best-first growth and
    ``min_impurity_decrease`` compare nodes, and use g / n^2 instead.
    """

    code = codes.PAIRWISE

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError for more than two classes."""
        if n_classes > 2:
            raise ValueError(f"criterion 'pairwise' is for two classes, got {n_classes}; use 'pairwise_sum'")

    def _to_gain(self, reduction: float, n: float) -> float:
        return reduction * n


@dataclass(frozen=True)
class PairwiseSum(Pairwise):
    """Sum of the pairwise gains of all pairs of classes.

    An extension of `Pairwise` to any number of classes.  The theorem holds for two classes only, and the time
    of a split grows with the square of their number.
    """

    def check_classes(self, n_classes: int) -> None:
        """Accept any number of classes."""


@dataclass(frozen=True)
class Credal(Criterion):
    """Imprecise information gain of Credal-C4.5 (Mantas & Abellán 2014).

    H* is the largest entropy, in nats, over all p with ``n_k/(n+s) <= p_k <= (n_k+s)/(n+s)``; the mass s fills
    up the smallest counts.  ``g = H*(S) - (w_L H*(L) + w_R H*(R)) / (n + s)``, where w_L and w_R are n_L and
    n_R, with s added for the child with the larger H*.

    Parameters
    ----------
    s : float, default=1.0
        Non-negative, in units of the sample weights.  If these sum to 1, s = 1 rejects almost every split.
    gain_ratio : bool, default=False
        Whether to divide the gain by the entropy of the split, as in the original.
    """

    s: float = 1.0
    gain_ratio: bool = False

    def __post_init__(self) -> None:
        check_number("s of Credal", self.s, low=0.0, high=np.inf)
        check_flag("gain_ratio of Credal", self.gain_ratio)

    @property
    def code(self) -> int:  # type: ignore[override]
        """Kernel code; the gain and the gain ratio have different ones."""
        return codes.CREDAL_RATIO if self.gain_ratio else codes.CREDAL


@dataclass(frozen=True)
class NewtonGain(Criterion):
    """Split score of XGBoost's first tree with log loss, for two classes (Chen & Guestrin 2016, Equation 7).

    ``Q = G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) - G^2 / (H + lambda) - gamma``, without the factor 1/2
    of the paper, as in XGBoost.  G and H are the sums of the first and second derivatives of log loss over the
    rows of a node.  All rows start from the probability p_0 of the second class, so ``G = n p_0 - n_1`` and
    ``H = n p_0 (1 - p_0)``.

    For lambda = 0 the order of the splits of a node is that of `Gini`.  For p_0 = 0.5 and gamma = 0, uniform
    noise of rate eta multiplies the expected Q of every split by (1 - 2 eta)^2, because it multiplies G by
    1 - 2 eta and leaves H as it is.

    Parameters
    ----------
    reg_lambda : float, default=1.0
        Non-negative.
    gamma : float, default=0.0
        Non-negative.  Nodes are split only if Q is positive, as with XGBoost's ``tree_method="hist"`` and
        ``"approx"``; ``"exact"`` prunes the full tree instead, from the leaves up.
    base_score : float, default=0.5
        p_0, between 0 and 1.  XGBoost's default was 0.5 in 2020; today it is the share of the second class.

    Notes
    -----
    XGBoost's ``min_child_weight`` is the smallest H of a leaf.  Its default of 1 corresponds to
    ``min_samples_leaf=4`` for p_0 = 0.5.

    With K > 2 classes and softmax, XGBoost grows a tree for each class from p_0 = 1/K.  The derivatives H are
    twice those above, so the first trees have the splits of this criterion for one class against the others,
    with half of XGBoost's lambda and twice its gamma; its leaf weights are half of these.

    Examples
    --------
    >>> from robust_splits import NewtonGain
    >>> NewtonGain(reg_lambda=0.5).gain([0, 6], [6, 0])
    9.0
    >>> NewtonGain(reg_lambda=0.5).leaf_weights([[0, 6], [6, 0]])
    array([ 1.5, -1.5])
    """

    reg_lambda: float = 1.0
    gamma: float = 0.0
    base_score: float = 0.5
    code = codes.NEWTON

    def __post_init__(self) -> None:
        check_number("reg_lambda of NewtonGain", self.reg_lambda, low=0.0, high=np.inf)
        check_number("gamma of NewtonGain", self.gamma, low=0.0, high=np.inf)
        check_number("base_score of NewtonGain", self.base_score, low=0.0, high=1.0, closed="neither")

    @property
    def table(self) -> NDArray[np.float64]:
        """The three parameters."""
        return np.array(dataclasses.astuple(self), dtype=np.float64)

    def check_classes(self, n_classes: int) -> None:
        """Raise a ValueError for more than two classes."""
        if n_classes > 2:
            raise ValueError(f"criterion 'newton' is for two classes, got {n_classes}")

    def leaf_weights(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Weights of leaves, ``-G / (H + lambda)`` (Chen & Guestrin 2016, Equation 5).

        XGBoost adds them, times its learning rate, to the log odds of `base_score`.

        Parameters
        ----------
        counts : array-like of shape (n_nodes, 2)
            Weighted class counts of each node, such as ``tree_.counts``: non-negative, with positive sums.

        Returns
        -------
        ndarray of shape (n_nodes,)

        Raises
        ------
        ValueError
            If the counts of a node are invalid, or not of two classes.
        """
        checked = np.array([check_counts("counts", row) for row in np.asarray(counts)])
        if checked.ndim != 2 or checked.shape[1] != 2:
            raise ValueError(f"counts must have shape (n_nodes, 2), got {checked.shape}")
        total = checked.sum(axis=1)
        gradient = total * self.base_score - checked[:, 1]
        hessian = total * self.base_score * (1 - self.base_score)
        weights: NDArray[np.float64] = -gradient / (hessian + self.reg_lambda)
        return weights

    def _to_gain(self, reduction: float, n: float) -> float:
        return reduction


CRITERIA: dict[str, type[Criterion]] = {
    "gini": Gini,
    "entropy": Entropy,
    "misclassification": Misclassification,
    "sqrt_gini": SqrtGini,
    "gce": GeneralizedCrossEntropy,
    "negative_exponential": NegativeExponential,
    "twoing": Twoing,
    "pairwise": Pairwise,
    "pairwise_sum": PairwiseSum,
    "credal": Credal,
    "newton": NewtonGain,
}

# Alternative names: the losses whose minima the impurities are, and other names in the literature.
ALIASES = {
    "mse": "gini",
    "ce": "entropy",
    "log_loss": "entropy",
    "conservative": "misclassification",
    "dkm": "sqrt_gini",
    "ne": "negative_exponential",
    "ranking": "pairwise",
    "xgboost": "newton",
}

# Adaptive negative exponential.  Only estimators take this name, because they choose lam from the data.
ADAPTIVE = "ane"
TREE_CRITERION, FOREST_CRITERION = "negative_exponential", "gini"  # defaults of the estimators


def get_criterion(criterion: str | Criterion) -> Criterion:
    """Criterion object from a name.

    Parameters
    ----------
    criterion : str or Criterion
        A name, with numbers in parentheses if they are not the defaults: ``"gini"``, ``"gce"``, ``"gce(0.4)"``,
        ``"negative_exponential(0.25)"``, ``"newton(1, 0.5)"``.  Aliases: mse, ce, log_loss, conservative, dkm,
        ne, ranking, xgboost.  An object is returned unchanged.

    Returns
    -------
    Criterion

    Raises
    ------
    ValueError
        If the name is unknown or the parameter is invalid.
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
            f"criterion {criterion!r} is unknown; known are {known}, and {ADAPTIVE!r} for estimators"
        )
    if argument is None:
        return CRITERIA[name]()
    allowed = number_parameters(CRITERIA[name])
    if not allowed:
        raise ValueError(f"criterion {name!r} takes no parameter, got {criterion!r}")
    try:
        values = [float(number) for number in argument.split(",")]
    except ValueError:
        raise ValueError(f"the parameter of criterion {name!r} must be a number, got {criterion!r}") from None
    if len(values) > len(allowed):
        raise ValueError(f"criterion {name!r} takes {', '.join(allowed)}, got {criterion!r}")
    return CRITERIA[name](*values)


def number_parameters(criterion: type[Criterion]) -> list[str]:
    """Parameters of a criterion that its name may have in parentheses, in this order."""
    return [field.name for field in dataclasses.fields(criterion) if field.type == "float"]
