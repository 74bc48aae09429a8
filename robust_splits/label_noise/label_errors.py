"""Find wrong labels: the probability that each label is wrong, and the noise rate.

References
----------
.. [1] Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
.. [2] Zadrozny & Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability Estimates",
       KDD 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar, nnls
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.isotonic import IsotonicRegression, isotonic_regression

from .best_bin import BestBin, find_best_bin
from .labels import encode_labels
from .transition_estimation import check_probabilities

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # of probabilities whose logarithm is taken
OVERLAP_WEIGHT = 0.5  # for the ranking of labels
SMALLEST_RANKED = 0.01  # noise rate for the ranking, which has no order without noise
SMOOTHNESS = {"rank": 0.02, "probability": 1e-3}  # of the lower bound 0 of corrected probabilities
STANDARD_ERRORS = 2.0  # of an interval of 90 %: more than 1.645, as the bins were chosen for their low rate
RIDGE = 0.1  # for the shares of the clean classes
OVERLAP = 0.6  # part of the estimated noise that may be overlap of the classes, if as many labels are random


class IndistinctClassesError(ValueError):
    """The probabilities do not distinguish the classes, so no label can be judged."""


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

    1. The transition matrix T of the noise is estimated from the rows that are most certain to be of a class;
       see `estimate_transition_matrix` with ``method="best_bin"``.
    2. The probabilities q of the noisy labels are calibrated on the labels, by isotonic regression of each
       class [2]_, and corrected for the noise: p = T'^-1 q, with negative values set to zero.
    3. A label j is right with probability p_j T[j, j] / sum_i p_i T[i, j].
    4. Labels are ranked by the same formula, with probabilities that are calibrated by a temperature [1]_,
       which leaves no ties, and with a matrix that claims smaller differences between classes: the mean of
       uniform noise and of T with an `overlap_weight` of 0.5.  The probabilities of step 3 are made monotone
       in this order, and their log odds are shifted to the noise rate.

    Noise and overlapping classes cannot be told apart without checked labels: labels that are wrong where
    classes overlap do not count as noise, and where classes overlap everywhere, overlap counts as noise.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of K classes.
    probabilities : array-like of shape (n, K)
        Probabilities of the labels in sorted order, from models fitted to other rows: those out of bag of a
        forest, or those of `sklearn.model_selection.cross_val_predict`.

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
        A ValueError, if the rows with the highest probability of a class have this label no more often than
        rows drawn at random.

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
    best = find_best_bin(codes, q, np.ones(codes.size))
    shares = np.bincount(codes) / codes.size
    random_rate = 1 - float(shares @ shares)
    error = STANDARD_ERRORS * best.standard_error
    if best.noise_rate + error >= random_rate:
        raise IndistinctClassesError(
            "the probabilities do not distinguish the classes, so no label can be judged"
        )
    T = best.transition_matrix()
    noise_rate = float(clean_shares(T, shares) @ (1 - np.diag(T)))
    ranking, suggested = _rank(q, codes, best, noise_rate)
    by_class = _joint(_calibrate_by_class(q, codes), codes, T, SMOOTHNESS["probability"])
    p_wrong = np.empty(codes.size)
    p_wrong[ranking] = isotonic_regression(_p_wrong(by_class, codes)[ranking], increasing=False)
    improbable_rate = float((q.argmax(axis=1) != codes).mean())
    return LabelErrors(
        classes=encoder.classes_,
        p_wrong=_shift_to_mean(p_wrong, noise_rate),
        ranking=ranking,
        suggested=encoder.classes_[suggested],
        noise_rate=noise_rate,
        noise_rate_interval=_interval(noise_rate, error, random_rate, improbable_rate),
        transition_matrix=T,
    )


def _rank(
    q: Floats, codes: NDArray[np.int64], best: BestBin, noise_rate: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rank the labels from the most to the least suspect one; see step 4 of `find_label_errors`.

    Returns the ranking, and the most probable class of each row other than its label.
    """
    uniform = _uniform(max(noise_rate, SMALLEST_RANKED), q.shape[1])
    T = (best.transition_matrix(OVERLAP_WEIGHT) + uniform) / 2
    joint = _joint(_calibrate_by_temperature(q, codes), codes, T, SMOOTHNESS["rank"])
    ranking = np.argsort(-_p_wrong(joint, codes), kind="stable")
    joint[np.arange(codes.size), codes] = -1.0
    return ranking, joint.argmax(axis=1)


def clean_shares(T: Floats, shares: Floats) -> Floats:
    """Shares of the clean classes, from those of the noisy labels: the solution w of T' w = shares.

    A ridge towards the shares of the noisy labels keeps it stable if T is almost singular.
    """
    weights, _ = nnls(np.vstack([T.T, RIDGE * np.eye(len(T))]), np.concatenate([shares, RIDGE * shares]))
    clean: Floats = weights / weights.sum()
    return clean


def _uniform(noise_rate: float, n_classes: int) -> Floats:
    """Transition matrix of uniform noise."""
    T: Floats = np.full((n_classes, n_classes), noise_rate / (n_classes - 1))
    np.fill_diagonal(T, 1 - noise_rate)
    return T


def _calibrate_by_temperature(q: Floats, codes: NDArray[np.int64]) -> Floats:
    """Calibrate probabilities by the exponent with the lowest log loss."""
    log_q = np.log(np.clip(q, 1e-3, 1.0))
    rows = np.arange(codes.size)

    def loss(exponent: float) -> float:
        return -float(log_softmax(exponent * log_q, axis=1)[rows, codes].mean())

    exponent = minimize_scalar(loss, bounds=(0.2, 5.0), method="bounded").x
    calibrated: Floats = softmax(exponent * log_q, axis=1)
    return calibrated


def _calibrate_by_class(q: Floats, codes: NDArray[np.int64]) -> Floats:
    """Calibrate the probability of each class by isotonic regression."""
    calibrated = np.empty_like(q)
    for i in range(q.shape[1]):
        # Rounded, since its interpolation fails between values that are almost equal.
        calibrated[:, i] = IsotonicRegression().fit_transform(q[:, i].round(9), codes == i)
    calibrated += 1e-9
    normalised: Floats = calibrated / calibrated.sum(axis=1, keepdims=True)
    return normalised


def _correct(q: Floats, T: Floats, smoothness: float) -> Floats:
    """Probabilities of the clean classes, from those of the noisy labels."""
    p = np.linalg.lstsq(T.T, q.T, rcond=None)[0].T
    positive = smoothness * np.logaddexp(0.0, p / smoothness)  # keeps the order of negative values
    corrected: Floats = positive / positive.sum(axis=1, keepdims=True)
    return corrected


def _joint(q: Floats, codes: NDArray[np.int64], T: Floats, smoothness: float) -> Floats:
    """Probability of each class and the given label, shape (n, K)."""
    joint: Floats = _correct(q, T, smoothness) * T[:, codes].T
    return joint


def _p_wrong(joint: Floats, codes: NDArray[np.int64]) -> Floats:
    """Probability that each label is wrong."""
    right = joint[np.arange(codes.size), codes]
    wrong: Floats = 1.0 - right / np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
    return wrong


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
