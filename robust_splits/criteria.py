"""Split criteria and their names.

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
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._checks import check_flag, check_number
from ._kernels import criterion_codes as codes
from .criterion import Criterion, Impurity
from .function_criterion import FunctionCriterion
from .newton_gain import NewtonGain
from .plugins import load_plugin, plugin_names, plugins


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
        ne, ranking, xgboost.  Installed packages may add names; see `robust_splits.plugins`.  An object is
        returned unchanged.

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
    if name not in CRITERIA and name in plugins("criteria"):
        if argument is not None:
            raise ValueError(f"criterion {name!r} takes no parameter, got {criterion!r}")
        return _from_plugin(name)
    if name not in CRITERIA:
        known = ", ".join([*CRITERIA, *ALIASES, *plugin_names("criteria", CRITERIA)])
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
        text = f"the parameter of criterion {name!r} must be a number"
        if len(allowed) > 1:
            text = (
                f"the parameters {', '.join(allowed)} of criterion {name!r} must be numbers with commas between"
            )
        raise ValueError(f"{text}, got {criterion!r}") from None
    if len(values) > len(allowed):
        raise ValueError(f"criterion {name!r} takes {', '.join(allowed)}, got {criterion!r}")
    return CRITERIA[name](*values)


def _from_plugin(name: str) -> Criterion:
    """Criterion of an installed package: an object, or a function for `FunctionCriterion`."""
    found = load_plugin("criteria", name)
    if isinstance(found, Criterion):
        return found
    if not inspect.isfunction(found):
        raise ValueError(
            f"{name!r} of boostnoise.criteria must be a Criterion or a function of the class counts of both "
            f"children, got {found!r:.60}"
        )
    return FunctionCriterion(found)


def number_parameters(criterion: type[Criterion]) -> list[str]:
    """Parameters of a criterion that its name may have in parentheses, in this order."""
    return [field.name for field in dataclasses.fields(criterion) if field.type == "float"]
