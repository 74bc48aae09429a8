"""Losses of the literature that equal another loss of this package, under their own names."""

from __future__ import annotations

from .checks import check_number
from .label import GeneralizedCrossEntropy
from .transition import BackwardCorrection


def alpha(a: float = 2.0) -> GeneralizedCrossEntropy:
    """Alpha-loss of PILBoost, ``a / (a - 1) (1 - p_t^(1 - 1/a))``.

    It equals `GeneralizedCrossEntropy` with ``q = 1 - 1/a``.

    Parameters
    ----------
    a : float, default=2.0
        In [1, inf]; 1 is the limit, cross entropy, and inf gives ``1 - p_t``.  The paper also allows values
        below 1, with which the loss is less robust than cross entropy.

    References
    ----------
    Sypherd, Nock & Sankar, "Being Properly Improper", ICML 2022.
    """
    check_number("a of alpha", a, 1, float("inf"))
    return GeneralizedCrossEntropy(1.0 - 1.0 / a)


def sigmoid() -> GeneralizedCrossEntropy:
    """Sigmoid loss of the margin, ``1 / (1 + exp(v)) = 1 - p_t``.

    It equals `GeneralizedCrossEntropy` with ``q = 1``, which is also defined for several classes.

    References
    ----------
    Charoenphakdee, Lee & Sugiyama, "On Symmetric Losses for Learning from Corrupted Labels", ICML 2019.
    """
    return GeneralizedCrossEntropy(1.0)


def unbiased(noise_rate_pos: float, noise_rate_neg: float) -> BackwardCorrection:
    """Unbiased cross entropy under class-conditional noise, for two classes.

    The loss is ``{(1 - r_(-y)) c(y) - r_y c(-y)} / (1 - r_pos - r_neg)``, with ``c(y)`` the cross entropy of
    label y, -y the other label and r the noise rates.  It equals `BackwardCorrection` with the transition
    matrix of these rates, and is also unbounded below.

    Parameters
    ----------
    noise_rate_pos, noise_rate_neg : float
        Noise rates of class 1 and class 0: how likely a label is to be wrong.  In [0, 1), with a sum below 1.

    References
    ----------
    Natarajan, Dhillon, Ravikumar & Tewari, "Learning with Noisy Labels", NeurIPS 2013.
    """
    check_number("noise_rate_pos of unbiased", noise_rate_pos, 0, 1, "[)")
    check_number("noise_rate_neg of unbiased", noise_rate_neg, 0, 1, "[)")
    if noise_rate_pos + noise_rate_neg >= 1:
        raise ValueError(
            "noise_rate_pos and noise_rate_neg of unbiased must sum to less than 1, "
            f"got {noise_rate_pos!r} and {noise_rate_neg!r}"
        )
    return BackwardCorrection([[1 - noise_rate_neg, noise_rate_neg], [noise_rate_pos, 1 - noise_rate_pos]])
