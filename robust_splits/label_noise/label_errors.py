"""Find wrong labels: the probability that each label is wrong, and the noise rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from .clean_posterior import TINY, calibrate, estimate_clean_posterior, posterior
from .labels import encode_labels
from .proven_noise import profile_likelihood, scale_noise, smallest_scale
from .transition_estimation import check_probabilities

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # of the probabilities that a label is wrong
SMALLEST_RANKED = 0.01  # noise rate for the ranking
RIDGE = 0.1  # for the shares of the clean classes
LIKELY, PROVEN = 0.5, 4.0  # drops of twice the log likelihood for the estimates, and for what is proven
UNUSUAL = 0.002  # share of the labels that may be right, however unlikely they are
STANDARD_ERRORS = 2.0  # more than the 1.645 of 90 %, as the bins were chosen for their low rate
HIGH = 0.8  # part of the distance to the upper end that the error of the best model allows


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """Wrong labels, as `find_label_errors` estimates them.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Sorted labels.
    p_wrong : float array of shape (n,)
        Probability that each label is wrong.  Its mean is about the noise rate.
    clean_probabilities : float array of shape (n, K)
        Probability of each class, given the features and the label of a row; that of the given label is
        ``1 - p_wrong``.
    ranking : int array of shape (n,)
        Rows from the most to the least suspect label.  `p_wrong` never increases in this order, except for
        checked labels, which come last.
    suggested : ndarray of shape (n,)
        The most probable label of each row other than its own.
    noise_rate : float
        Share of wrong labels.
    noise_rate_interval : tuple of float
        What is proven, and what is possible; see `find_label_errors`.
    noise_rate_without_overlap : float
        Share of wrong labels if each class has rows that are certain to be of it, so that all doubt about their
        labels is noise.
    transition_matrix : float array of shape (K, K)
        ``T[i, j]`` is the probability of label j in class i.
    transition_matrix_without_overlap : float array of shape (K, K)
        The same if each class has rows that are certain to be of it.
    transition_matrix_proven : float array of shape (K, K)
        The same with the noise that is proven.
    label_probabilities : float array of shape (n, K)
        The probabilities of the labels that the estimates are made from.
    intervals_of_labels : float array of shape (K, 2) or None
        90 % interval of the share of wrong labels among the rows with each label; None unless some rows were
        checked.
    """

    classes: NDArray[np.generic]
    p_wrong: Floats
    clean_probabilities: Floats
    ranking: NDArray[np.int64]
    suggested: NDArray[np.generic]
    noise_rate: float
    noise_rate_interval: tuple[float, float]
    noise_rate_without_overlap: float
    transition_matrix: Floats
    transition_matrix_without_overlap: Floats
    transition_matrix_proven: Floats
    label_probabilities: Floats
    intervals_of_labels: Floats | None = None

    def find_suspects(self, precision: float) -> NDArray[np.bool_]:
        """Find the longest list of suspects of an expected precision.

        Parameters
        ----------
        precision : float
            Expected share of wrong labels in the list, above 0 and at most 1.

        Returns
        -------
        bool array of shape (n,)

        Raises
        ------
        ValueError
            If `precision` is out of range.
        """
        if not 0 < precision <= 1:
            raise ValueError(f"precision must be above 0 and at most 1, got {precision!r}")
        order = self.ranking[np.argsort(-self.p_wrong[self.ranking], kind="stable")]  # with checked labels
        means = np.cumsum(self.p_wrong[order]) / np.arange(1, order.size + 1)
        suspect = np.zeros(order.size, dtype=np.bool_)
        suspect[order[: np.count_nonzero(means >= precision)]] = True  # the means never rise
        return suspect


def find_label_errors(y: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Estimate which labels are wrong, and how many, from probabilities of models fitted to other rows.

    1. The transition matrix T of the noise is estimated from the rows that are most certain to be of a class,
       as if no classes overlapped there; see `estimate_clean_posterior`.
    2. Noise and overlapping classes look alike, and with overlapping classes, T says too much.  So the labels
       are explained with less noise, as far as that is nearly as likely; see `proven_noise`.  This gives the
       noise rate and the transition matrix.  Labels of 0.2 % of the rows may be right, however unlikely they
       are: unusual rows occur in all data.
    3. A label j of a row that is of class i with probability p_i is right with probability
       p_j T[j, j] / sum_i p_i T[i, j].
    4. The ranking is by the sum of two log odds that a label is wrong: these, and those of the predictions
       alone, as T does not describe noise that depends on the features.  The probabilities are made to fall
       along the ranking.

    Where no rows are far from the boundary of the classes, nothing is proven, and `p_wrong` is 0.

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
        The 90 % interval of its noise rate is from what is proven to what is possible: to
        r + 0.8 sqrt((2 s)^2 + m^2), where r is the noise rate without overlap, s its standard error, and r + m
        the share of labels that are not the most probable ones of their rows.

    Raises
    ------
    ValueError
        If labels are missing or continuous, there is only one class, the shapes do not match, or probabilities
        are not in [0, 1] or do not sum to 1 (within 1e-3).
    IndistinctClassesError
        A ValueError, if the given labels have no higher probabilities than labels drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from boostnoise import find_label_errors
    >>> rng = np.random.default_rng(0)
    >>> right = rng.integers(2, size=1000)
    >>> wrong = rng.random(1000) < 0.1
    >>> y = np.where(wrong, 1 - right, right)
    >>> p = 1 / (1 + np.exp(rng.normal(np.where(right == 1, -2, 2))))  # of a model
    >>> found = find_label_errors(y, np.column_stack([1 - p, p]))
    >>> round(found.noise_rate, 1)
    0.1
    >>> wrong[found.ranking[:50]].all()
    np.True_
    """
    encoder, codes = encode_labels(y)
    q = check_probabilities(probabilities, codes.size, len(encoder.classes_))
    found = estimate_clean_posterior(codes, q)
    weight, rows, shares = np.ones(codes.size), np.arange(codes.size), np.bincount(codes) / codes.size
    likelihoods = profile_likelihood(codes, q, found.transition_matrix, weight)
    largest = _noise_rate(found.transition_matrix, shares)

    def least_noise(drop: float) -> Floats:
        scale = smallest_scale(likelihoods, drop) - UNUSUAL / max(largest, UNUSUAL)
        return scale_noise(found.transition_matrix, max(0.0, scale))

    T, proven = least_noise(LIKELY), least_noise(PROVEN)
    prior = calibrate(codes, q, T, weight)
    suspicion, suggested = _rank(prior, T, q, codes, shares)
    ranking = np.argsort(-suspicion, kind="stable")
    p = posterior(prior, T, codes)
    p_wrong = np.empty(codes.size)
    p_wrong[ranking] = isotonic_regression(1 - p[rows, codes][ranking], increasing=False)
    p_wrong = np.where(p_wrong < SMALLEST, 0.0, p_wrong)
    # Labels that are not the most probable of their rows may be wrong too.
    missed = max(0.0, float((q.argmax(axis=1) != codes).mean()) - largest)
    high = largest + HIGH * float(np.hypot(STANDARD_ERRORS * found.best_bins.standard_error, missed))
    return LabelErrors(
        classes=encoder.classes_,
        p_wrong=p_wrong,
        clean_probabilities=scale_other_classes(p, codes, p_wrong),
        ranking=ranking,
        suggested=encoder.classes_[suggested],
        noise_rate=_noise_rate(T, shares),
        noise_rate_interval=(_noise_rate(proven, shares), min(1.0, high)),
        noise_rate_without_overlap=largest,
        transition_matrix=T,
        transition_matrix_without_overlap=found.transition_matrix,
        transition_matrix_proven=proven,
        label_probabilities=q,
    )


def _rank(
    prior: Floats, T: Floats, q: Floats, codes: NDArray[np.integer], shares: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Suspicion of each label, and the most probable other class."""
    # Without noise, all labels would be right for certain, and have no order.
    uniform = np.full_like(T, 1 / len(T))
    p = posterior(prior, T + max(0.0, SMALLEST_RANKED - _noise_rate(T, shares)) * (uniform - T), codes)
    suspicion = _log_odds_of_others(p, codes) + _log_odds_of_others(q, codes)
    p[np.arange(codes.size), codes] = -1.0
    return suspicion, p.argmax(axis=1)


def _log_odds_of_others(p: Floats, codes: NDArray[np.integer]) -> Floats:
    """Log odds that the class of each row is another one than its label."""
    others, rows = p.copy(), np.arange(codes.size)
    others[rows, codes] = 0.0
    log_odds: Floats = np.log(others.sum(axis=1) + SMALLEST) - np.log(p[rows, codes] + SMALLEST)
    return log_odds


def scale_other_classes(p: Floats, codes: NDArray[np.integer], p_wrong: Floats) -> Floats:
    """Scale the probabilities of the classes other than the label of each row to sum to `p_wrong`.

    Parameters
    ----------
    p : array of shape (n, K)
        Probabilities of the classes.
    codes : int array of shape (n,)
        Class numbers of the labels.
    p_wrong : array of shape (n,)
        Probability that each label is wrong.

    Returns
    -------
    float array of shape (n, K)
        The classes other than the label are equally probable in rows where `p` excludes them all.
    """
    scaled, rows = p + TINY, np.arange(codes.size)
    scaled[rows, codes] = 0.0
    scaled *= (p_wrong / scaled.sum(axis=1))[:, np.newaxis]
    scaled[rows, codes] = 1.0 - p_wrong
    return scaled


def _noise_rate(T: Floats, shares: Floats) -> float:
    """Share of wrong labels, from the transition matrix and the shares of the labels."""
    return float(clean_shares(T, shares) @ (1 - np.diag(T)))


def clean_shares(T: Floats, shares: Floats) -> Floats:
    """Shares of the clean classes, from those of the noisy labels: the solution w of T' w = shares.

    A ridge towards the shares of the noisy labels keeps it stable if T is almost singular.
    """
    from scipy.optimize import nnls  # slow to import

    weights, _ = nnls(np.vstack([T.T, RIDGE * np.eye(len(T))]), np.concatenate([shares, RIDGE * shares]))
    clean: Floats = weights / weights.sum()
    return clean
