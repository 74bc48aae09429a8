"""The posterior of the clean label: how probable each class is, given a row's features and its noisy label.

Class-conditional noise gives a row of class i the label j with probability ``T[i, j]``.  If p_i(x) is the
probability of class i given the features, then labels have the probabilities ``sum_i p_i(x) T[i, j]``, and a
row with the label j is of class i with a probability in proportion to ``p_i(x) T[i, j]``.

The same sum is the likelihood of the given label.  Probabilities of the clean classes that make the given
labels more likely are better ones, so it can choose among models without clean labels.

References
----------
.. [1] Patrini, Rozza, Menon, Nock & Qu, "Making Deep Neural Networks Robust to Label Noise: a Loss Correction
       Approach", CVPR 2017 (forward correction: the same likelihood, as a loss).
.. [2] Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from .best_bin import BestBins, find_best_bins
from .weights import effective_weights, spaced_rows

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

SMALLEST = 2e-3  # of the probabilities of two classes whose logarithm is taken; less for more classes
SMOOTHNESS = 0.02  # of the lower bound 0 of corrected probabilities
UNCHANGED = np.array([1.0, 0.0])  # powers of the given and the corrected probabilities
PRIOR_STD = 0.3  # of the changes of these powers, and of the offset of each class
POWERS, OFFSETS = (-1.0, 5.0), (-3.0, 3.0)  # bounds of these changes
ROWS_AT_ONCE = 1 << 14  # of temporary arrays
MAX_FITTED_ROWS = 1 << 15  # more rows hardly change the few parameters of a calibration
CHANCE = 2.33  # standard errors that random labels exceed in one of a hundred cases
TINY = 1e-30  # keeps products of probabilities positive
NEGLIGIBLE = 0.03  # probability of a class that soft labels leave out


class IndistinctClassesError(ValueError):
    """The probabilities do not distinguish the classes, so no label can be judged."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of the clean classes from those of the noisy labels; see `fit_calibration`.

    Attributes
    ----------
    transition_matrix : float array of shape (K, K)
    change : float array of shape (2 + K,)
        Changes of the two powers, and the offset of each class.
    """

    transition_matrix: Floats
    change: Floats

    @classmethod
    def fit(cls, codes: Codes, q: Floats, T: Floats, weight: Floats) -> Calibration:
        """Fit the parameters; arguments as in `estimate_clean_posterior`, except that all are needed."""
        fitted = spaced_rows(codes.size, MAX_FITTED_ROWS)
        change, _ = fit_calibration(codes[fitted], q[fitted], T, weight[fitted], PRIOR_STD)
        return cls(T, change)

    def prior(self, q: Floats) -> Floats:
        """Probabilities of the clean classes given the features, shape (n, K)."""
        inverse, p = _inverse(self.transition_matrix), np.empty_like(q)
        for start in range(0, len(q), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            p[rows] = _scale(_logs(q[rows], inverse), UNCHANGED + self.change[:2], self.change[2:])
        return p

    def posterior(self, codes: Codes, q: Floats) -> Floats:
        """Probabilities of the clean classes given the features and the label, shape (n, K)."""
        return posterior(self.prior(q), self.transition_matrix, codes)


@dataclass(frozen=True, eq=False)
class CleanPosterior:
    """Posterior of the clean labels of some rows.

    Attributes
    ----------
    probabilities : float array of shape (n, K)
        Probability of each class, given the features and the label of a row.
    prior : float array of shape (n, K)
        Probability of each class, given the features alone.
    transition_matrix : float array of shape (K, K)
        ``T[i, j]`` is the probability of label j in class i.
    best_bins : BestBins
        The counts that T is estimated from, unless it is given.
    calibration : Calibration
        What these probabilities are computed with, for other rows.
    """

    probabilities: Floats
    prior: Floats
    transition_matrix: Floats
    best_bins: BestBins
    calibration: Calibration

    def soft_labels(self) -> Floats:
        """Probabilities without the negligible ones; see `without_negligible`."""
        return without_negligible(self.probabilities)


def without_negligible(p: Floats) -> Floats:
    """Probabilities without the negligible ones, shape (n, K), so that few classes of a row are left."""
    least = np.minimum(NEGLIGIBLE, p.max(axis=1, keepdims=True))  # many classes: keep one
    kept: Floats = np.where(p < least, 0.0, p)
    kept /= kept.sum(axis=1, keepdims=True)
    return kept


def estimate_clean_posterior(
    codes: Codes, q: Floats, weight: Floats | None = None, T: Floats | None = None
) -> CleanPosterior:
    """Estimate the posterior of the clean labels, from probabilities of the noisy ones.

    1. The transition matrix T, unless it is given, is estimated from the rows that are most certain to be of a
       class; see `find_best_bins`.
    2. The probabilities q become those of the clean classes by `calibrate`: p.
    3. The posterior is in proportion to ``p_i T[i, j]``, with the given label j.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class numbers of the noisy labels; each class must occur.
    q : array of shape (n, K)
        Probabilities of the noisy labels, from models that were fitted to other rows.
    weight : array of shape (n,) or None, default=None
        Weights of the rows; they are scaled to sum to the effective sample size.
    T : array of shape (K, K) or None, default=None
        Transition matrix, if it is known.

    Raises
    ------
    IndistinctClassesError
        If the probabilities of the given labels are no higher than those of labels drawn at random.
    """
    weight = np.ones(codes.size) if weight is None else effective_weights(weight)
    counted = weight > 0
    best = find_best_bins(codes[counted], q[counted], weight[counted])
    shares = np.bincount(codes, weights=weight) / weight.sum()
    if not is_above_chance(codes, q, shares, weight):
        raise IndistinctClassesError(
            "the probabilities do not distinguish the classes, so no label can be judged"
        )
    T = best.transition_matrix() if T is None else T
    calibration = Calibration.fit(codes, q, T, weight)
    prior = calibration.prior(q)
    return CleanPosterior(posterior(prior, T, codes), prior, T, best, calibration)


def is_above_chance(codes: Codes, q: Floats, shares: Floats, weight: Floats) -> bool:
    """Whether labels have higher probabilities than labels drawn at random would have by chance.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class numbers of the labels.
    q : array of shape (n, K)
        Probabilities of the labels, from models that were fitted to other rows.
    shares : array of shape (K,) or (n, K)
        Probabilities of the labels drawn at random, the same for all rows or of each row.
    weight : array of shape (n,)
        Weights of the rows.
    """
    mean = (shares * q).sum(axis=1)
    variance = np.maximum((shares * q**2).sum(axis=1) - mean**2, 0.0)
    excess = weight @ (q[np.arange(codes.size), codes] - mean)
    return bool(excess > CHANCE * np.sqrt(weight**2 @ variance))


def posterior(p: Floats, T: Floats, codes: Codes) -> Floats:
    """Probability of each class given the label, from those of the clean classes given the features."""
    given_label: Floats = T.T[codes]
    given_label *= np.maximum(p, TINY)
    given_label /= given_label.sum(axis=1, keepdims=True)
    return given_label


def mean_log_likelihood(p: Floats, T: Floats, codes: Codes, weight: Floats | None = None) -> float:
    """Mean log likelihood of noisy labels, under probabilities of the clean classes and T."""
    likelihood = np.einsum("ik,ik->i", p, T.T[codes])
    floor = SMALLEST / T.shape[0] ** 2  # so that no row decides alone
    return float(np.average(np.log(np.maximum(likelihood, floor)), weights=weight))


def calibrate(codes: Codes, q: Floats, T: Floats, weight: Floats) -> Floats:
    """Calibrate probabilities of the noisy labels to those of the clean classes.

    Their logarithms are ``a log q_i + c log r_i + b_i`` but for a constant of the row, where r is q corrected
    for T: ``T'^-1 q``, with a smooth lower bound.  With a = 0, c = 1 and b = 0, p is the inverse of the noise
    [1]_; with c = 0, it is vector scaling [2]_.  The parameters maximise the likelihood of the noisy labels
    under p and T, with a Gaussian prior around ``p = q``, since estimates of T and q are not exact.

    Returns
    -------
    float array of shape (n, K)
    """
    return Calibration.fit(codes, q, T, weight).prior(q)


def fit_calibration(
    codes: Codes, q: Floats, T: Floats, weight: Floats, prior_std: float
) -> tuple[Floats, float]:
    """Fit the parameters of `calibrate`.

    Parameters
    ----------
    codes, q, T, weight
        As in `estimate_clean_posterior`.
    prior_std : float
        Standard deviation of the prior of the changes.

    Returns
    -------
    change : float array of shape (2 + K,)
        Changes of the two powers, and the offset of each class.
    log_likelihood : float
        Log likelihood of the noisy labels, plus the log density of the prior but for a constant.
    """
    from scipy.optimize import minimize  # slow to import

    n_classes = q.shape[1]
    logs, likelihood, precision = _logs(q, _inverse(T)), T.T[codes], prior_std**-2

    def loss(change: Floats) -> tuple[float, Floats]:
        p = _scale(logs, UNCHANGED + change[:2], change[2:])
        joint = p * likelihood
        total = np.maximum(joint.sum(axis=1), TINY)
        excess = weight[:, np.newaxis] * (joint / total[:, np.newaxis] - p)
        slopes = np.concatenate([(excess * logs).sum(axis=(1, 2)), excess.sum(axis=0)])
        return float(precision / 2 * change @ change - weight @ np.log(total)), precision * change - slopes

    bounds = [POWERS] * 2 + [OFFSETS] * n_classes
    found = minimize(loss, np.zeros(2 + n_classes), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x, -float(found.fun)


def _inverse(T: Floats) -> Floats:
    """Inverse of T', or its pseudo-inverse."""
    return np.asarray(np.linalg.lstsq(T.T, np.eye(len(T)), rcond=None)[0], dtype=np.float64)


def _logs(q: Floats, inverse: NDArray[np.floating]) -> Floats:
    """Logarithms of the probabilities of the noisy labels and of the corrected ones, shape (2, n, K)."""
    logs: Floats = np.log(np.maximum([q, _correct(q, inverse)], SMALLEST / q.shape[1]))
    return logs


def _scale(logs: Floats, powers: Floats, offsets: Floats) -> Floats:
    scaled: Floats = np.exp(log_softmax(np.tensordot(powers, logs, axes=1) + offsets, axis=1))
    return scaled


def _correct(q: Floats, inverse: NDArray[np.floating]) -> Floats:
    """Probabilities of the clean classes, if those of the noisy labels and the inverse of T' are exact."""
    p = q @ inverse.T
    positive = SMOOTHNESS * np.logaddexp(0.0, p / SMOOTHNESS)  # keeps the order of negative values
    corrected: Floats = positive / positive.sum(axis=1, keepdims=True)
    return corrected
