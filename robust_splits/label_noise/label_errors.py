"""Find wrong labels: the probability that each label is wrong, and the noise rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, nnls
from scipy.special import expit, logit

from .clean_posterior import STANDARD_ERRORS, estimate_clean_posterior, posterior
from .labels import encode_labels
from .transition_estimation import check_probabilities

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # of probabilities whose logarithm is taken
SMALLEST_RANKED = 0.01  # noise rate for the ranking
RIDGE = 0.1  # for the shares of the clean classes
OVERLAP = 0.6  # part of the estimated noise that may be overlap of the classes, if as many labels are random


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Wrong labels, as `find_label_errors` estimates them.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Sorted labels.
    p_wrong : float array of shape (n,)
        Probability that each label is wrong.  Its mean is the noise rate.
    ranking : int array of shape (n,)
        Rows from the most to the least suspect label.  `p_wrong` never increases in this order, except for
        checked labels, which come last.
    suggested : ndarray of shape (n,)
        The most probable label of each row other than its own.
    noise_rate : float
        Share of wrong labels.
    noise_rate_interval : tuple of float
        Interval of the noise rate; see `find_label_errors`.
    transition_matrix : float array of shape (K, K)
        ``T[i, j]`` is the probability of label j in class i.
    """

    classes: NDArray[np.generic]
    p_wrong: Floats
    ranking: NDArray[np.int64]
    suggested: NDArray[np.generic]
    noise_rate: float
    noise_rate_interval: tuple[float, float]
    transition_matrix: Floats


def find_label_errors(y: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Estimate which labels are wrong, and how many, from probabilities of models fitted to other rows.

    The posterior of the clean labels gives the probability that a label is wrong, as `estimate_clean_posterior`
    describes: the transition matrix T of the noise is estimated from the rows that are most certain to be of a
    class; the probabilities of the labels are calibrated so that, with T, they make the given labels most
    likely; and a label j of a row whose class is i with probability p_i is right with probability
    p_j T[j, j] / sum_i p_i T[i, j].  The log odds of these probabilities are shifted to the noise rate.

    Noise and overlapping classes cannot be told apart without checked labels: labels that are wrong where
    classes overlap do not count as noise, and where classes overlap everywhere, overlap counts as noise.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of K classes.
    probabilities : array-like of shape (n, K)
        Probabilities of the labels in sorted order, from models fitted to other rows: those out of bag of a
        forest (one of `robust_splits` needs ``passes=1``), or those of
        `sklearn.model_selection.cross_val_predict`.

    Returns
    -------
    LabelErrors
        The 90 % interval of its noise rate r is from r - sqrt((2 s)^2 + o^2) to r + sqrt((2 s)^2 + m^2), where
        s is the standard error of r.  Overlap of the classes may be a part o = 0.6 r^2 / c of r, where c is the
        share of wrong labels if labels were drawn at random.  Where classes overlap, a part m of the labels may
        be wrong too: those that are not the most probable of their rows, less r.  On real data sets with up to
        30 % of injected noise, and with labels of people and heuristics, these widths cover about 9 of 10
        rates.

    Raises
    ------
    ValueError
        If labels are missing or continuous, there is only one class, the shapes do not match, or probabilities
        are not in [0, 1] or do not sum to 1 (within 1e-3).
    IndistinctClassesError
        A ValueError, if the given labels have no higher probabilities than labels drawn at random, or if the
        rows with the highest probability of a class have this label no more often than rows drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import find_label_errors
    >>> rng = np.random.default_rng(0)
    >>> right = rng.integers(2, size=1000)
    >>> wrong = rng.random(1000) < 0.1
    >>> y = np.where(wrong, 1 - right, right)
    >>> probabilities = np.array([[0.9, 0.1], [0.1, 0.9]])[right]
    >>> found = find_label_errors(y, probabilities)
    >>> round(found.noise_rate, 1)
    0.1
    >>> wrong[found.ranking[:50]].all()
    np.True_
    """
    encoder, codes = encode_labels(y)
    q = check_probabilities(probabilities, codes.size, len(encoder.classes_))
    found = estimate_clean_posterior(codes, q)
    T, rows = found.transition_matrix, np.arange(codes.size)
    shares = np.bincount(codes) / codes.size
    noise_rate = float(clean_shares(T, shares) @ (1 - np.diag(T)))
    # Without noise, all labels would be right for certain, and have no order.
    uniform = np.full_like(T, 1 / len(T))
    ranked = T + max(0.0, SMALLEST_RANKED - noise_rate) * (uniform - T)
    probabilities = posterior(found.prior, ranked, codes)
    wrong = 1 - probabilities[rows, codes]
    probabilities[rows, codes] = -1.0
    return LabelErrors(
        classes=encoder.classes_,
        p_wrong=_shift_to_mean(wrong, noise_rate),
        ranking=np.argsort(-wrong, kind="stable"),
        suggested=encoder.classes_[probabilities.argmax(axis=1)],
        noise_rate=noise_rate,
        noise_rate_interval=_interval(
            noise_rate,
            STANDARD_ERRORS * found.best_bins.standard_error,
            random_rate=1 - float(shares @ shares),
            improbable_rate=float((q.argmax(axis=1) != codes).mean()),
        ),
        transition_matrix=T,
    )


def clean_shares(T: Floats, shares: Floats) -> Floats:
    """Shares of the clean classes, from those of the noisy labels: the solution w of T' w = shares.

    A ridge towards the shares of the noisy labels keeps it stable if T is almost singular.
    """
    weights, _ = nnls(np.vstack([T.T, RIDGE * np.eye(len(T))]), np.concatenate([shares, RIDGE * shares]))
    clean: Floats = weights / weights.sum()
    return clean


def _shift_to_mean(p: Floats, mean: float) -> Floats:
    """Shift the log odds of probabilities, so that their mean is as given."""
    if mean <= SMALLEST:
        return np.zeros_like(p)
    log_odds = logit(np.clip(p, SMALLEST, 1 - SMALLEST))
    shift = brentq(lambda shift: expit(log_odds + shift).mean() - mean, -40.0, 40.0)
    shifted: Floats = expit(log_odds + shift)
    return shifted


def _interval(
    noise_rate: float, error: float, random_rate: float, improbable_rate: float
) -> tuple[float, float]:
    """Interval of the noise rate; see `find_label_errors`.

    Parameters
    ----------
    noise_rate, error : float
        The noise rate and its statistical error.
    random_rate : float
        Noise rate of random labels.
    improbable_rate : float
        Share of labels that are not the most probable of their rows.
    """
    overlap, missed = OVERLAP * noise_rate**2 / random_rate, max(0.0, improbable_rate - noise_rate)
    low, high = noise_rate - float(np.hypot(error, overlap)), noise_rate + float(np.hypot(error, missed))
    return max(0.0, low), min(1.0, high)
