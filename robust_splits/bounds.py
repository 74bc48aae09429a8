"""Sample sizes under uniform label noise that preserve a node's majority class or the order of two splits.

Uniform noise of rate eta changes each label independently with probability eta, to one of the other K - 1
classes with equal probability.  The bounds follow from Hoeffding's inequality.  They are conservative, and hold
for a node, or two splits of a node, chosen without looking at the noisy labels.

References
----------
.. [1] Wilton & Ye, "Robust Loss Functions for Training Decision Trees with Noisy Labels", AAAI 2024.
.. [2] Ghosh, Manwani & Sastry, "On the Robustness of Decision Tree Learning under Label Noise", PAKDD 2017.
"""

from __future__ import annotations

import math

import numpy as np

from ._checks import check_integer, check_number

MAX_SAMPLES = int(np.iinfo(np.int64).max)
# The constants c and d of `gain_order_failure_probability`.
GAIN_ORDER_CONSTANTS = {"gini": (12, 72), "misclassification": (12, 18), "twoing": (8, 2)}


def majority_retention_probability(n: int, noise_rate: float, margin: float, n_classes: int = 2) -> float:
    """Lower bound on the probability that a node keeps its majority class under noise.

    ``max(0, 1 - (K-1) exp(-n gamma^2 / 2))`` with ``gamma = (1 - K eta / (K-1)) margin`` (Wilton & Ye,
    Theorem 4).

    Parameters
    ----------
    n : int
        Number of samples in the node, at least 1.
    noise_rate : float
        The rate eta of uniform noise, in [0, (K-1)/K).
    margin : float
        Smallest difference between the clean proportion of the majority class k* and that of another class, in
        (0, 1]: ``min over k != k* of (p_k* - p_k)``.
    n_classes : int, default=2
        The number K of classes, at least 2.

    Returns
    -------
    float
        A probability; 0 if the bound is vacuous.

    Raises
    ------
    TypeError
        If an argument is not a number, or `n` or `n_classes` is not an integer.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from robust_splits.bounds import majority_retention_probability
    >>> round(majority_retention_probability(100, noise_rate=0.2, margin=0.5), 3)
    0.989
    """
    n = check_integer("n", n, low=1, high=MAX_SAMPLES)
    n_classes = check_integer("n_classes", n_classes, low=2, high=MAX_SAMPLES)
    gamma = _noisy_margin(noise_rate, margin, n_classes)
    return max(0.0, -math.expm1(math.log(n_classes - 1) - n * gamma**2 / 2))


def min_leaf_samples(noise_rate: float, margin: float = 1.0, n_classes: int = 2, delta: float = 0.05) -> int:
    """Smallest number of samples for which `majority_retention_probability` is at least 1 - delta.

    ``ceil((2 / gamma^2) ln((K-1) / delta))`` with ``gamma = (1 - K eta / (K-1)) margin`` (Wilton & Ye,
    Theorem 4; for two classes Ghosh, Manwani & Sastry, Lemma 3.7).

    Parameters
    ----------
    noise_rate : float
        The rate eta of uniform noise, in [0, (K-1)/K).
    margin : float, default=1.0
        Smallest difference between the clean proportion of the majority class and that of another class, in
        (0, 1].  The default describes a leaf that would be pure without noise, and needs the fewest samples.
    n_classes : int, default=2
        The number K of classes, at least 2.
    delta : float, default=0.05
        Largest acceptable probability of losing the majority class, in (0, 1).

    Returns
    -------
    int
        Number of samples, at least 1.

    Raises
    ------
    TypeError
        If an argument is not a number, or `n_classes` is not an integer.
    ValueError
        If an argument is out of range, or the number of samples does not fit into 64 bits.

    Examples
    --------
    >>> from robust_splits.bounds import min_leaf_samples
    >>> [min_leaf_samples(noise_rate) for noise_rate in (0.0, 0.2, 0.4)]
    [6, 17, 150]
    """
    n_classes = check_integer("n_classes", n_classes, low=2, high=MAX_SAMPLES)
    gamma = _noisy_margin(noise_rate, margin, n_classes)
    delta = check_number("delta", delta, low=0.0, high=1.0, closed="neither")
    # Divided twice, because the square of a small gamma would underflow to 0.
    needed = 2 * (math.log(n_classes - 1) - math.log(delta)) / gamma / gamma if gamma else math.inf
    if needed > MAX_SAMPLES:
        raise ValueError(
            f"noise_rate {noise_rate!r} and margin {margin!r} need more than {MAX_SAMPLES} samples; "
            "a lower noise_rate or a larger margin needs fewer"
        )
    return math.ceil(needed)


def gain_order_failure_probability(
    n: int, noise_rate: float, difference: float, criterion: str = "gini"
) -> float:
    """Upper bound on the probability that noise reverses the order of two splits by gain, for two classes.

    ``min(1, c exp(-n rho^2 (1 - 2 eta)^2 / d))``, with c = 12 and d = 72 for gini, c = 12 and d = 18 for
    misclassification, c = 8 and d = 2 for twoing (Ghosh, Manwani & Sastry, Lemma 3.8 and its proof).  Noise
    above 1/2 exchanges the classes, which none of these gains notices.

    Parameters
    ----------
    n : int
        Number of samples in the node, at least 1.
    noise_rate : float
        The rate eta of uniform noise, in [0, 1], but not 1/2.
    difference : float
        The difference rho between the clean gains of the two splits, as the criterion computes them, in
        (0, 1/2].
    criterion : {"gini", "misclassification", "twoing"}, default="gini"

    Returns
    -------
    float
        A probability; 1 if the bound is vacuous.

    Raises
    ------
    TypeError
        If an argument is not a number, or `n` is not an integer.
    ValueError
        If an argument is out of range, or `criterion` is unknown.

    Examples
    --------
    >>> from robust_splits.bounds import gain_order_failure_probability
    >>> round(gain_order_failure_probability(50_000, noise_rate=0.2, difference=0.2), 6)
    0.000545
    """
    n = check_integer("n", n, low=1, high=MAX_SAMPLES)
    noise_rate = check_number("noise_rate", noise_rate, low=0.0, high=1.0)
    if noise_rate == 0.5:
        raise ValueError("noise_rate must not be 0.5, at which labels say nothing")
    difference = check_number("difference", difference, low=0.0, high=0.5, closed="right")
    if criterion not in GAIN_ORDER_CONSTANTS:
        raise ValueError(f"criterion must be one of {', '.join(GAIN_ORDER_CONSTANTS)}, got {criterion!r}")
    factor, divisor = GAIN_ORDER_CONSTANTS[criterion]
    return min(1.0, factor * math.exp(-n * (difference * (1 - 2 * noise_rate)) ** 2 / divisor))


def _noisy_margin(noise_rate: float, margin: float, n_classes: int) -> float:
    """Expected margin gamma under uniform noise."""
    limit = (n_classes - 1) / n_classes
    noise_rate = check_number("noise_rate", noise_rate, low=0.0, high=limit, closed="left")
    margin = check_number("margin", margin, low=0.0, high=1.0, closed="right")
    return (1 - noise_rate / limit) * margin
